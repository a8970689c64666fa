// Marks of the single records of a user's own files, by which files that have some records in
// common are found: two years of one table, a table and a part of it, the same table with its
// columns in another order.
//
// A record's mark is 60 bits of a SHA-256 under the user's secret: of the sorted numbers of a
// table's row without its class, or of the bytes of an image's file. Where more than half of the
// records are copies of others, those that occur more than once have none, since rows of few
// distinct values are alike by chance. Of more than 16,384 marks the smallest are kept; a part that
// has many records in common with another is found all the same.
//
// They are kept in ${XDG_STATE_HOME:-~/.local/state}/hyfreedp/content/MARK.records.json, mode 0600,
// by the mark of the files (own_files.h), and are compared when such files are first read, with
// those of all files that this user has had.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/describe.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct RecordMarks {
  // Ascending. `test` of the records that the files set aside for test, else of all.
  std::vector<std::int64_t> train, test;
};
BOOST_DESCRIBE_STRUCT(RecordMarks, (), (train, test))

// Other files that have records in common with some.
struct CommonRecords {
  std::string files_mark;        // of the others
  bool trained_by_both = false;  // records that either may train on
  bool tests_on_theirs = false;  // records for test, which the others may train on
  bool trains_on_tests = false;  // the other way round
};

// Makes marks of records; `secret` is a text that nobody else knows.
class RecordMarker {
 public:
  explicit RecordMarker(std::string secret) : secret_(std::move(secret)) {}

  void add(std::string_view record, bool is_test);
  void add_row(const float* values, std::size_t count, bool is_test);
  RecordMarks marks() &&;

 private:
  std::string secret_;
  std::vector<std::int64_t> train_, test_;
};

// Whether marks of these files were kept in `folder`.
bool has_record_marks(const std::string& folder, const std::string& files_mark);
// The others of `folder` that have records in common with these: at least ten, and one in a
// thousand of the smaller of the two. Fewer are not looked for: the answer would tell, outside of ε, whether
// somebody's record is among those trained on.
Result<std::vector<CommonRecords>> others_with_records(const std::string& folder,
                                                       const std::string& files_mark,
                                                       const RecordMarks& marks);
Result<void> keep_record_marks(const std::string& folder, const std::string& files_mark,
                               const RecordMarks& marks);

}  // namespace hyfreedp::datasets
