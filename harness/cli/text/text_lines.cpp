#include "harness/cli/text/text_lines.h"

#include <fmt/format.h>
#include <iostream>
#include <iterator>

#include "datasets/formats/json_lines.h"
#include "harness/base/files.h"
#include "harness/base/split.h"
#include "harness/base/text_encoding.h"
#include "harness/base/utf8.h"

namespace hyfreedp::cli {
namespace {

using Texts = std::vector<std::string>;

Result<Texts> members(const std::string& path, const std::string& member) {
  Texts texts;
  const auto add = [&](const std::string& where, std::span<const json::value> fields) -> Result<void> {
    if (!fields[0].is_string()) return error(fmt::format("{}: '{}' is no text.", where, member));
    texts.emplace_back(fields[0].get_string());
    return {};
  };
  if (auto read = datasets::visit_json_lines(path, {member}, add); !read) return read.error();
  return texts;
}

Result<std::string> whole(const std::string& path) {
  if (path != "-") return read_file(path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

}  // namespace

Result<Texts> text_lines(const std::string& path, const std::string& member) {
  if (path.ends_with(".jsonl")) return members(path, member);
  const auto content = whole(path);
  if (!content) return content.error();
  const auto begin = begin_of_text(*content, path);
  if (!begin) return begin.error();
  auto lines = split(std::string_view(*content).substr(*begin), '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].ends_with('\r')) lines[i].pop_back();
    if (first_byte_not_utf8(lines[i])) return error(fmt::format("{}:{}: is not UTF-8.", path, i + 1));
  }
  return lines;
}

}  // namespace hyfreedp::cli
