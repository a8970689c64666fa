// Makes studies from a spec (YAML), without data and without LibTorch; pure and fast.
//
// load_spec reads and checks everything (unknown key: file, line, nearest valid key; wrong type;
// unknown names; infeasible values) and resolves every default. plan() gives one study for every
// panel, row, epsilon and seed. A *cell* of a table is panel x row x epsilon; the studies of its
// seeds give its value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "baselines/calibrations.h"
#include "harness/spec/spec.h"

namespace hyfreedp::runner {

struct Spec {
  std::string path;
  std::string text;  // of the file; after it, in comments, what it includes and `settings`
  spec::Spec content;
  std::vector<std::string> warnings = {};  // one line each, with file and line; for whoever runs it
  std::vector<std::string> settings = {};  // KEY=VALUE each, of `--set`
  // The calibrations that planning it has made so far (baselines::Cell); copies of a spec share
  // them.
  std::shared_ptr<baselines::Calibrations> calibrations = std::make_shared<baselines::Calibrations>();
  std::string hash() const;  // of the content's JSON
};

// `preset`: one of the spec's; empty: `small` where there is one, else the first (spec_presets.h).
// `settings`: KEY=VALUE each, laid over what the preset makes (spec_document.h). The error names
// every mistake of the spec, a line each (spec_problems.h); where the file cannot be read, why.
Result<Spec> load_spec(const std::string& path, const std::string& preset = "",
                       const std::vector<std::string>& settings = {});
// Names of the presets of the spec at `path`; none if it has no presets.
Result<std::vector<std::string>> presets_of(const std::string& path);
// True if the spec trains: it is neither not runnable nor analytic.
bool is_runnable(const Spec& spec);

struct PlannedStudy {
  // First 16 hex digits of the SHA-256 of (spec name, panel, row, epsilon, seed, options, base).
  std::string id;
  baselines::Cell cell;
  const baselines::Baseline* baseline = nullptr;
  // Where a comparison decides how many of the row's seeds are trained: how many are in any case.
  std::optional<std::int64_t> sure_seeds = {};
};

// Whoever asks only for the cells of studies need not wait for their hashes.
enum class StudyIds { computed, left_empty };
// An error if a row of a panel that fixes noise multipliers has other epsilons than these cost.
Result<std::vector<PlannedStudy>> plan(const Spec& spec, StudyIds ids = StudyIds::computed);
// Sets the epsilons of these rows; load_spec has done so.
Result<void> price_fixed_noise(Spec& spec);
// An error where a row's own optimizer, threshold, training options or steps change none of its
// first runs: the method brings its own.
Result<void> check_own_settings(const Spec& spec);
// Cells (panel x row x epsilon) that these studies fill.
std::size_t count_cells(const std::vector<PlannedStudy>& studies);
// "27 studies of 9 cells"
std::string size_text(std::size_t studies, std::size_t cells);

// The number of runs that the study's private selection makes on average, which is public, other
// than what it drew; 1 for all else, and if the cell is infeasible.
double expected_runs(const PlannedStudy& study);

}  // namespace hyfreedp::runner
