#include "datasets/own/content_marks.h"

#include <algorithm>
#include <charconv>
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

std::set<std::string> marks_in(const json::object& object, const char* part) {
  std::set<std::string> marks;
  const auto* list = object.if_contains(part);
  if (list == nullptr || !list->is_array()) return marks;
  for (const auto& mark : list->get_array()) {
    if (mark.is_string()) marks.emplace(mark.get_string());
  }
  return marks;
}

json::array as_list(const std::set<std::string>& marks) { return json::array(marks.begin(), marks.end()); }

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
  const json::object object{{"all", as_list(marks.all)},
                            {"train", as_list(marks.train)},
                            {"test", as_list(marks.test)},
                            {"common_train", as_list(marks.common_train)},
                            {"common_test", as_list(marks.common_test)},
                            {"compared", as_list(marks.compared)},
                            {"readings", as_list(marks.readings)},
                            {"as_marked", marks.as_marked},
                            {"tests_on_training", marks.tests_on_training},
                            {"secret", marks.secret}};
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

}  // namespace

std::string reading_of_images() { return kImages; }

std::string reading_of_rows(const json::object& options) {
  json::object told;
  for (const char* name : {"text", "second", "prompt", "label", "separator", "labels"}) {
    if (is_given(options, name)) told[name] = options.at(name);
  }
  // The same bytes are lines in one file, and a table in another.
  told["ending"] = own_name(own_path(options)).ending;
  // Texts that were marked by their bytes are marked again.
  const auto* text = told.if_contains("text");
  const bool has_texts = text != nullptr && *text != "";
  return (has_texts ? "plain texts " : "table ") + canonical_json(told);
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
  const auto marks = content_marks(files_mark);
  return marks.readings.contains(reading) && marks.as_marked == marked_file(folder(), files_mark);
}

bool were_compared(const std::string& files_mark, const std::string& other) {
  if (files_mark == other) return true;
  std::map<std::string, std::string> now;  // by files' mark
  for (const auto& file : marked_files(folder())) now.emplace(file.substr(0, file.find(' ')), file);
  const auto was_with = [&](const std::string& one, const std::string& two) {
    const auto marks = content_marks(one);
    return now.contains(one) && now.contains(two) && marks.as_marked == now.at(one) &&
           marks.compared.contains(now.at(two));
  };
  return was_with(files_mark, other) || was_with(other, files_mark);
}

std::string train_part(const std::string& files_mark) { return files_mark + " train"; }
std::string test_part(const std::string& files_mark) { return files_mark + " test"; }

ContentMarks content_marks(const std::string& files_mark) {
  const auto file = file_of(files_mark);
  if (file.empty() || !std::filesystem::exists(file)) return {};
  const auto read = read_json_file(file);
  if (!read || !read->is_object()) return {};
  const auto& object = read->get_object();
  return {.all = marks_in(object, "all"),
          .train = marks_in(object, "train"),
          .test = marks_in(object, "test"),
          .common_train = marks_in(object, "common_train"),
          .common_test = marks_in(object, "common_test"),
          .compared = marks_in(object, "compared"),
          .readings = marks_in(object, "readings"),
          .as_marked = string_or(object, "as_marked", ""),
          .tests_on_training = bool_or(object, "tests_on_training", false),
          .secret = string_or(object, "secret", "")};
}

Result<void> keep_content(const json::object& options, const std::vector<std::string>& classes,
                          const NumberTable& train, const NumberTable& test) {
  std::vector<std::optional<float>> numbers;
  for (const auto& name : classes) {
    float number = 0;
    const auto* end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, number);
    const bool is_number = read.ec == std::errc() && read.ptr == end;
    numbers.push_back(is_number ? std::optional(number) : std::nullopt);
  }
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
