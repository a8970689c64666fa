// A user's own files of texts: tables by the names of their columns, JSON lines, and lines.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "datasets/formats/number_table.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {

// The option `separator` of a CSV or TSV file, otherwise a comma or a tab.
Result<char> separator_of(const std::string& path, const json::object& options);
bool is_json_lines(const std::string& path);
// Texts of a CSV, TSV or JSON lines file (number_table.h), of CSV by the option `separator`.
Result<NumberTable> read_texts(const std::string& path, const json::object& options,
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
// True if records are blocks by the option `records`: blank lines are read then.
bool in_blocks(const json::object& options);

// Tells the owner of classified texts that some rows of both files lack one, as programs write them
// that save a table; empty if none does.
std::string blank_texts_note(const std::string& path, const NumberTable& train, const NumberTable& test);

}  // namespace hyfreedp::datasets
