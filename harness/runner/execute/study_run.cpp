#include "harness/runner/execute/study_run.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "baselines/fixed_noise.h"
#include "harness/base/files.h"
#include "harness/mechanism/releases.h"
#include "harness/random/key_file.h"
#include "harness/random/partition.h"
#include "harness/runner/executors/executor.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/trial/code_marks.h"
#include "harness/trial/event_tally.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

using Rule = trial::Composition::Rule;

// No method comes near; one that does asks without end.
constexpr int kMostRounds = 1000;
constexpr std::size_t kMostTrials = 100000;

// The data that a run had a part of.
trial::Named whole_of(const trial::Named& dataset) {
  return {dataset.name, random::without_part(dataset.options)};
}

bool is_same(const trial::Named& one, const trial::Named& other) {
  return one.name == other.name && one.options == other.options;
}

}  // namespace

StudyRun::StudyRun(PlannedStudy study, std::string spec) : study_(std::move(study)) {
  outcome_.id = study_.id;
  outcome_.spec = std::move(spec);
  outcome_.panel = cell().panel;
  outcome_.row = cell().row;
  outcome_.method = study_.baseline->name;
  outcome_.epsilon_target = cell().epsilon;
  outcome_.delta = cell().delta;
  outcome_.seed = cell().seed;
  outcome_.label =
      baselines::to_string(cell().epsilon ? study_.baseline->label : baselines::Label::non_private);
}

// A seeded spec under two names makes the same selection.
std::string StudyRun::name_of_booking() const {
  if (!cell().base.noise_seed) return random::nonce_from_entropy().value();
  const json::array parts{study_.baseline->name, cell().base.id(), cell().options,
                          outcome_.composition.to_json()};
  return sha256_hex("seeded selection " + canonical_json(parts)).substr(0, 32);
}

void StudyRun::book_selection() {
  if (!study_.baseline->confidential_runs || !study_.baseline->selection || !cell().epsilon) return;
  auto selection = study_.baseline->selection(cell());
  if (!selection) return;  // infeasible: there will be no run
  outcome_.composition = {.rule = Rule::selection, .selection = std::move(*selection)};
  if (booking_.empty()) booking_ = name_of_booking();
  write_booking();
}

void StudyRun::goes_on_from(const results::StudyRecord& recorded) {
  booking_ = recorded.composition.booking;
  if (study_.baseline->confidential_runs) return;
  earlier_ = recorded.trials;
  list_trials();
}

bool StudyRun::had_asked_for(const std::string& trial) const {
  return std::ranges::find(earlier_, trial) != earlier_.end();
}

// Lists the trials that were asked for, by this run of the spec or an earlier one.
void StudyRun::list_trials() {
  outcome_.trials = asked_;
  for (const auto& id : earlier_) {
    if (std::ranges::find(asked_, id) == asked_.end()) outcome_.trials.push_back(id);
  }
}

void StudyRun::book_seed() {
  is_booked_ahead_ = true;
  // The runs that a private selection would make are not to be told.
  if (study_.baseline->confidential_runs) {
    mark_booked_ahead();
    return;
  }
  auto& composition = outcome_.composition;
  composition = {.rule = Rule::sum, .dataset = cell().base.dataset};
  if (const auto first = study_.baseline->next(cell(), {})) {
    for (const auto& config : *first) {
      composition.trials.push_back(config.id());
      composition.not_begun.push_back({.events = mechanism::events(config), .trial = config.id()});
    }
  }
}

void StudyRun::mark_booked_ahead() {
  outcome_.composition.booked_ahead = is_booked_ahead_ && outcome_.composition.rule.has_value();
}

void StudyRun::end_without_runs(const std::vector<accounting::Event>& planned) {
  HYFREEDP_CHECK(asked_.empty() && !is_over(), "a study that has begun was found to be not needed");
  over_ = true;
  outcome_.state = results::StudyState::failed;
  outcome_.failure_kind = results::kNotNeeded;
  outcome_.failure_message = "The comparison was decided before this seed, so it was not trained.";
  auto& composition = outcome_.composition;
  if (composition.is_selection()) {
    composition.drew_no_run = true;
    composition.booked_ahead = false;
    return;
  }
  if (!composition.rule) composition = {.rule = Rule::sum, .dataset = cell().base.dataset};
  if (trial::booked_of(composition).contains(trial::EventTally(planned))) return;
  composition.trials.clear();
  composition.not_begun = {{.events = planned}};
}

// The dataset is stored here, since it is nowhere else while the study's runs are not listed.
void StudyRun::write_booking() {
  auto& composition = outcome_.composition;
  if (!composition.selection) return;
  composition.release = cell().base.repetition / baselines::kRepetitionsPerRelease;
  composition.booking = booking_;
  if (!composition.selection->base.empty()) composition.dataset = cell().base.dataset;
}

std::vector<trial::TrialConfig> StudyRun::advance() {
  HYFREEDP_CHECK(!is_waiting() && !is_over(), "a study was advanced while it waits or after its end");
  if (unexpected_) {
    end();
    return {};
  }
  // An exception from a method is the method's bug; the other studies go on.
  try {
    auto wanted = new_wishes();
    if (!wanted.empty() || over_) return wanted;
    conclude();
  } catch (const std::exception& failure) {
    fail_unexpectedly(kInternal, failure.what());
  }
  end();
  return {};
}

void StudyRun::end() {
  over_ = true;
  finished_.clear();  // the database has them; a spec may have many
  if (!unexpected_) {
    outcome_.trials = asked_;
  } else if (!study_.baseline->confidential_runs) {
    list_trials();
  }
}

std::vector<trial::TrialConfig> StudyRun::new_wishes() {
  const auto known = finished();
  auto wanted = study_.baseline->next(cell(), known);
  if (!wanted) throw std::runtime_error(wanted.error().message);
  std::vector<trial::TrialConfig> fresh;
  for (auto& config : *wanted) {
    if (auto checked = baselines::check_fixed_noise(cell(), config); !checked)
      throw std::runtime_error(checked.error().message);
    if (auto id = config.id(); !finished_.contains(id) && waiting_.insert(id).second) {
      asked_.push_back(std::move(id));
      fresh.push_back(std::move(config));
    }
  }
  if (!wanted->empty() && fresh.empty()) {
    throw std::runtime_error(study_.baseline->name + " asks again for runs that have finished");
  }
  if (!study_.baseline->confidential_runs) list_trials();
  if (++rounds_ > kMostRounds || asked_.size() > kMostTrials) {
    throw std::runtime_error(study_.baseline->name + " never stops asking for runs");
  }
  return fresh;
}

// An end-to-end row says that all it did with private data is in its price; it is held to that.
void StudyRun::check_end_to_end(const baselines::Conclusion& conclusion) const {
  if (conclusion.label != baselines::Label::end_to_end) return;
  const auto& composition = conclusion.composition;
  const auto is_priced = [&](const std::string& id) {
    if (composition.rule == Rule::selection) return true;
    if (composition.rule == Rule::trial) return composition.trials.front() == id;
    return composition.rule == Rule::sum &&
           std::ranges::find(composition.trials, id) != composition.trials.end();
  };
  for (const auto& [id, trial] : finished_) {
    const auto complain = [this, &run = id](const std::string& what) {
      throw std::runtime_error(
          fmt::format("{} is labelled end-to-end but {} (run {})", study_.baseline->name, what, run));
    };
    if (!trial.config.privacy.is_private) complain("ran without privacy");
    if (trial.config.evaluation.oracle_validation) complain("asked for the un-noised validation accuracy");
    if (trial.config.evaluation.oracle_train) complain("asked for the un-noised training accuracy");
    if (!is_priced(id)) complain("leaves a run out of its price");
  }
}

// The price of a selection is that of independent runs of one mechanism: none may follow from the
// result of another, and each costs the same.
void StudyRun::check_selection(const baselines::Conclusion& conclusion) const {
  if (conclusion.label != baselines::Label::end_to_end || !conclusion.composition.is_selection()) {
    return;
  }
  const auto complain = [&](const std::string& what) {
    throw std::runtime_error(study_.baseline->name + " prices a private selection but " + what);
  };
  // the last round asked for none
  if (rounds_ > 2) complain("asked for its runs in several rounds");
  std::optional<trial::EventTally> first;
  for (const auto& [id, trial] : finished_) {
    const trial::EventTally tally(mechanism::events(trial.config));
    if (!first) first = tally;
    if (!tally.contains(*first) || !first->contains(tally)) {
      complain("its runs do not cost the same (run " + id + ")");
    }
  }
}

// Parts compose in parallel only where the runs had them, and where they are parts of one partition
// of the same data: of other data, a record may be in both.
void StudyRun::check_parts(const baselines::Conclusion& conclusion) const {
  std::optional<random::Part> any;
  std::optional<trial::Named> data;
  for (const auto& [id, name] : conclusion.composition.parts) {
    const auto found = finished_.find(id);
    const auto part = found == finished_.end()
                          ? Result<std::optional<random::Part>>(std::optional<random::Part>{})
                          : random::part_of(found->second.config.dataset.options);
    const bool had_it = part && *part && (**part).name == name && (!any || any->is_beside(**part));
    if (!had_it || (data && !is_same(*data, whole_of(found->second.config.dataset)))) {
      throw std::runtime_error(
          fmt::format("{} prices the run {} as one on the part '{}' of the data, which it did not have",
                      study_.baseline->name, id, name));
    }
    any = **part;
    data = whole_of(found->second.config.dataset);
  }
}

void StudyRun::conclude() {
  const auto known = finished();
  auto conclusion = study_.baseline->conclude(cell(), known);
  if (!conclusion) throw std::runtime_error(conclusion.error().message);
  // A cell that could not be filled is still one of an oracle's.
  if (conclusion->failure && conclusion->label == baselines::Label::end_to_end) {
    conclusion->label = cell().epsilon ? study_.baseline->label : baselines::Label::non_private;
  }
  check_end_to_end(*conclusion);
  check_selection(*conclusion);
  check_parts(*conclusion);
  if (!conclusion->composition.rule)
    throw std::runtime_error(study_.baseline->name + " does not say how its runs compose");
  outcome_.composition = std::move(conclusion->composition);
  outcome_.code = trial::code_mark("method", study_.baseline->name);
  outcome_.state = conclusion->failure ? results::StudyState::failed : results::StudyState::concluded;
  outcome_.reported_trial = std::move(conclusion->reported_trial);
  write_booking();
  outcome_.label = baselines::to_string(conclusion->label);
  outcome_.flags = std::move(conclusion->flags);
  outcome_.footnotes = std::move(conclusion->footnotes);
  outcome_.claimed_epsilon = conclusion->claimed_epsilon;
  if (conclusion->failure) {
    outcome_.failure_kind = std::move(conclusion->failure->kind);
    outcome_.failure_message = std::move(conclusion->failure->message);
  }
}

void StudyRun::fail_unexpectedly(const std::string& kind, const std::string& message) {
  unexpected_ = true;
  waiting_.clear();
  outcome_.state = results::StudyState::failed;
  outcome_.failure_kind = kind;
  outcome_.failure_message = message;
  if (!study_.baseline->confidential_runs) {
    // The booking of a seed stays.
    if (is_booked_ahead_) return;
    outcome_.composition = {.rule = Rule::none};
  } else {
    // Its finished runs are part of the selection that the next run of the spec completes: still
    // confidential.
    outcome_.composition.rule = Rule::selection;
    outcome_.composition.trials.clear();
    outcome_.failure_message = fmt::format(
        "The private selection ended unexpectedly ({}). Its runs are confidential, so no details are shown. "
        "Run the same command again to continue it.",
        kind);
  }
  if (study_.baseline->confidential_runs) mark_booked_ahead();
}

void StudyRun::receive(const baselines::FinishedTrial& trial) {
  waiting_.erase(trial.id);
  finished_[trial.id] = trial;
}

void StudyRun::cancel() {
  over_ = true;
  waiting_.clear();
}

void StudyRun::receive_lost(const std::string& trial, const std::string& kind, const std::string& message) {
  auto others = waiting_;
  others.erase(trial);
  // The first loss, in the order asked, is the one that is told.
  const auto position = [&](const std::string& id) { return std::find(asked_.begin(), asked_.end(), id); };
  if (!unexpected_ || position(trial) < position(lost_)) {
    lost_ = trial;
    fail_unexpectedly(kind, fmt::format("The run {} was lost ({}). {}", trial, kind, message));
  }
  waiting_ = std::move(others);
}

std::vector<baselines::FinishedTrial> StudyRun::finished() const {
  std::vector<baselines::FinishedTrial> list;
  for (const auto& id : asked_) {
    if (const auto found = finished_.find(id); found != finished_.end()) list.push_back(found->second);
  }
  return list;
}

}  // namespace hyfreedp::runner
