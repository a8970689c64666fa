// Marks of the single records of a user's own files, by which files that have some records in
// common are found: two years of one table, a table and a part of it, the same table with its
// columns in another order.
//
// A record's mark is 60 bits of a SHA-256 under the user's secret: of the bytes of an image's file,
// of a text's plain_text(), or of the sorted numbers of a table's row that are not 0 (padding of
// LIBSVM's format says nothing). A row has two: without its class, and with it, where the classes
// are numbers, so that it does not matter which column is read as the class, or whether the class
// is left out. Equal records of one file have one mark. Of more than a million the smallest million
// are kept, and a part of a larger file that is small beside it may be missed.
//
// They are kept in ${XDG_STATE_HOME:-~/.local/state}/hyfreedp/content/MARK.records.json, mode 0600,
// by the mark of the files (own_files.h), and are compared whenever such files are read, with those
// of all files that this user has had and that they were not compared with yet.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/describe.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// Of files as they were read. Ascending. `test` of the records that the files set aside for test,
// else of all.
struct RecordMarks {
  std::vector<std::int64_t> train, test;
  std::vector<std::int64_t> whole_train, whole_test;  // with the class
};
BOOST_DESCRIBE_STRUCT(RecordMarks, (), (train, test, whole_train, whole_test))
// By as what the files were read: "images", by these columns.
using MarkedReadings = std::map<std::string, RecordMarks>;

// Other files that have records in common with some.
struct CommonRecords {
  std::string files_mark;        // of the others
  bool trained_by_both = false;  // records that either may train on
  bool tests_on_theirs = false;  // records for test, which the others may train on
  bool trains_on_tests = false;  // the other way round
};

// A text as marks know it: in small letters, without accents, white space, control and format
// characters, so that no change that a tokenizer passes over makes it another text.
std::string plain_text(const std::string& text);

// Makes marks of records; `secret` is a text that nobody else knows.
class RecordMarker {
 public:
  explicit RecordMarker(std::string secret) : secret_(std::move(secret)) {}

  void add(std::string_view record, bool is_test);
  void add_row(const float* values, std::size_t count, std::optional<float> label, bool is_test);
  RecordMarks marks() &&;

 private:
  std::int64_t mark_of(std::string_view record) const;

  std::string secret_;
  RecordMarks marks_;
};

// Returns the marks that are kept of these files in `folder`; none where there is no file.
Result<MarkedReadings> kept_marks(const std::string& folder, const std::string& files_mark);
Result<void> keep_record_marks(const std::string& folder, const std::string& files_mark,
                               const MarkedReadings& marks);
// The files whose records are marked in `folder`, each as "MARK DIGEST" with a digest of what is
// kept of it, which every further reading changes; and that of `marks`, as they would be kept.
std::set<std::string> marked_files(const std::string& folder);
std::string marked_file(const std::string& files_mark, const MarkedReadings& marks);
// The same of what is kept in `folder`; empty where nothing is.
std::string marked_file(const std::string& folder, const std::string& files_mark);
// Returns those of `others` (marked_files) of which a reading has records in common with one of
// these: at least ten, and one in a thousand of the smaller of the two; or all of several test
// records are among the training records. Fewer are not looked for: the answer would tell, outside
// of ε, whether somebody's record is among those trained on.
Result<std::vector<CommonRecords>> with_common_records(const std::string& folder,
                                                       const std::set<std::string>& others,
                                                       const MarkedReadings& marks);
// True if as many of the files' own test records are training records, too; `marks` of files that
// set test records aside.
bool tests_on_training_records(const RecordMarks& marks);

}  // namespace hyfreedp::datasets
