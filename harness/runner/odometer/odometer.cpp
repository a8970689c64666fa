#include "harness/runner/odometer/odometer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <utility>

#include "baselines/baseline.h"
#include "datasets/facts.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/found_runs.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record_file.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

using accounting::Event;
using trial::Composition;
using trial::EventTally;

// A private selection, and the runs that the database says it made.
struct SelectionStudy {
  std::string id;
  std::optional<std::int64_t> seed;  // of all its runs; absent: not known
  Composition composition;
  std::vector<std::string> runs = {};  // none while it is open
  bool is_retired = false;

  // It has come to its end, or an earlier version of the program made it, which did not say.
  bool is_over() const { return composition.booking.empty() || !composition.attempts.empty(); }
};

// Holds what a row booked for a seed: as the database has it, as earlier versions of the spec had
// it, and as older copies say.
struct BookedSeed {
  trial::Named dataset;
  std::vector<Composition::NotBegun> runs;  // by name
  EventTally nameless;                      // the most of what any says without naming runs
};
// An attempt that is charged beside those that its run has in the database.
struct OtherAttempt {
  trial::Named dataset;
  EventTally events;
};
using RunsOfStudies = std::map<std::string, std::set<std::string>>;

// The rules by which runs compose, as the database has them.
struct Studies {
  std::set<std::string> open_to_all;  // runs that a row lists whose number of runs is public
  std::vector<SelectionStudy> selections;
  std::vector<results::StudyRecord> priced;
  std::vector<Composition> ended_early;  // searches whose planned rest is charged
  // Seeds that may not be needed, or were not, by study: their runs are charged all the same.
  std::map<std::string, BookedSeed> booked_seeds;
  std::map<std::pair<std::string, std::string>, OtherAttempt> other_attempts;  // by run and name
  RunsOfStudies listed;  // by study, of rows whose number of runs is public
};

class StudyReader {
 public:
  explicit StudyReader(const results::Store& store) : store_(store) {}

  Result<Studies> read() {
    auto studies = store_.all_studies();
    if (!studies) return studies.error();
    for (auto& study : *studies) {
      add(study.id, study.method, study.composition, study.trials, study.seed, false);
      if (study.total) found_.priced.push_back(std::move(study));
    }
    const auto retired = store_.retired_studies();
    if (!retired) return retired.error();
    for (const auto& study : *retired) {
      add(study.id, study.method, study.composition, study.trials, study.composition.seed, true);
    }
    // A seeded selection that an earlier version of the program made had no name.
    std::set<std::string> named;
    for (const auto& study : found_.selections) {
      if (!study.composition.booking.empty()) named.insert(join(study.runs, " "));
    }
    std::erase_if(found_.selections, [&](const SelectionStudy& study) {
      return study.composition.booking.empty() && !study.runs.empty() &&
             named.contains(join(study.runs, " "));
    });
    return std::move(found_);
  }

 private:
  void add(const std::string& id, const std::string& method, const Composition& composition,
           const std::vector<std::string>& trials, std::optional<std::int64_t> seed, bool is_retired) {
    if (!composition.is_selection()) {
      if (lists_its_runs(method, composition)) {
        found_.open_to_all.insert(trials.begin(), trials.end());
        found_.listed[id].insert(trials.begin(), trials.end());
      }
      if (composition.not_begun.empty()) return;
      if (composition.dataset) {
        add_booked(found_.booked_seeds[id], composition);
        return;
      }
      // Searches that have the same runs so far may have been about to make others, so each is
      // charged its rest: also those of a seeded spec under two names, which would have been one.
      if (seen_.insert(id + " " + canonical_json(composition.to_json())).second)
        found_.ended_early.push_back(composition);
      return;
    }
    // lost, by a program that did not record its rule
    if (!composition.selection) return;
    SelectionStudy study{.id = id, .seed = seed, .composition = composition, .is_retired = is_retired};
    const bool is_booked = !study.composition.booking.empty();
    if (study.composition.unlisted) {
      found_.selections.push_back(std::move(study));
      return;
    }
    std::set<std::string> runs(trials.begin(), trials.end());
    runs.insert(study.composition.trials.begin(), study.composition.trials.end());
    study.runs.assign(runs.begin(), runs.end());
    // A seeded spec under two names makes the same selection, of the same runs.
    if (is_booked || study.runs.empty() || seen_.insert(join(study.runs, " ")).second) {
      found_.selections.push_back(std::move(study));
    }
  }

  // Of a run that several have booked the most counts.
  static void add_run(BookedSeed& seed, const trial::Composition::NotBegun& booked) {
    const auto same = std::ranges::find(seed.runs, booked.trial, [](const auto& run) { return run.trial; });
    if (same == seed.runs.end()) {
      seed.runs.push_back(booked);
      return;
    }
    EventTally most(same->events);
    most.raise_to(EventTally(booked.events));
    same->events = most.events();
  }

  void add_booked(BookedSeed& seed, const Composition& composition) {
    seed.dataset = *composition.dataset;
    EventTally nameless;
    for (const auto& rest : composition.not_begun) {
      if (!rest.attempt.empty()) {
        auto& attempt = found_.other_attempts[{rest.trial, rest.attempt}];
        attempt.dataset = seed.dataset;
        attempt.events.raise_to(EventTally(rest.events));
      } else if (rest.trial.empty()) {
        nameless.add(rest.events);
      } else {
        add_run(seed, rest);
      }
    }
    seed.nameless.raise_to(nameless);
  }

  const results::Store& store_;
  Studies found_;
  std::set<std::string> seen_;
};

class Composer {
 public:
  Composer(Odometer& odometer, const FoundRuns& runs, const Studies& studies, const OdometerOptions& options)
      : odometer_(odometer), runs_(runs), studies_(studies), options_(options) {}

  void compose() {
    for (const auto& study : studies_.selections) {
      if (study.runs.empty()) continue;
      add_made(study);
      made_.insert(study.composition.booking);
    }
    for (const auto& study : studies_.selections) {
      if (study.composition.unlisted && study.composition.dataset) add_unlisted(study);
    }
    for (const auto& study : studies_.selections) {
      if (!study.runs.empty() || !study.composition.dataset || study.composition.unlisted) continue;
      if (study.composition.drew_no_run) {
        add_selection(study, EventTally(study.composition.selection->base), *study.composition.dataset);
      } else {
        add_open(study);
      }
    }
    set_shared_apart();
    add_bookings();
    for (const auto& [id, run] : runs_) add_run(id, run);
    for (const auto& search : studies_.ended_early) add_rest(search);
    for (const auto& [id, seed] : studies_.booked_seeds) add_booked_seed(id, seed);
    for (const auto& [name, attempt] : studies_.other_attempts) add_other(name.first, name.second, attempt);
    for (const auto& study : studies_.priced) add_table(study);
  }

 private:
  struct Booking {
    accounting::Selection law;
    trial::Named dataset;
    EventTally base;
  };

  bool is_listed(const std::string& id) const { return studies_.open_to_all.contains(id); }

  void add_made(const SelectionStudy& study) {
    EventTally base;
    const trial::Named* dataset = nullptr;
    for (const auto& id : study.runs) {
      const auto run = runs_.find(id);
      if (run == runs_.end()) continue;
      base.raise_to(EventTally(run->second.charged()));
      dataset = &run->second.config.dataset;
      selected_.insert(id);
    }
    if (dataset != nullptr) add_selection(study, base, *dataset);
  }

  // Rebuilt from its release record. Counted already where a row of the same runs lists them.
  void add_unlisted(const SelectionStudy& study) {
    const auto& reported = study.composition.trials;
    if (study.composition.booking.empty() && !reported.empty() && selected_.contains(reported.front()))
      return;
    EventTally base(study.composition.unlisted->executed);
    // Where a row of the same booking lists its runs, others are not this one's.
    const bool may_go_on = !study.is_retired && !study.is_over();
    const bool has_runs = may_go_on || !made_.contains(study.composition.booking);
    const auto like = has_runs ? runs_like(study, EventTally(study.composition.unlisted->planned))
                               : std::vector<std::string>();
    for (const auto& id : like) {
      base.raise_to(EventTally(runs_.at(id).charged()));
      claim(id, study);
      take(id, study);
    }
    if (!study.is_retired) note_begun(study, like, base);  // cancelled
    add_selection(study, base, *study.composition.dataset);
  }

  // A run of another seed is like the selection's, but not its own: if no selection takes it, one
  // is not known. What is shown of those that are known may not depend on the seeds that have
  // begun, which would tell of the number of runs.
  // A run that the database does not know is not its own either, unless the selection is over: the
  // database is an older copy, and the run may be that of a row which it does not know.
  void take(const std::string& id, const SelectionStudy& study) {
    const auto& run = runs_.at(id);
    if (!run.is_known && !study.is_over()) return;
    if (!study.seed || run.config.seed == *study.seed) open_.insert(id);
  }

  void note_begun(const SelectionStudy& study, const std::vector<std::string>& like, const EventTally& base) {
    auto& begun = odometer_.begun_selections[study.id];
    for (const auto& id : like) {
      if (runs_.at(id).is_known) {
        begun.runs.push_back(id);
      } else {
        begun.may_have_others = true;
      }
    }
    begun.dearest = base.events();
  }

  void set_shared_apart() {
    for (auto& [study, begun] : odometer_.begun_selections) {
      auto& runs = begun.runs;
      const auto shared = std::stable_partition(runs.begin(), runs.end(),
                                                [&](const auto& id) { return claims_[id].size() <= 1; });
      begun.shared.assign(shared, runs.end());
      runs.erase(shared, runs.end());
    }
  }

  void claim(const std::string& id, const SelectionStudy& study) {
    if (!study.seed || runs_.at(id).config.seed == *study.seed)
      claims_[id].insert(study.composition.booking.empty() ? study.id : study.composition.booking);
  }

  // It is not recorded, on purpose, which runs are whose: all that may belong to a selection are
  // compared with it.
  std::vector<std::string> runs_like(const SelectionStudy& study, const EventTally& booked) const {
    std::vector<std::string> ids;
    const auto wanted = odometer_.trained_data(*study.composition.dataset);
    for (const auto& [id, run] : runs_) {
      if (!run.may_be_selected() || is_listed(id) || selected_.contains(id)) continue;
      const auto release = study.composition.release.value_or(run.release());
      if (run.release() != release) continue;
      const auto planned = run.planned();
      if (!planned.contains(booked) || !booked.contains(planned)) continue;
      const auto& known = odometer_.identities(run.config.dataset);
      if (std::ranges::any_of(known, [&](const auto& data) { return wanted.is_same(data); }))
        ids.push_back(id);
    }
    return ids;
  }

  void add_open(const SelectionStudy& study) {
    const EventTally booked(study.composition.selection->base);
    auto base = booked;
    const auto like = runs_like(study, booked);
    const bool has_begun = !like.empty();
    for (const auto& id : like) {
      const auto& run = runs_.at(id);
      EventTally executed(run.executed);
      if (options_.to_be_continued && !run.is_final) executed.add(mechanism::events(run.config));
      base.raise_to(executed);
      claim(id, study);
      take(id, study);
    }
    if (has_begun && !study.is_retired) note_begun(study, like, base);
    if (has_begun || study.composition.booked_ahead || (options_.to_be_continued && !study.is_retired)) {
      add_selection(study, base, *study.composition.dataset);
    }
  }

  void add_selection(const SelectionStudy& study, const EventTally& base, const trial::Named& dataset) {
    const auto& composition = study.composition;
    const Booking found{*composition.selection, dataset, base};
    if (composition.booking.empty()) {
      add(found);
      return;
    }
    auto [known, is_new] = bookings_[composition.booking].try_emplace(composition.attempts, found);
    if (!is_new) known->second.base.raise_to(base);
  }

  // One that is said to be open somewhere is any of those that were concluded.
  void add_bookings() {
    for (auto& [booking, made] : bookings_) {
      if (const auto open = made.find(""); open != made.end() && made.size() > 1) {
        for (auto& [attempts, one] : made) one.base.raise_to(open->second.base);
        made.erase(open);
      }
      for (const auto& [attempts, one] : made) add(one);
    }
  }

  void add(const Booking& booking) {
    auto selection = booking.law;
    selection.base = booking.base.events();
    odometer_.of(booking.dataset).add_selection(selection);
  }

  void add_run(const std::string& id, const FoundRun& run) {
    if (!run.has_begun && run.executed.empty()) return;
    auto& spending = odometer_.of(run.config.dataset);
    ++spending.runs;
    odometer_.tested.emplace(data_text(run.config.dataset), own_test_set_of(run.config.dataset));
    for (const auto& test : run.config.ood_test) {
      odometer_.tested.emplace(canonical_json(as_json(test)), test_set_of(test));
    }
    if (!run.config.privacy.is_private) ++spending.non_private_runs;
    // However many runs private selections made, they count as one.
    const bool is_hidden = run.may_be_selected() && !is_listed(id) && !options_.confidential;
    if (datasets::training_split_is_public(run.config.dataset.name, run.config.dataset.options) &&
        (!is_hidden || public_.insert(data_text(run.config.dataset)).second))
      ++spending.public_runs;
    if (run.has_validated) spending.oracle_scores += oracle_scores_of(run.config.evaluation);
    if (run.executed.empty()) return;
    if (run.config.noise_seed) spending.reproducible_noise = true;
    const bool in_selection = selected_.contains(id) || open_.contains(id);
    if (in_selection && !is_listed(id)) return;
    if (is_hidden) {
      spending.has_unknown_selection = true;
      return;
    }
    spending.add(run.charged());
  }

  void add_rest(const Composition& search) {
    const auto run = search.trials.empty() ? runs_.end() : runs_.find(search.trials.front());
    if (run != runs_.end()) add_not_begun(search, run->second.config.dataset);
  }

  // One that was made is counted already, whoever made it, and so is one that another row books.
  bool is_counted(const std::string& trial) {
    const auto run = runs_.find(trial);
    if (run != runs_.end() && !run->second.executed.empty()) return true;
    return !odometer_.booked_runs.insert(trial).second;
  }

  void add_not_begun(const Composition& search, const trial::Named& dataset) {
    for (const auto& rest : search.not_begun) {
      if (!rest.trial.empty() && is_counted(rest.trial)) continue;
      if (!rest.events.empty()) odometer_.of(dataset).add(rest.events);
    }
  }

  // A booking that does not name its runs is of all of them: those that were made count by
  // themselves, as far as they were planned.
  void add_booked_seed(const std::string& study, const BookedSeed& seed) {
    EventTally booked, made;
    for (const auto& run : seed.runs) {
      if (!is_counted(run.trial)) booked.add(run.events);
    }
    if (const auto listed = studies_.listed.find(study); listed != studies_.listed.end()) {
      for (const auto& id : listed->second) {
        const auto run = runs_.find(id);
        if (run == runs_.end()) continue;
        const auto planned = run->second.planned();
        made.add(planned.beyond(planned.beyond(EventTally(run->second.charged()))).events());
      }
    }
    booked.raise_to(seed.nameless.beyond(made));
    if (const auto events = booked.events(); !events.empty()) odometer_.of(seed.dataset).add(events);
  }

  // What the run itself is charged for it is counted.
  void add_other(const std::string& id, const std::string& name, const OtherAttempt& attempt) {
    auto more = attempt.events;
    if (const auto run = runs_.find(id); run != runs_.end()) {
      for (const auto& one : run->second.attempts) {
        if (one.name == name) more = more.beyond(EventTally(trial::events_of({one})));
      }
    }
    if (const auto events = more.events(); !events.empty()) odometer_.of(attempt.dataset).add(events);
  }

  void add_table(const results::StudyRecord& study) {
    const auto run = runs_.find(study.reported_trial.empty() && !study.trials.empty() ? study.trials.front()
                                                                                      : study.reported_trial);
    const auto& booked = study.composition.dataset;
    if (run == runs_.end() && !booked) return;
    auto& largest = odometer_.of(booked ? *booked : run->second.config.dataset).tables[study.spec];
    largest = std::max(largest, study.total->epsilon);
  }

  Odometer& odometer_;
  const FoundRuns& runs_;
  const Studies& studies_;
  const OdometerOptions& options_;
  // The bookings of selections by name and attempts.
  std::map<std::string, std::map<std::string, Booking>> bookings_;
  std::set<std::string> selected_;  // runs of selections that are over
  // Runs that may be of open ones, or of some whose runs are not listed.
  std::set<std::string> open_;
  // The selections, by their booking, whose a run may be.
  std::map<std::string, std::set<std::string>> claims_;
  std::set<std::string> public_;  // data that hidden runs' specs declared public
  std::set<std::string> made_;    // bookings of rows that list their runs
};

}  // namespace

bool lists_its_runs(const std::string& method, const Composition& composition) {
  if (composition.rule) return composition.shows_run_count();
  // A method that can be read in several ways books its selections when it opens: without a rule
  // this is none.
  const auto baseline = baselines::find_baseline(method);
  return baseline && (!(**baseline).confidential_runs || (**baseline).reading);
}

Result<std::map<std::string, RunCharge>> charged_runs(const results::Store& store, const OutFolder& out) {
  std::vector<std::string> unreadable;
  const auto runs = found_runs(store, out, unreadable);
  if (!runs) return runs.error();
  std::map<std::string, RunCharge> charged;
  for (const auto& [id, run] : *runs) {
    if (run.has_begun || !run.executed.empty())
      charged.emplace(id, RunCharge{.attempts = run.attempts, .events = run.charged()});
  }
  return charged;
}

Result<void> name_attempts(const results::Store& store, results::StudyRecord& study) {
  if (study.composition.booking.empty() || study.trials.empty()) return {};
  std::set<std::string> names;
  for (const auto& id : study.trials) {
    const auto run = store.trial(id);
    if (!run) return run.error();
    if (!*run) continue;
    for (const auto& attempt : (**run).charged) names.insert(id + " " + attempt.name);
  }
  study.composition.attempts = sha256_hex(join({names.begin(), names.end()}, "\n")).substr(0, 32);
  return {};
}

void unlist_begun(Composition& composition, std::vector<Event> dearest) {
  if (dearest.empty() || !composition.dataset || !composition.selection) return;
  composition.unlisted = Composition::Unlisted{std::move(dearest), composition.selection->base};
}

Result<Odometer> odometer_of(const results::Store& store, const OutFolder& out,
                             const OdometerOptions& options) {
  Odometer odometer;
  auto recorded = recorded_data(store);
  if (!recorded) return recorded.error();
  odometer.recorded = std::move(*recorded);
  const auto specs = specs_with_records(out);
  if (!specs) odometer.unreadable.push_back(specs.error().message);
  for (const auto& spec : specs ? *specs : std::vector<std::string>{}) {
    if (const auto records = read_release_records(out, spec); !records)
      odometer.unreadable.push_back(records.error().message);
  }
  const auto runs = found_runs(store, out, odometer.unreadable);
  if (!runs) return runs.error();
  const auto studies = StudyReader(store).read();
  if (!studies) return studies.error();
  for (const auto& [id, run] : *runs) {
    if (run.is_final) odometer.final_runs.insert(id);
  }
  Composer(odometer, *runs, *studies, options).compose();
  for (const auto& tested : odometer.tested) {
    const auto& test = tested.second;
    const auto& tests = odometer.identities(test.dataset);
    for (auto& spending : odometer.data) {
      if (spending.is_public) continue;
      spending.was_tested_on =
          spending.was_tested_on || std::ranges::any_of(tests, [&](const auto& identity) {
            return test.may_share_records(identity, spending.data) ||
                   test.may_share_unmarked_records(identity, spending.data) ||
                   datasets::is_said_to_be_others(identity, spending.data);
          });
    }
  }
  return odometer;
}

}  // namespace hyfreedp::runner
