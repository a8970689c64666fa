#include "datasets/own/record_marks.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <mutex>
#include <utf8proc.h>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kMostMarks = 1 << 20;
constexpr std::size_t kLeastCommon = 10;
constexpr std::size_t kCommonInRecords = 1000;
constexpr std::string_view kEnding = ".records.json";

using Marks = std::vector<std::int64_t>;

std::string file_of(const std::string& folder, const std::string& files_mark) {
  return folder + "/" + files_mark + std::string(kEnding);
}

void tidy(Marks& marks) {
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  marks.resize(std::min(marks.size(), kMostMarks));
}

// Returns the marks up to the last of `other`, if `other` was cut because it had too many.
Marks up_to(const Marks& marks, const Marks& other) {
  if (other.size() < kMostMarks) return marks;
  return {marks.begin(), std::upper_bound(marks.begin(), marks.end(), other.back())};
}

bool have_in_common(const Marks& one, const Marks& other) {
  const auto a = up_to(one, other), b = up_to(other, one);
  Marks common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  const auto smaller = std::min(a.size(), b.size());
  return common.size() >= kLeastCommon && common.size() * kCommonInRecords >= smaller;
}

// Rows without their class, and with it.
struct Rows {
  const Marks& without_class;
  const Marks& whole;
};

// One file may lack the column that is the other's class, or have it among its features.
bool any_of_both(const Rows& rows, const Rows& others, bool (*rule)(const Marks&, const Marks&)) {
  return rule(rows.without_class, others.without_class) || rule(rows.whole, others.whole) ||
         rule(rows.without_class, others.whole) || rule(rows.whole, others.without_class);
}

bool share_records(const Rows& rows, const Rows& others) { return any_of_both(rows, others, have_in_common); }

// However few: their accuracy would tell more than the refusal does. A single one may be blank.
bool are_all_among(const Rows& rows, const Rows& others) {
  return any_of_both(rows, others, [](const Marks& some, const Marks& all) {
    const auto seen = up_to(some, all);
    return seen.size() > 1 && std::ranges::includes(all, seen);
  });
}

// A file of an earlier version, which did not tell readings apart, has none.
struct MarksFile {
  MarkedReadings by_reading;
  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(MarksFile, (), (by_reading))

Result<MarkedReadings> read_marks(const std::string& file) {
  const auto value = read_json_file(file);
  auto marks = value ? from_json<MarksFile>(*value, file) : Result<MarksFile>(value.error());
  if (marks) return std::move(marks->by_reading);
  return error(
      marks.error().message +
      ". The file tells which records some files of yours have. Delete it; it is made again when they are "
      "next read, and until then the odometer says \"at least\" of them.");
}

std::string text_of(const MarkedReadings& marks) { return canonical_json(as_json(MarksFile{marks})) + "\n"; }

std::string digest_of(const std::string& text) { return sha256_hex(text).substr(0, 32); }

// Empty where there is no file. One that has not changed since is not read again.
std::string digest_of_file(const std::string& file) {
  struct Read {
    std::filesystem::file_time_type written;
    std::uintmax_t size = 0;
    std::string digest;
  };
  static std::mutex mutex;
  static std::map<std::string, Read> known;
  std::error_code absent;
  const auto written = std::filesystem::last_write_time(file, absent);
  if (absent) return "";
  const auto size = std::filesystem::file_size(file, absent);
  if (absent) return "";
  const std::lock_guard lock(mutex);
  auto& one = known[file];
  if (one.digest.empty() || one.written != written || one.size != size) {
    const auto text = read_file(file);
    if (!text) return "";
    one = {written, size, digest_of(*text)};
  }
  return one.digest;
}

void add_common(const RecordMarks& marks, const RecordMarks& other, CommonRecords& common) {
  const Rows train{marks.train, marks.whole_train}, test{marks.test, marks.whole_test};
  const Rows their_train{other.train, other.whole_train}, their_test{other.test, other.whole_test};
  common.trained_by_both = common.trained_by_both || share_records(train, their_train);
  common.tests_on_theirs =
      common.tests_on_theirs || share_records(test, their_train) || are_all_among(test, their_train);
  common.trains_on_tests =
      common.trains_on_tests || share_records(train, their_test) || are_all_among(their_test, train);
}

}  // namespace

std::string plain_text(const std::string& text) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(
      UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK | UTF8PROC_IGNORE);
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &mapped, kOptions);
  if (length < 0) return text;  // no UTF-8: as it is
  std::string plain;
  for (utf8proc_ssize_t at = 0; at < length;) {
    utf8proc_int32_t code = 0;
    const auto bytes = utf8proc_iterate(mapped + at, length - at, &code);
    if (bytes <= 0) break;
    const auto category = utf8proc_category(code);
    constexpr utf8proc_int32_t kReplacement = 0xFFFD;  // stands for bytes that are no character
    // separators, control, format, private
    const bool is_blank = category >= UTF8PROC_CATEGORY_ZS || code == kReplacement;
    if (!is_blank && category != UTF8PROC_CATEGORY_CN)
      plain.append(reinterpret_cast<const char*>(mapped + at), static_cast<std::size_t>(bytes));
    at += bytes;
  }
  std::free(mapped);
  return plain;
}

std::int64_t RecordMarker::mark_of(std::string_view record) const {
  const auto digits = sha256_hex(secret_ + sha256_hex(record)).substr(0, 15);
  std::int64_t mark = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), mark, 16);
  return mark;
}

void RecordMarker::add(std::string_view record, bool is_test) {
  (is_test ? marks_.test : marks_.train).push_back(mark_of(record));
}

void RecordMarker::add_row(const float* values, std::size_t count, std::optional<float> label, bool is_test) {
  std::vector<std::uint32_t> row;
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] != 0) row.push_back(std::bit_cast<std::uint32_t>(values[i]));
  }
  const auto text = [&row] {
    std::sort(row.begin(), row.end());
    return std::string_view(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(std::uint32_t));
  };
  add(text(), is_test);
  if (!label) return;
  if (*label != 0) row.push_back(std::bit_cast<std::uint32_t>(*label));
  (is_test ? marks_.whole_test : marks_.whole_train).push_back(mark_of(text()));
}

RecordMarks RecordMarker::marks() && {
  for (auto* marks : {&marks_.train, &marks_.test, &marks_.whole_train, &marks_.whole_test}) tidy(*marks);
  if (marks_.test.empty()) {
    marks_.test = marks_.train;
    marks_.whole_test = marks_.whole_train;
  }
  return std::move(marks_);
}

Result<MarkedReadings> kept_marks(const std::string& folder, const std::string& files_mark) {
  const auto file = file_of(folder, files_mark);
  return std::filesystem::exists(file) ? read_marks(file) : MarkedReadings();
}

Result<void> keep_record_marks(const std::string& folder, const std::string& files_mark,
                               const MarkedReadings& marks) {
  return write_file_atomically(file_of(folder, files_mark), text_of(marks), 0600);
}

std::set<std::string> marked_files(const std::string& folder) {
  std::set<std::string> found;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with(kEnding)) continue;
    auto file = marked_file(folder, name.substr(0, name.size() - kEnding.size()));
    if (!file.empty()) found.insert(std::move(file));
  }
  return found;
}

std::string marked_file(const std::string& files_mark, const MarkedReadings& marks) {
  return files_mark + " " + digest_of(text_of(marks));
}

std::string marked_file(const std::string& folder, const std::string& files_mark) {
  const auto digest = digest_of_file(file_of(folder, files_mark));
  return digest.empty() ? "" : files_mark + " " + digest;
}

Result<std::vector<CommonRecords>> with_common_records(const std::string& folder,
                                                       const std::set<std::string>& others,
                                                       const MarkedReadings& marks) {
  std::vector<CommonRecords> found;
  for (const auto& one : others) {
    CommonRecords common{.files_mark = one.substr(0, one.find(' '))};
    const auto theirs = kept_marks(folder, common.files_mark);
    if (!theirs) return theirs.error();
    for (const auto& [reading, own] : marks) {
      for (const auto& [their_reading, other] : *theirs) add_common(own, other, common);
    }
    if (common.trained_by_both || common.tests_on_theirs || common.trains_on_tests) {
      found.push_back(std::move(common));
    }
  }
  return found;
}

bool tests_on_training_records(const RecordMarks& marks) { return have_in_common(marks.train, marks.test); }

}  // namespace hyfreedp::datasets
