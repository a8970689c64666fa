// What honest selection costs in Mohapatra et al. 2021: the moments accountant
// (every candidate composed) and the algorithm of Liu & Talwar 2019 (a random number of candidates,
// the best released).
//
//   MA   epsilon of candidates * T Poisson-subsampled Gaussians with rate L / n
//   LT   3 eps_1 + 3 sqrt(2 delta_1), eps_1 that of one run at delta_1; sqrt(2 delta_1)
//        log(1/delta_2) / gamma + delta_2 = delta_f, delta_2 = 1e-20 (Theorem 1); 1 / gamma is the
//        mean number of candidates
//
// The moments accountant of Abadi et al. 2016 works at whole orders, here 2 to 512, and converts
// after Mironov 2017; the newer conversion (Canonne, Kamath & Steinke 2020) gives less.
#pragma once

#include "harness/accounting/accountant.h"

namespace hyfreedp::analytic {

struct MohapatraRun {
  double n = 0;  // training records
  double sigma = 4;
  double lot = 250;
  std::int64_t steps = 10000;
  double delta = 1e-6;
  accounting::Conversion conversion = accounting::Conversion::mironov;
};

Result<double> moments_epsilon(const MohapatraRun& run, std::int64_t candidates);
Result<double> liu_talwar_epsilon(const MohapatraRun& run, double mean_candidates);
// The most candidates that the moments accountant composes within `epsilon`; 0 where one costs
// more.
Result<std::int64_t> moments_candidates(const MohapatraRun& run, double epsilon);
// The smallest whole n at which the moments accountant's epsilon is at most `epsilon`: what data
// size a printed cost speaks of.
Result<double> records_for(MohapatraRun run, std::int64_t candidates, double epsilon);

}  // namespace hyfreedp::analytic
