// From a spec (YAML) to studies: pure, fast, without data and without LibTorch.
//
// load_spec reads and checks everything (unknown key: file, line, nearest valid key; wrong type; unknown names;
// infeasible values) and resolves every default; plan() expands panel x row x epsilon x seed into cells.
#pragma once

#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "results/store.h"

namespace hyfreedp::runner {

// The resolved spec, as stored in results::SpecRecord::resolved and read by tables, plots and reports:
//   {"name", "title", "description", "noise_seed": text|null,
//    "panels": [{"id", "title", "dataset": {"name","options"}, "model": {"name","options"}, "dimension",
//                "population", "validation", "test", "classes", "steps", "sample_rate", "batch_size", "clipping",
//                "optimizer": {...}, "delta", "seeds": [...], "epsilons": [1, 3, 8, "inf"], "footnotes": [...],
//                "rows": [{"id", "method", "title", "label", "options": {...}, "seeds": [...], "epsilons": [...],
//                          "footnotes": [...]}]}]}
struct Spec {
  std::string path;
  std::string text;
  json::object resolved;
  std::string hash() const;
};

Result<Spec> load_spec(const std::string& path);

struct PlannedStudy {
  std::string
      id;  // first 16 hex digits of the SHA-256 of (spec name, panel, row, epsilon, seed, options, base)
  baselines::Cell cell;
  const baselines::Baseline* baseline = nullptr;
};

Result<std::vector<PlannedStudy>> plan(const Spec& spec);

}  // namespace hyfreedp::runner
