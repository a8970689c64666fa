// Runs that were trained once, from which a replay takes those that a method asks for (replay.h).
//
// A requested run and a pooled one have the same setting if their configs agree in everything but
// seed, repetition, noise seed and what is evaluated. Two quantities may differ from the pool:
//   learning rate   of a constant controller: the nearest pooled rate (in log) is taken if it is
//                   within a factor `max_rate_factor`
//   noise           of the gradients: one of the two neighbouring pooled noises is taken at random,
//                   with weights that make the expected result linear in ln(noise); outside the
//                   range of the pool the nearest is taken if it is within kMaxNoiseFactor
// Any other difference is an error that names it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/trial/trial_config.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

inline constexpr double kMaxNoiseFactor = 1.05;  // allowed distance beyond the pooled noises
inline constexpr double kMaxNoiseGap = 3;        // between two neighbours, of which one is taken

struct PooledRun {
  std::string trial;
  bool failed = false;
  std::string failure_kind;
  double test = 0;                   // accuracy at the last step
  std::optional<double> validation;  // un-noised: confidential
  std::optional<double> train;       // the same
};

// The runs at one learning rate and one noise, ordered by seed.
struct PooledCell {
  std::size_t index = 0;  // among the pool's
  std::vector<PooledRun> runs;
};

struct PoolMatch {
  const PooledCell* cell = nullptr;
  double rate_factor = 1;  // >= 1: how far the rate was snapped
  bool between_noises = false;
};

class ReplayPool {
 public:
  // Opens a pool of all runs of the spec's studies that ended for good. An error if a run has no
  // test accuracy.
  static Result<ReplayPool> open(const results::Store& store, const std::string& spec);

  Result<void> add(const trial::TrialConfig& config, PooledRun run);
  // Finds the pooled run for `wanted`; `uniform` in [0, 1) chooses between two noises.
  Result<PoolMatch> find(const trial::TrialConfig& wanted, double max_rate_factor, double uniform) const;

  std::size_t runs() const { return runs_; }
  std::size_t cells() const { return cells_; }
  std::size_t fewest_runs() const;  // in a cell

 private:
  using ByNoise = std::map<double, PooledCell>;
  struct Setting {
    json::object described;
    std::map<double, ByNoise> by_rate;
  };
  Error unknown(const json::object& wanted) const;

  std::map<std::string, Setting> settings_;  // by canonical JSON
  std::size_t runs_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace hyfreedp::runner
