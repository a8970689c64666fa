// Databases that were kept to compare later nights with: ROOT/TAG@COMMIT.sqlite, ROOT/COMMIT.sqlite or ROOT/TAG.sqlite.
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

// Keeps what results::write_reference keeps of an output folder's database. Without `commit`: that of the program that made it,
// where the database names one. An error where there is a reference of that commit and tag, and where neither is known or one is
// no name.
Result<Reference> keep_reference(const std::string& out_folder, const std::string& folder,
                                 const std::string& commit, const std::string& tag);

// The database that `given` names: a file, an output folder, a tag, or the beginning of a commit (4 digits at least). An error
// lists what there is.
Result<std::string> find_reference(const std::string& given, const std::string& folder);

}  // namespace hyfreedp::cli
