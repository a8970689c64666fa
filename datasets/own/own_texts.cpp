#include "datasets/own/own_texts.h"

#include <fmt/format.h>

#include "datasets/own/own_files.h"
#include "harness/base/option_lines.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::array kEndings = {".txt", ".txt.gz", ".csv", ".tsv", ".jsonl", ".jsonl.gz"};

Result<OwnTexts> read_one(const std::string& path, const TextFileOptions& options) {
  const bool is_lines = path.ends_with(".txt") || path.ends_with(".txt.gz");
  const bool has_prompt = has_text(options.prompt);
  if (is_lines && has_prompt)
    return error(path + ": 'prompt' names a column, and the lines of a .txt file have none.");
  if (is_lines && options.separator)
    return error(path + ": 'separator' is of CSV and TSV files, and .txt files have none.");
  const TextColumns columns{
      .text = options.text, .second = options.prompt.value_or(""), .second_option = "prompt"};
  auto table = is_lines ? read_text_lines(path, options.in_blocks())
                        : read_texts(path, options.separator, columns, "", {});
  if (!table) return table.error();
  if (has_prompt) std::swap(table->texts, table->seconds);
  return OwnTexts{.table = std::move(*table), .is_lines = is_lines};
}

}  // namespace

bool is_json_lines(const std::string& path) {
  return path.ends_with(".jsonl") || path.ends_with(".jsonl.gz");
}

OptionSpec separator_option() {
  return later_option(plain_option("separator",
                                   "CSV and TSV: the character between two fields, such as \";\" (default: a "
                                   "comma, in .tsv a tab)"));
}

Result<char> separator_of(const std::string& path, const std::optional<std::string>& given) {
  const auto separator = given.value_or(path.ends_with(".tsv") ? "\t" : ",");
  if (separator.size() != 1 ||
      std::string_view("\"\r\n.+-0123456789").find(separator.front()) != std::string_view::npos) {
    return error(
        fmt::format("'separator' is one character between fields, such as \";\" or \"\\t\", not '{}'.",
                    as_one_line(separator)));
  }
  return separator.front();
}

Result<NumberTable> read_texts(const std::string& path, const std::optional<std::string>& separator,
                               const TextColumns& columns, const std::string& label,
                               const std::vector<std::string>& labels) {
  if (!is_json_lines(path)) {
    const auto between = separator_of(path, separator);
    if (!between) return between.error();
    return read_text_csv(path, *between, columns, label, labels);
  }
  if (separator) return error(path + ": 'separator' is of CSV and TSV files, and JSON lines have none.");
  return read_text_json_lines(path, columns, label, labels);
}

Result<std::array<OwnTexts, 2>> read_own_texts(const std::string& path, const json::object& options) {
  const auto files = part_files(path, {.endings = kEndings}, options);
  if (!files) return files.error();
  const auto own = read_options<TextFileOptions>(options);
  auto train = files->train.empty() ? Result<OwnTexts>(OwnTexts()) : read_one(files->train, own);
  if (!train) return train.error();
  auto test = files->test ? read_one(*files->test, own) : Result<OwnTexts>(OwnTexts());
  if (!test) return test.error();
  return std::array{std::move(*train), std::move(*test)};
}

std::string blank_texts_note(const std::string& path, const NumberTable& train, const NumberTable& test) {
  std::size_t blank = 0;
  for (const auto* part : {&train, &test}) {
    for (std::size_t i = 0; i < part->texts.size(); ++i) {
      const bool lacks_second = !part->seconds.empty() && is_blank(part->seconds[i]);
      blank += lacks_second || is_blank(part->texts[i]) ? 1 : 0;
    }
  }
  if (blank == 0) return "";
  return fmt::format("{}: {} of {} rows lack a text; each is an example with an empty one", path, blank,
                     train.texts.size() + test.texts.size());
}

}  // namespace hyfreedp::datasets
