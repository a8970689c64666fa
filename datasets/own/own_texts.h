// A user's own files of texts: tables by the names of their columns, JSON lines, and lines.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "datasets/formats/number_table.h"
#include "datasets/own/parts.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {

enum class Records { lines, blocks };
BOOST_DESCRIBE_ENUM(Records, lines, blocks)

// The options of `text-file` (text_file.h).
struct TextFileOptions {
  Records records = Records::lines;
  std::int64_t length = 64;  // tokens of a record
  std::string text = "text";
  std::optional<std::string> prompt, separator;
  CountOptions counts;
  static constexpr std::array kInlined = {"counts"};

  // Blank lines are read then.
  bool in_blocks() const { return records == Records::blocks; }
};
BOOST_DESCRIBE_STRUCT(TextFileOptions, (), (records, length, text, prompt, separator, counts))

// `separator` of CSV and TSV files, for options_of.
OptionSpec separator_option();
// Returns what is between two fields of a CSV or TSV file: what is `given`, else a comma or a tab.
Result<char> separator_of(const std::string& path, const std::optional<std::string>& given);
bool is_json_lines(const std::string& path);
// Texts of a CSV, TSV or JSON lines file (number_table.h).
Result<NumberTable> read_texts(const std::string& path, const std::optional<std::string>& separator,
                               const TextColumns& columns, const std::string& label,
                               const std::vector<std::string>& labels);

// The content of a file of `text-file`: texts, or if there are prompts the pairs of a prompt and a
// text.
struct OwnTexts {
  NumberTable table;
  bool is_lines = false;  // of .txt
};
// Reads the train and the test file; the second is empty if there is no test file. Errors: no such
// file, another ending, and those of the readers.
Result<std::array<OwnTexts, 2>> read_own_texts(const std::string& path, const json::object& options);

// Tells the owner of classified texts that some rows of both files lack one, as programs write them
// that save a table; empty if none does.
std::string blank_texts_note(const std::string& path, const NumberTable& train, const NumberTable& test);

}  // namespace hyfreedp::datasets
