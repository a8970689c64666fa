// The part of a database that one table needs, as a small database of its own; an archive keeps it.
//
// It has the spec's record, all its studies, and each trial that may be shown: those that a row
// reports, and all that a row asked for if the number of runs is public. It leaves out:
// confidential metrics; of a private selection the losing runs, their number and their time
// (its seconds are the reported run's, as in the table); step records except the last, which has
// the hash of the whole run; and, of runs that no row reports, all metrics except those of the last
// step. Every table, trace and exported cell of the spec is the same as from the whole database. A
// private selection's epsilon is derived from the reported run.
#pragma once

#include <cstdint>
#include <string>

#include "results/store/store.h"

namespace hyfreedp::results {

struct SliceCounts {
  std::size_t studies = 0;
  std::size_t trials = 0;
  std::size_t metrics = 0;
};

// The study without what is confidential: of a private selection its reported run is the only one
// listed, and the only one timed.
Result<StudyRecord> public_part(const Store& store, StudyRecord study);

// Makes the file `path`, which must not exist: one file, without SQLite's side files.
Result<SliceCounts> write_slice(const Store& store, const std::string& spec, const std::string& path);

// All specs of the database, for comparison with later nights (regress.h): like a slice, but with
// every metric and step of the reported runs. Makes the file `path`, which must not exist and is
// readable by its owner alone.
Result<SliceCounts> write_reference(const Store& store, const std::string& path);

// An error if the database has anything that a slice leaves out for confidentiality.
Result<void> check_slice(const Store& slice, const std::string& spec);

}  // namespace hyfreedp::results
