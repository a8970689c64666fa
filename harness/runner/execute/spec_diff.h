// Tells how two specs differ, and what of the second has to be trained anew after the first.
//
// The comparison does not use the meaning of keys: each difference is made in the first spec by
// itself, that spec is planned, and its studies and trials are compared by their ids.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {

enum class DiffEffect {
  shown,    // the same studies
  added,    // these and further ones
  dropped,  // fewer of them
  rows,     // other studies of the same trials: rows are concluded and priced again
  trained,  // other studies, of trials that the first spec does not have
};

struct SpecDifference {
  std::string path;    // in the spec as the database has it, elements of lists by their id:
                       // "panels.main.rows.prodigy.title"; where several have the same difference,
                       // its part that is equal: "steps"
  std::string change;  // "100 -> 60", "is new", "is gone", "changed"
  std::vector<std::string> places;  // of several: "panels.main", "panels.main.rows.prodigy"
  DiffEffect effect = DiffEffect::shown;
};

// A number of what the second spec begins with, and how many of these the first has too.
struct Reuse {
  std::size_t all = 0;
  std::size_t reused = 0;
};

struct SpecDiff {
  std::vector<SpecDifference> differences;
  // First trials; a search asks for more as these end. Not those of private selections, whose
  // number is confidential.
  Reuse runs;
  Reuse selections;  // studies of private selections
  Reuse studies;
};

// An error where one of them cannot be planned. Calibrates the noise of both: seconds.
Result<SpecDiff> spec_diff(const Spec& before, const Spec& now);

}  // namespace hyfreedp::runner
