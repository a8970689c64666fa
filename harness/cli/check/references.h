// Databases that were kept as references for later nights: ROOT/TAG@COMMIT.sqlite,
// ROOT/COMMIT.sqlite or ROOT/TAG.sqlite.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::cli {

struct Reference {
  std::string path;
  std::string tag;     // may be empty
  std::string commit;  // may be empty
  std::string name() const;
};

std::vector<Reference> references_in(const std::string& folder);

// Keeps the part of an output folder's database that results::write_reference writes. The default
// of `commit` is that of the program that made the database, if the database names one. Errors: a
// reference of that commit and tag exists, neither of them is known, or one of them is not a valid
// name.
Result<Reference> keep_reference(const std::string& out_folder, const std::string& folder,
                                 const std::string& commit, const std::string& tag);

// The database that `given` names: a file, an output folder, a tag, or the first digits of a commit
// (at least 4). The error lists the references that exist.
Result<std::string> find_reference(const std::string& given, const std::string& folder);

}  // namespace hyfreedp::cli
