#include "harness/runner/odometer/release_record.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/mechanism/releases.h"
#include "harness/random/key_file.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record_file.h"
#include "harness/trial/event_tally.h"
#include "results/provenance/slice.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

using trial::Composition;

// Stores the most that any run of a selection executed in the place of its runs, once the selection
// came to its end.
Result<void> unlist(const results::Store& store, const std::vector<std::string>& runs,
                    Composition& composition) {
  trial::EventTally dearest;
  std::optional<trial::TrialConfig> any;
  for (const auto& id : runs) {
    const auto run = store.trial(id);
    if (!run) return run.error();
    if (!*run) continue;
    dearest.raise_to(trial::EventTally((**run).events));
    auto config = trial::TrialConfig::from_json((**run).config, "trial " + id);
    if (!config) return config.error();
    any = std::move(*config);
  }
  if (!any) return {};
  composition.unlisted = Composition::Unlisted{dearest.events(), mechanism::events(*any)};
  composition.dataset = any->dataset;
  return {};
}

// The charges of runs, and the private selections that have begun, of what is not over yet.
struct UnderWay {
  std::map<std::string, RunCharge> charges;
  std::map<std::string, Odometer::BegunSelection> selections;
};

Result<UnderWay> under_way(const results::Store& store, const OutFolder& out) {
  auto charges = charged_runs(store, out);
  if (!charges) return charges.error();
  auto odometer = odometer_of(store, out, {.confidential = true});
  if (!odometer) return odometer.error();
  return UnderWay{std::move(*charges), std::move(odometer->begun_selections)};
}

// Charges the run what the odometer does, by its attempts; in one without a name, if these do not
// contain it all.
void raise_to(results::TrialRecord& run, const RunCharge& charge) {
  if (!charge.attempts.empty()) run.charged = charge.attempts;
  if (trial::EventTally(trial::events_of(run.charged)).contains(trial::EventTally(charge.events))) return;
  run.charged = {{.name = "", .events = charge.events}};
}

// `under_way`: null where every study has its answer.
Result<RecordedStudy> record_of(const results::Store& store, const OutFolder& out,
                                const results::StudyRecord& study, const UnderWay* under_way) {
  auto kept = results::public_part(store, study);
  if (!kept) return kept.error();
  RecordedStudy recorded{.study = std::move(*kept), .journals = {}, .runs = {}};
  auto& composition = recorded.study.composition;
  const bool has_selected = results::is_answered(study) && composition.is_selection() &&
                            !composition.drew_no_run && !composition.unlisted;
  if (has_selected) {
    if (auto done = unlist(store, study.trials, composition); !done) return done.error();
  }
  const bool is_under_way = under_way != nullptr && !results::is_answered(study);
  const bool may_go_on = is_under_way || (under_way != nullptr && results::is_cancelled(study));
  if (is_under_way && lists_its_runs(study.method, study.composition)) recorded.study.trials = study.trials;
  if (may_go_on && under_way->selections.contains(study.id)) {
    const auto& begun = under_way->selections.at(study.id);
    // A run that is charged had a journal.
    const auto had_journal = [&](const std::string& id) {
      return under_way->charges.contains(id) || !is_missing_journal(out.journal(id));
    };
    std::ranges::copy_if(begun.runs, std::back_inserter(recorded.journals), had_journal);
    std::ranges::copy_if(begun.shared, std::back_inserter(recorded.shared_journals), had_journal);
    recorded.has_begun =
        !recorded.journals.empty() || !recorded.shared_journals.empty() || begun.may_have_others;
    if (recorded.has_begun) recorded.dearest = begun.dearest;
  }
  auto runs = recorded.has_begun ? recorded.journals : std::vector<std::string>();
  runs.insert(runs.end(), recorded.shared_journals.begin(), recorded.shared_journals.end());
  for (const auto& id : recorded.study.trials) {
    if (std::filesystem::exists(out.journal(id))) recorded.journals.push_back(id);
    if (!composition.is_selection()) runs.push_back(id);
  }
  for (const auto& id : runs) {
    auto run = store.trial(id);
    if (!run) return run.error();
    if (!*run) continue;
    if (is_under_way || recorded.has_begun) {
      const auto& charges = under_way->charges;
      if (const auto charge = charges.find(id); charge != charges.end()) raise_to(**run, charge->second);
    }
    recorded.runs.push_back(std::move(**run));
  }
  return recorded;
}

// The name of the key of the spec's draws; empty where there is none.
Result<std::string> draws_of(const OutFolder& out, const std::string& spec) {
  const auto stored = random::read_key(out.draw_key(spec));
  if (!stored) return stored.error();
  if (!*stored) return std::string();
  const auto& bytes = (**stored).key.bytes;
  const std::string secret(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return sha256_hex("name of the draws' key " + secret).substr(0, 16);
}

// The newest of that id that has an answer; null where there is none.
const RecordedStudy* recorded_study(const std::vector<ReleaseRecord>& records, const std::string& id) {
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    for (const auto& recorded : record->studies) {
      if (recorded.study.id == id && results::is_answered(recorded.study)) return &recorded;
    }
  }
  return nullptr;
}

// True if `known` is of the same booking as `other` and tells of all that it does.
bool tells_of(const Composition& known, const Composition& other) {
  if (known.booking != other.booking || known.attempts != other.attempts) return false;
  const auto cost_of = [](const Composition& composition) {
    return composition.unlisted ? trial::EventTally(composition.unlisted->executed) : trial::EventTally();
  };
  return cost_of(known).contains(cost_of(other));
}

void add_other(std::vector<results::RetiredStudy>& others, results::RetiredStudy other) {
  const auto is_told = [&](const results::RetiredStudy& one) {
    return tells_of(one.composition, other.composition);
  };
  if (std::ranges::any_of(others, is_told)) return;
  std::erase_if(
      others, [&](const results::RetiredStudy& one) { return tells_of(other.composition, one.composition); });
  others.push_back(std::move(other));
}

// True if it is a private selection that came to its end. Which runs were its own is not told any
// more.
bool hides_its_runs(const RecordedStudy& recorded) {
  const auto& study = recorded.study;
  return results::is_answered(study) && !results::is_cancelled(study) &&
         !lists_its_runs(study.method, study.composition);
}

// Attempts of runs that the database has no more, and the runs that it does not list.
void keep_runs(const RecordedStudy& before, RecordedStudy& now) {
  if (hides_its_runs(now)) return;
  for (const auto& run : before.runs) {
    const auto same = std::ranges::find(now.runs, run.id, &results::TrialRecord::id);
    if (same == now.runs.end()) {
      now.runs.push_back(run);
      continue;
    }
    // An attempt without its journal may be one that had a nonce before.
    const bool are_named = std::ranges::all_of(same->charged, has_nonce);
    const bool are_covered = trial::EventTally(trial::events_of(same->charged))
                                 .contains(trial::EventTally(trial::events_of(run.charged)));
    for (const auto& attempt : run.charged) {
      const bool is_known = !has_nonce(attempt) ||
                            std::ranges::count(same->charged, attempt.name, &trial::ChargedAttempt::name) > 0;
      if (!is_known && (are_named || !are_covered)) same->charged.push_back(attempt);
    }
    same->events = trial::events_of(same->charged);
  }
}

}  // namespace

std::optional<results::RetiredStudy> released_by(const RecordedStudy& recorded) {
  auto study = recorded.study;
  if (study.composition.booking.empty()) return std::nullopt;
  if (!results::is_answered(study)) {
    if (!recorded.has_begun && !study.composition.booked_ahead) return std::nullopt;
    study.composition.booked_ahead = true;
    unlist_begun(study.composition, recorded.dearest);
  }
  study.composition.seed = study.seed;
  return results::RetiredStudy{study.id, study.spec, study.method, std::move(study.composition), {}};
}

namespace {

// Adds to `record` what `before`, a record of the same spec and version, knows beyond it. The
// database from which `record` was made may be older, or another copy's.
void keep_known(const ReleaseRecord& before, ReleaseRecord& record) {
  for (const auto& one : before.studies) {
    const auto same = std::ranges::find_if(
        record.studies, [&](const RecordedStudy& now) { return now.study.id == one.study.id; });
    if (same != record.studies.end()) keep_runs(one, *same);
    const auto released = released_by(one);
    if (!released) continue;
    const auto now = same != record.studies.end() ? released_by(*same) : std::nullopt;
    if (!now || !tells_of(now->composition, released->composition)) add_other(record.others, *released);
  }
  for (const auto& other : before.others) {
    const auto is_row = [&](const RecordedStudy& now) {
      const auto released = released_by(now);
      return released && tells_of(released->composition, other.composition);
    };
    if (!std::ranges::any_of(record.studies, is_row)) add_other(record.others, other);
  }
}

// True if a record has the retired row with at least its runs' charges.
bool has_retired(const std::vector<ReleaseRecord>& records, const RecordedStudy& retired) {
  const auto has_run = [](const RecordedStudy& known, const results::TrialRecord& run) {
    return std::ranges::any_of(known.runs, [&](const results::TrialRecord& one) {
      return one.id == run.id && trial::EventTally(one.events).contains(trial::EventTally(run.events));
    });
  };
  return std::ranges::any_of(records, [&](const ReleaseRecord& record) {
    return std::ranges::any_of(record.studies, [&](const RecordedStudy& known) {
      return known.study.id == retired.study.id && known.study.composition == retired.study.composition &&
             std::ranges::all_of(retired.runs, [&](const auto& run) { return has_run(known, run); });
    });
  });
}

// Adds what the database alone still tells of earlier releases: the records may be older than it,
// or made anew after they were lost. Private selections go into the last record, other rows into
// one of their own before all.
Result<void> keep_retired(const results::Store& store, const std::string& spec,
                          std::vector<ReleaseRecord>& records) {
  constexpr const char* kRetired = "retired";  // no spec has this hash
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  for (auto one : *retired) {
    if (one.spec != spec) continue;
    if (!one.composition.booking.empty()) {
      if (!one.composition.unlisted) {
        if (auto done = unlist(store, one.trials, one.composition); !done) return done;
      }
      one.composition.trials.clear();
      one.trials.clear();
      const bool is_told = std::ranges::any_of(records, [&](const ReleaseRecord& record) {
        return std::ranges::any_of(record.others,
                                   [&](const results::RetiredStudy& other) {
                                     return tells_of(other.composition, one.composition);
                                   }) ||
               std::ranges::any_of(record.studies, [&](const RecordedStudy& study) {
                 const auto released = released_by(study);
                 return released && tells_of(released->composition, one.composition);
               });
      });
      if (!is_told) add_other(records.back().others, std::move(one));
      continue;
    }
    if (!lists_its_runs(one.method, one.composition)) continue;
    RecordedStudy row;
    row.study.id = one.id;
    row.study.spec = one.spec;
    row.study.method = one.method;
    row.study.composition = one.composition;
    row.study.trials = one.trials;
    for (const auto& id : one.trials) {
      auto run = store.trial(id);
      if (!run) return run.error();
      if (!*run) continue;
      if ((**run).charged.empty()) (**run).charged.push_back({.name = "", .events = (**run).events});
      row.runs.push_back(std::move(**run));
    }
    if (has_retired(records, row)) continue;
    if (records.front().spec.hash != kRetired) {
      ReleaseRecord earlier{
          .spec = {.name = spec, .hash = kRetired, .resolved = {}, .text = {}, .version = {}},
          .complete = true,
          .studies = {}};
      records.insert(records.begin(), std::move(earlier));
    }
    auto& studies = records.front().studies;
    std::erase_if(studies, [&](const RecordedStudy& known) {
      return known.study.id == row.study.id && known.study.composition == row.study.composition;
    });
    studies.push_back(std::move(row));
  }
  return {};
}

// `is_left`: another spec takes its place, and nothing of it is continued. Only journals and keys
// tell whether an open private selection has begun, so it counts as if it had.
Result<void> write_record(const results::Store& store, const OutFolder& out, const std::string& spec,
                          bool complete, bool is_left) {
  auto records = read_release_records(out, spec);
  if (!records) return records.error();
  const auto known = store.spec(spec);
  if (!known) return known.error();
  if (!*known) return error("the database has no spec '" + spec + "'.");
  const auto studies = store.studies(spec);
  if (!studies) return studies.error();
  auto draws = draws_of(out, spec);
  if (!draws) return draws.error();
  auto data = store.data();
  if (!data) return data.error();
  ReleaseRecord record{.spec = **known,
                       .complete = complete,
                       .draws = std::move(*draws),
                       .studies = {},
                       .data = std::move(*data)};
  std::optional<UnderWay> open;
  const auto is_over = [](const results::StudyRecord& study) {
    return results::is_answered(study) && !results::is_cancelled(study);
  };
  if (is_left || !std::ranges::all_of(*studies, is_over)) {
    auto found = under_way(store, out);
    if (!found) return found.error();
    open = std::move(*found);
  }
  for (const auto& study : *studies) {
    // The record alone still has the answer.
    if (const auto* before = results::is_lost(study) ? recorded_study(*records, study.id) : nullptr) {
      record.studies.push_back(*before);
      continue;
    }
    auto recorded = record_of(store, out, study, open ? &*open : nullptr);
    if (!recorded) return recorded.error();
    auto& composition = recorded->study.composition;
    if (is_left && !results::is_answered(study) && composition.is_selection()) {
      composition.booked_ahead = true;
      unlist_begun(composition, recorded->dearest);
      recorded->journals.clear();  // nothing of it is continued
      recorded->runs.clear();
      recorded->has_begun = false;
    }
    record.studies.push_back(std::move(*recorded));
  }
  if (!records->empty() && records->back().spec.hash == record.spec.hash) {
    keep_known(records->back(), record);
    records->pop_back();
  }
  records->push_back(std::move(record));
  if (auto kept = keep_retired(store, spec, *records); !kept) return kept;
  return write_release_records(out, spec, *records);
}

// Updates the spec's record, but does not mark it complete.
Result<void> update_record(const results::Store& store, const OutFolder& out, const std::string& spec,
                           bool is_left) {
  const auto known = store.spec(spec);
  if (!known) return known.error();
  if (!*known) return error("the database has no spec '" + spec + "'.");
  auto records = read_release_records(out, spec);
  if (!records) return records.error();
  const bool was_complete =
      !records->empty() && records->back().spec.hash == (**known).hash && records->back().complete;
  const auto studies = store.studies(spec);
  if (!studies) return studies.error();
  const bool all_answered = std::ranges::all_of(*studies, results::is_answered);
  return write_record(store, out, spec, was_complete && all_answered, is_left);
}

}  // namespace

Result<void> write_release_record(const results::Store& store, const OutFolder& out, const std::string& spec,
                                  bool complete) {
  return write_record(store, out, spec, complete, false);
}

Result<void> update_release_record(const results::Store& store, const OutFolder& out,
                                   const std::string& spec) {
  return update_record(store, out, spec, false);
}

Result<void> leave_release_record(const results::Store& store, const OutFolder& out,
                                  const std::string& spec) {
  return update_record(store, out, spec, true);
}

Result<void> add_release_records(const OutFolder& from, const OutFolder& into, const std::string& spec) {
  const auto theirs = read_release_records(from, spec);
  if (!theirs) return theirs.error();
  auto own = read_release_records(into, spec);
  if (!own) return own.error();
  for (const auto& record : *theirs) {
    const auto same = std::ranges::find_if(
        *own, [&](const ReleaseRecord& one) { return one.spec.hash == record.spec.hash; });
    if (same != own->end()) {
      keep_known(record, *same);
    } else {
      own->insert(own->begin(), record);  // the last one is the spec's present form
    }
  }
  return write_release_records(into, spec, *own);
}

Result<bool> has_lost_its_draws(const OutFolder& out, const std::string& spec, const std::string& hash) {
  const auto records = read_release_records(out, spec);
  if (!records) return records.error();
  const auto draws = draws_of(out, spec);
  if (!draws) return draws.error();
  return std::ranges::any_of(*records, [&](const ReleaseRecord& record) {
    if (record.spec.hash != hash || record.complete) return false;
    return draws->empty() || (!record.draws.empty() && record.draws != *draws);
  });
}

}  // namespace hyfreedp::runner
