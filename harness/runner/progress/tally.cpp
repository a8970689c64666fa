#include "harness/runner/progress/tally.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hyfreedp::runner {
namespace {

// The least share and time of a run under way that count as a measure of the rest: its start-up
// does not.
constexpr double kLeastShare = 0.05;
constexpr double kLeastSeconds = 1;

std::optional<double> scalar(const Update& update, const char* name) {
  const auto found = update.scalars.find(name);
  if (found == update.scalars.end()) return std::nullopt;
  return found->second;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double share_done(const RunningTrial& trial) {
  return trial.steps > 0 ? static_cast<double>(trial.step) / static_cast<double>(trial.steps) : 0.0;
}

}  // namespace

Tally::Tally(int workers, Clock clock)
    : clock_(clock ? std::move(clock) : Clock(steady_seconds)), workers_(std::max(workers, 1)) {}

void Tally::known(const std::string& unit, const Work& work, bool over, double runs) {
  if (!units_.try_emplace(unit, Unit{work, runs, over}).second) return;
  ++board_.runs;
  if (over) {
    ++board_.runs_over;
  } else {
    waiting_[work.kind] += runs * work.seconds;
  }
}

void Tally::over(const std::string& unit) {
  board_.selections.erase(unit);
  const auto found = units_.find(unit);
  if (found == units_.end() || found->second.over) return;
  auto& [work, runs, over] = found->second;
  over = true;
  ++board_.runs_over;
  waiting_[work.kind] = std::max(0.0, waiting_[work.kind] - runs * work.seconds);
  done_[work.kind] += runs * work.seconds;
}

void Tally::started(int slot, const RunningTrial& trial, const std::string& unit) {
  board_.running[slot] = trial;
  started_[slot] = {.unit = unit, .at = clock_()};
}

void Tally::stepped(const Update& update) {
  const auto found = board_.running.find(update.slot);
  if (found == board_.running.end()) return;
  auto& trial = found->second;
  trial.step = update.step;
  trial.steps = update.steps;
  measure_rate(started_.at(update.slot), trial);
  // Scalars that a step does not have keep their last value: probes come every few steps.
  if (const auto eta = scalar(update, "eta")) trial.step_size = eta;
  if (!trial.loss_is_released) return;
  if (const auto loss = scalar(update, "private_loss")) trial.private_loss = loss;
}

// Measures a run from its first news on: what came before is loading, and a run that goes on begins
// at a later step.
void Tally::measure_rate(Started& start, RunningTrial& trial) {
  if (board_.hides_times) return;
  const double now = clock_();
  if (!start.first_step) {
    start.first_step = trial.step;
    start.first_at = now;
  } else if (now > start.first_at && trial.step > *start.first_step) {
    trial.steps_per_second = static_cast<double>(trial.step - *start.first_step) / (now - start.first_at);
  }
}

void Tally::ended(int slot, bool finished, double seconds) {
  board_.running.erase(slot);
  const auto unit = started_.contains(slot) ? units_.find(started_.at(slot).unit) : units_.end();
  if (finished && unit != units_.end()) measured_.measure(unit->second.work, seconds);
  started_.erase(slot);
}

double Tally::seconds_of(const Pace& measured, const Kind& kind, double planned) const {
  const Work work{kind, planned};
  if (!measured.has_kind(kind) && earlier_.has_kind(kind)) return earlier_.predicted(work).value_or(planned);
  if (const auto now = measured.predicted(work)) return *now;
  return earlier_.predicted(work).value_or(planned);
}

const Board& Tally::board() {
  const double now = clock_();
  struct UnderWay {
    Work work;
    double share = 0;
  };
  std::vector<UnderWay> under_way;
  auto measured = measured_;
  for (const auto& [slot, start] : started_) {
    const auto unit = units_.find(start.unit);
    if (unit == units_.end() || unit->second.over) continue;
    const double share = std::clamp(share_done(board_.running.at(slot)), 0.0, 1.0);
    under_way.push_back({unit->second.work, share});
    if (share >= kLeastShare && now - start.at >= kLeastSeconds)
      measured.measure(unit->second.work, now - start.at, share);
  }
  double done = 0, left = 0, longest = 0;
  for (const auto& [kind, planned] : done_) done += seconds_of(measured, kind, planned);
  for (const auto& [kind, planned] : waiting_) left += seconds_of(measured, kind, planned);
  for (const auto& [work, share] : under_way) {
    const double all = seconds_of(measured, work.kind, work.seconds);
    done += share * all;
    left -= share * all;
    longest = std::max(longest, (1 - share) * all);
  }
  left = std::max(0.0, left);
  board_.done = done;
  board_.left = left;
  board_.seconds_left.reset();
  if (left > 0 && (measured.runs() > 0 || earlier_.runs() > 0))
    board_.seconds_left = std::max(left / workers_, longest);
  return board_;
}

}  // namespace hyfreedp::runner
