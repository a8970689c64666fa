// Marks of the records of a user's own files, which do not depend on how the files hold them: the
// same records as a folder, a file or an archive, in another order or under other names, have the
// same mark.
//
// The mark of some records is SHA-256 over the sorted SHA-256 of each, under the user's secret as
// the mark of the files is (own_files.h): a bare one would tell whoever has a guess of the records
// whether it is right. A record is the numbers of a table's row without its class, or the bytes of
// an image's file, or a text as its file holds it: the same text cut into other lines, or into a
// prompt and an answer, is other records. Files that have some records in common are found by
// record_marks.h.
//
// The marks are computed when a spec is read, and kept by the files' mark in
// ${XDG_STATE_HOME:-~/.local/state}/hyfreedp/content, so that the files of earlier runs need not be
// there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "datasets/formats/number_table.h"
#include "datasets/image/image_folder.h"
#include "harness/base/describe.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {

struct ContentMarks {
  std::set<std::string> all;    // of all records
  std::set<std::string> train;  // of those that are not set aside for test in the files themselves
  std::set<std::string> test;   // of those that are, or of all
  // train_part() and test_part() of other files that have records in common with `train`, and
  // train_part() of those that have some in common with `test`.
  std::set<std::string> common_train, common_test;
  // The files that these were compared with, and what they were themselves then (marked_files()),
  // and as what they had been read by then.
  std::set<std::string> compared, readings;
  std::string as_marked;
  // Records of `test`, where that is set aside, are in `train`, too (record_marks.h).
  bool tests_on_training = false;
  std::string secret;  // that they are under: mark_of_secret() then

  bool operator==(const ContentMarks&) const = default;
  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(ContentMarks, (),
                      (all, train, test, common_train, common_test, compared, readings, as_marked,
                       tests_on_training, secret))

// As what the options have files read, whose records differ by that: images, or rows by columns of
// texts or by numbers beside a column with the class. What follows from the files alone is left
// out.
std::string reading_of_images();
std::string reading_of_rows(const json::object& options);
// True if the single records of the files of that mark, read so, are marked.
bool has_marked_records(const std::string& files_mark, const std::string& reading);
// True if the single records of both files, as they are marked now, were compared with each other.
bool were_compared(const std::string& files_mark, const std::string& other);
// The two parts of the files of that mark.
std::string train_part(const std::string& files_mark);
std::string test_part(const std::string& files_mark);

// Returns what is kept of the files of that mark; empty if nothing is, or if it was changed since,
// or kept under another secret.
ContentMarks content_marks(const std::string& files_mark);

// Computes and keeps the marks of a table's files, by what `options` know the files by. `test` has
// no rows where there is no such file. An error where every test record is a training record too,
// unless all test records are alike.
// It is also an error where some test records may be training records (record_marks.h), unless the
// options say `other_people`. `classes`: their names.
Result<void> keep_content(const json::object& options, const std::vector<std::string>& classes,
                          const NumberTable& train, const NumberTable& test);
// The same of the images in `path`, once.
Result<void> keep_content(const json::object& options, const std::string& path, const ImageFolder& images);

}  // namespace hyfreedp::datasets
