#include "harness/runner/spec/spec_yaml.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "harness/base/utf8.h"
#include "harness/runner/spec/spec_entry.h"

namespace hyfreedp::runner {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // only at the beginning of a text
constexpr std::size_t kDeepest = 64;                         // of maps and lists in each other
constexpr std::size_t kMostValues = 1'000'000;               // with aliases written out

// Returns `iconv`'s name of the encoding, if the first bytes show one that is not UTF-8.
std::optional<std::string> wide_encoding(std::string_view text) {
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) return "UTF-16";
  // If there is no mark, every other byte of plain letters is 0.
  if (text.size() < 4) return std::nullopt;
  if (text[1] == '\0' && text[3] == '\0') return text[2] == '\0' ? "UTF-32LE" : "UTF-16LE";
  if (text[0] == '\0' && text[2] == '\0') return text[1] == '\0' ? "UTF-32BE" : "UTF-16BE";
  return std::nullopt;
}

// Never onto the file itself, which the shell would empty.
std::string conversion(const std::string& file, const std::string& from) {
  const bool is_taken = std::filesystem::path(file).filename() == "fixed.yaml";
  return fmt::format("`iconv -f {} -t utf-8 {} > {}`", from, file,
                     is_taken ? "fixed-utf8.yaml" : "fixed.yaml");
}

struct Position {
  std::ptrdiff_t line = 1, column = 1;
};

Position position_of(const std::string& text, std::size_t at) {
  const auto begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
  return {.line = 1 + std::count(text.begin(), end, '\n'),
          .column = 1 + std::count_if(text.begin() + static_cast<std::ptrdiff_t>(begin), end,
                                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; })};
}

// The database and every page are UTF-8: a byte that is not would make them unreadable.
Error not_utf8(const std::string& file, const std::string& text, std::size_t at) {
  const auto [line, column] = position_of(text, at);
  const auto byte = static_cast<unsigned char>(text[at]);
  std::string meant;  // a letter, in the encoding that such a byte most often comes from
  if (byte >= 0xC0) {
    meant = fmt::format(" (in Latin-1: {}{})", static_cast<char>(0xC0 | byte >> 6),
                        static_cast<char>(0x80 | (byte & 0x3F)));
  }
  return error(
      fmt::format("{}:{}:{}: the byte 0x{:02X}{} is not UTF-8. Save the file as UTF-8, for example by {}.",
                  file, line, column, byte, meant, conversion(file, "latin1")));
}

bool is_indented_by_tab(const std::string& text, std::size_t line) {
  std::size_t at = 0;
  for (; line > 0 && at != std::string::npos; --line) {
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos) return false;
  const auto end = text.find_first_not_of(" \t", at);
  return text.substr(at, end == std::string::npos ? end : end - at).find('\t') != std::string::npos;
}

// The line, from 0, of the `---` that begins the document in line `line`.
int line_of_marker(const std::string& text, int line) {
  std::vector<std::size_t> begins{0};
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    begins.push_back(at + 1);
  }
  for (int above = std::min(line, static_cast<int>(begins.size()) - 1); above > 0; --above) {
    if (text.compare(begins[static_cast<std::size_t>(above)], 3, "---") == 0) return above;
  }
  return line;
}

// Walks all that a node stands for, aliases included; the first place that is wrong.
class Walk {
 public:
  explicit Walk(const Texts& texts) : texts_(texts) {}

  Result<void> through(const YAML::Node& node) {
    if (!node.IsMap() && !node.IsSequence()) return {};
    const auto is_this = [&](const YAML::Node& outer) { return outer.is(node); };
    if (std::ranges::any_of(open_, is_this)) {
      return wrong(node, "an alias stands inside the list or map that it names, which would have no end");
    }
    if (open_.size() >= kDeepest) {
      return wrong(node, fmt::format("lists and maps stand more than {} deep in each other", kDeepest));
    }
    open_.push_back(node);
    for (const auto& member : node) {
      if (++values_ > kMostValues) {
        return wrong(
            node, fmt::format("with its aliases written out the text has more than {} values", kMostValues));
      }
      const auto inner = node.IsMap() ? both(member.first, member.second) : through(member);
      if (!inner) return inner;
    }
    open_.pop_back();
    return {};
  }

 private:
  Result<void> both(const YAML::Node& key, const YAML::Node& value) {
    if (auto walked = through(key); !walked) return walked;
    return through(value);
  }

  Error wrong(const YAML::Node& node, const std::string& what) const {
    return error(
        fmt::format("{}: {}. Write the values out.", texts_.place_at(std::max(node.Mark().line, 0)), what));
  }

  const Texts& texts_;
  std::vector<YAML::Node> open_;  // around the one that is looked at
  std::size_t values_ = 0;
};

YamlNode::Ref copy_of(const YAML::Node& node) {
  auto copy = std::make_shared<YamlNode>();
  copy->line = node.Mark().line;
  if (node.IsScalar()) {
    copy->kind = YamlNode::Kind::scalar;
    copy->scalar = node.Scalar();
    copy->quoted = node.Tag() == "!";
  } else if (node.IsSequence()) {
    copy->kind = YamlNode::Kind::list;
    for (const auto& element : node) copy->elements.push_back(copy_of(element));
  } else if (node.IsMap()) {
    copy->kind = YamlNode::Kind::map;
    for (const auto& member : node) copy->members.emplace_back(copy_of(member.first), copy_of(member.second));
  }
  return copy;
}

}  // namespace

Result<void> check_encoding(const std::string& name, const std::string& text, bool has_lines) {
  if (const auto wide = wide_encoding(text); wide && has_lines) {
    return error(fmt::format("{}: the file is {}, not UTF-8. Save it as UTF-8, for example by {}.", name,
                             *wide, conversion(name, *wide)));
  }
  if (const auto bad = first_byte_not_utf8(text)) {
    return has_lines ? not_utf8(name, text, *bad) : error(name + ": the value is not UTF-8.");
  }
  if (const auto at = text.find('\0'); at != std::string::npos) {
    const auto [line, column] = position_of(text, at);
    return error(
        fmt::format("{}:{}:{}: the byte 0x00 is no text. Remove it, or put the file back from a copy.", name,
                    line, column));
  }
  return {};
}

Result<YamlNode::Ref> load_yaml(const Texts& texts, const std::string& text, int begin) {
  try {
    // Blank lines before it give its lines their numbers.
    const auto lines = text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
    auto documents = YAML::LoadAll(std::string(static_cast<std::size_t>(begin), '\n') + lines);
    if (documents.empty()) documents.emplace_back();
    for (std::size_t i = 1; i < documents.size(); ++i) {
      if (documents[i].IsNull()) continue;
      const int line = line_of_marker(text, documents[i].Mark().line - begin);
      return error(
          fmt::format("{}: a second YAML document begins here (---), and one document is read. Move what "
                      "follows to a file of its own, or remove the '---' and what it repeats.",
                      texts.place_at(begin + line)));
    }
    if (auto walked = Walk(texts).through(documents.front()); !walked) return walked.error();
    return copy_of(documents.front());
  } catch (const YAML::Exception& exception) {
    const int line = std::max(exception.mark.line, begin);
    if (is_indented_by_tab(text, static_cast<std::size_t>(line - begin))) {
      return error(fmt::format(
          "{}: a tab indents this line, and tabs are not allowed in YAML. Replace each by spaces.",
          texts.place_at(line)));
    }
    return error(fmt::format("{}: not valid YAML: {}.", texts.place_at(line), exception.msg));
  }
}

}  // namespace hyfreedp::runner
