#include "harness/runner/execute/cancelled_study.h"

#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "baselines/baseline.h"
#include "harness/base/text.h"
#include "harness/mechanism/journal.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/execute/asked_runs.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/found_runs.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/odometer/trial_book.h"
#include "harness/trial/event_tally.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/table_notes.h"

namespace hyfreedp::runner {
namespace {

using trial::Composition;

// Returns what the run is charged: the larger of what the database and the journal say, and at
// least all attempts of which these and its key tell. Empty if the run has released nothing.
Result<std::vector<accounting::Event>> charged_to(const results::Store& store, const OutFolder& out,
                                                  const std::string& trial) {
  trial::EventTally charged;
  const auto record = store.trial(trial);
  if (!record) return record.error();
  if (*record) {
    const auto recorded = charged_events(**record);
    if (!recorded) return recorded.error();
    charged.raise_to(trial::EventTally(*recorded));
  }
  const auto journal = mechanism::read_journal(out.journal(trial));
  const bool has_journal = journal && journal->trial == trial;
  if (!*record || !results::is_final(**record)) {
    const auto key = key_label(out.key(trial));
    if (!key) return key.error();
    const auto attempts = charge_of({.journal = has_journal ? &*journal : nullptr,
                                     .key = *key,
                                     .recorded = *record ? &**record : nullptr});
    if (!attempts) return attempts.error();
    charged.raise_to(trial::EventTally(trial::events_of(*attempts)));
  }
  if (has_journal) {
    const bool is_finished = journal->finish && journal->finish->state == trial::TrialState::finished;
    charged.raise_to(
        trial::EventTally(is_finished ? journal->executed : as_planned(journal->config, journal->executed)));
  }
  return charged.events();
}

// Returns those of `trials` that have released anything.
Result<std::vector<std::string>> begun_of(const results::Store& store, const OutFolder& out,
                                          const std::vector<std::string>& trials) {
  std::vector<std::string> begun;
  for (const auto& id : trials) {
    const auto charged = charged_to(store, out, id);
    if (!charged) return charged.error();
    if (!charged->empty()) begun.push_back(id);
  }
  return begun;
}

// True if a comparison decides whether the seed is trained at all.
Result<bool> may_not_be_needed(const results::Store& store, const results::StudyRecord& study) {
  const auto recorded = store.spec(study.spec);
  if (!recorded) return recorded.error();
  if (!*recorded) return true;
  const auto spec = results::spec_of(**recorded);
  if (!spec) return spec.error();
  const auto* panel = spec::find_panel(*spec, study.panel);
  return panel == nullptr || !panel->sequential || study.seed >= panel->sequential->from;
}

// Returns the composition of a seed that was booked ahead: its runs that have begun, and what was
// booked of the others. If that does not contain what was booked for all its runs together, or, if
// `is_first` and a comparison decides of the seed, the cost of the row's dearest seed, that cost
// takes its place. A booking that does not name its runs is of all of them.
Result<Composition> of_booked_seed(const results::Store& store, const OutFolder& out,
                                   const results::StudyRecord& study, bool is_first) {
  Composition composition{.rule = Composition::Rule::sum};
  auto begun = begun_of(store, out, study.trials);
  if (!begun) return begun.error();
  composition.trials = std::move(*begun);
  trial::EventTally all, least;
  for (const auto& rest : study.composition.not_begun) {
    if (rest.trial.empty()) {
      least.add(rest.events);
    } else if (std::ranges::count(composition.trials, rest.trial) == 0) {
      composition.not_begun.push_back(rest);
      all.add(rest.events);
    }
  }
  for (const auto& id : composition.trials) {
    const auto charged = charged_to(store, out, id);
    if (!charged) return charged.error();
    all.add(*charged);
  }
  if (is_first) {
    const auto dearest = dearest_seed(store, study);
    if (!dearest) return dearest.error();
    const auto decided = may_not_be_needed(store, study);
    if (!decided) return decided.error();
    if (*decided) least.raise_to(*dearest);
  }
  if (!all.contains(least)) {
    all.raise_to(least);
    composition.trials.clear();
    composition.not_begun = {{.events = all.events()}};
  }
  return composition;
}

// Returns what the dearest run like those of the selection executed, and at least what each was to
// execute. `out`: journals and keys are read beside the database; null: they are not.
Result<std::vector<accounting::Event>> dearest_like(const results::Store& store, const OutFolder* out,
                                                    const accounting::Selection& booked,
                                                    const trial::Named& dataset) {
  std::set<std::string> listed;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (const auto& study : *studies) listed.insert(study.trials.begin(), study.trials.end());
  const trial::EventTally planned(booked.base);
  auto dearest = planned;
  const auto is_like = [&](const std::string& id, const trial::TrialConfig& config) {
    const trial::EventTally own(mechanism::events(config));
    return !listed.contains(id) && as_json(config.dataset) == as_json(dataset) && own.contains(planned) &&
           planned.contains(own);
  };
  const auto trials = store.trials();
  if (!trials) return trials.error();
  for (const auto& run : *trials) {
    const auto config = trial::TrialConfig::from_json(run.config, "trial " + run.id);
    if (!config) return config.error();
    if (is_like(run.id, *config)) dearest.raise_to(trial::EventTally(run.events));
  }
  if (out == nullptr) return dearest.events();
  // The database may be an older copy, which has some of the runs not at all.
  std::vector<std::string> unreadable;
  const auto found = found_runs(store, *out, unreadable);
  if (!found) return found.error();
  for (const auto& [id, run] : *found) {
    if (!is_like(id, run.config)) continue;
    const auto charged = charged_to(store, *out, id);
    if (!charged) return charged.error();
    dearest.raise_to(trial::EventTally(*charged));
  }
  return dearest.events();
}

// Returns how the study's cost composes. Only a selection that was booked has a rule already.
Result<Composition> composition_of(const results::Store& store, const OutFolder& out,
                                   const results::StudyRecord& study) {
  const auto& known = study.composition;
  if (known.selection && known.dataset) {
    auto executed = dearest_like(store, &out, *known.selection, *known.dataset);
    if (!executed) return executed.error();
    auto booked = known;
    booked.booked_ahead = false;
    booked.unlisted = Composition::Unlisted{std::move(*executed), known.selection->base};
    return booked;
  }
  if (!known.not_begun.empty()) {
    auto booked = of_booked_seed(store, out, study, known.dataset.has_value());
    // No run says which data it is about.
    if (booked && !booked->not_begun.empty() && booked->trials.empty()) booked->dataset = known.dataset;
    return booked;
  }
  auto begun = begun_of(store, out, study.trials);
  if (!begun) return begun.error();
  const auto rule = begun->empty() ? Composition::Rule::none : Composition::Rule::sum;
  return Composition{.rule = rule, .trials = std::move(*begun)};
}

// True if it may cost more than one attempt of each of the runs that it is priced by. Pricing takes
// time.
bool may_cost_more(const results::Store& store, const OutFolder& out, const results::StudyRecord& study) {
  const auto& composition = study.composition;
  if (composition.unlisted) return true;
  if (!study.total && !composition.trials.empty()) return true;
  return std::ranges::any_of(composition.trials, [&](const std::string& id) {
    const auto run = store.trial(id);
    const auto charged = charged_to(store, out, id);
    if (!run || !*run || !charged) return false;
    const auto config = trial::TrialConfig::from_json((**run).config, "trial " + id);
    return config && !trial::EventTally(mechanism::events(*config)).contains(trial::EventTally(*charged));
  });
}

// The runs of a coordinator that was killed: the database may not know what they booked last.
Result<void> note_interrupted(results::Store& store, const OutFolder& out) {
  TrialBook book(store, out);
  const auto trials = store.trials();
  if (!trials) return trials.error();
  for (const auto& trial : *trials) {
    if (!trial.begun_after) continue;
    const auto config = trial::TrialConfig::from_json(trial.config, "trial " + trial.id);
    if (!config) return config.error();
    if (auto noted = book.interrupt(*config, Heard::maybe_more); !noted) return noted;
  }
  return {};
}

// Takes in what journals and keys tell of the runs that it lists.
Result<void> take_in_runs(results::Store& store, const OutFolder& out, const results::StudyRecord& study) {
  TrialBook book(store, out);
  for (const auto& id : study.trials) {
    if (auto taken = book.take_in(id); !taken) return taken;
  }
  return {};
}

// The runs that it is to be priced by beside those that it is: `found`, and what it lists and had
// not begun.
Result<std::vector<std::string>> later_runs(const results::Store& store, const AskedRuns& asked,
                                            const results::StudyRecord& study,
                                            std::vector<std::string> found) {
  // A booking has the price of all.
  if (!lists_its_runs(study.method, study.composition) || !study.composition.not_begun.empty()) return found;
  for (const auto& id : study.trials) {
    if (std::ranges::count(study.composition.trials, id) > 0 || asked.is_of_other(id, study.id)) continue;
    const auto run = store.trial(id);
    if (!run) return run.error();
    if (*run && !(**run).events.empty()) found.push_back(id);
  }
  return found;
}

// Returns none where it costs no more than it says, or a file cannot be read.
std::optional<results::StudyRecord> priced_again(const results::Store& store, const OutFolder& out,
                                                 const results::StudyRecord& study) {
  if (!may_cost_more(store, out, study)) return std::nullopt;
  auto anew = as_cancelled(store, out, study);
  const bool is_more = anew && anew->total && (!study.total || anew->total->epsilon > study.total->epsilon);
  return is_more ? std::optional(std::move(*anew)) : std::nullopt;
}

// Of an open private selection a record has the runs like it that no row lists, so that all rows
// must list theirs.
Result<void> write_lost_records(const results::Store& store, const OutFolder& out) {
  const auto specs = store.specs();
  if (!specs) return specs.error();
  for (const auto& one : *specs) {
    if (std::filesystem::exists(out.release_record(one.name))) continue;
    const auto studies = store.studies(one.name);
    if (!studies) return studies.error();
    const bool complete = std::ranges::all_of(*studies, results::is_answered);
    if (auto written = write_release_record(store, out, one.name, complete); !written) return written;
  }
  return {};
}

}  // namespace

Result<trial::EventTally> dearest_seed(const results::Store& store, const results::StudyRecord& study) {
  trial::EventTally dearest;
  const auto method = baselines::find_baseline(study.method);
  if (method && (**method).single_round) return dearest;
  const auto known = store.studies(study.spec);
  if (!known) return known.error();
  for (const auto& other : *known) {
    if (other.panel != study.panel || other.row != study.row || other.epsilon_target != study.epsilon_target)
      continue;
    trial::EventTally planned;
    for (const auto& id : other.trials) {
      const auto record = store.trial(id);
      if (!record) return record.error();
      if (!*record) continue;
      const auto config = trial::TrialConfig::from_json((**record).config, "trial " + id);
      if (!config) return config.error();
      planned.add(mechanism::events(*config));
    }
    dearest.raise_to(planned);
  }
  return dearest;
}

Result<results::StudyRecord> as_cancelled(const results::Store& store, const OutFolder& out,
                                          results::StudyRecord study) {
  const auto spec = store.spec(study.spec);
  if (!spec) return spec.error();
  auto composition = composition_of(store, out, study);
  if (!composition) return composition.error();
  study.state = results::StudyState::failed;
  study.failure_kind = results::kCancelledStudy;
  study.failure_message =
      composition->is_selection() ? "It was cancelled; its private selection stays charged as a whole."
      : composition->rule == Composition::Rule::sum ? "It was cancelled; its runs stay charged as planned."
                                                    : "It was cancelled.";
  study.failure_message += " hyfreedp retry opens it again.";
  study.composition = std::move(*composition);
  study.total.reset();
  study.training.reset();
  study.seconds = 0;
  for (const auto& id : study.trials) {
    const auto trial = store.trial(id);
    if (!trial) return trial.error();
    if (*trial) study.seconds += (**trial).seconds;
  }
  if (!study.epsilon_target) return study;
  if (*spec && has_seeded_noise(**spec)) study.flags = {results::kReproducibleNoise};
  const auto priced = StudyPricer().price(
      study, study.composition, [&](const std::string& trial) { return charged_to(store, out, trial); });
  if (!priced) return priced.error();
  return study;
}

Result<void> price_cancelled_again(results::Store& store, const OutFolder& out) {
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  std::set<std::string> specs;
  for (const auto& study : *studies) {
    if (!results::is_cancelled(study)) continue;
    const auto anew = priced_again(store, out, study);
    if (!anew) continue;
    if (auto put = store.put_study(*anew); !put) return put;
    specs.insert(anew->spec);
  }
  for (const auto& spec : specs) {
    if (auto written = update_release_record(store, out, spec); !written) return written;
  }
  return {};
}

Result<void> catch_up(results::Store& store, const OutFolder& out) {
  if (auto noted = note_interrupted(store, out); !noted) return noted;
  auto asked = AskedRuns::read(store, out);
  if (!asked) return asked.error();
  if (!asked->untold().empty()) return error(asked->untold().front());
  if (auto taken = asked->take_in_hidden(); !taken) return taken;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (auto study : *studies) {
    const bool is_cancelled = results::is_cancelled(study);
    if (!is_cancelled && results::is_answered(study)) continue;
    auto found = asked->of(study.id);
    if (!is_cancelled) study.trials.insert(study.trials.end(), found.begin(), found.end());
    if (auto taken = take_in_runs(store, out, study); !taken) return taken;
    if (!is_cancelled) {
      if (found.empty()) continue;
      if (auto put = store.put_study(study); !put) return put;
      continue;
    }
    const auto later = later_runs(store, *asked, study, std::move(found));
    if (!later) return later.error();
    if (later->empty()) continue;
    if (auto added = add_later_runs(store, out, study, *later); !added) return added;
  }
  if (auto priced = price_cancelled_again(store, out); !priced) return priced;
  return write_lost_records(store, out);
}

Result<void> keep_lost_cost(results::Store& store, const results::StudyRecord& study) {
  const auto& booked = study.composition;
  if (!booked.unlisted || !booked.dataset) return {};
  const auto known = dearest_like(store, nullptr, *booked.selection, *booked.dataset);
  if (!known) return known.error();
  if (trial::EventTally(*known).contains(trial::EventTally(booked.unlisted->executed))) return {};
  return store.put_retired({study.id, study.spec, study.method, study.composition, study.trials});
}

results::StudyRecord as_reopened(results::StudyRecord study) {
  study.state = results::StudyState::open;
  study.failure_kind.clear();
  study.failure_message.clear();
  study.flags.clear();
  study.footnotes.clear();
  study.claimed_epsilon.reset();
  study.total.reset();
  study.training.reset();
  study.seconds = 0;
  study.reported_trial.clear();
  if (study.composition.is_selection()) {
    study.composition.unlisted.reset();
    study.trials.clear();  // an open selection lists none
  } else if (study.composition.not_begun.empty()) {
    study.composition = {};
  }
  return study;
}

std::optional<std::string> why_not_retried(const results::StudyRecord& study, bool seeded) {
  if (study.state == results::StudyState::open) return std::nullopt;
  if (results::is_not_needed(study)) return "its comparison did not need it";
  if (study.state == results::StudyState::concluded) return "it has its value";
  if (results::is_cancelled(study) || results::may_be_tried_again(study.failure_kind)) return std::nullopt;
  if (seeded && results::is_lost(study))
    return "its journal is lost: put it back from a copy, or run the spec in another folder";
  return fmt::format("{} is its answer: {}", study.failure_kind,
                     seeded ? "with the spec's noise_seed it would end the same way"
                            : "another try would be another release, which `hyfreedp run --fresh` makes of "
                              "the whole spec");
}

std::string study_text(const results::StudyRecord& study) {
  const std::string epsilon =
      study.epsilon_target ? "ε " + short_number(*study.epsilon_target) : "non-private";
  return fmt::format("{}, {}, {}, seed {}", study.panel, study.row, epsilon, study.seed);
}

}  // namespace hyfreedp::runner
