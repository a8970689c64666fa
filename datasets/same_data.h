// Whether two runs are about the same records: the one rule, for the odometer, for weights that a
// run begins with, and for test sets.
//
// Data are the same where they share their name or a mark. So a copy or a link under another name,
// and files that were changed under one name, are the same data; data that share a name with one
// set and a mark with another make all three one.
//
//   name     data_name() of data that come from files. Generated data are the same where they are
//            made with the same options
//   marks    of the bytes of the files (own_files.h): of a user's own files their mark, of a
//            published set one of each of its files. Whatever the spec gives, a `sha256` or
//            nothing, the same bytes have one mark
//
// Marks are under a secret of this user and are compared among this user's alone. Of files that
// were not here when a spec was read, and without the secret, the name decides alone.
#pragma once

#include <set>
#include <string>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

struct DataIdentity {
  std::string name;
  std::set<std::string> marks;
};

// Of a dataset with resolved options. An unknown dataset is known by its name.
DataIdentity identity_of(const std::string& dataset, const json::object& options);
bool is_same_data(const DataIdentity& one, const DataIdentity& other);

}  // namespace hyfreedp::datasets
