#include "datasets/own/record_marks.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <iterator>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kMostMarks = 16384;
constexpr std::size_t kLeastCommon = 10;
constexpr std::size_t kCommonInRecords = 1000;
constexpr std::string_view kEnding = ".records.json";

std::string file_of(const std::string& folder, const std::string& files_mark) {
  return folder + "/" + files_mark + std::string(kEnding);
}

// Those that tell records apart, ascending; at most kMostMarks. Where most rows are copies of
// others, rows have few values, and only those that occur once tell anything.
std::vector<std::int64_t> telling(std::vector<std::int64_t> marks) {
  std::sort(marks.begin(), marks.end());
  std::vector<std::int64_t> all, once;
  for (std::size_t i = 0; i < marks.size();) {
    const auto next = std::upper_bound(marks.begin() + static_cast<std::ptrdiff_t>(i), marks.end(), marks[i]);
    const auto after = static_cast<std::size_t>(next - marks.begin());
    all.push_back(marks[i]);
    if (after == i + 1) once.push_back(marks[i]);
    i = after;
  }
  auto& chosen = 2 * all.size() >= marks.size() ? all : once;
  chosen.resize(std::min(chosen.size(), kMostMarks));
  return std::move(chosen);
}

// Where one of them is a part, because there were too many, so much of the other counts.
std::vector<std::int64_t> up_to(const std::vector<std::int64_t>& marks,
                                const std::vector<std::int64_t>& other) {
  if (other.size() < kMostMarks) return marks;
  return {marks.begin(), std::upper_bound(marks.begin(), marks.end(), other.back())};
}

bool have_in_common(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
  const auto a = up_to(one, other), b = up_to(other, one);
  std::vector<std::int64_t> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  const auto smaller = std::min(a.size(), b.size());
  return common.size() >= kLeastCommon && common.size() * kCommonInRecords >= smaller;
}

}  // namespace

void RecordMarker::add(std::string_view record, bool is_test) {
  const auto digits = sha256_hex(secret_ + sha256_hex(record)).substr(0, 15);
  std::int64_t mark = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), mark, 16);
  (is_test ? test_ : train_).push_back(mark);
}

void RecordMarker::add_row(const float* values, std::size_t count, bool is_test) {
  std::vector<std::uint32_t> row(count);
  // -0 and 0 are one number.
  for (std::size_t i = 0; i < count; ++i) row[i] = std::bit_cast<std::uint32_t>(values[i] + 0.0F);
  std::sort(row.begin(), row.end());
  add({reinterpret_cast<const char*>(row.data()), count * sizeof(std::uint32_t)}, is_test);
}

RecordMarks RecordMarker::marks() && {
  RecordMarks marks{.train = telling(std::move(train_)), .test = {}};
  marks.test = test_.empty() ? marks.train : telling(std::move(test_));
  return marks;
}

bool has_record_marks(const std::string& folder, const std::string& files_mark) {
  return std::filesystem::exists(file_of(folder, files_mark));
}

Result<std::vector<CommonRecords>> others_with_records(const std::string& folder,
                                                       const std::string& files_mark,
                                                       const RecordMarks& marks) {
  std::vector<CommonRecords> found;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with(kEnding)) continue;
    const auto value = read_json_file(entry.path().string());
    if (!value) return value.error();
    const auto other = from_json<RecordMarks>(*value, entry.path().string());
    if (!other) return other.error();
    CommonRecords common{.files_mark = name.substr(0, name.size() - kEnding.size()),
                         .trained_by_both = have_in_common(marks.train, other->train),
                         .tests_on_theirs = have_in_common(marks.test, other->train),
                         .trains_on_tests = have_in_common(marks.train, other->test)};
    if (common.files_mark == files_mark) continue;
    if (common.trained_by_both || common.tests_on_theirs || common.trains_on_tests) {
      found.push_back(std::move(common));
    }
  }
  return found;
}

Result<void> keep_record_marks(const std::string& folder, const std::string& files_mark,
                               const RecordMarks& marks) {
  return write_file_atomically(file_of(folder, files_mark), canonical_json(as_json(marks)) + "\n", 0600);
}

}  // namespace hyfreedp::datasets
