#include "datasets/same_data.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "datasets/image_folder.h"
#include "datasets/own/content_marks.h"
#include "datasets/own/own_files.h"
#include "datasets/own/own_texts.h"
#include "datasets/text_tokenizer.h"
#include "harness/base/text.h"
#include "harness/random/partition.h"

namespace hyfreedp::datasets {
namespace {

// Generated data with other options are other data; a part of the data is not.
std::string name_with_options(const std::string& dataset, const json::object& options) {
  std::vector<std::string> parts;
  for (const auto& member : random::without_part(options)) {
    const auto& value = member.value();
    parts.push_back(std::string(member.key()) + " " +
                    (value.is_double() ? short_number(value.get_double()) : json::serialize(value)));
  }
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? dataset : dataset + " (" + join(parts, ", ") + ")";
}

// Options of published datasets that say how a record is represented, where the files are, and how
// many records of each split are taken. A smaller number of them is a part of a larger one
// (subset.h).
constexpr std::array kHarmless = {"features",  "side",     "interpolation",  "normalise", "network",
                                  "weights",   "copies",   "weights_sha256", "layer",     "feature_norm",
                                  "public",    "train",    "validation",     "test",      "path",
                                  "sha256",    "capital",  "files_mark",     "length",    "feature_width",
                                  "part",      "part_key", "part_rate",      "tokenizer", "tokenizer_sha256",
                                  "vocabulary"};

// `labels` of STL-10 leaves classes out, of training and test records alike: no training record
// becomes one for test.
constexpr const char* kLeavesOutClasses = "labels";

// `of_test`: of test records from the others.
std::string division_of(const Facts& facts, const json::object& options, const std::string& own_files,
                        bool of_test) {
  std::vector<std::string> parts = {facts.name, own_files};
  if (!facts.own_records) {
    for (const auto& option : facts.options) {
      if (of_test && option.name == kLeavesOutClasses) continue;
      const auto* value = options.if_contains(option.name);
      if (value != nullptr && chooses_records(option.name)) {
        parts.push_back(option.name + " " + canonical_json(*value));
      }
    }
  }
  // Another separator may read other rows, and blocks of other tokens are other records of the same
  // files.
  const auto own = read_options<TextFileOptions>(options);
  const bool is_usual = own.separator == (own_name(own_path(options)).ending == ".tsv" ? "\t" : ",");
  if (facts.own_records && own.separator && !is_usual) parts.push_back("separated by " + *own.separator);
  if (own.in_blocks()) {
    parts.push_back(fmt::format("blocks of {} {} of {}", own.length,
                                read_options<TokenizerOptions>(options).tokenizer_sha256.value_or(""),
                                own.text));
  }
  return join(parts, "; ");
}

// MNIST is made of two of the databases that EMNIST's, NIST's Special Database 19, contains (Cohen
// et al., arXiv:1702.05373): the same writers, in other images.
constexpr std::array<std::string_view, 2> kOfNist = {"mnist", "emnist"};

bool is_of_nist(const std::string& name) { return std::ranges::find(kOfNist, name) != kOfNist.end(); }

// Whether published data under another name are of the same people.
bool shares_source(const DataIdentity& data, const std::set<std::string>& names) {
  return data.kind == DataKind::published && is_of_nist(data.name) && std::ranges::any_of(names, is_of_nist);
}

// Ends the secret of own files whose single records are marked, too.
constexpr std::string_view kWithRecords = " records";

// The one secret of all marks; empty where there is none, or are several.
std::string only_secret(const TrainedData& data, bool with_records) {
  if (data.secrets.size() != 1) return "";
  auto secret = *data.secrets.begin();
  const bool has_records = secret.ends_with(kWithRecords);
  if (with_records) return has_records ? secret : "";
  return has_records ? secret.substr(0, secret.size() - kWithRecords.size()) : secret;
}

template <class T>
void add(const std::set<T>& some, std::set<T>& to) {
  to.insert(some.begin(), some.end());
}

bool shares_any(const std::set<std::string>& marks, const std::set<std::string>& others) {
  return std::ranges::any_of(marks, [&](const auto& mark) { return others.contains(mark); });
}

}  // namespace

DataIdentity identity_of(const std::string& dataset, const json::object& options) {
  const auto found = find_dataset(dataset);
  if (!found) return {.name = dataset};
  const auto& facts = **found;
  if (facts.files.empty() && !facts.own_records) {
    return {.name = name_with_options(dataset, options), .kind = DataKind::generated};
  }
  DataIdentity identity{.name = data_name(dataset, options),
                        .kind = facts.own_records ? DataKind::own : DataKind::published};
  std::set<std::string> published;
  if (!facts.own_records) {
    for (const auto& file : facts.files) {
      if (file.sha256.empty()) continue;
      if (auto mark = secret_mark(file.sha256)) published.insert(std::move(*mark));
    }
  }
  const auto path = own_path(options);
  const auto mark = own_mark(options);
  if (path.empty() || published.contains(mark)) {
    identity.marks = identity.test_marks = published;
    if (!published.empty()) identity.secret = mark_of_secret();
    identity.division = division_of(facts, options, "as published", false);
    identity.set_aside = division_of(facts, options, "as published", true);
    return identity;
  }
  const auto files = own_name(path).ending + " " + mark;
  identity.division = division_of(facts, options, files, false);
  identity.set_aside = division_of(facts, options, files, true);
  if (mark.empty()) return identity;
  const auto content = content_marks(mark);
  identity.marks = content.all;
  identity.marks.insert(mark);
  identity.test_marks = identity.marks;
  add(content.train, identity.marks);
  add(content.test, identity.test_marks);
  identity.marks.insert(train_part(mark));
  identity.test_marks.insert(test_part(mark));
  const bool others = read_options<OwnFilesOptions>(options).other_people;
  add(content.common_train, others ? identity.alike : identity.common);
  add(content.common_test, others ? identity.alike : identity.test_common);
  if (others && content.tests_on_training) identity.alike.insert(train_part(mark));
  identity.secret = content.secret;
  identity.reading =
      facts.name == ImageFolderDataset::facts().name ? reading_of_images() : reading_of_rows(options);
  if (!identity.secret.empty() && has_marked_records(mark, identity.reading)) identity.secret += kWithRecords;
  return identity;
}

bool is_same_data(const DataIdentity& one, const DataIdentity& other) {
  TrainedData data;
  data.add(one);
  return data.is_same(other);
}

void TrainedData::add(const DataIdentity& data) {
  names.insert(data.name);
  datasets::add(data.marks, marks);
  divisions.insert(data.division);
  set_aside.insert(data.set_aside);
  secrets.insert(data.secret);
  datasets::add(data.common, common);
  datasets::add(data.alike, alike);
  kinds.insert(data.kind);
}

void TrainedData::add(const TrainedData& other) {
  datasets::add(other.names, names);
  datasets::add(other.marks, marks);
  datasets::add(other.divisions, divisions);
  datasets::add(other.set_aside, set_aside);
  datasets::add(other.secrets, secrets);
  datasets::add(other.common, common);
  datasets::add(other.alike, alike);
  datasets::add(other.kinds, kinds);
}

bool TrainedData::is_same(const DataIdentity& data) const {
  if (names.contains(data.name) || shares_source(data, names) || shares_any(data.marks, marks)) return true;
  // What one of the two is said to be other people's, the other has among its common records.
  const bool are_others = shares_any(data.alike, marks) || shares_any(alike, data.marks);
  return !are_others && (shares_any(data.common, marks) || shares_any(data.marks, common));
}

namespace {

// The marks of the own files among the marks of some data.
std::vector<std::string> files_in(const std::set<std::string>& marks) {
  std::vector<std::string> files;
  const auto part = train_part("");
  for (const auto& mark : marks) {
    if (mark.ends_with(part)) files.push_back(mark.substr(0, mark.size() - part.size()));
  }
  return files;
}

bool were_compared(const TrainedData& one, const TrainedData& other) {
  for (const auto& files : files_in(one.marks)) {
    for (const auto& others : files_in(other.marks)) {
      if (!datasets::were_compared(files, others)) return false;
    }
  }
  return true;
}

}  // namespace

bool may_be_same(const TrainedData& one, const TrainedData& other) {
  if (one.kinds.contains(DataKind::generated) || other.kinds.contains(DataKind::generated)) return false;
  // Published data are told apart by their names.
  if (!one.kinds.contains(DataKind::own) && !other.kinds.contains(DataKind::own)) return false;
  if (shares_any(one.alike, other.marks) || shares_any(other.alike, one.marks)) return true;
  // Published sets have no marks of single records.
  const bool both_own = one.kinds.contains(DataKind::own) && other.kinds.contains(DataKind::own);
  const auto secret = only_secret(one, both_own);
  if (secret.empty() || secret != only_secret(other, both_own)) return true;
  return both_own && !were_compared(one, other);
}

bool is_said_to_be_others(const DataIdentity& test, const TrainedData& trained) {
  return shares_any(test.alike, trained.marks) || shares_any(trained.alike, test.test_marks);
}

bool may_share_unmarked_records(const DataIdentity& test, const TrainedData& trained) {
  if (test.kind != DataKind::own || !trained.kinds.contains(DataKind::own)) return false;
  if (is_said_to_be_others(test, trained)) return false;
  TrainedData tested;
  tested.add(test);
  return may_be_same(tested, trained);
}

bool keeps_test_apart(const DataIdentity& data) {
  return data.kind == DataKind::generated || (data.kind == DataKind::published && !is_of_nist(data.name));
}

bool supersedes(const DataIdentity& newer, const DataIdentity& older) {
  const bool has_marks = newer.secret == older.secret + std::string(kWithRecords);
  const bool has_reading = older.reading.empty() && !newer.reading.empty() && newer.secret == older.secret;
  return (has_marks || has_reading) && newer.name == older.name && newer.division == older.division &&
         std::ranges::includes(newer.marks, older.marks);
}

DataIdentity as_known_now(DataIdentity data) {
  if (data.kind != DataKind::own) return data;
  // Recorded when a file of lines still had its ending in its name.
  if (constexpr std::string_view kLines = ".txt)";
      data.name.starts_with("text-file (") && data.name.ends_with(kLines)) {
    data.name.replace(data.name.size() - kLines.size(), kLines.size(), ")");
  }
  for (const auto& files : files_in(data.marks)) {
    for (const auto& other : content_marks(files).common_train) {
      if (!data.alike.contains(other)) data.common.insert(other);
    }
    if (data.secret.ends_with(kWithRecords) && !has_marked_records(files, data.reading))
      data.secret.resize(data.secret.size() - kWithRecords.size());
  }
  return data;
}

DataKind kind_of(const std::string& name) {
  const auto found = find_dataset(name.substr(0, name.find(" (")));
  if (!found || (**found).own_records) return DataKind::own;
  return (**found).files.empty() ? DataKind::generated : DataKind::published;
}

bool chooses_records(const std::string& option) {
  return std::ranges::find(kHarmless, option) == kHarmless.end();
}

bool may_share_records(const DataIdentity& test, const TrainedData& trained) {
  if (test.kind == DataKind::generated) return false;
  const bool has_name = trained.names.contains(test.name);
  const bool has_mark =
      shares_any(test.test_marks, trained.marks) || shares_any(test.test_common, trained.marks) ||
      (!is_said_to_be_others(test, trained) && shares_any(test.test_marks, trained.common)) ||
      shares_source(test, trained.names);
  if (!has_name && !has_mark) return false;
  const bool is_set_aside = test.kind == DataKind::published && has_name &&
                            trained.set_aside == std::set<std::string>{test.set_aside};
  return !is_set_aside;
}

bool own_test_may_share_records(const DataIdentity& data, const TrainedData& trained) {
  const bool divides_alike = trained.divisions == std::set<std::string>{data.division};
  const bool has_own_name = data.kind == DataKind::own && !trained.names.contains(data.name);
  const bool is_divided = trained.is_same(data) && (divides_alike || !has_own_name);
  return !is_divided && may_share_records(data, trained);
}

std::string why_no_test_set(const std::string& name, const DataIdentity& test, const TrainedData& trained,
                            const std::string& where) {
  const auto names = join({trained.names.begin(), trained.names.end()}, " = ");
  const bool has_name = trained.names.contains(test.name);
  const bool has_mark = shares_any(test.test_marks, trained.marks);
  const bool has_source = shares_source(test, trained.names);
  const std::string by = has_name     ? "their name"
                         : has_mark   ? "what the files contain"
                         : has_source ? "their source"
                                      : "records in both";
  const std::string advice = has_name ? "Other data of the same name need another name."
                             : has_mark || has_source
                                 ? ""
                                 : "If equal rows are other people's by chance, say `other_people: true` "
                                   "in the test set's `dataset`.";
  return fmt::format(
      "{} is {}, and {} trains on {}: the same data, by {}. Its records may be private ones "
      "of that training, and their accuracy is printed without noise. Name test data of which no record is "
      "trained on.{}{}",
      name, test.name, where, names == test.name ? "it" : names, by, advice.empty() ? "" : " ", advice);
}

}  // namespace hyfreedp::datasets
