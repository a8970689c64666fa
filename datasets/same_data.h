// Whether two runs are about the same records, whether they divide them alike, and whether a test
// set may have some of them: the one rule, for the odometer, for weights that a run begins with,
// and for test sets.
//
// Data are the same where they share their name or a mark. So a copy or a link under another name,
// and files that were changed under one name, are the same data; data that share a name with one
// set and a mark with another make all three one.
//
//   name     data_name() of data that come from files; MNIST and EMNIST, which are of the same
//            writers, count as one. Generated data are the same where they are made with the same
//            options
//   marks    of the bytes of the files (own/own_files.h): of a user's own files their mark, of a
//            published set one of each of its files. Whatever the spec gives, a `sha256` or
//            nothing, the same bytes have one mark. And of the records of own files, whatever their
//            layout and order (own/content_marks.h); and of the records of other own files that
//            have some of them (own/record_marks.h), unless the spec says `other_people: true`
//
// Divided alike. One record lies in one split of one division. Two runs divide the data alike where
// the files have the same mark and the same layout (dataset, ending of the path), and the same
// options choose the records (`split` of emnist). Elsewhere a record that is for training in one
// may be for validation or test in the other, and records cannot be matched.
//
// Marks are under a secret of this user and are compared among this user's alone. Of files that
// were not here when a spec was read, and without the secret, the name decides alone: whether they
// are the same data as others is then not known (may_be_same()).
#pragma once

#include <set>
#include <string>

#include "datasets/facts.h"
#include "harness/base/describe.h"

namespace hyfreedp::datasets {

enum class DataKind { generated, published, own };
BOOST_DESCRIBE_ENUM(DataKind, generated, published, own)

struct DataIdentity {
  std::string name;
  std::set<std::string> marks = {};
  std::set<std::string> test_marks = {};  // of files whose test split would be read
  std::string division = {};              // how the records are divided into splits
  std::string set_aside = {};             // how test records are set aside from the others
  DataKind kind = DataKind::own;
  // A mark of the secret that the marks are under; empty where not all marks of such data are here.
  // It ends in " records" where the single records of own files, as they are read, are marked.
  std::string secret = {};
  // Parts of other own files that have records in common with these, or with their test records
  // (own/content_marks.h). Two that have some in common with the same third one need not share any.
  std::set<std::string> common = {}, test_common = {};
  // In place of both, where the spec says that equal records are about other people.
  std::set<std::string> alike = {};
  std::string reading = {};  // as what own files are read (own/content_marks.h)

  static constexpr auto kLeftOut =
      std::to_array<std::string_view>({"common", "test_common", "alike", "reading"});
};
BOOST_DESCRIBE_STRUCT(DataIdentity, (),
                      (name, marks, test_marks, division, set_aside, kind, secret, common, test_common, alike,
                       reading))

// `options`: resolved. An unknown dataset is known by its name.
DataIdentity identity_of(const std::string& dataset, const json::object& options);
bool is_same_data(const DataIdentity& one, const DataIdentity& other);
// Whether the option of a published dataset chooses its records or divides them, and does not only
// say how a record is represented or how many of a split are taken.
bool chooses_records(const std::string& option);

// The data that were trained on are one or several that are the same.
struct TrainedData {
  std::set<std::string> names, marks, divisions, set_aside, secrets, common, alike;
  std::set<DataKind> kinds;

  void add(const DataIdentity& data);
  void add(const TrainedData& other);
  bool is_same(const DataIdentity& data) const;
};
// Whether data that share neither name nor mark may be the same data all the same: marks that would
// show it are missing, or are of two users, or a spec says that equal records are of other people.
bool may_be_same(const TrainedData& one, const TrainedData& other);
// Whether the test records of `test` equal some that were trained on, and a spec says that they are
// other people's.
bool is_said_to_be_others(const DataIdentity& test, const TrainedData& trained);
// Whether own files whose test records are `test` may have records of own files that were trained
// on, though nothing says so: the marks of single records of one of them are lost or another
// user's, or were never compared.
bool may_share_unmarked_records(const DataIdentity& test, const TrainedData& trained);
// Whether no run trains on the test records of the data, whatever its options: they are generated,
// or set aside by the publisher.
bool keeps_test_apart(const DataIdentity& data);
// Whether an identity says all that an older one of the same files says, which had no marks of
// single records, or did not say how the files were read.
bool supersedes(const DataIdentity& newer, const DataIdentity& older);
// An identity that was recorded earlier, as it is known now: with other own files that have been
// found since to have records in common with these; and as one whose records were never marked
// where their marks are lost.
DataIdentity as_known_now(DataIdentity data);
// Generated, published or own data by their name, data_name() or the identity's.
DataKind kind_of(const std::string& name);
// Whether the test split of `test` may have records that were trained on. It has none where it is
// other data, or the test split that its publisher set aside from what was trained on.
bool may_share_records(const DataIdentity& test, const TrainedData& trained);
// The same of the test split that belongs to data which a run trains on: of the same data, how the
// runs divide it decides (TrainedData::divisions), and this is false; but not of own files that
// have some of the same records under another name.
bool own_test_may_share_records(const DataIdentity& data, const TrainedData& trained);
// The sentence that refuses a test set then: `name` is "the ood_test 'shifted'", `where` such
// training is "this spec".
std::string why_no_test_set(const std::string& name, const DataIdentity& test, const TrainedData& trained,
                            const std::string& where);

}  // namespace hyfreedp::datasets
