#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <charconv>
#include <fmt/format.h>
#include <optional>

#include "datasets/formats/libsvm.h"
#include "datasets/formats/npy.h"
#include "datasets/formats/safetensors_table.h"
#include "datasets/own/content_marks.h"
#include "datasets/own/own_texts.h"
#include "datasets/own/parts.h"
#include "datasets/subset.h"
#include "datasets/table_columns.h"
#include "datasets/table_file.h"
#include "datasets/text_tokenizer.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::array kEndings = {".csv",   ".tsv",      ".libsvm",     ".libsvm.gz",
                                 ".jsonl", ".jsonl.gz", ".safetensors"};
constexpr std::array kMoreEndings = {".npy"};
constexpr std::int64_t kMostClasses = 1'000'000;
constexpr std::int64_t kDefaultLength = 64;

// "0..99": the first and the last of them. Anything else is a label itself.
std::optional<std::pair<std::int64_t, std::int64_t>> integers_of(const std::string& text) {
  const auto dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  std::int64_t first = 0, last = 0;
  const auto* const begin = text.data();
  const auto* const end = begin + text.size();
  const auto low = std::from_chars(begin, begin + dots, first),
             high = std::from_chars(begin + dots + 2, end, last);
  const bool whole =
      low.ec == std::errc() && low.ptr == begin + dots && high.ec == std::errc() && high.ptr == end;
  if (!whole || first > last ||
      static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) >= kMostClasses) {
    return std::nullopt;
  }
  return std::pair(first, last);
}

Result<void> check_labels(const std::vector<std::string>& labels) {
  for (const auto& label : labels) {
    if (label.starts_with('"') != label.ends_with('"')) {
      return error(
          fmt::format("'labels' is cut at every comma, quotes or not, which makes a class {} of it. A class "
                      "with a comma in "
                      "its name needs another name in the file.",
                      as_one_line(label)));
    }
  }
  auto sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (labels.size() >= 2 && !twice && !sorted.front().empty()) return {};
  return error(fmt::format("'labels' must name at least two different classes, parted by commas, not '{}'.",
                           join(labels, ", ")));
}

// Returns the labels of a format that has numbers as labels.
Result<std::vector<double>> number_labels(const std::string& path, const json::object& options) {
  std::vector<double> labels;
  for (const auto& label : labels_of(options)) {
    const auto number = double_of(label);
    if (!number) {
      return error(
          fmt::format("{}: the labels in such a file are numbers, but 'labels' has '{}'.", path, label));
    }
    labels.push_back(*number);
  }
  return labels;
}

Result<NumberTable> read_numbers(const std::string& path, const json::object& options) {
  const auto features = read_options<TableFileOptions>(options).features.value_or(0);
  const bool is_npy = path.ends_with(".npy"), is_safetensors = path.ends_with(".safetensors");
  if (!is_npy && !is_safetensors && features < 1)
    return error(path + ": give 'features', the number of features; a LIBSVM file does not say it.");
  const auto labels = number_labels(path, options);
  if (!labels) return labels.error();
  if (is_safetensors) return read_safetensors_table(path, *labels);
  if (!is_npy) return read_libsvm(path, {.features = features, .labels = *labels});
  // STEM.npy and STEM.labels.npy.
  const auto classes = path.substr(0, path.size() - std::string_view(".npy").size()) + ".labels.npy";
  return read_npy(path, classes, *labels);
}

Result<NumberTable> read_one(const std::string& path, const json::object& options) {
  const auto own = read_options<TableFileOptions>(options);
  for (const char* ending : {".libsvm", ".libsvm.gz", ".npy", ".safetensors"})
    if (path.ends_with(ending)) return read_numbers(path, options);
  if (has_text(own.text)) {
    if (own.label.empty())
      return error(path + ": 'label' is empty. Texts without a class are read by the dataset 'text-file'.");
    return read_texts(path, own.separator, {.text = *own.text, .second = own.second.value_or("")}, own.label,
                      labels_of(options));
  }
  if (is_json_lines(path))
    return error(path + ": JSON lines are read as texts; give 'text', the member that has them.");
  const auto separator = separator_of(path, own.separator);
  if (!separator) return separator.error();
  return read_number_csv(path, *separator, own.label, labels_of(options));
}

// Fills in what the tokenizer decides. One that is not here needs its checksum and its vocabulary.
Result<json::object> with_tokenizer(json::object options) {
  const auto own = read_options<TableFileOptions>(options);
  if (!has_text(own.text)) {
    for (const char* name : {"second", "tokenizer", "length", "vocabulary", "padding", "second_after"}) {
      if (is_given(options, name))
        return error(fmt::format("'{}' is read only with 'text', the column that has the texts.", name));
    }
    return options;
  }
  const auto name = read_options<TokenizerOptions>(options).tokenizer.value_or("");
  if (name.empty())
    return error("'text' needs 'tokenizer', a weights folder with its tokenizer, such as that of the model.");
  if (own.normalise != RowScale::none) return error("'normalise' is not read with 'text'.");
  if (own.second == own.text)
    return error("'second' names the column of 'text' again; a pair is of two columns.");
  const auto length = own.length.value_or(kDefaultLength);
  if (own.features.value_or(length) != length)
    return error("'features' is not read with 'text'; 'length' is the number of tokens of an example.");
  options["length"] = length;
  options["features"] = length;
  const auto tokenizer = fill_in_tokenizer(options);
  if (!tokenizer) return tokenizer.error();
  if (*tokenizer == nullptr) return options;
  const auto padding = (**tokenizer).marks().padding;
  if (const auto before = own.padding.value_or(padding); before != padding)
    return error(fmt::format("The tokenizer of '{}' pads with {}, not {}.", name, padding, before));
  options["padding"] = padding;
  const auto& between = (**tokenizer).marks().between;
  if (!has_text(own.second) || between.empty()) return options;
  if (const auto before = own.second_after.value_or(between.front()); before != between.front())
    return error(
        fmt::format("The tokenizer of '{}' ends a text with {}, not {}.", name, between.front(), before));
  options["second_after"] = between.front();
  return options;
}

std::int64_t columns_of(const NumberTable& table) {
  return static_cast<std::int64_t>(table.features.size() / std::max<std::size_t>(table.labels.size(), 1));
}

// Whose columns are those of the table.
const NumberTable& any_part(const OwnTable& table) {
  return table.train.labels.empty() ? table.test : table.train;
}

}  // namespace

std::vector<std::string> labels_of(const json::object& options) {
  std::vector<std::string> given, labels;
  boost::split(given, read_options<TableFileOptions>(options).labels, boost::is_any_of(","));
  for (auto& label : given) {
    boost::trim(label);
    const auto range = integers_of(label);
    if (!range) {
      labels.push_back(label);
      continue;
    }
    // Counted from 0, because the last may be the largest integer.
    for (std::int64_t i = 0; i <= range->second - range->first; ++i) {
      labels.push_back(std::to_string(range->first + i));
    }
  }
  return labels;
}

Sizes TableFile::sizes(const json::object& options) {
  const auto own = read_options<TableFileOptions>(options);
  return with_counts({.classes = std::ssize(labels_of(options)),
                      .features = own.features.value_or(0),
                      .length = own.length.value_or(0),
                      .vocabulary = read_options<TokenizerOptions>(options).vocabulary.value_or(0),
                      .padding = own.padding.value_or(0),
                      .separator = own.second_after},
                     options);
}

namespace {

Result<void> check_columns(const std::string& train, const std::vector<std::string>& columns,
                           const std::string& test, const std::vector<std::string>& others) {
  if (columns.empty() || others.empty() || columns == others) return {};
  std::size_t i = 0;
  while (i < std::min(columns.size(), others.size()) && columns[i] == others[i]) ++i;
  const auto name = [i](const std::vector<std::string>& names) {
    return i < names.size() ? "'" + as_one_line(names[i]) + "'" : std::string("nothing");
  };
  return error(
      fmt::format("{}: its columns are not those of {}, or are in another order: feature {} is {}, and there "
                  "{}. A network "
                  "knows features by their place.",
                  test, train, i + 1, name(others), name(columns)));
}

}  // namespace

Result<void> check_same_columns(const json::object& trained, const json::object& tested) {
  std::array<std::vector<std::string>, 2> columns;
  std::array<std::string, 2> paths;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& options = i == 0 ? trained : tested;
    const auto path = locate_own_files(own_path(options));
    if (!path) return {};  // not here: nothing is known
    const auto table = read_own_table(*path, options);
    if (!table) return table.error();
    columns[i] = any_part(*table).columns;
    paths[i] = *path;
  }
  return check_columns(paths[0], columns[0], paths[1], columns[1]);
}

Result<std::string> same_reading_note(const json::object& trained, const json::object& tested) {
  if (read_options<TokenizerOptions>(trained).tokenizer_sha256 !=
      read_options<TokenizerOptions>(tested).tokenizer_sha256)
    return error(
        "its texts are cut by another 'tokenizer' than those that are trained on: an id would stand for "
        "other words.");
  if (has_text(read_options<TableFileOptions>(trained).second) !=
      has_text(read_options<TableFileOptions>(tested).second))
    return error("one of it and of what is trained on has pairs of texts ('second'), and the other has not.");
  const auto here = labels_of(tested), there = labels_of(trained);
  if (here == there) return "";
  auto sorted = here, others = there;
  std::ranges::sort(sorted);
  std::ranges::sort(others);
  if (sorted == others) {
    return error(
        fmt::format("'labels' has the classes in another order than what is trained on ({}): each would be "
                    "taken for another.",
                    join(there, ", ")));
  }
  return fmt::format(
      "The classes of the test set are {}, and those that are trained on are {}. The first is taken for the "
      "first, and so on: look whether they mean the same, in the same order.",
      join(here, ", "), join(there, ", "));
}

Result<std::string> columns_sha256(const json::object& options) {
  const auto path = locate_own_files(own_path(options));
  if (!path || has_text(read_options<TableFileOptions>(options).text)) return "";
  const auto table = read_own_table(*path, options);
  if (!table) return table.error();
  const auto& columns = any_part(*table).columns;
  if (columns.empty()) return "";
  std::string names;
  for (const auto& name : columns) names += composed(name) + "\n";
  return sha256_hex(names);
}

Result<OwnTable> read_own_table(const std::string& path, const json::object& options) {
  const auto files = part_files(path,
                                {.endings = kEndings,
                                 .more = kMoreEndings,
                                 .about_more = "; files of NumPy are named by their folder, which has "
                                               "train.npy and train.labels.npy"},
                                options);
  if (!files) return files.error();
  OwnTable table;
  for (const auto& [file, part] : {std::pair(&files->train, &table.train),
                                   std::pair(files->test ? &*files->test : nullptr, &table.test)}) {
    if (file == nullptr || file->empty()) continue;
    auto read = read_one(*file, options);
    if (!read) return read.error();
    *part = std::move(*read);
  }
  if (files->train.empty() || !files->test) return table;
  if (columns_of(table.test) != columns_of(table.train)) {
    return error(fmt::format("{} has {} features, but {} has {}.", *files->test, columns_of(table.test),
                             files->train, columns_of(table.train)));
  }
  if (auto same = check_columns(files->train, table.train.columns, *files->test, table.test.columns); !same)
    return same.error();
  return table;
}

Result<std::array<SplitRows, 3>> split_rows(const OwnTable& table, const json::object& options) {
  auto places = split_places(table.train.labels.size(), table.test.labels.size(), options, "rows");
  if (!places) return places.error();
  std::array<SplitRows, 3> splits;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    auto& [of_test_file, rows] = (*places)[i];
    splits[i] = {.from = of_test_file ? &table.test : &table.train, .rows = std::move(rows)};
  }
  return splits;
}

namespace {

// The classes of which no row is tested.
void note_untested(const std::string& path, const SplitRows& test, const std::vector<std::string>& labels,
                   Notes& notes) {
  std::vector<bool> tested(labels.size());
  for (const auto row : test.rows)
    tested[static_cast<std::size_t>(test.from->labels[static_cast<std::size_t>(row)])] = true;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!tested[i]) missing.push_back(labels[i]);
  if (!missing.empty()) notes.push_back(untested_note(path, "row", std::move(missing)));
}

}  // namespace

Result<json::object> TableFile::complete(json::object given_options, Notes& notes) {
  auto tokenised = with_tokenizer(std::move(given_options));
  if (!tokenised) return tokenised;
  auto& options = *tokenised;
  if (auto checked = check_labels(labels_of(options)); !checked) return checked.error();
  const auto given = own_path(options);
  if (given.empty())
    return error("needs 'path', a .csv, .tsv, .libsvm or .jsonl file, or a folder with train.EXT.");
  const auto path = locate_own_files(given);
  if (!path) {
    const auto planned =
        check_sizes_given(path.error(), options, {"train", "validation", "test", "features"});
    return planned ? Result<json::object>(options) : planned.error();
  }
  const auto table = read_own_table(*path, options);
  if (!table) return table.error();
  const auto own = read_options<TableFileOptions>(options);
  const auto features = has_text(own.text) ? own.length.value_or(0) : columns_of(any_part(*table));
  if (const auto before = own.features.value_or(features); before != features)
    return error(fmt::format("{}: has {} features, not {}.", *path, features, before));
  const auto splits = split_rows(*table, options);
  if (!splits) return in_context(*path, splits.error());
  note_untested(*path, (*splits)[2], labels_of(options), notes);
  if (auto blank = blank_texts_note(*path, table->train, table->test); !blank.empty())
    notes.push_back(std::move(blank));
  options["features"] = features;
  options["train"] = (*splits)[0].rows.size();
  options["validation"] = (*splits)[1].rows.size();
  options["test"] = (*splits)[2].rows.size();
  auto marked = with_checksum(std::move(options), *path);
  if (!marked) return marked;
  if (auto kept = keep_content(*marked, labels_of(*marked), table->train, table->test); !kept)
    return kept.error();
  return marked;
}

}  // namespace hyfreedp::datasets
