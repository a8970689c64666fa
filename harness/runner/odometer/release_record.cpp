#include "harness/runner/odometer/release_record.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/random/key_file.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/trial_book.h"
#include "harness/trial/event_tally.h"
#include "results/provenance/slice.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

// Of a selection that came to its end: what its runs cost, in the place of which they were.
Result<void> unlist(const results::Store& store, const std::vector<std::string>& runs,
                    json::object& composition) {
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
  composition["unlisted"] =
      json::object{{"executed", accounting::events_to_json({.events = dearest.events()})},
                   {"planned", accounting::events_to_json({.events = mechanism::events(*any)})},
                   {"dataset", as_json(any->dataset)}};
  return {};
}

// The same of one that is not continued: `dearest`, the most that any of its runs is charged.
Result<void> unlist_begun(results::StudyRecord& study, const std::vector<accounting::Event>& dearest) {
  const auto booked = baselines::Composition::from_json(study.composition, "study " + study.id);
  if (!booked) return booked.error();
  const auto dataset = booked_dataset(study.composition);
  if (!dataset) return {};
  study.composition["unlisted"] =
      json::object{{"executed", accounting::events_to_json({.events = dearest})},
                   {"planned", accounting::events_to_json({.events = booked->selection.base})},
                   {"dataset", as_json(*dataset)}};
  return {};
}

// Of what is not over yet: what runs are charged, and which private selections have begun.
struct UnderWay {
  std::map<std::string, std::vector<accounting::Event>> charges;
  std::map<std::string, Odometer::BegunSelection> selections;
};

Result<UnderWay> under_way(const results::Store& store, const OutFolder& out) {
  auto charges = charged_runs(store, out);
  if (!charges) return charges.error();
  auto odometer = odometer_of(store, out, {.confidential = true});
  if (!odometer) return odometer.error();
  return UnderWay{std::move(*charges), std::move(odometer->begun_selections)};
}

// What the run is charged: by attempt, or in one where the attempts are fewer than that.
void raise_to(results::TrialRecord& run, const std::vector<accounting::Event>& charge) {
  if (trial::EventTally(trial::events_of(run.charged)).contains(trial::EventTally(charge))) return;
  run.charged = {{.name = "", .events = charge}};
}

// `under_way`: null where every study has its answer.
Result<RecordedStudy> record_of(const results::Store& store, const OutFolder& out,
                                const results::StudyRecord& study, const UnderWay* under_way) {
  auto kept = results::public_part(store, study);
  if (!kept) return kept.error();
  RecordedStudy recorded{.study = std::move(*kept), .journals = {}, .runs = {}};
  auto& composition = recorded.study.composition;
  const bool has_selected = results::is_answered(study) &&
                            string_or(composition, "rule", "") == "selection" &&
                            !bool_or(composition, "drew_no_run", false) && !composition.contains("unlisted");
  if (has_selected) {
    if (auto done = unlist(store, study.trials, composition); !done) return done.error();
  }
  const bool is_under_way = under_way != nullptr && !results::is_answered(study);
  if (is_under_way && lists_its_runs(study.method, study.composition)) recorded.study.trials = study.trials;
  if (is_under_way && under_way->selections.contains(study.id)) {
    const auto& begun = under_way->selections.at(study.id);
    // Of a run that is charged the journal was there.
    for (const auto& id : begun.runs) {
      if (under_way->charges.contains(id) || !is_missing_journal(out.journal(id)))
        recorded.journals.push_back(id);
    }
    recorded.has_begun = !recorded.journals.empty();
    if (recorded.has_begun) recorded.dearest = begun.dearest;
  }
  for (const auto& id : recorded.study.trials) {
    if (std::filesystem::exists(out.journal(id))) recorded.journals.push_back(id);
    if (string_or(composition, "rule", "") == "selection") continue;
    auto run = store.trial(id);
    if (!run) return run.error();
    if (!*run) continue;
    if (is_under_way) {
      const auto& charges = under_way->charges;
      if (const auto charge = charges.find(id); charge != charges.end()) raise_to(**run, charge->second);
    }
    recorded.runs.push_back(std::move(**run));
  }
  return recorded;
}

// What was released about the data beside all runs of the database.
Result<void> put_charge(results::Store& store, const results::StudyRecord& study,
                        const results::TrialRecord& run, std::vector<accounting::Event> events) {
  const auto config = trial::TrialConfig::from_json(run.config, "trial " + run.id);
  if (!config) return config.error();
  baselines::Composition charge{.rule = baselines::Composition::Rule::sum, .trials = {}, .selection = {}};
  charge.not_begun.push_back({std::move(events), ""});
  auto composition = charge.to_json();
  composition["dataset"] = as_json(config->dataset);
  return store.put_retired({.id = run.id,
                            .spec = study.spec,
                            .method = study.method,
                            .composition = std::move(composition),
                            .trials = {}});
}

bool has_nonce(const trial::ChargedAttempt& attempt) {
  return !attempt.name.empty() && !attempt.name.starts_with("attempt ");
}

// The run as its record has it, without the attempts that its journal, its key and the database
// explain: what was charged of one that was under way may turn out to have released nothing.
Result<results::TrialRecord> unexplained(const OutFolder& out, const results::TrialRecord& known,
                                         results::TrialRecord run) {
  const auto journal = mechanism::read_journal(out.journal(run.id));
  const auto key = key_label(out.key(run.id));
  const auto charged = charge_of({.journal = journal ? &*journal : nullptr,
                                  .key = key ? *key : std::optional<random::KeyLabel>(),
                                  .recorded = &known});
  if (!charged) return charged.error();
  const bool is_covered =
      trial::EventTally(trial::events_of(*charged)).contains(trial::EventTally(run.events));
  std::erase_if(run.charged, [&](const trial::ChargedAttempt& attempt) {
    if (!has_nonce(attempt)) return is_covered;
    // The last attempt of a journal without an end may have gone on, and the journal be an older
    // copy.
    return journal && journal->nonces.contains(attempt.name) &&
           (journal->finish || attempt.name != journal->nonce);
  });
  return run;
}

// Of a run that is over the database may be another copy's of the folder, in which the run was made
// under another key.
Result<void> put_other_attempts(results::Store& store, const results::StudyRecord& study,
                                const results::TrialRecord& known, const results::TrialRecord& run) {
  // Before its end a run may be charged for an attempt that turns out to have released nothing.
  const bool was_over = results::is_answered(study) && !results::is_cancelled(study);
  if (!was_over || !std::ranges::all_of(known.charged, has_nonce)) return {};
  std::vector<trial::ChargedAttempt> others;
  for (const auto& attempt : run.charged) {
    const bool is_known = std::ranges::count(known.charged, attempt.name, &trial::ChargedAttempt::name) > 0;
    if (has_nonce(attempt) && !is_known && !attempt.events.empty()) others.push_back(attempt);
  }
  return others.empty() ? Result<void>() : put_charge(store, study, run, trial::events_of(others));
}

// What became of a run whose journal is lost is not known any more, but what it cost is. Database
// and journal may be older copies, or another folder's, so what each tells is added.
Result<void> put_cost(results::Store& store, const OutFolder& out, const results::StudyRecord& study,
                      const results::TrialRecord& run) {
  const auto known = store.trial(run.id);
  if (!known) return known.error();
  if (*known && results::is_final(**known)) return put_other_attempts(store, study, **known, run);
  auto record = *known ? **known : run;
  if (*known) {
    if (record.charged.empty() && !record.events.empty()) record.charged.push_back({"", record.events});
    const auto more = unexplained(out, **known, run);
    if (!more) return more.error();
    if (more->charged.empty()) return {};
    add_recorded(record.charged, *more);
    record.events = trial::events_of(record.charged);
  } else {
    record.state = trial::TrialState::failed;
    record.failure_kind = kInternal;
    record.failure_message = "Its journal is lost; the release record says what it executed.";
  }
  record.attempts = std::max({std::int64_t{1}, record.attempts, std::ssize(record.charged)});
  if (auto put = store.put_trial(record, {}, {}); !put) return put;
  // Where its end is in a journal, that takes the place of this.
  if (!*known) (void)TrialBook(store, out).rebuild(run.id);
  return {};
}

Result<void> put_costs(results::Store& store, const OutFolder& out, const RecordedStudy& recorded) {
  for (const auto& run : recorded.runs) {
    if (auto put = put_cost(store, out, recorded.study, run); !put) return put;
  }
  return {};
}

// Whether the database says at least as much of the row.
Result<bool> is_there(const results::Store& store, const results::StudyRecord& study) {
  const auto known = store.study(study.id);
  if (!known) return known.error();
  if (!*known) return false;
  if (!results::is_answered(study)) return true;
  // What was opened again after it was cancelled, or had another answer before it was lost.
  const bool gives_way =
      results::is_lost(**known) || (results::is_cancelled(**known) && !results::is_cancelled(study));
  return results::is_answered(**known) && !gives_way;
}

// It says which runs compose, and of a private selection it alone says what that cost. No command
// may cancel it or open it again: its cost would go, and it would be released a second time.
Result<void> put_lost_row(results::Store& store, results::StudyRecord study) {
  study.state = results::StudyState::failed;
  study.failure_kind = results::kLostStudy;
  study.failure_message = "The journal of its reported run is lost.";
  study.reported_trial.clear();
  return store.put_study(study);
}

// A journal of a private selection that had begun, and that is gone, of a run that the database does
// not know; empty where there is none.
Result<std::string> lost_of_selection(const results::Store& store, const OutFolder& out,
                                      const RecordedStudy& recorded) {
  if (!recorded.has_begun) return "";
  for (const auto& id : recorded.journals) {
    if (!is_missing_journal(out.journal(id))) continue;
    const auto known = store.trial(id);
    if (!known) return known.error();
    if (!*known) return out.journal(id);
  }
  return "";
}

// The database may be of before it had begun.
Result<bool> is_open_there(const results::Store& store, const std::string& study) {
  const auto known = store.study(study);
  if (!known) return known.error();
  return *known && !results::is_answered(**known);
}

// The row and the runs that it lists. Returns why the row cannot come back, or nothing; what it
// cost is there in any case.
Result<std::string> put_back(results::Store& store, const OutFolder& out, const RecordedStudy& recorded) {
  const auto known = is_there(store, recorded.study);
  if (!known) return known.error();
  const auto lost = lost_of_selection(store, out, recorded);
  if (!lost) return lost.error();
  const auto is_open = is_open_there(store, recorded.study.id);
  if (!is_open) return is_open.error();
  if (*known && (lost->empty() || !*is_open)) return std::string();
  if (!lost->empty()) {
    auto study = recorded.study;
    study.composition[kBookedAhead] = true;
    if (!recorded.dearest.empty()) {
      if (auto done = unlist_begun(study, recorded.dearest); !done) return done.error();
    }
    if (auto put = put_lost_row(store, std::move(study)); !put) return put.error();
    return fmt::format(
        "{}: the journal is lost, and with it what the private selection of the row {}, {} had released. It "
        "is "
        "not drawn again, which would be a second release of the same data. Put the journal back from a "
        "copy, "
        "or make that new release with --fresh.",
        *lost, recorded.study.panel, recorded.study.row);
  }
  // Runs of a cancelled study may have no end: what they executed is in its record.
  if (results::is_answered(recorded.study) && !results::is_cancelled(recorded.study)) {
    TrialBook book(store, out);
    for (const auto& id : recorded.journals) {
      if (auto rebuilt = book.rebuild(id); !rebuilt) {
        if (auto put = put_lost_row(store, recorded.study); !put) return put.error();
        return fmt::format(
            "{} The finished row {}, {} needs it and is not trained again, which would be a "
            "second release of the same "
            "data. Put the journal back from a copy, or make that new release with --fresh.",
            rebuilt.error().message, recorded.study.panel, recorded.study.row);
      }
    }
  }
  auto study = recorded.study;
  // Opened again, it would not show that it had begun: its runs are not in the database.
  if (study.composition.contains("unlisted") && results::is_cancelled(study))
    study.composition[kBookedAhead] = true;
  // Its journals may be lost before it is continued.
  if (recorded.has_begun) {
    study.composition[kBookedAhead] = true;
    TrialBook book(store, out);
    for (const auto& id : recorded.journals) {
      if (auto taken = book.take_in(id); !taken) return taken.error();
    }
  }
  if (auto put = store.put_study(study); !put) return put.error();
  return std::string();
}

bool is_in_any(const std::vector<ReleaseRecord>& records, std::size_t from, const std::string& study) {
  return std::any_of(records.begin() + static_cast<std::ptrdiff_t>(from), records.end(),
                     [&](const ReleaseRecord& record) {
                       return std::ranges::any_of(
                           record.studies, [&](const RecordedStudy& one) { return one.study.id == study; });
                     });
}

// Whether the database has the row, as one of the spec's or as a retired one.
Result<bool> has_row(const results::Store& store, const std::vector<results::RetiredStudy>& retired,
                     const std::string& study) {
  const auto known = store.study(study);
  if (!known) return known.error();
  return *known || std::ranges::count(retired, study, &results::RetiredStudy::id) > 0;
}

// Returns why rows of the spec cannot come back, or nothing. What everything cost comes back in any
// case, whatever the database has instead: it may be an older copy.
Result<std::string> restore(results::Store& store, const OutFolder& out, const std::string& spec) {
  const auto records = read_release_records(out, spec);
  if (!records) return records.error();
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  const auto known = store.spec(spec);
  if (!known) return known.error();
  const bool is_known = !*known || std::ranges::any_of(*records, [&](const ReleaseRecord& record) {
    return record.spec.hash == (**known).hash;
  });
  std::string missing;
  for (std::size_t i = 0; i < records->size(); ++i) {
    const auto& record = (*records)[i];
    for (const auto& [dataset, identities] : record.data) {
      for (const auto& identity : identities) {
        if (auto put = store.put_data(dataset, identity); !put) return put.error();
      }
    }
    for (const auto& study : record.studies) {
      if (auto put = put_costs(store, out, study); !put) return put.error();
    }
    // Otherwise the folder went on with something else.
    const bool is_current = is_known && i + 1 == records->size();
    if (is_current) {
      if (auto put = store.put_spec(record.spec, true); !put) return put.error();
    }
    for (const auto& study : record.studies) {
      if (is_current) {
        const auto why = put_back(store, out, study);
        if (!why) return why.error();
        if (missing.empty()) missing = *why;
        continue;
      }
      // An earlier release's rows are retired by the next one; its runs stay in the odometer. A
      // later version of the spec has the same row, which counts once.
      if (is_in_any(*records, i + 1, study.study.id)) continue;
      const auto is_there = has_row(store, *retired, study.study.id);
      if (!is_there) return is_there.error();
      if (*is_there) continue;
      const auto& one = study.study;
      if (auto put = store.put_retired({one.id, one.spec, one.method, one.composition, one.trials}); !put)
        return put.error();
    }
  }
  return missing;
}

// What a private selection's runs have in common, and its record tells: data and planned events.
std::string likeness(const trial::Named& dataset, const std::vector<accounting::Event>& planned) {
  std::set<std::string> kinds;
  for (const auto& event : trial::EventTally(planned).events())
    kinds.insert(canonical_json(accounting::event_to_json(event)));
  return canonical_json(as_json(dataset)) + join({kinds.begin(), kinds.end()}, " ");
}

// What the database says of runs.
struct KnownRuns {
  std::set<std::string> trials;      // by id
  std::set<std::string> selections;  // likeness of those that list none

  Result<void> add(const json::object& composition, const std::vector<std::string>& listed) {
    trials.insert(listed.begin(), listed.end());
    if (string_or(composition, "rule", "") != "selection" || !composition.contains("selection")) return {};
    auto parsed = baselines::Composition::from_json(composition, "a private selection");
    if (!parsed) return parsed.error();
    const auto dataset = booked_dataset(composition);
    if (!dataset) return {};
    selections.insert(
        likeness(*dataset, parsed->unlisted ? parsed->unlisted->planned : parsed->selection.base));
    return {};
  }
};

Result<KnownRuns> known_runs(const results::Store& store) {
  KnownRuns known;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (const auto& study : *studies) {
    if (auto added = known.add(study.composition, study.trials); !added) return added.error();
  }
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  for (const auto& study : *retired) {
    if (auto added = known.add(study.composition, study.trials); !added) return added.error();
  }
  const auto trials = store.trials();
  if (!trials) return trials.error();
  for (const auto& trial : *trials) known.trials.insert(trial.id);
  return known;
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

// Journals and keys that told that a private selection had begun may be lost since.
void keep_what_had_begun(const ReleaseRecord& before, RecordedStudy& now) {
  if (results::is_answered(now.study)) return;
  const auto same =
      std::ranges::find(before.studies, now.study.id, [](const RecordedStudy& one) { return one.study.id; });
  if (same == before.studies.end() || !same->has_begun) return;
  now.has_begun = true;
  std::set<std::string> journals(now.journals.begin(), now.journals.end());
  journals.insert(same->journals.begin(), same->journals.end());
  now.journals.assign(journals.begin(), journals.end());
  trial::EventTally dearest(now.dearest);
  dearest.raise_to(trial::EventTally(same->dearest));
  now.dearest = dearest.events();
}

// `is_left`: another spec takes its place, and nothing of it is continued. Whether an open private
// selection has begun is told by journals and keys alone, so it counts as if it had.
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
  const bool is_same = !records->empty() && records->back().spec.hash == record.spec.hash;
  std::optional<UnderWay> open;
  if (is_left || !std::ranges::all_of(*studies, results::is_answered)) {
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
    if (is_same) keep_what_had_begun(records->back(), *recorded);
    auto& composition = recorded->study.composition;
    if (is_left && !results::is_answered(study) && string_or(composition, "rule", "") == "selection") {
      composition[kBookedAhead] = true;
      if (!recorded->dearest.empty()) {
        if (auto done = unlist_begun(recorded->study, recorded->dearest); !done) return done;
      }
      recorded->journals.clear();  // nothing of it is continued
      recorded->has_begun = false;
    }
    record.studies.push_back(std::move(*recorded));
  }
  if (is_same) records->pop_back();
  records->push_back(std::move(record));
  return write_release_records(out, spec, *records);
}

// Nothing for a seeded spec. It says nothing new of draws.
Result<void> update_record(const results::Store& store, const OutFolder& out, const std::string& spec,
                           bool is_left) {
  const auto known = store.spec(spec);
  if (!known) return known.error();
  if (!*known) return error("the database has no spec '" + spec + "'.");
  const auto content = results::spec_of(**known);
  if (!content) return content.error();
  if (content->noise_seed) return {};
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

Result<void> restore_from_records(results::Store& store, const OutFolder& out, const std::string& spec,
                                  bool fresh) {
  // Of all specs, whatever is wrong with one: the odometer is about the folder. What is wrong with
  // another spec is told when that one is run.
  Result<void> own;
  for (const auto& name : specs_with_records(out)) {
    const auto missing = restore(store, out, name);
    if (name != spec) continue;
    if (!missing) own = missing.error();
    if (missing && !missing->empty() && !fresh) own = error(*missing);
  }
  return own;
}

Result<void> restore_releases(results::Store& store, const OutFolder& out, const std::string& spec,
                              bool fresh) {
  if (auto own = restore_from_records(store, out, spec, fresh); !own) return own;
  const auto specs = store.specs();
  if (!specs) return specs.error();
  for (const auto& one : *specs) {
    const auto content = results::spec_of(one);
    if (!content) return content.error();
    if (content->noise_seed || std::filesystem::exists(out.release_record(one.name))) continue;
    const auto studies = store.studies(one.name);
    if (!studies) return studies.error();
    const bool complete = std::ranges::all_of(*studies, results::is_answered);
    if (auto written = write_release_record(store, out, one.name, complete); !written) return written;
  }
  return {};
}

Result<void> restore_rows(results::Store& store, const OutFolder& out, const std::string& spec,
                          const std::set<std::string>& studies) {
  const auto records = read_release_records(out, spec);
  if (!records) return records.error();
  const auto current = store.spec(spec);
  if (!current) return current.error();
  for (const auto& record : *records) {
    const bool is_same = *current && (**current).hash == record.spec.hash;
    for (const auto& recorded : record.studies) {
      if (!studies.contains(recorded.study.id) || !results::is_answered(recorded.study)) continue;
      // What another rule did not need, the spec's own may; and what was cancelled of another spec
      // was not cancelled of this one.
      const bool is_of_spec = results::is_not_needed(recorded.study) || results::is_cancelled(recorded.study);
      if (is_of_spec && !is_same) continue;
      const auto why = put_back(store, out, recorded);
      if (!why) return why.error();
      if (!why->empty()) return error(*why);
    }
  }
  return {};
}

Result<bool> has_unrecorded_runs(const results::Store& store, const OutFolder& out,
                                 const std::vector<PlannedStudy>& planned) {
  const auto known = known_runs(store);
  if (!known) return known.error();
  std::set<std::string> own;
  for (const auto& study : planned) {
    if (study.baseline->selection == nullptr || !study.cell.epsilon) continue;
    if (const auto selection = study.baseline->selection(study.cell))
      own.insert(likeness(study.cell.base.dataset, selection->base));
  }
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(out.journals(), absent)) {
    const auto& path = entry.path();
    if (path.extension() != ".jsonl" || known->trials.contains(path.stem().string())) continue;
    if (is_missing_journal(path.string())) continue;
    const auto journal = mechanism::read_journal(path.string());
    if (!journal) return true;
    const auto& config = journal->config;
    if (!config.privacy.is_private || config.noise_seed) continue;
    const auto like = likeness(config.dataset, mechanism::events(config));
    if (!known->selections.contains(like) || own.contains(like)) return true;
  }
  return false;
}

}  // namespace hyfreedp::runner
