// Writes a new registry entry: copies of a template's file pair and test under a new name, and the
// lines in the tables that register it.
//
// The templates are ordinary entries (fixed-rate, signum, constant, synthetic-regression), compiled
// and tested, and are read from the checkout, so they always fit its code. A copy differs from its
// template in names alone; its source field then names the template. Nothing is written unless
// everything can be: every file is first read, checked and put beside its place, then renamed.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::cli {

struct Written {
  std::string path;  // in the checkout
  std::string content;
  bool is_new = true;  // false: a table that got a line
  int lines = 0;       // added
};

struct NewEntry {
  std::string kind, name;
  std::vector<Written> files;  // in the order of writing: tables last
};

// "baseline", "optimizer", "controller", "dataset".
const std::vector<std::string>& new_kinds();

// The checkout that contains `start`: the first folder upwards whose CMakeLists.txt has
// project(hyfreedp.
Result<std::string> find_checkout(const std::string& start);

// Plans the new entry without writing anything. Errors: a name that is not lower-case words joined
// by hyphens, that is a keyword, or that an entry, file or function already has; and a table or
// template that does not have the expected form.
Result<NewEntry> plan_entry(const std::string& checkout, const std::string& kind, const std::string& name);

// Writes all files or none.
Result<void> write_entry(const std::string& checkout, const NewEntry& entry);

}  // namespace hyfreedp::cli
