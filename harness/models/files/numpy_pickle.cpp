#include "harness/models/files/numpy_pickle.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>
#include <utility>

#include "harness/base/utf8.h"
#include "harness/models/files/pickle.h"

namespace hyfreedp::models {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kArray = "numpy.ndarray";
constexpr std::string_view kType = "numpy.dtype";
// The names in NumPy 1 and in NumPy 2.
constexpr std::array<std::string_view, 2> kReconstruct = {"numpy.core.multiarray._reconstruct",
                                                          "numpy._core.multiarray._reconstruct"};
constexpr std::array<std::string_view, 5> kNumpyGlobals = {"collections.OrderedDict", kArray, kType,
                                                           kReconstruct[0], kReconstruct[1]};

struct NumberKind {
  std::string_view name;
  ElementType type;
};
constexpr std::array kNumberKinds = {NumberKind{"f8", ElementType::kF64}, NumberKind{"f4", ElementType::kF32},
                                     NumberKind{"f2", ElementType::kF16}, NumberKind{"i8", ElementType::kI64},
                                     NumberKind{"i4", ElementType::kI32}, NumberKind{"i2", ElementType::kI16},
                                     NumberKind{"i1", ElementType::kI8},  NumberKind{"u1", ElementType::kU8},
                                     NumberKind{"b1", ElementType::kBool}};

constexpr std::size_t kDeepest = 8;
constexpr std::size_t kMostMentions = 200'000;
constexpr std::size_t kLongestName = 1000;
constexpr std::uintptr_t kAlignment = 8;

class ArrayReader {
 public:
  ArrayReader(const Pickle& pickle, const SharedBytes& file, const std::string& where)
      : pickle_(pickle), file_(file), where_(where), copies_left_(2 * file.bytes.size()) {}

  Result<StoredTensors> run() {
    if (auto done = visit(pickle_.root, "", 0); !done) return done.error();
    if (arrays_.empty()) return error(where_ + ": no NumPy array is in it");
    return std::move(arrays_);
  }

 private:
  Result<void> visit(std::uint32_t index, const std::string& name, std::size_t depth) {
    // A small file may mention one large list very often.
    if (++mentions_ > kMostMentions) {
      return error(fmt::format("{}: its lists and dicts have more than {} items", where_, kMostMentions));
    }
    const auto& value = pickle_[index];
    const bool is_list = value.kind == Kind::kList || value.kind == Kind::kTuple;
    if (value.kind == Kind::kCall) return add(value, name);
    if (value.kind != Kind::kDict && !is_list) return {};
    if (depth >= kDeepest) {
      return error(fmt::format("{}: {}: its lists and dicts are more than {} deep, or a list holds itself",
                               where_, quoted(name), kDeepest));
    }
    const auto inside = [&name](std::string_view part) {
      return name.empty() ? std::string(part) : fmt::format("{}.{}", name, part);
    };
    for (std::size_t i = 0; is_list && i < value.items.size(); ++i) {
      if (auto done = visit(value.items[i], inside(std::to_string(i)), depth + 1); !done) return done;
    }
    for (std::size_t i = 0; !is_list && i < value.items.size(); i += 2) {
      const auto& key = pickle_[value.items[i]];
      const bool fits = key.kind == Kind::kText && name.size() + key.text.size() < kLongestName &&
                        !first_byte_not_utf8(key.text);
      if (!fits) {
        return error(
            fmt::format("{}: a key of the dict {} is {}, where a text of less than {} bytes is expected",
                        where_, quoted(name), kind_name(key.kind), kLongestName));
      }
      if (auto done = visit(value.items[i + 1], inside(key.text), depth + 1); !done) return done;
    }
    return {};
  }

  Result<void> add(const PickleValue& value, const std::string& name) {
    const auto here = fmt::format("{}: array {}", where_, quoted(name));
    auto read = array(value, here);
    if (!read) return read.error();
    if (!arrays_.emplace(name, std::move(*read)).second) return error(here + " is there twice");
    return {};
  }

  // True if the value is a call of one of these functions, with a state.
  bool is_made_by(const PickleValue& value, std::span<const std::string_view> functions) const {
    return value.kind == Kind::kCall && value.items.size() == 3 &&
           std::find(functions.begin(), functions.end(), pickle_[value.items[0]].text) != functions.end();
  }
  // Items of the tuple that is the call's state.
  const std::vector<std::uint32_t>& state(const PickleValue& call) const {
    return pickle_[call.items[2]].items;
  }

  // numpy.dtype("f4", ..), then the state (3, "<", None, None, None, -1, -1, 0): version, byte
  // order, and what only structured types, objects and texts have.
  Result<ElementType> type_of(const PickleValue& value, const std::string& where) const {
    const std::array<std::string_view, 1> functions = {kType};
    if (!is_made_by(value, functions)) return error(where + ": its type is not described as NumPy does");
    const auto& arguments = pickle_[value.items[1]].items;
    const auto name = arguments.empty() ? std::string_view() : pickle_[arguments[0]].text;
    const auto* const kind = std::find_if(kNumberKinds.begin(), kNumberKinds.end(),
                                          [name](const NumberKind& known) { return known.name == name; });
    if (kind == kNumberKinds.end()) {
      return error(fmt::format("{}: its type is '{}'. Read are f8, f4, f2, i8, i4, i2, i1, u1 and b1", where,
                               as_one_line(name.substr(0, 40))));
    }
    const auto& about = state(value);
    const auto is_none = [&](std::size_t i) { return pickle_[about[i]].kind == Kind::kNone; };
    if (about.size() < 5 || !is_none(2) || !is_none(3) || !is_none(4)) {
      return error(where + ": its type is not one of plain numbers");
    }
    const auto order = pickle_[about[1]].text;
    if (order != "<" && !(order == "|" && element_size(kind->type) == 1)) {
      return error(fmt::format("{}: its byte order is '{}', '<' (little endian) is read", where,
                               as_one_line(order.substr(0, 20))));
    }
    return kind->type;
  }

  std::optional<std::vector<std::int64_t>> lengths(std::uint32_t index) const {
    const auto& tuple = pickle_[index];
    if (tuple.kind != Kind::kTuple || tuple.items.size() > kMostDimensions) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const auto item : tuple.items) {
      if (pickle_[item].kind != Kind::kInteger) return std::nullopt;
      numbers.push_back(pickle_[item].integer);
    }
    return numbers;
  }

  // The bytes of the value at an address that suits every type.
  SharedBytes aligned(std::uint32_t index) {
    auto& known = aligned_[index];
    if (known.owner == nullptr) {
      const auto bytes = pickle_[index].text;
      const bool fits = reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment == 0;
      known = fits ? SharedBytes{.bytes = bytes, .owner = file_.owner} : owned_bytes(std::string(bytes));
    }
    return known;
  }

  // _reconstruct(numpy.ndarray, (0,), b"b"), then the state (1, shape, type, is_fortran, bytes).
  Result<StoredTensor> array(const PickleValue& value, const std::string& where) {
    const auto* const arguments = is_made_by(value, kReconstruct) ? &pickle_[value.items[1]].items : nullptr;
    const bool is_array = arguments != nullptr && !arguments->empty() &&
                          pickle_[arguments->front()].kind == Kind::kGlobal &&
                          pickle_[arguments->front()].text == kArray && state(value).size() == 5;
    const auto shape = is_array ? lengths(state(value)[1]) : std::nullopt;
    if (!shape || pickle_[state(value)[3]].kind != Kind::kBool) {
      return error(where + ": it is not described as NumPy does (version, shape, type, order, bytes)");
    }
    const auto type = type_of(pickle_[state(value)[2]], where);
    if (!type) return type.error();
    const auto bytes_at = state(value)[4];
    if (pickle_[bytes_at].kind != Kind::kBytes) {
      return error(fmt::format("{}: it holds {}, where its bytes are expected", where,
                               kind_name(pickle_[bytes_at].kind)));
    }
    const bool is_fortran = pickle_[state(value)[3]].integer != 0;
    std::vector<std::int64_t> strides(shape->size());
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < shape->size(); ++i) {
      const auto d = is_fortran ? i : shape->size() - 1 - i;
      strides[d] = elements;
      // stored_tensor() refuses such a shape; here it must only not overflow.
      if (__builtin_mul_overflow(elements, (*shape)[d], &elements)) {
        return error(where + ": its shape is impossible");
      }
    }
    std::int64_t expected = 0;
    const bool is_huge = __builtin_mul_overflow(elements, element_size(*type), &expected);
    const auto found = pickle_[bytes_at].text.size();
    if (is_huge || !std::in_range<std::size_t>(expected) || static_cast<std::size_t>(expected) != found) {
      return error(fmt::format("{}: it has {} bytes, which is not what {} element(s) of {} bytes take", where,
                               found, elements, element_size(*type)));
    }
    return stored_tensor(
        {.type = *type, .storage = aligned(bytes_at), .offset = 0, .shape = *shape, .strides = strides},
        &copies_left_, where);
  }

  static std::string quoted(const std::string& name) { return "'" + as_one_line(name) + "'"; }

  const Pickle& pickle_;
  const SharedBytes& file_;
  const std::string& where_;
  std::uint64_t copies_left_;
  std::size_t mentions_ = 0;
  std::unordered_map<std::uint32_t, SharedBytes> aligned_;
  StoredTensors arrays_;
};

}  // namespace

Result<StoredTensors> read_numpy_pickle(const std::string& path) {
  const auto file = map_file(path);
  if (!file) return file.error();
  return parse_numpy_pickle(*file, path);
}

Result<StoredTensors> parse_numpy_pickle(const SharedBytes& file, const std::string& where) {
  const auto pickle = read_pickle(file.bytes, kNumpyGlobals, where, PickleOf::arrays);
  if (!pickle) return pickle.error();
  if (pickle->size != file.bytes.size()) return error(where + ": something follows the pickle");
  return ArrayReader(*pickle, file, where).run();
}

}  // namespace hyfreedp::models
