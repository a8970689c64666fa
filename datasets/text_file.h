// A user's own texts, which a network of tokens learns to continue: one file, named by the option
// `path`, or a folder with train.EXT and, where the test texts are a file of their own, test.EXT.
//
//   .txt           the lines; or .txt.gz
//   .csv, .tsv     the column `text`, and with `prompt` a column of texts before it (formats/csv.h)
//   .jsonl         the same, of an object a line; or .jsonl.gz (formats/json_lines.h)
//
// A record is what ε protects, and N their number, which counts as public from when a spec is read:
//
//   records: lines    a line, row or object. Its tokens are the marks that the tokenizer puts
//                     before a text, those of the prompt, those of the text, the end of text; cut
//                     at `length`, and padded with the end of text. Prompt and padding are not
//                     scored
//   records: blocks   `length` tokens of all texts of a file, one after the other: of .txt each
//                     line's with its line end, elsewhere the marks before a text, its tokens and
//                     the end of text. What is left at the file's end is not read. A text that
//                     lies in several blocks is not protected as a whole
//
// A record's place in its file alone decides which split it is in (own/parts.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/facts.h"
#include "datasets/own/own_files.h"
#include "datasets/own/own_texts.h"
#include "datasets/text_tokenizer.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

struct TextFile {
  static constexpr const char* kName = "text-file";
  static Facts facts() {
    return {
        .name = kName,
        .title = "Your own texts, for language models",
        .source = "files of the user",
        .how_to_get = "they are your files; 'path' names them",
        .options = joined(
            {options_of<TextFileOptions>(
                 {plain_option("records",
                               "what one record is, which ε protects; lines: a line, a row or an object; "
                               "blocks: 'length' tokens of all texts, one after the other (a text that "
                               "lies in several blocks is not protected as a whole)"),
                  ranged_option("length", 2, 8192,
                                "tokens of a record; longer lines are cut, shorter ones padded"),
                  plain_option("text", "the column or member that has the texts, but in .txt"),
                  later_option(plain_option(
                      "prompt", "the one that has what stands before each text, and is read but not scored")),
                  separator_option(),
                  own_count("train", "records in private_train (default: all of that part)"),
                  own_count("validation", "records in private_validation (default: all, about a tenth)"),
                  own_count("test", "records in test (default: all of test.EXT, or about a tenth of all)")}),
             tokenizer_options("a weights folder, or the name of fetched weights, whose tokenizer "
                               "cuts texts into tokens"),
             own_files_options("a .txt, .csv, .tsv or .jsonl file, or a folder with train.EXT and "
                               "test.EXT; in $HYFREEDP_DATA or the working folder"),
             other_people_option()}),
        .own_records = true,
        .sizes = sizes,
        .complete = complete};
  }
  // In text_file_rows.cpp, which is without LibTorch.
  static Sizes sizes(const json::object& options);
  static Result<json::object> complete(json::object options, Notes& notes);
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

// Records of T tokens: [n, T] each.
struct TokenRows {
  std::vector<std::int64_t> ids, labels;
};
TokenRows token_rows(const OwnTexts& texts, const json::object& options, Tokenizer& tokenizer);

}  // namespace hyfreedp::datasets
