// Tells what another version of a spec would do to the rows that the database has of it.
//
// A study is known by its id, which is that of its cell, its seed and all that its method is told
// (plan.h): one that the other version has too keeps its row. Titles, figures, notes and the layout
// of tables are in no id, and further rows, seeds and epsilons are further ids.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

enum class RowFate {
  left_out,       // the other version has no such row, or not with this epsilon and seed
  trained_anew,   // it has, and asks for runs that the database does not have
  priced_anew,    // it has, and the runs are there: the row is concluded and priced again
  seeds_decided,  // another rule decides how many of its seeds are trained
};

struct LostRow {
  std::string panel, row;
  RowFate fate = RowFate::left_out;
  std::size_t studies = 0;
};

struct ChangedRows {
  std::vector<LostRow> lost;             // of studies that have a row, or began to train for one
  std::vector<std::string> never_begun;  // ids of studies that nothing was executed for
};

// Returns the rows that `spec`, with its release set, would change. None if the database has no
// spec of its name, or this very one.
Result<ChangedRows> changed_rows(const results::Store& store, const OutFolder& out, const Spec& spec);

// "main, prodigy (3 studies: trained anew); main, grid (1 study: left out)"
std::string text_of(const std::vector<LostRow>& rows);

}  // namespace hyfreedp::runner
