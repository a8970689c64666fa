// Holds back the studies of seeds that may not be needed: those of panels with `seeds: {until:
// ...}`, from the `from`-th seed on. Whenever all studies of a column that were let through are
// over, it looks at the comparison (results/table/sequential_seeds.h), and lets the next seed
// through or says that the others are not needed.
//
// Its decisions follow from the store alone, so a run that goes on after a crash decides the same.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/spec/spec.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

class SeedGate {
 public:
  SeedGate(const results::Store& store, const spec::Spec& spec) : store_(store), spec_(spec) {}

  // True if a comparison decides how many seeds of the study's row are trained.
  bool is_sequential(const results::StudyRecord& study) const;
  // Study `index` of the coordinator, which has no answer yet. Returns whether it is held back; one
  // that has begun is not.
  bool hold(std::size_t index, const results::StudyRecord& study);
  // It was cancelled: it is held back no more. If the comparison needs its seed, it waits until the
  // study is retried.
  void drop(std::size_t index);
  // It is over, and in the store.
  void over(std::size_t index, const results::StudyRecord& study);

  struct Next {
    std::vector<std::size_t> start;
    std::vector<std::size_t> not_needed;
  };
  // To be called at the beginning, and after each study that is over.
  Result<Next> next();

  // The number of studies that stay without an answer, because a study that the comparison needs
  // failed for a reason of the machine, or was left out.
  std::size_t held() const;

 private:
  using Place = std::pair<std::string, std::optional<double>>;  // panel, epsilon
  struct Column {
    std::set<std::size_t> running;
    std::map<std::int64_t, std::vector<std::size_t>> held;  // by seed
    bool is_stuck = false;
  };
  static void end_rest(Column& column, Next& next);
  Result<void> look(const spec::Panel& panel, const std::optional<double>& epsilon, Column& column,
                    Next& next) const;

  const results::Store& store_;
  const spec::Spec& spec_;
  std::map<Place, Column> columns_;
};

}  // namespace hyfreedp::runner
