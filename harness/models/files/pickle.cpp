#include "harness/models/files/pickle.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "harness/base/utf8.h"

namespace hyfreedp::models {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t kLargestPickle = 64U << 20U;  // bytes
constexpr std::size_t kMostValues = 2'000'000;
constexpr std::size_t kMostMarks = 1000;
constexpr std::uint32_t kNoValue = UINT32_MAX;
constexpr std::string_view kOrderedDict = "collections.OrderedDict";

// Opcodes that exist and are not read, to name them in errors.
std::string opcode_name(unsigned char code) {
  static constexpr struct {
    unsigned char code;
    const char* name;
  } kUnread[] = {{'0', "POP"},          {'1', "POP_MARK"},
                 {'2', "DUP"},          {'F', "FLOAT"},
                 {'I', "INT"},          {'L', "LONG"},
                 {'P', "PERSID"},       {'S', "STRING"},
                 {'V', "UNICODE"},      {'d', "DICT"},
                 {'g', "GET"},          {'i', "INST"},
                 {'l', "LIST"},         {'o', "OBJ"},
                 {'p', "PUT"},          {0x81, "NEWOBJ"},
                 {0x82, "EXT1"},        {0x83, "EXT2"},
                 {0x84, "EXT4"},        {0x8b, "LONG4"},
                 {'B', "BINBYTES"},     {'C', "SHORT_BINBYTES"},
                 {0x8e, "BINBYTES8"},   {0x8f, "EMPTY_SET"},
                 {0x90, "ADDITEMS"},    {0x91, "FROZENSET"},
                 {0x92, "NEWOBJ_EX"},   {0x96, "BYTEARRAY8"},
                 {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};
  for (const auto& unread : kUnread) {
    if (unread.code == code) return unread.name;
  }
  return fmt::format("0x{:02x}", code);
}

class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, std::span<const std::string_view> globals, PickleOf content)
      : bytes_(bytes.substr(0, kLargestPickle)),
        is_cut_(bytes.size() > kLargestPickle),
        globals_(globals),
        has_arrays_(content == PickleOf::arrays) {}

  Result<Pickle> run(const std::string& where) {
    while (!stopped_ && !failure_) {
      opcode_at_ = at_;
      step();
    }
    if (failure_) return error(fmt::format("{}, byte {} of the pickle: {}", where, opcode_at_, *failure_));
    pickle_.size = at_;
    return std::move(pickle_);
  }

 private:
  // Everything below does nothing after a failure, and gives zeros: a step need not ask in between.
  void fail(std::string what) {
    if (!failure_) failure_ = std::move(what);
  }

  std::string_view take(std::uint64_t length) {
    if (failure_) return {};
    if (length > bytes_.size() - at_) {
      fail(is_cut_ ? "it is longer than 64 MiB" : "it ends in the middle");
      return {};
    }
    const auto part = bytes_.substr(at_, length);
    at_ += length;
    return part;
  }
  std::uint64_t take_unsigned(std::size_t length) {
    const auto part = take(length);
    std::uint64_t number = 0;
    for (std::size_t i = part.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(part[i]);
    return number;
  }
  // A module or a name of the opcode GLOBAL.
  std::string_view take_line() {
    const auto end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) return take(UINT64_MAX);
    const auto line = take(end - at_);
    take(1);
    return line;
  }

  // The new value's index.
  std::uint32_t push(PickleValue value) {
    if (failure_) return kNoValue;
    if (pickle_.values.size() >= kMostValues) {
      fail("it has more than 2 million values");
      return kNoValue;
    }
    const auto index = static_cast<std::uint32_t>(pickle_.values.size());
    pickle_.values.push_back(std::move(value));
    stack_.push_back(index);
    return index;
  }
  // Values below the last mark cannot be popped.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::uint32_t pop() {
    if (failure_) return kNoValue;
    if (stack_.size() <= floor()) {
      fail("it takes more values than it has put on the stack");
      return kNoValue;
    }
    const auto index = stack_.back();
    stack_.pop_back();
    return index;
  }
  std::vector<std::uint32_t> pop_several(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }
  // The values since the last mark, and the mark.
  std::vector<std::uint32_t> pop_to_mark() {
    if (failure_) return {};
    if (marks_.empty()) {
      fail("it looks for a mark where there is none");
      return {};
    }
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<std::uint32_t> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  // The value on top of the stack, which stays there; nullptr, and a failure, unless it is of that
  // kind.
  PickleValue* top(Kind kind, const char* what) {
    if (!failure_ && (stack_.size() <= floor() || pickle_.values[stack_.back()].kind != kind)) {
      fail(std::string(what) + " is missing on the stack");
    }
    return failure_ ? nullptr : &pickle_.values[stack_.back()];
  }

  void put(std::uint64_t key) {
    if (failure_) return;
    if (stack_.size() <= floor()) return fail("there is nothing to remember");
    if (key >= kMostValues) return fail("it remembers more than 2 million values");
    if (key >= memo_.size()) memo_.resize(key + 1, kNoValue);
    if (memo_[key] == kNoValue) ++remembered_;
    memo_[key] = stack_.back();
  }
  void get(std::uint64_t key) {
    if (failure_) return;
    if (key >= memo_.size() || memo_[key] == kNoValue)
      return fail("it asks for a value that it never remembered");
    stack_.push_back(memo_[key]);
  }

  void push_items(Kind kind, std::vector<std::uint32_t> items) {
    push({.kind = kind, .items = std::move(items)});
  }
  void push_integer(std::int64_t number) { push({.kind = Kind::kInteger, .integer = number}); }
  void push_text(std::uint64_t length) { push({.kind = Kind::kText, .text = take(length)}); }
  void push_bytes(std::uint64_t length) { push({.kind = Kind::kBytes, .text = take(length)}); }
  void push_long() {
    const auto part = take(take_unsigned(1));
    if (part.size() > 8) {
      push({.kind = Kind::kLong, .text = part});
      return;
    }
    const bool is_negative = !part.empty() && (static_cast<unsigned char>(part.back()) & 0x80U) != 0;
    std::uint64_t number = is_negative ? UINT64_MAX : 0;
    for (std::size_t i = part.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(part[i]);
    push_integer(static_cast<std::int64_t>(number));
  }
  // For errors: the kind of pickle that is expected, after "no".
  const char* needed_by_none() const {
    return has_arrays_ ? "no pickle of NumPy arrays" : "no state dict of tensors";
  }
  const char* advice() const {
    return has_arrays_ ? "Save the arrays again as a dict of lists of them (pickle.dump with protocol 2 to 4 "
                         "of Python 3), or as safetensors"
                       : "Save the network again with torch.save(network.state_dict(), FILE), or as "
                         "safetensors";
  }
  void push_global(std::string_view module, std::string_view name) {
    if (failure_) return;
    const auto whole = std::string(module) + "." + std::string(name);
    const auto known = std::find(globals_.begin(), globals_.end(), whole);
    if (known == globals_.end()) {
      return fail(fmt::format("it names '{}', which {} needs. Nothing of a pickle is executed here. {}",
                              as_one_line(whole), needed_by_none(), advice()));
    }
    push({.kind = Kind::kGlobal, .text = *known});
  }
  void call() {
    const auto arguments = pop();
    const auto callee = pop();
    if (failure_) return;
    if (pickle_[callee].kind != Kind::kGlobal || pickle_[arguments].kind != Kind::kTuple) {
      return fail("a call is not of a named function with a tuple of arguments");
    }
    if (pickle_[callee].text != kOrderedDict) return push_items(Kind::kCall, {callee, arguments});
    if (!pickle_[arguments].items.empty()) {
      return fail("an OrderedDict is made from arguments, as Python 2 does. Save it again with Python 3");
    }
    push_items(Kind::kDict, {});
  }
  // Attributes of an OrderedDict, which are left out; or an array's state.
  void build() {
    const auto state = pop();
    if (failure_) return;
    if (has_arrays_ && pickle_[state].kind == Kind::kTuple) {
      auto* const made = top(Kind::kCall, "the array that has a state");
      if (made == nullptr) return;
      if (made->items.size() != 2) return fail("an array is given its state twice");
      made->items.push_back(state);
      return;
    }
    if (pickle_[state].kind != Kind::kDict) return fail("attributes are not a dict");
    top(Kind::kDict, "the dict that has attributes");
  }
  void append(const std::vector<std::uint32_t>& items, Kind kind, const char* what) {
    auto* const target = top(kind, what);
    if (target == nullptr) return;
    if (kind == Kind::kDict && items.size() % 2 != 0) return fail("a key of a dict has no value");
    target->items.insert(target->items.end(), items.begin(), items.end());
  }

  void step() {
    const auto code = static_cast<unsigned char>(take_unsigned(1));
    if (failure_) return;
    if (opcode_at_ == 0 && code != 0x80) {
      return fail("it does not begin with a protocol. Protocols 2 to 4 are read");
    }
    switch (code) {
      case 0x80: {  // PROTO
        const auto protocol = take_unsigned(1);
        if (!failure_ && (protocol < 2 || protocol > 4)) {
          fail(fmt::format("its protocol is {}; 2 to 4 are read", protocol));
        }
        break;
      }
      case 0x95: {  // FRAME: how many bytes Python should read at once
        const auto length = take_unsigned(8);
        if (!failure_ && length > bytes_.size() - at_) take(length);
        break;
      }
      case '.': {  // STOP
        pickle_.root = pop();
        if (!failure_ && (!stack_.empty() || !marks_.empty()))
          fail("it ends with several values on the stack");
        stopped_ = true;
        break;
      }
      case '(':  // MARK
        if (marks_.size() >= kMostMarks) return fail("it is nested more than 1000 deep");
        marks_.push_back(stack_.size());
        break;
      case 'N':
        push({});
        break;
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        push({.kind = Kind::kBool, .integer = code == 0x88 ? 1 : 0});
        break;
      case 'J':  // BININT
        push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(take_unsigned(4))));
        break;
      case 'K':  // BININT1
        push_integer(static_cast<std::int64_t>(take_unsigned(1)));
        break;
      case 'M':  // BININT2
        push_integer(static_cast<std::int64_t>(take_unsigned(2)));
        break;
      case 0x8a:  // LONG1
        push_long();
        break;
      case 'G':  // BINFLOAT
        take(8);
        push({.kind = Kind::kReal});
        break;
      case 'X':  // BINUNICODE
      case 'T':  // BINSTRING, Python 2's
        push_text(take_unsigned(4));
        break;
      case 0x8c:  // SHORT_BINUNICODE
      case 'U':   // SHORT_BINSTRING, Python 2's
        push_text(take_unsigned(1));
        break;
      case 0x8d:  // BINUNICODE8
        push_text(take_unsigned(8));
        break;
      case ')':  // EMPTY_TUPLE
        push_items(Kind::kTuple, {});
        break;
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        push_items(Kind::kTuple, pop_several(code - 0x84U));
        break;
      case 't':  // TUPLE
        push_items(Kind::kTuple, pop_to_mark());
        break;
      case ']':  // EMPTY_LIST
        push_items(Kind::kList, {});
        break;
      case 'a':  // APPEND
        append(pop_several(1), Kind::kList, "a list");
        break;
      case 'e':  // APPENDS
        append(pop_to_mark(), Kind::kList, "a list");
        break;
      case '}':  // EMPTY_DICT
        push_items(Kind::kDict, {});
        break;
      case 's':  // SETITEM
        append(pop_several(2), Kind::kDict, "a dict");
        break;
      case 'u':  // SETITEMS
        append(pop_to_mark(), Kind::kDict, "a dict");
        break;
      case 'h':  // BINGET
        get(take_unsigned(1));
        break;
      case 'j':  // LONG_BINGET
        get(take_unsigned(4));
        break;
      case 'q':  // BINPUT
        put(take_unsigned(1));
        break;
      case 'r':  // LONG_BINPUT
        put(take_unsigned(4));
        break;
      case 0x94:  // MEMOIZE
        put(remembered_);
        break;
      case 'c': {  // GLOBAL
        const auto module = take_line();
        push_global(module, take_line());
        break;
      }
      case 0x93: {  // STACK_GLOBAL
        const auto name = pop();
        const auto module = pop();
        if (failure_) return;
        if (pickle_[module].kind != Kind::kText || pickle_[name].kind != Kind::kText) {
          return fail("the name of a function is not text");
        }
        push_global(pickle_[module].text, pickle_[name].text);
        break;
      }
      case 'R':  // REDUCE
        call();
        break;
      case 'Q': {  // BINPERSID
        const auto id = pop();
        if (!failure_ && pickle_[id].kind != Kind::kTuple) return fail("a storage is not named by a tuple");
        push_items(Kind::kStored, {id});
        break;
      }
      case 'b':  // BUILD
        build();
        break;
      default:
        if (!has_arrays_ || !step_of_arrays(code)) refuse_opcode(code);
    }
  }
  void refuse_opcode(unsigned char code) {
    fail(
        fmt::format("its opcode {} is one that {} needs. {}", opcode_name(code), needed_by_none(), advice()));
  }
  // Executes an opcode that only arrays need; false if it is another one.
  bool step_of_arrays(unsigned char code) {
    switch (code) {
      case 'B':  // BINBYTES
        push_bytes(take_unsigned(4));
        return true;
      case 'C':  // SHORT_BINBYTES
        push_bytes(take_unsigned(1));
        return true;
      case 0x8e:  // BINBYTES8
        push_bytes(take_unsigned(8));
        return true;
      default:
        return false;
    }
  }

  const std::string_view bytes_;
  const bool is_cut_;
  const std::span<const std::string_view> globals_;
  const bool has_arrays_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  bool stopped_ = false;
  std::optional<std::string> failure_;
  Pickle pickle_;
  std::vector<std::uint32_t> stack_;
  // Heights of the stack.
  std::vector<std::size_t> marks_;
  std::vector<std::uint32_t> memo_;
  std::size_t remembered_ = 0;
};

}  // namespace

Result<Pickle> read_pickle(std::string_view bytes, std::span<const std::string_view> globals,
                           const std::string& where, PickleOf content) {
  return PickleMachine(bytes, globals, content).run(where);
}

const char* kind_name(PickleValue::Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return "a truth value";
    case Kind::kInteger:
    case Kind::kLong:
    case Kind::kReal:
      return "a number";
    case Kind::kText:
      return "a text";
    case Kind::kBytes:
      return "bytes";
    case Kind::kTuple:
      return "a tuple";
    case Kind::kList:
      return "a list";
    case Kind::kDict:
      return "a dict";
    case Kind::kGlobal:
      return "a function or type";
    case Kind::kCall:
      return "a tensor";
    case Kind::kStored:
      return "a storage";
  }
  return "a value";
}

}  // namespace hyfreedp::models
