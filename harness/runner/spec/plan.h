// From a spec (YAML) to studies, without data and without LibTorch; pure and fast.
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
#include "results/store/store.h"

namespace hyfreedp::runner {

// The resolved spec, as stored in results::SpecRecord::resolved and read by tables, plots and
// reports:
//   {"name", "title", "description", "noise_seed": text|null,
//    "panels": [{"id", "title", "dataset": {"name","options"}, "model": {"name","options"},
//    "dimension",
//                "population", "validation", "test", "classes", "steps", "sample_rate",
//                "batch_size", "clipping",
//                "optimizer": {...}, "delta", "seeds": [...], "epsilons": [1, 3, 8, "inf"],
//                "footnotes": [...],
//                "rows": [{"id", "method", "title", "label", "options": {...}, "seeds": [...],
//                "epsilons": [...],
//                          "footnotes": [...]}]}]}
// and, only if the spec gives them: "preset"; "reproduces" {"paper", "id"} and "paper_table"
// (spec_paper.h); "assumed" and "contradictions" (texts, each of which is also a footnote of every
// panel); "not_runnable" or "analytic" (spec_kind.h; then there are no panels); "table"
// (also of panels) and "figures"; for a panel "paper" {"tables"}; for a row "group", "paper"
// (its printed cells by epsilon), and "optimizer" and "clipping_constant" in place of the panel's.
struct Spec {
  std::string path;
  std::string text;
  json::object resolved;
  std::vector<std::string> warnings = {};  // one line each, with file and line; for whoever runs it
  // What planning it has calibrated so far (baselines::Cell); copies of a spec share it.
  std::shared_ptr<baselines::Calibrations> calibrations = std::make_shared<baselines::Calibrations>();
  std::string hash() const;
};

// `preset`: one of the spec's; empty: `small` where there is one, else the first (spec_presets.h).
// The error names every mistake of the spec, a line each (spec_problems.h); where the file cannot
// be read, why.
Result<Spec> load_spec(const std::string& path, const std::string& preset = "");
// Names of the presets of the spec at `path`; none if it has no presets.
Result<std::vector<std::string>> presets_of(const std::string& path);
// Whether the spec trains: it is neither not runnable nor analytic.
bool is_runnable(const Spec& spec);

struct PlannedStudy {
  // First 16 hex digits of the SHA-256 of (spec name, panel, row, epsilon, seed, options, base).
  std::string id;
  baselines::Cell cell;
  const baselines::Baseline* baseline = nullptr;
};

Result<std::vector<PlannedStudy>> plan(const Spec& spec);
// Cells (panel x row x epsilon) that these studies fill.
std::size_t count_cells(const std::vector<PlannedStudy>& studies);
// "27 studies of 9 cells"
std::string size_text(std::size_t studies, std::size_t cells);

// How many runs the study's private selection makes on average, which is public, other than what it
// drew; 1 for all else, and where the cell is infeasible.
double expected_runs(const PlannedStudy& study);

}  // namespace hyfreedp::runner
