#include "harness/cli/create/new_entry.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <regex>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 40;
// Keywords that look like a name; the name of an entry becomes that of a function.
constexpr std::string_view kKeywords =
    " alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const "
    "consteval constexpr "
    "constinit continue decltype default delete do double else enum explicit export extern false float for "
    "friend goto if "
    "inline int long mutable namespace new noexcept not nullptr operator or private protected public "
    "register requires "
    "return short signed sizeof static struct switch template this throw true try typedef typeid typename "
    "union unsigned "
    "using virtual void volatile wchar_t while xor ";

// A line of a table, above its mark.
struct Line {
  std::string file, mark, text;
};

// A part of a file, from `head` to `tail`, that is copied below itself.
struct Block {
  std::string file, head, tail;
};

// A kind of entry, and the entry that is its template.
struct Kind {
  std::string name, room;
  std::string stem, test;           // of the template's files
  std::string entry, title, words;  // as its source has them; words: hyphens as underscores
  std::string type;                 // its words in Pascal case
  std::string source;               // as facts and headers name it
  std::string function;             // that the entry's header declares; @ stands for the words
  std::vector<Line> lines;          // @ stands for the words, # for the name, % for the type
  std::vector<Block> blocks = {};   // of the template
};

const std::vector<Kind>& kinds() {
  const auto table = [](const std::string& what) {
    return std::vector<Line>{
        {"optimizers/registry.cpp", "// New " + what + " go above this line.", "{\"#\", make_@},"},
        {"optimizers/facts.cpp", "// New " + what + " go above this line.", "@_facts(),"}};
  };
  const auto blocks = [](const std::string& words, const std::string& type) {
    return std::vector<Block>{{"optimizers/options.h", "\nstruct " + type + "Options {\n", "))\n"},
                              {"optimizers/facts.cpp", "\nFacts " + words + "_facts() {\n", "\n}\n"}};
  };
  static const std::vector<Kind> all = {
      {"baseline",
       "baselines",
       "template",
       "template_test",
       "fixed-rate",
       "fixed rate",
       "fixed_rate",
       "FixedRate",
       "plain DP training",
       "@",
       {{"baselines/registry.cpp", "// New baselines go above this line.", "@(),"}}},
      {"optimizer", "optimizers", "template", "template_test", "signum", "Signum", "signum", "Signum",
       "Bernstein et al. 2018, arXiv:1802.04434, algorithm 2", "make_@", table("optimizers"),
       blocks("signum", "Signum")},
      {"controller", "optimizers", "constant", "constant_test", "constant", "constant", "constant",
       "Constant", "one learning rate for all steps", "make_@", table("controllers"),
       blocks("constant", "Constant")},
      {"dataset",
       "datasets",
       "synthetic_regression",
       "synthetic_regression_test",
       "synthetic-regression",
       "Generated linear regression",
       "synthetic_regression",
       "SyntheticRegression",
       "Mohapatra et al., arXiv:2111.04906, section 4.1",
       "@",
       {{"datasets/registry.h", "// New datasets go above this line.", "%,"}}}};
  return all;
}

// The forms that a name takes.
struct Name {
  std::string entry, words, title, type;

  explicit Name(const std::string& name) : entry(name), words(name), title(name) {
    std::replace(words.begin(), words.end(), '-', '_');
    std::replace(title.begin(), title.end(), '-', ' ');
    bool first = true;
    for (const char c : name) {
      if (c != '-') type += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      first = c == '-';
    }
  }
};

std::string filled(std::string text, const Name& name) {
  const auto put = [&](char mark, const std::string& value) {
    const auto at = text.find(mark);
    if (at != std::string::npos) text.replace(at, 1, value);
  };
  put('@', name.words);
  put('#', name.entry);
  put('%', name.type);
  return text;
}

bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// `text` with the template's names replaced, whole words only, in one pass: what was put in is not
// looked at again.
std::string renamed(const std::string& text, const Kind& kind, const Name& name) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {fmt::format(".title = \"{}\"", kind.title), fmt::format(".title = \"{}\"", name.title)},
      {kind.source, fmt::format("a copy of {}", kind.entry)},
      {fmt::format("{}/{}.h", kind.room, kind.stem), fmt::format("{}/{}.h", kind.room, name.words)},
      {fmt::format("make_{}", kind.words), fmt::format("make_{}", name.words)},
      {fmt::format("{}_facts", kind.words), fmt::format("{}_facts", name.words)},
      {fmt::format("{}Options", kind.type), fmt::format("{}Options", name.type)},
      {kind.entry, name.entry},
      {kind.words, name.words},
      {kind.type, name.type}};
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts = i == 0 || !continues_word(text[i - 1]);
    const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) {
      const auto end = i + pair.first.size();
      return starts && text.compare(i, pair.first.size(), pair.first) == 0 &&
             (end >= text.size() || !continues_word(text[end]) || !continues_word(text[end - 1]));
    });
    if (found == pairs.end()) {
      result += text[i++];
    } else {
      result += found->second;
      i += found->first.size();
    }
  }
  return result;
}

Result<void> check_name(const std::string& name) {
  static const std::regex form("[a-z][a-z0-9]*(-[a-z0-9]+)*");
  if (!std::regex_match(name, form) || name.size() > kLongestName) {
    return error(
        fmt::format("'{}' is not a valid name. Use at most {} characters of a-z and 0-9, in words joined by "
                    "single hyphens, with a letter first, such as my-method.",
                    name, kLongestName));
  }
  if (kKeywords.find(fmt::format(" {} ", Name(name).words)) != std::string_view::npos) {
    return error(fmt::format(
        "'{}' is a keyword of C++ and cannot become the name of a function; choose another name.", name));
  }
  return {};
}

using Sources = std::map<std::string, std::string>;  // text by path in the checkout

Result<Sources> sources_of(const std::string& checkout, const std::string& room) {
  Sources sources;
  std::error_code missing;
  for (const auto& file : fs::directory_iterator(fs::path(checkout) / room, missing)) {
    const auto extension = file.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    auto text = read_file(file.path().string());
    if (!text) return text.error();
    sources[fmt::format("{}/{}", room, file.path().filename().string())] = std::move(*text);
  }
  if (missing) return error(fmt::format("{} has no folder {}.", checkout, room));
  return sources;
}

// No entry, function or type of the room has the name already.
Result<void> check_free(const std::string& checkout, const Kind& kind, const Name& name) {
  const auto sources = sources_of(checkout, kind.room);
  if (!sources) return sources.error();
  for (const auto& [path, text] : *sources) {
    if (text.find(fmt::format(".name = \"{}\"", name.entry)) != std::string::npos) {
      return error(fmt::format("'{}' exists already, in {}; choose another name.", name.entry, path));
    }
  }
  const std::regex declared(fmt::format("\\b{}\\(|\\b(class|struct|using)\\s+{}(Options)?\\b",
                                        filled(kind.function, name), name.type));
  for (const auto& [path, text] : *sources) {
    if (path.ends_with(".h") && std::regex_search(text, declared)) {
      return error(fmt::format("'{}' has another meaning in {}; choose another name.", name.entry, path));
    }
  }
  return {};
}

// Returns the line that begins there, without its end.
std::string line_at(const std::string& text, std::size_t begin) {
  return text.substr(begin, text.find('\n', begin) - begin);
}

// `line` above the mark's line, as far in as the mark.
Result<void> add_above_mark(Written& table, const Line& line, const std::string& text) {
  const auto mark = table.content.find(line.mark);
  if (mark == std::string::npos || table.content.find(line.mark, mark + 1) != std::string::npos) {
    return error(
        fmt::format("{} must have exactly one line '{}' and has {}; put that line at the end of the table.",
                    table.path, line.mark, mark == std::string::npos ? "none" : "several"));
  }
  const auto begin = table.content.rfind('\n', mark) + 1;
  const std::string indent = table.content.substr(begin, mark - begin);
  table.content.insert(begin, fmt::format("{}{}\n", indent, text));
  table.lines += 1;
  return {};
}

// Adds the include among the room's, in order.
Result<void> add_include(Written& table, const Kind& kind, const Name& name) {
  const auto start = fmt::format("#include \"{}/", kind.room);
  const auto line = fmt::format("{}{}.h\"", start, name.words);
  std::size_t after = std::string::npos;
  const auto own = fmt::format("{}registry.h\"", start);  // stands apart, at the top
  for (std::size_t at = table.content.find(start); at != std::string::npos;
       at = table.content.find(start, at + 1)) {
    const auto here = line_at(table.content, at);
    if (here == own) continue;
    if (after == std::string::npos || here < line) after = here < line ? at + here.size() + 1 : at;
  }
  if (after == std::string::npos)
    return error(fmt::format("{} has no #include of a header in {}/.", table.path, kind.room));
  table.content.insert(after, line + "\n");
  table.lines += 1;
  return {};
}

// The template's block once more, renamed, below itself.
Result<void> add_block(Written& table, const Block& block, const Kind& kind, const Name& name) {
  const auto begin = table.content.find(block.head);
  const auto tail = begin == std::string::npos ? begin : table.content.find(block.tail, begin);
  if (tail == std::string::npos) {
    return error(fmt::format("{} has no '{}', which is the template's.", table.path,
                             block.head.substr(1, block.head.size() - 2)));
  }
  const auto end = tail + block.tail.size();
  const auto copied = table.content.substr(begin, end - begin);
  table.content.insert(end, renamed(copied, kind, name));
  table.lines += static_cast<int>(std::count(copied.begin(), copied.end(), '\n'));
  return {};
}

// The files that have something of each entry.
std::vector<std::string> tables_of(const Kind& kind) {
  std::vector<std::string> paths;
  for (const auto& block : kind.blocks) paths.push_back(block.file);
  for (const auto& line : kind.lines) {
    std::erase(paths, line.file);
    paths.push_back(line.file);
  }
  return paths;
}

Result<Written> table_of(const std::string& checkout, const Kind& kind, const Name& name,
                         const std::string& path) {
  auto text = read_file((fs::path(checkout) / path).string());
  if (!text) return text.error();
  Written table{.path = path, .content = std::move(*text), .is_new = false};
  for (const auto& line : kind.lines) {
    if (line.file != path) continue;
    if (auto added = add_above_mark(table, line, filled(line.text, name)); !added) return added.error();
  }
  bool has_block = false;
  for (const auto& block : kind.blocks) {
    if (block.file != path) continue;
    has_block = true;
    if (auto added = add_block(table, block, kind, name); !added) return added.error();
  }
  if (has_block) return table;
  if (auto added = add_include(table, kind, name); !added) return added.error();
  return table;
}

Result<Written> copy_of(const std::string& checkout, const Kind& kind, const Name& name,
                        const std::string& from, const std::string& to) {
  if (fs::exists(fs::path(checkout) / to))
    return error(fmt::format("{} exists already; choose another name.", to));
  const auto text = read_file((fs::path(checkout) / from).string());
  if (!text) return text.error();
  Written file{.path = to, .content = renamed(*text, kind, name)};
  if (file.content.find(name.words) == std::string::npos &&
      file.content.find(name.entry) == std::string::npos) {
    return error(fmt::format("{} does not name {}, whose template it should be.", from, kind.entry));
  }
  file.lines = static_cast<int>(std::count(file.content.begin(), file.content.end(), '\n'));
  return file;
}

// The files of an entry on their way to their places.
struct Places {
  const std::string& checkout;
  const std::vector<Written>& files;
  std::vector<std::string> stood_there = {};  // at the places taken so far

  fs::path place(std::size_t i) const { return fs::path(checkout) / files[i].path; }
  fs::path beside(std::size_t i) const { return fmt::format("{}.new-{}", place(i).string(), ::getpid()); }

  Result<void> make_ready(std::size_t i) const {
    std::error_code ignored;
    // A read-only table could be replaced by renaming, but somebody made it so.
    if (!files[i].is_new && ::access(place(i).c_str(), W_OK) != 0) {
      return error(fmt::format("{} cannot be written", place(i).string()));
    }
    auto written = write_file_atomically(beside(i).string(), files[i].content);
    if (written && !files[i].is_new) {
      fs::permissions(beside(i), fs::status(place(i), ignored).permissions(), ignored);
    }
    return written;
  }

  Result<void> take(std::size_t i) {
    auto before = files[i].is_new ? Result<std::string>(std::string()) : read_file(place(i).string());
    if (!before) return before.error();
    std::error_code failure;
    fs::rename(beside(i), place(i), failure);
    if (failure)
      return error(fmt::format("{} cannot be put in place ({})", place(i).string(), failure.message()));
    stood_there.push_back(std::move(*before));
    return {};
  }

  Error given_up(const Error& why) const {
    std::error_code ignored;
    for (std::size_t i = 0; i < files.size(); ++i) {
      fs::remove(beside(i), ignored);
      if (i >= stood_there.size()) continue;
      if (files[i].is_new) {
        fs::remove(place(i), ignored);
      } else {
        (void)write_file_atomically(place(i).string(), stood_there[i]);
      }
    }
    return error(fmt::format("{}; nothing was changed.", why.message));
  }
};

}  // namespace

const std::vector<std::string>& new_kinds() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& kind : kinds()) all.push_back(kind.name);
    return all;
  }();
  return names;
}

Result<std::string> find_checkout(const std::string& start) {
  static const std::regex project("project\\s*\\(\\s*hyfreedp\\b");
  std::error_code failure;
  auto absolute = fs::absolute(start, failure).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // of "/tmp/w/."
  auto folder = absolute;
  for (;; folder = folder.parent_path()) {
    const auto text = read_file((folder / "CMakeLists.txt").string());
    if (text && std::regex_search(*text, project)) return folder.string();
    if (!folder.has_relative_path()) break;
  }
  return error(
      fmt::format("{} is not inside a source tree of hyfreedp: neither it nor a folder above has its "
                  "CMakeLists.txt. Change into one, or give --source DIR.",
                  absolute.string()));
}

Result<NewEntry> plan_entry(const std::string& checkout, const std::string& kind_name,
                            const std::string& name_given) {
  const auto kind =
      std::find_if(kinds().begin(), kinds().end(), [&](const auto& one) { return one.name == kind_name; });
  if (kind == kinds().end()) {
    return error(fmt::format("there is no kind '{}'.{} Kinds: {}.", kind_name,
                             did_you_mean(kind_name, new_kinds()), join(new_kinds(), ", ")));
  }
  if (auto ok = check_name(name_given); !ok) return ok.error();
  const Name name(name_given);
  if (auto ok = check_free(checkout, *kind, name); !ok) return ok.error();
  NewEntry entry{.kind = kind_name, .name = name_given, .files = {}};
  const std::vector<std::pair<std::string, std::string>> copies = {
      {fmt::format("{}/{}.h", kind->room, kind->stem), fmt::format("{}/{}.h", kind->room, name.words)},
      {fmt::format("{}/{}.cpp", kind->room, kind->stem), fmt::format("{}/{}.cpp", kind->room, name.words)},
      {fmt::format("tests/{}/{}.cpp", kind->room, kind->test),
       fmt::format("tests/{}/{}_test.cpp", kind->room, name.words)}};
  for (const auto& [from, to] : copies) {
    auto file = copy_of(checkout, *kind, name, from, to);
    if (!file) return file.error();
    entry.files.push_back(std::move(*file));
  }
  for (const auto& path : tables_of(*kind)) {
    auto table = table_of(checkout, *kind, name, path);
    if (!table) return table.error();
    entry.files.push_back(std::move(*table));
  }
  return entry;
}

Result<void> write_entry(const std::string& checkout, const NewEntry& entry) {
  Places places{.checkout = checkout, .files = entry.files};
  for (std::size_t i = 0; i < entry.files.size(); ++i) {
    if (auto ready = places.make_ready(i); !ready) return places.given_up(ready.error());
  }
  for (std::size_t i = 0; i < entry.files.size(); ++i) {
    if (auto taken = places.take(i); !taken) return places.given_up(taken.error());
  }
  return {};
}

}  // namespace hyfreedp::cli
