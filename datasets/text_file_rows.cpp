#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "datasets/own/content_marks.h"
#include "datasets/own/parts.h"
#include "datasets/subset.h"
#include "datasets/text_file.h"

namespace hyfreedp::datasets {
namespace {

// The records of a file; of blocks the texts must become tokens first.
Result<std::size_t> count_of(const OwnTexts& texts, const json::object& options) {
  const auto own = read_options<TextFileOptions>(options);
  if (!own.in_blocks() || texts.table.texts.empty()) return texts.table.texts.size();
  const auto tokenizer = chosen_tokenizer(options);
  if (!tokenizer) return tokenizer.error();
  return token_rows(texts, options, **tokenizer).ids.size() / static_cast<std::size_t>(own.length);
}

// Notes test records of which the prompt fills all tokens.
Result<void> note_unscored_tests(const std::string& path, const OwnTexts& from, const SplitPlaces& test,
                                 const json::object& options, Notes& notes) {
  if (from.table.seconds.empty()) return {};
  const auto tokenizer = chosen_tokenizer(options);
  if (!tokenizer) return tokenizer.error();
  const auto length = read_options<TextFileOptions>(options).length;
  const auto before = std::ssize((**tokenizer).marks().before);
  const auto unscored = std::ranges::count_if(test.places, [&](std::int64_t place) {
    const auto& prompt = from.table.texts[static_cast<std::size_t>(place)];
    return before + std::ssize((**tokenizer).encode(prompt)) >= length;
  });
  note_unscored(path, unscored, std::ssize(test.places), length, notes);
  return {};
}

Result<void> check_given(const json::object& options) {
  if (!has_text(read_options<TokenizerOptions>(options).tokenizer))
    return error("needs 'tokenizer', a weights folder with its tokenizer, such as that of the model.");
  if (own_path(options).empty())
    return error("needs 'path', a .txt, .csv, .tsv or .jsonl file, or a folder with train.EXT.");
  const auto own = read_options<TextFileOptions>(options);
  if (has_text(own.prompt) && own.in_blocks())
    return error("'prompt' is read with `records: lines`; in blocks all tokens are scored.");
  if (has_text(own.prompt) && own.prompt == own.text)
    return error("'prompt' names the column of 'text' again.");
  return {};
}

}  // namespace

Sizes TextFile::sizes(const json::object& options) {
  const auto length = read_options<TextFileOptions>(options).length;
  const auto vocabulary = read_options<TokenizerOptions>(options).vocabulary.value_or(0);
  return with_counts({.classes = vocabulary,
                      .features = length,
                      .length = length,
                      .vocabulary = vocabulary,
                      .labels = LabelKind::tokens},
                     options);
}

TokenRows token_rows(const OwnTexts& texts, const json::object& options, Tokenizer& tokenizer) {
  const auto own = read_options<TextFileOptions>(options);
  const auto length = static_cast<std::size_t>(own.length);
  const auto& [table, is_lines] = texts;
  const auto& marks = tokenizer.marks();
  const bool blocks = own.in_blocks(), has_prompts = !table.seconds.empty();
  TokenRows rows;
  if (!blocks) {
    rows.ids.resize(table.texts.size() * length);
    rows.labels.resize(rows.ids.size());
  }
  std::vector<std::int64_t> tokens;
  const auto add = [&tokens](const std::vector<std::int64_t>& more) {
    tokens.insert(tokens.end(), more.begin(), more.end());
  };
  for (std::size_t i = 0; i < table.texts.size(); ++i) {
    if (blocks && is_lines) {
      add(tokenizer.encode(table.texts[i] + "\n"));
      continue;
    }
    if (!blocks) tokens.clear();
    add(marks.before);
    add(tokenizer.encode(table.texts[i]));
    const auto scored_from = has_prompts ? tokens.size() : 0;
    if (has_prompts) add(tokenizer.encode(table.seconds[i]));
    tokens.push_back(marks.end.value());
    if (blocks) continue;
    fill_continued(tokens, scored_from, *marks.end, std::span(rows.ids).subspan(i * length, length),
                   std::span(rows.labels).subspan(i * length, length));
  }
  if (!blocks) return rows;
  tokens.resize(tokens.size() / length * length);
  return {.ids = tokens, .labels = tokens};
}

Result<json::object> TextFile::complete(json::object given, Notes& notes) {
  if (auto checked = check_given(given); !checked) return checked.error();
  auto options = with_continued_tokenizer(std::move(given), notes);
  if (!options) return options;
  const auto path = locate_own_files(own_path(*options));
  if (!path) {
    const auto planned = check_sizes_given(path.error(), *options, {"train", "validation", "test"});
    return planned ? options : planned.error();
  }
  const auto texts = read_own_texts(*path, *options);
  if (!texts) return texts.error();
  const auto& [train, test] = *texts;
  const auto trained = count_of(train, *options), tested = count_of(test, *options);
  if (!trained) return trained.error();
  if (!tested) return tested.error();
  if (*tested == 0 && !test.table.texts.empty())
    return error(fmt::format("{}: the test file has less text than one block of 'length' tokens.", *path));
  const auto splits = split_places(*trained, *tested, *options, "records");
  if (!splits) return in_context(*path, splits.error());
  for (std::size_t i = 0; i < splits->size(); ++i)
    (*options)[std::array{"train", "validation", "test"}[i]] = (*splits)[i].places.size();
  const auto& tests = (*splits)[2];
  if (auto told = note_unscored_tests(*path, tests.of_test_file ? test : train, tests, *options, notes);
      !told)
    return told.error();
  auto marked = with_checksum(std::move(*options), *path);
  if (!marked) return marked;
  if (auto kept = keep_content(*marked, {}, train.table, test.table); !kept) return kept.error();
  return marked;
}

}  // namespace hyfreedp::datasets
