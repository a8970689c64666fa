// The rivals of Mohapatra et al., AAAI 2022 (arXiv:2111.04906): an optimizer on a grid of learning
// rates and clipping thresholds (Abadi et al.), with its tuning charged. Used by dpsgd.cpp,
// dpmomentum.cpp, dpadam.cpp and adadp.cpp, and by dp_zo.cpp, which is not theirs.
//
// The grids are those of the authors' published configuration: C in {.1, .2, .5, 1} and, if the
// optimizer has a rate to tune, alpha in {1, 2, 5} x 10^-3..-1 and 1: the 40 candidates of DPSGD
// and the 4 of DPAdam (section 5). Section 5 prices the wide grids by Liu & Talwar's selection with
// as many runs, in the mean, as there are candidates, and the narrow ones by composing every run
// ("MA"); section 5.2 draws 4 candidates from the wide grid (option `candidates`). The paper
// chooses by un-noised validation accuracy; here each score is noised and priced, except for an
// oracle.
#pragma once

#include "baselines/search.h"

namespace hyfreedp::baselines {

struct TunedGrid {
  std::string optimizer;
  std::vector<double> rates;             // default grid; empty: the optimizer owns its step size
  std::vector<double> momenta = {};      // default grid; empty: no momentum to tune
  std::vector<std::string> hidden = {};  // options of the optimizer that the method does not have
  Tuning tuning = Tuning::selection;
  std::vector<double> thresholds = {0.1, 0.2, 0.5, 1};                 // default grid
  const char* clips = "clipping thresholds C of per-sample clipping";  // their help
};

const std::vector<double>& mohapatra_rates();

// Sets the baseline's source, options, next and conclude.
void make_tuned_grid(Baseline& baseline, const TunedGrid& grid);

}  // namespace hyfreedp::baselines
