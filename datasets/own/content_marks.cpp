#include "datasets/own/content_marks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "datasets/own/own_files.h"
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

void add_rows(const NumberTable& table, Records& records) {
  const auto rows = table.labels.size();
  if (rows == 0) return;
  const auto columns = table.features.size() / rows;
  std::vector<float> row(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    // -0 and 0 are one number.
    for (std::size_t j = 0; j < columns; ++j) row[j] = table.features[i * columns + j] + 0.0F;
    records.push_back(sha256_hex({reinterpret_cast<const char*>(row.data()), columns * sizeof(float)}));
  }
}

Result<void> keep(const std::string& mark, Records train, Records test) {
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
  const auto file = file_of(mark);
  if (file.empty()) return {};
  const auto before = content_marks(mark);
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
  if (marks == before) return {};
  if (auto made = make_private_folder(folder()); !made) return made;
  return write_file_atomically(file,
                               canonical_json(json::object{{"all", as_list(marks.all)},
                                                           {"train", as_list(marks.train)},
                                                           {"test", as_list(marks.test)},
                                                           {"secret", marks.secret}}) +
                                   "\n",
                               0600);
}

// The files' mark, also where a published checksum is all that they have had so far. Without a
// secret these have none.
std::string marked_now(const json::object& options) {
  (void)made_secret_mark("");
  return own_mark(options);
}

}  // namespace

ContentMarks content_marks(const std::string& files_mark) {
  const auto file = file_of(files_mark);
  if (file.empty() || !std::filesystem::exists(file)) return {};
  const auto read = read_json_file(file);
  if (!read || !read->is_object()) return {};
  const auto& object = read->get_object();
  return {.all = marks_in(object, "all"),
          .train = marks_in(object, "train"),
          .test = marks_in(object, "test"),
          .secret = string_or(object, "secret", "")};
}

Result<void> keep_content(const json::object& options, const NumberTable& train, const NumberTable& test) {
  Records in_train, in_test;
  add_rows(train, in_train);
  add_rows(test, in_test);
  return keep(marked_now(options), std::move(in_train), std::move(in_test));
}

Result<void> keep_content(const json::object& options, const std::string& path, const ImageFolder& images) {
  const auto mark = marked_now(options);
  if (!content_marks(mark).secret.empty()) return {};
  std::map<std::string_view, ImageSplit> splits;
  for (const auto& file : images.files) splits.emplace(file.name, file.split);
  Records train, test;
  const auto visited = visit_files(
      path, [&](const std::string& name) { return splits.contains(name); },
      [&](const std::string& name, std::string_view bytes) -> Result<void> {
        (splits.at(name) == ImageSplit::test ? test : train).push_back(sha256_hex(bytes));
        return {};
      });
  if (!visited) return visited.error();
  return keep(mark, std::move(train), std::move(test));
}

}  // namespace hyfreedp::datasets
