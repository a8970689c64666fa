// The cost of charged selection in Mohapatra et al. 2021: by the moments accountant, where every
// candidate is composed, and by the algorithm of Liu & Talwar 2019, which runs a random number of
// candidates and releases the best.
//
//   MA   epsilon of candidates * T Poisson-subsampled Gaussians with rate L / n
//   LT   3 eps_1 + 3 sqrt(2 delta_1), where eps_1 is that of one run at delta_1, and delta_1 solves
//        sqrt(2 delta_1) log(1/delta_2) / gamma + delta_2 = delta_f with delta_2 = 1e-20
//        (Theorem 1); 1 / gamma is the mean number of candidates
//
// The moments accountant of Abadi et al. 2016 uses whole orders, here 2 to 512, and converts after
// Mironov 2017; the newer conversion (Canonne, Kamath & Steinke 2020) gives less.
#pragma once

#include "harness/accounting/accountant.h"
#include "harness/base/describe.h"

namespace hyfreedp::analytic {

struct MohapatraRun {
  double n = 0;  // training records
  accounting::Conversion conversion = accounting::Conversion::mironov;
  // These are options of the items.
  double sigma = 4;
  std::int64_t lot = 250, steps = 10000;
  double delta = 1e-6;
};
BOOST_DESCRIBE_STRUCT(MohapatraRun, (), (sigma, lot, steps, delta))

std::vector<OptionSpec> run_options(std::string help_of_steps);

Result<double> moments_epsilon(const MohapatraRun& run, std::int64_t candidates);
Result<double> liu_talwar_epsilon(const MohapatraRun& run, double mean_candidates);
// The largest number of candidates that the moments accountant composes within `epsilon`; 0 if one
// candidate costs more.
Result<std::int64_t> moments_candidates(const MohapatraRun& run, double epsilon);
// The smallest whole n at which the moments accountant's epsilon is at most `epsilon`: the data
// size that a printed cost implies.
Result<double> records_for(MohapatraRun run, std::int64_t candidates, double epsilon);

}  // namespace hyfreedp::analytic
