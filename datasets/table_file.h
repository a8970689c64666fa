// A user's own table of numbers or texts, named by the option `path`: one file, or a folder with
// train.EXT and, where the test rows are a file of their own, test.EXT. No code is needed.
//
//   .csv, .tsv   a header; one column is the class, all others are features (formats/csv.h)
//                With the option `text` a row's example is the text of that column, or the pair of
//                texts of it and of the column `second`, as the tokens of the tokenizer in the
//                weights folder `tokenizer` (text/tokenizer.h)
//   .jsonl       texts too: an object a line, whose members are named as columns are; or .jsonl.gz
//                (formats/json_lines.h)
//   .libsvm      LIBSVM's sparse format (formats/libsvm.h), gzipped (.libsvm.gz) or plain
//   .safetensors tensors `features` and `labels` (formats/safetensors_table.h), such as features
//                which another program computed
//   .npy         in a folder: arrays of NumPy (formats/npy.h); train.labels.npy has the classes of
//                train.npy's rows
//
// What is public of it stands in the spec: the classes, and in LIBSVM's format the number of
// features. The rows are counted when the spec is read; their number counts as public from there
// on. A row's place in its file alone decides which split it is in (split_rows).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/facts.h"
#include "datasets/formats/number_table.h"
#include "datasets/own/own_files.h"
#include "datasets/own/own_texts.h"
#include "datasets/text_tokenizer.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

enum class RowScale { none, norm };
BOOST_DESCRIBE_ENUM(RowScale, none, norm)

struct TableFileOptions {
  std::string labels = "0, 1", label = "label";
  std::optional<std::string> separator, text, second;
  RowScale normalise = RowScale::none;
  CountOptions counts;
  std::optional<std::int64_t> features, length, padding, second_after;
  static constexpr std::array kInlined = {"counts"};
};
BOOST_DESCRIBE_STRUCT(TableFileOptions, (),
                      (labels, label, separator, text, second, normalise, counts, features, length, padding,
                       second_after))

struct TableFile {
  static constexpr const char* kName = "table-file";
  static Facts facts() {
    return {
        .name = kName,
        .title = "Your own table of numbers or texts",
        .source = "files of the user",
        .how_to_get = "they are your files; 'path' names them",
        .options = joined(
            {options_of<TableFileOptions>(
                 {plain_option("labels",
                               "the classes, as the file writes them; 0..99 stands for the integers from 0 "
                               "to 99"),
                  plain_option("label", "CSV and TSV: the column that has the class; JSON lines: the member"),
                  separator_option(),
                  plain_option("normalise",
                               "none: the numbers as they are; norm: each row is scaled to the "
                               "norm sqrt(number of features), a row of zeros stays"),
                  own_count("train", "rows in private_train (default: all of that part)"),
                  own_count("validation", "rows in private_validation (default: all, about a tenth)"),
                  own_count("test", "rows in test (default: all of test.EXT, or about a tenth of all)"),
                  own_count("features",
                            "numbers in a row; needed for LIBSVM's format, otherwise "
                            "filled in when a spec is read"),
                  later_option(plain_option(
                      "text", "the column or member that has the texts, for a model of sequences")),
                  later_option(
                      plain_option("second", "the one that has the second text, where a row is a pair")),
                  later_option(ranged_option(
                      "length", 4, 8192,
                      "tokens of an example, default 64; longer texts are cut, shorter ones padded")),
                  later_option(
                      ranged_option("padding", 0, 1e7, "the id of [PAD]; filled in when a spec is read")),
                  later_option(ranged_option(
                      "second_after", 0, 1e7,
                      "pairs: the id of [SEP], after which the second text begins; filled in when a spec is "
                      "read"))}),
             tokenizer_options("a weights folder, or the name of fetched weights, whose tokenizer "
                               "cuts texts into tokens"),
             own_files_options("a .csv, .tsv, .jsonl, .libsvm, .libsvm.gz or .safetensors file, or a folder "
                               "with train.EXT and test.EXT, where EXT may be npy too; in $HYFREEDP_DATA or "
                               "the working folder"),
             other_people_option()}),
        .own_records = true,
        .sizes = sizes,
        .complete = complete};
  }
  // In table_file_rows.cpp, which is without LibTorch.
  static Sizes sizes(const json::object& options);
  static Result<json::object> complete(json::object options, Notes& notes);
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

// The rows of one split, in the table `from`.
struct SplitRows {
  const NumberTable* from = nullptr;
  std::vector<std::int64_t> rows;
};

struct OwnTable {
  NumberTable train;
  NumberTable test;  // without rows where there is no such file
};

// The classes, as `labels` writes them.
std::vector<std::string> labels_of(const json::object& options);
// Errors: no such file, another ending, and those of the readers.
Result<OwnTable> read_own_table(const std::string& path, const json::object& options);
// The rows of each split, as split_places (own/parts.h) divides them.
Result<std::array<SplitRows, 3>> split_rows(const OwnTable& table, const json::object& options);

}  // namespace hyfreedp::datasets
