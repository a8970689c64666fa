// What a new registry entry writes: copies of a template's file pair and test under a new name, and the lines in the tables
// that make it known.
//
// The templates are entries like all others (fixed-rate, signum, constant), compiled and tested, and are read from the
// checkout, so they are as old as the code that they must fit. A copy differs from its template in names alone; its
// source then says what it was copied from, until somebody says better.
//
// Nothing is written unless all of it can be: every file is read, checked and put beside its place first, then renamed.
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

// "baseline", "optimizer", "controller".
const std::vector<std::string>& new_kinds();

// The checkout that `start` lies in: the folder, from there upwards, whose CMakeLists.txt begins project(hyfreedp.
Result<std::string> find_checkout(const std::string& start);

// Pure but for reading `checkout`. Refused: a name that is not lower-case words joined by hyphens, that the language keeps, or
// that is taken by an entry, a file or a function; a table or template that is not as this program knows it.
Result<NewEntry> plan_entry(const std::string& checkout, const std::string& kind, const std::string& name);

// All or nothing.
Result<void> write_entry(const std::string& checkout, const NewEntry& entry);

}  // namespace hyfreedp::cli
