#include "datasets/own/content_marks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "datasets/own/own_files.h"
#include "datasets/own/record_marks.h"
#include "harness/base/file_lock.h"
#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kMarkDigits = 64;

std::string folder() { return state_folder() + "/content"; }

// Empty where it is none: the options of a spec may say anything.
std::string file_of(const std::string& mark) {
  const bool is_mark =
      mark.size() == kMarkDigits && mark.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_mark ? folder() + "/" + mark + ".json" : "";
}

constexpr const char* kTag = "tag";

// Tells whether what is kept was changed. None without a secret.
std::optional<std::string> tag_of(const json::object& object) {
  return secret_mark("what is kept of own files " + canonical_json(object));
}

// SHA-256 of each of some records.
using Records = std::vector<std::string>;

// The records of some files, as they are read.
class Reader {
 public:
  // `reading`: as what the files are read. Single records are marked where there is a secret and
  // the files have not been read so yet.
  Reader(std::string mark, std::string reading) : mark_(std::move(mark)), reading_(std::move(reading)) {
    secret_ = secret_mark("the records of own files");
    if (!file_of(mark_).empty() && secret_ && !has_marked_records(mark_, reading_)) single_.emplace(*secret_);
  }

  void add(std::string_view record, bool is_test) {
    (is_test ? test_ : train_).push_back(sha256_hex(record));
    if (single_) single_->add(record, is_test);
  }

  // `classes`: each one's number, where it is one.
  void add_rows(const NumberTable& table, const std::vector<std::optional<float>>& classes, bool is_test) {
    const auto rows = table.labels.size();
    if (rows == 0) return;
    for (std::size_t i = 0; i < table.texts.size(); ++i) add_texts(table, i, is_test);
    if (!table.texts.empty()) return;
    const auto columns = table.features.size() / rows;
    std::vector<float> row(columns);
    for (std::size_t i = 0; i < rows; ++i) {
      // -0 and 0 are one number.
      for (std::size_t j = 0; j < columns; ++j) row[j] = table.features[i * columns + j] + 0.0F;
      (is_test ? test_ : train_)
          .push_back(sha256_hex({reinterpret_cast<const char*>(row.data()), columns * sizeof(float)}));
      if (!single_) continue;
      single_->add_row(row.data(), columns, classes[static_cast<std::size_t>(table.labels[i])], is_test);
    }
  }

  // `other_people`: equal records are other people's. Otherwise nothing is kept where test records
  // are training records: such a reading is refused, and says nothing of others.
  Result<void> keep(bool other_people) &&;

 private:
  // Each text of a pair has a mark of its own: other files may have one of them alone.
  void add_texts(const NumberTable& table, std::size_t row, bool is_test) {
    const bool is_pair = !table.seconds.empty();
    const auto& text = table.texts[row];
    const auto record = is_pair ? text + '\0' + table.seconds[row] : text;
    (is_test ? test_ : train_).push_back(sha256_hex(record));
    if (!single_) return;
    single_->add(plain_text(text), is_test);
    if (!is_pair) return;
    single_->add(plain_text(table.seconds[row]), is_test);
    // Among the files' own rows whole pairs are compared: questions about one text are many
    // records.
    if (!pairs_) pairs_.emplace(*secret_);
    pairs_->add(plain_text(text) + '\0' + plain_text(table.seconds[row]), is_test);
  }

  std::string mark_, reading_;
  Records train_, test_;
  std::optional<std::string> secret_;
  std::optional<RecordMarker> single_, pairs_;
};

// Compares with the other files, as far as that was not done yet, and adds the marks of those that
// have records in common with these.
Result<void> add_common(const std::string& mark, const MarkedReadings& single, ContentMarks& marks) {
  auto now = marked_file(mark, single);
  if (marks.as_marked != now) marks.compared.clear();
  marks.as_marked = std::move(now);
  marks.readings.clear();
  for (const auto& [reading, records] : single) marks.readings.insert(reading);
  std::set<std::string> others;
  for (auto& other : marked_files(folder())) {
    if (!other.starts_with(mark + " ") && !marks.compared.contains(other)) others.insert(other);
  }
  const auto found = with_common_records(folder(), others, single);
  if (!found) return found.error();
  marks.compared.merge(others);
  for (const auto& common : *found) {
    if (common.trained_by_both) marks.common_train.insert(train_part(common.files_mark));
    if (common.trains_on_tests) marks.common_train.insert(test_part(common.files_mark));
    if (common.tests_on_theirs) marks.common_test.insert(train_part(common.files_mark));
  }
  return {};
}

Result<void> write(const std::string& file, const ContentMarks& before, const ContentMarks& marks) {
  if (marks == before) return {};
  auto object = as_json(marks);
  object[kTag] = tag_of(object).value_or("");
  return write_file_atomically(file, canonical_json(object) + "\n", 0600);
}

Error tests_on_training() {
  return error(
      "test records are training records, too, and the accuracy on them would be printed without noise. Take "
      "them out of one of the two; where equal rows are other people's by chance, say `other_people: true`.");
}

Result<void> Reader::keep(bool other_people) && {
  auto train = std::move(train_), test = std::move(test_);
  std::sort(train.begin(), train.end());
  std::sort(test.begin(), test.end());
  // Records that occur twice do not matter, and blank images may be alike.
  auto tested = test;
  tested.erase(std::unique(tested.begin(), tested.end()), tested.end());
  if (tested.size() > 1 && std::ranges::includes(train, tested)) {
    return error(
        "every test record is a training record too, and the accuracy on them would be printed without "
        "noise. "
        "Give test records that are not trained on; without any, one record in ten is set aside.");
  }
  const auto file = file_of(mark_);
  if (file.empty()) return {};
  if (auto made = make_private_folder(folder()); !made) return made;
  // Other files must not be read for the first time while these are compared with the rest.
  const auto lock = FileLock::take(folder() + "/lock");
  if (!lock) return lock.error();
  const auto before = content_marks(mark_);
  auto marks = before;
  const auto add = [](Records records, std::set<std::string>& to) {
    std::sort(records.begin(), records.end());
    if (auto one = secret_mark("records " + sha256_hex(join(records, "\n")))) to.insert(std::move(*one));
  };
  if (!train.empty()) add(train, marks.train);  // test images alone
  if (!test.empty()) add(test, marks.test);
  train.insert(train.end(), test.begin(), test.end());
  if (test.empty()) add(train, marks.test);
  add(std::move(train), marks.all);
  marks.secret = mark_of_secret();
  auto single = single_ ? std::optional(std::move(*single_).marks()) : std::nullopt;
  auto all = kept_marks(folder(), mark_);
  if (!all) return all.error();
  // Changed since, or of nobody knows when: they are read again.
  if (before.as_marked != marked_file(folder(), mark_)) all->clear();
  if (single) {
    const bool now =
        !test.empty() && tests_on_training_records(pairs_ ? std::move(*pairs_).marks() : *single);
    if (now && !other_people) return tests_on_training();
    marks.tests_on_training = now || (marks.tests_on_training && !all->empty());
    (*all)[reading_] = std::move(*single);
  }
  // Records are new to other files though as many were kept before, and were lost since.
  if (single) marks.compared.clear();
  if (!all->empty()) {
    if (auto added = add_common(mark_, *all, marks); !added) return added;
  }
  if (auto written = write(file, before, marks); !written) return written;
  // Last: without it the files count as not compared.
  return single ? keep_record_marks(folder(), mark_, *all) : Result<void>();
}

// Images whose records were marked before: only files that came since are compared with them.
Result<void> compare_again(const std::string& mark) {
  const auto lock = FileLock::take(folder() + "/lock");
  if (!lock) return lock.error();
  const auto before = content_marks(mark);
  const auto single = kept_marks(folder(), mark);
  if (!single) return single.error();
  auto marks = before;
  if (auto added = add_common(mark, *single, marks); !added) return added;
  return write(file_of(mark), before, marks);
}

constexpr const char* kImages = "images";
// What earlier versions marked under other names is marked again: texts by their bytes, rows whose
// classes were not taken for numbers (+1, 0x1), and files by the ending of what a link points to.
constexpr const char* kTexts = "texts by the path's ending ";
constexpr const char* kRows = "rows of decimal numbers ";

}  // namespace

std::string reading_of_images() { return kImages; }

std::string reading_of_rows(const json::object& options) {
  json::object told;
  for (const char* name : {"text", "second", "prompt", "label", "separator", "labels"}) {
    if (is_given(options, name)) told[name] = options.at(name);
  }
  // The same bytes are lines in one file, and a table in another.
  told["ending"] = own_name(own_path(options)).ending;
  const auto* text = told.if_contains("text");
  const bool has_texts = text != nullptr && *text != "";
  return (has_texts ? kTexts : kRows) + canonical_json(told);
}

namespace {

// The files' mark, also where a published checksum is all that they have had so far. Without a
// secret these have none.
std::string marked_now(const json::object& options) {
  (void)made_secret_mark("");
  return own_mark(options);
}

// An error where test records of the files may be trained on.
Result<void> check_own_test(const json::object& options) {
  if (read_options<OwnFilesOptions>(options).other_people ||
      !content_marks(own_mark(options)).tests_on_training)
    return {};
  return tests_on_training();
}

}  // namespace

bool has_marked_records(const std::string& files_mark, const std::string& reading) {
  // An earlier version's reading may have left out marks.
  if (reading != kImages && !reading.starts_with(kTexts) && !reading.starts_with(kRows)) return false;
  const auto marks = content_marks(files_mark);
  return marks.readings.contains(reading) && marks.as_marked == marked_file(folder(), files_mark);
}

bool were_compared(const std::string& files_mark, const std::string& other) {
  if (files_mark == other) return true;
  std::map<std::string, std::string> now;  // by files' mark
  for (const auto& file : marked_files(folder())) now.emplace(file.substr(0, file.find(' ')), file);
  if (!now.contains(files_mark) || !now.contains(other)) return false;
  const auto ours = content_marks(files_mark), theirs = content_marks(other);
  const auto& our_file = now.at(files_mark);
  const auto& their_file = now.at(other);
  return ours.as_marked == our_file && theirs.as_marked == their_file &&
         (ours.compared.contains(their_file) || theirs.compared.contains(our_file));
}

std::string train_part(const std::string& files_mark) { return files_mark + " train"; }
std::string test_part(const std::string& files_mark) { return files_mark + " test"; }

ContentMarks content_marks(const std::string& files_mark) {
  const auto file = file_of(files_mark);
  if (file.empty() || !std::filesystem::exists(file)) return {};
  auto read = read_json_file(file);
  if (!read || !read->is_object()) return {};
  auto& object = read->get_object();
  const auto tag = string_or(object, kTag, "");
  object.erase(kTag);
  if (tag_of(object) != tag) return {};
  auto marks = from_json<ContentMarks>(object, file);
  return marks ? std::move(*marks) : ContentMarks();
}

Result<void> keep_content(const json::object& options, const std::vector<std::string>& classes,
                          const NumberTable& train, const NumberTable& test) {
  // As the other file reads the column, of which these are the classes.
  std::vector<std::optional<float>> numbers;
  numbers.reserve(classes.size());
  for (const auto& name : classes) numbers.push_back(number_of(name));
  Reader reader(marked_now(options), reading_of_rows(options));
  reader.add_rows(train, numbers, false);
  reader.add_rows(test, numbers, true);
  if (auto kept = std::move(reader).keep(read_options<OwnFilesOptions>(options).other_people); !kept)
    return kept;
  return check_own_test(options);
}

Result<void> keep_content(const json::object& options, const std::string& path, const ImageFolder& images) {
  const auto mark = marked_now(options);
  if (!content_marks(mark).secret.empty() && has_marked_records(mark, kImages)) {
    if (auto compared = compare_again(mark); !compared) return compared;
    return check_own_test(options);
  }
  std::map<std::string_view, ImageSplit> splits;
  for (const auto& file : images.files) splits.emplace(file.name, file.split);
  Reader reader(mark, kImages);
  const auto visited = visit_files(
      path, [&](const std::string& name) { return splits.contains(name); },
      [&](const std::string& name, std::string_view bytes) -> Result<void> {
        reader.add(bytes, splits.at(name) == ImageSplit::test);
        return {};
      });
  if (!visited) return visited.error();
  if (auto kept = std::move(reader).keep(read_options<OwnFilesOptions>(options).other_people); !kept)
    return kept;
  return check_own_test(options);
}

}  // namespace hyfreedp::datasets
