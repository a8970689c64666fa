#include "harness/base/text_encoding.h"

#include <array>
#include <fmt/format.h>

namespace hyfreedp {
namespace {

using namespace std::string_view_literals;

struct Encoding {
  std::string_view begin;
  std::string_view name;  // as iconv calls it
};

// The first that fits counts.
constexpr std::array kMarks = {
    Encoding{"\xFF\xFE\0\0"sv, "UTF-32"},
    Encoding{"\0\0\xFE\xFF"sv, "UTF-32"},
    Encoding{"\xFF\xFE"sv, "UTF-16"},
    Encoding{"\xFE\xFF"sv, "UTF-16"},
};

// The encoding of text without a mark, if it begins with two letters of ASCII, whose upper bytes
// are zero.
std::string_view unmarked_name(std::string_view head) {
  if (head.size() < 4) return {};
  const auto is_zero = [head](std::size_t at) { return head[at] == '\0'; };
  if (!is_zero(0) && is_zero(1) && !is_zero(2) && is_zero(3)) return "UTF-16LE";
  if (is_zero(0) && !is_zero(1) && is_zero(2) && !is_zero(3)) return "UTF-16BE";
  return {};
}

}  // namespace

Result<std::size_t> begin_of_text(std::string_view head, const std::string& path) {
  constexpr auto kMark = "\xEF\xBB\xBF"sv;
  if (head.starts_with(kMark)) return kMark.size();
  auto name = unmarked_name(head);
  for (const auto& [begin, marked] : kMarks) {
    if (name.empty() && head.starts_with(begin)) name = marked;
  }
  if (name.empty()) return 0;
  return error(
      fmt::format("{}: is text in {}, and UTF-8 is read. Convert it: `iconv -f {} -t UTF-8 FILE > NEW_FILE`.",
                  path, name.substr(0, 6), name));
}

}  // namespace hyfreedp
