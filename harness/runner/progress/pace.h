// Predicts how long runs take on this machine, from what they compute and how long similar ones
// took.
//
//   planned seconds    steps kStepSeconds + features read
//                      kElementSeconds + FLOPs / kFlopsPerSecond, of training, probing and
//                      evaluation, on a core that does not exist; what is wrong with it is the same
//                      for runs of one kind, and mostly so for similar ones
//   ratio of a kind    sum of measured seconds / sum of planned seconds, over runs of that kind
//   predicted seconds  planned seconds times the ratio of the run's kind; where none of it was
//                      measured, times the geometric mean of the ratios of kinds on the same data
//                      and model, else of all on the same device; else there is none
//
// A kind is what decides how long a step takes: device, data, model, and the method of training
// (optimizer, controller, sampler, clipping), not its seed, rate or noise.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "harness/trial/trial_config.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct Kind {
  std::string device;
  std::string task;  // data and model
  std::string method;
  auto operator<=>(const Kind&) const = default;
};

struct Work {
  Kind kind;
  double seconds = 0;  // planned
};

Work work_of(const trial::TrialConfig& config);

class Pace {
 public:
  // Records that `share` in (0, 1] of such a run took `seconds`. Values that are not above 0 are
  // left out.
  void measure(const Work& work, double seconds, double share = 1);
  // None where nothing on its device was measured.
  std::optional<double> predicted(const Work& work) const;
  bool has_kind(const Kind& kind) const { return sums_.contains(kind); }
  std::size_t runs() const { return runs_; }

 private:
  struct Sums {
    double measured = 0;
    double planned = 0;
  };
  std::map<Kind, Sums> sums_;
  std::size_t runs_ = 0;
};

// Returns the pace of the runs that a folder has finished; of a private selection only the reported
// run counts, whose time may be known.
Result<Pace> stored_pace(const results::Store& store);

}  // namespace hyfreedp::runner
