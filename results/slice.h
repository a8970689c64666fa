// The part of a database that one table rests on, as a small database of its own: what an archive keeps.
//
// Of the spec its record, all studies, and each trial that may be told of: those that a row reports, and all that a row asked for
// where the number of runs is public. Left out: confidential metrics; of a private selection the losing runs, how many there
// were and their time (its seconds are the reported run's, as in the table); step records but the last, which has the hash of
// the whole run; of runs that no row reports all metrics but those of the last step. Every table, trace and exported cell of the
// spec comes out the same. A private selection's epsilon is derived from the reported run.
#pragma once

#include <cstdint>
#include <string>

#include "results/store.h"

namespace hyfreedp::results {

struct SliceCounts {
  std::size_t studies = 0;
  std::size_t trials = 0;
  std::size_t metrics = 0;
};

// The study without what is confidential: of a private selection its reported run is the only one listed, and the only one timed.
Result<StudyRecord> public_part(const Store& store, StudyRecord study);

// Makes the file `path`, which must not exist: one file, without SQLite's side files.
Result<SliceCounts> write_slice(const Store& store, const std::string& spec, const std::string& path);

// All specs of the database, for comparing later nights with (regress.h): as a slice, but of the runs that rows report every
// metric and step. Makes the file `path`, which must not exist, readable by its owner alone from the start.
Result<SliceCounts> write_reference(const Store& store, const std::string& path);

// An error where the database holds what a slice leaves out for confidentiality.
Result<void> check_slice(const Store& slice, const std::string& spec);

}  // namespace hyfreedp::results
