#include "harness/runner/odometer/restored_releases.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <utility>

#include "baselines/baseline.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/release_record_file.h"
#include "harness/runner/odometer/trial_book.h"
#include "harness/trial/event_tally.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {

using trial::Composition;

results::StudyRecord as_lost(results::StudyRecord study) {
  study.state = results::StudyState::failed;
  study.failure_kind = results::kLostStudy;
  study.failure_message = "The journal of its reported run is lost.";
  study.reported_trial.clear();
  return study;
}

namespace {

// True if the journal tells of all that the attempt booked. Whether another attempt goes on from it
// is for the journal to say. An older copy of a journal, with which the run went on under another
// key, tells of less.
bool tells_all_of(const mechanism::Journal& journal, const trial::ChargedAttempt& attempt) {
  const auto told = std::ranges::find(journal.charged, attempt.name, &trial::ChargedAttempt::name);
  return told != journal.charged.end() &&
         trial::EventTally(told->events).contains(trial::EventTally(attempt.events));
}

// The run as its record has it, without the attempts that its journal, its key and the database
// explain: what was charged of one that was under way may turn out to have released nothing.
// `known`: as the database has it; null: not at all. Then its key explains nothing, so that all is
// put into the database.
Result<results::TrialRecord> unexplained(const OutFolder& out, const results::TrialRecord* known,
                                         results::TrialRecord run) {
  auto journal = mechanism::read_journal(out.journal(run.id));
  if (journal && journal->trial != run.id) journal = error("it is another trial's journal");
  const auto key = key_label(out.key(run.id));
  KnownOfTrial told{.journal = journal ? &*journal : nullptr,
                    .key = known != nullptr && key ? *key : std::optional<random::KeyLabel>(),
                    .recorded = known};
  const auto charged = charge_of(told);
  if (!charged) return charged.error();
  const bool is_covered =
      trial::EventTally(trial::events_of(*charged)).contains(trial::EventTally(run.events));
  // The attempt that the database alone knows to have been begun is charged without a name. The
  // record that names an attempt more is later than the database, and has that one, too.
  told.released_nothing = true;
  const auto others = charge_of(told);
  if (!others) return others.error();
  bool has_begun = known != nullptr && count_nameless(*charged) > count_nameless(*others);
  std::erase_if(run.charged, [&](const trial::ChargedAttempt& attempt) {
    if (!has_nonce(attempt)) return is_covered;
    const bool is_named = std::ranges::count(*charged, attempt.name, &trial::ChargedAttempt::name) > 0;
    if (!is_named && std::exchange(has_begun, false)) return true;
    // The last attempt of a journal without an end may have gone on, and the journal be an older
    // copy.
    return journal && tells_all_of(*journal, attempt) && (journal->finish || attempt.name != journal->nonce);
  });
  return run;
}

// True if its journal names the attempt and charges nothing for it: before the end of a run one may
// be charged that turns out to have released nothing.
bool released_nothing(const mechanism::Journal& journal, const trial::ChargedAttempt& attempt) {
  if (!journal.nonces.contains(attempt.name)) return false;
  const auto same = std::ranges::find(journal.charged, attempt.name, &trial::ChargedAttempt::name);
  return same == journal.charged.end() || trial::events_of({*same}).empty();
}

// Charges those attempts of a finished run that the database does not know. The database may be
// that of another copy of the folder, in which the run was made under another key, or an older one,
// since which a seeded run was made again.
Result<void> put_other_attempts(results::Store& store, const OutFolder& out,
                                const results::StudyRecord& study, const results::TrialRecord& known,
                                const results::TrialRecord& run) {
  // Before its end an attempt may be charged for what the next one makes in its place.
  const bool was_over = results::is_answered(study) && !results::is_cancelled(study);
  const bool is_seeded = has_seeded_noise(known);
  if (!is_seeded && !std::ranges::all_of(known.charged, has_nonce)) return {};
  const auto is_known = [&](const trial::ChargedAttempt& attempt) {
    const auto same = std::ranges::find(known.charged, attempt.name, &trial::ChargedAttempt::name);
    if (same == known.charged.end()) return false;
    if (was_over) return false;  // it is charged more there
    const bool may_be_longer = attempt.name == mechanism::kSeededNonce;
    return !may_be_longer || trial::EventTally(same->events).contains(trial::EventTally(attempt.events));
  };
  auto others = beside(known.charged, run.charged);
  std::erase_if(others, [&](const trial::ChargedAttempt& attempt) {
    if (attempt.events.empty()) return true;
    return has_nonce(attempt) ? is_known(attempt) : !(is_seeded && was_over);
  });
  if (!was_over && !others.empty()) {
    const auto journal = mechanism::read_journal(out.journal(run.id));
    if (journal)
      std::erase_if(others, [&](const auto& attempt) { return released_nothing(*journal, attempt); });
  }
  // Each of which the database has lost the name may be one that the record names.
  auto lost = count_nameless(known.charged) - count_nameless(run.charged);
  std::erase_if(others, [&](const trial::ChargedAttempt& attempt) {
    const bool may_be_lost = has_nonce(attempt) && attempt.name != mechanism::kSeededNonce;
    return may_be_lost && lost-- > 0;
  });
  return others.empty() ? Result<void>() : put_charge(store, study.spec, run, others);
}

// Records what a run cost whose journal is lost; how it ended is not known any more. Database and
// journal may be older copies, or another folder's, so what each tells is added.
Result<void> put_cost(results::Store& store, const OutFolder& out, const results::StudyRecord& study,
                      const results::TrialRecord& run) {
  const auto known = store.trial(run.id);
  if (!known) return known.error();
  if (*known && results::is_final(**known)) return put_other_attempts(store, out, study, **known, run);
  // A private selection with a run that the database does not know comes back as lost.
  if (!*known && !lists_its_runs(study.method, study.composition)) return {};
  auto record = *known ? **known : run;
  if (*known) {
    if (record.charged.empty() && !record.events.empty()) record.charged.push_back({"", record.events});
    const auto more = unexplained(out, &**known, run);
    if (!more) return more.error();
    if (more->charged.empty()) return {};
    add_recorded(record.charged, *more);
    record.events = trial::events_of(record.charged);
  } else {
    auto more = unexplained(out, nullptr, run);
    if (!more) return more.error();
    record = std::move(*more);
    record.events = trial::events_of(record.charged);
    record.state = trial::TrialState::failed;
    record.failure_kind = kInternal;
    record.failure_message =
        "Its journal is lost or an older copy; the release record says what it executed.";
  }
  record.attempts = std::max({std::int64_t{1}, record.attempts, std::ssize(record.charged)});
  const bool is_explained = !*known && record.charged.empty() && !run.charged.empty();
  if (!is_explained) {
    if (auto put = store.put_trial(record, {}, {}); !put) return put;
  }
  // If its end is in a journal, that takes the place of this.
  if (!*known) (void)TrialBook(store, out).rebuild(run.id);
  return {};
}

Result<void> put_costs(results::Store& store, const OutFolder& out, const RecordedStudy& recorded) {
  for (const auto& run : recorded.runs) {
    if (auto put = put_cost(store, out, recorded.study, run); !put) return put;
  }
  return {};
}

// True if the row was cancelled, in the database and in the record, and the record has the higher
// price: there it was opened again and cancelled later.
bool was_cancelled_later(const results::StudyRecord& known, const results::StudyRecord& recorded) {
  if (!results::is_cancelled(known) || !results::is_cancelled(recorded) || !recorded.total) return false;
  return !known.total || recorded.total->epsilon > known.total->epsilon;
}

// True if the database says at least as much of the row.
bool says_as_much(const std::optional<results::StudyRecord>& known, const results::StudyRecord& recorded) {
  if (known && !results::is_answered(*known)) {
    const auto& ours = known->composition;
    const auto& theirs = recorded.composition;
    const bool lacks_selection = ours.booking.empty() && !theirs.booking.empty();
    const bool lacks_seed = ours.not_begun.empty() && !theirs.not_begun.empty();
    if (lacks_selection || lacks_seed) return false;
  }
  if (!known || !results::is_answered(recorded)) return known.has_value();
  // A row that is lost, or is cancelled and has another answer in the record, gives way.
  const bool gives_way = results::is_lost(*known) ||
                         (results::is_cancelled(*known) && !results::is_cancelled(recorded)) ||
                         was_cancelled_later(*known, recorded);
  return results::is_answered(*known) && !gives_way;
}

// Another copy's booking of the row gives way to the record's, and stays counted.
Result<void> retire_other_booking(results::Store& store, const std::optional<results::StudyRecord>& known,
                                  const results::StudyRecord& recorded) {
  if (!known) return {};
  const auto& booking = known->composition.booking;
  if (booking.empty() || booking == recorded.composition.booking) return {};
  return store.put_retired({known->id, known->spec, known->method, known->composition, known->trials});
}

// It says which runs compose, and of a private selection it alone says what that cost. No command
// may cancel it or open it again: its cost would go, and it would be released a second time.
Result<void> put_lost_row(results::Store& store, results::StudyRecord study) {
  return store.put_study(as_lost(std::move(study)));
}

// The runs of which journal and database record are gone.
Result<std::vector<std::string>> lost_of(const results::Store& store, const OutFolder& out,
                                         const std::vector<std::string>& runs) {
  std::vector<std::string> lost;
  for (const auto& id : runs) {
    if (!is_missing_journal(out.journal(id))) continue;
    const auto known = store.trial(id);
    if (!known) return known.error();
    if (!*known) lost.push_back(id);
  }
  return lost;
}

// A journal that is gone, of a private selection that had begun and of a run that the database does
// not know; empty where there is none.
Result<std::string> lost_of_selection(const results::Store& store, const OutFolder& out,
                                      const RecordedStudy& recorded) {
  if (!recorded.has_begun) return "";
  for (const auto* journals : {&recorded.journals, &recorded.shared_journals}) {
    const auto lost = lost_of(store, out, *journals);
    if (!lost) return lost.error();
    if (!lost->empty()) return out.journal(lost->front());
  }
  return "";
}

// Returns why it cannot come back.
Result<std::string> put_lost_selection(results::Store& store, const RecordedStudy& recorded,
                                       const std::string& journal) {
  auto study = recorded.study;
  study.composition.booked_ahead = true;
  unlist_begun(study.composition, recorded.dearest);
  if (auto put = put_lost_row(store, std::move(study)); !put) return put.error();
  return fmt::format(
      "{}: the journal is lost, and with it what the private selection of the row {}, {} had released. It is "
      "not drawn again, which would be a second release of the same data. Put the journal back from a copy, "
      "or make that new release with --fresh.",
      journal, recorded.study.panel, recorded.study.row);
}

// The runs of a row that has an answer, from their journals; returns why not, or nothing.
Result<std::string> put_runs(results::Store& store, const OutFolder& out, const RecordedStudy& recorded) {
  TrialBook book(store, out);
  for (const auto& id : recorded.journals) {
    const auto rebuilt = book.rebuild(id);
    if (rebuilt) continue;
    if (auto put = put_lost_row(store, recorded.study); !put) return put.error();
    return fmt::format(
        "{} The finished row {}, {} needs it and is not trained again, which would be a second release of "
        "the "
        "same data. Put the journal back from a copy, or make that new release with --fresh.",
        rebuilt.error().message, recorded.study.panel, recorded.study.row);
  }
  return std::string();
}

void add_runs(results::StudyRecord& study, const std::vector<std::string>& runs) {
  for (const auto& id : runs) {
    if (std::ranges::count(study.trials, id) == 0) study.trials.push_back(id);
  }
}

// Adds runs to the list of an open row.
Result<void> list_runs(results::Store& store, results::StudyRecord study,
                       const std::vector<std::string>& runs) {
  const auto before = study.trials.size();
  add_runs(study, runs);
  return study.trials.size() == before ? Result<void>() : store.put_study(study);
}

// The row and the runs that it lists. Returns why the row cannot come back, or nothing; what it
// cost is there in any case.
Result<std::string> put_back(results::Store& store, const OutFolder& out, const RecordedStudy& recorded) {
  const auto known = store.study(recorded.study.id);
  if (!known) return known.error();
  const auto lost = lost_of_selection(store, out, recorded);
  if (!lost) return lost.error();
  // The database may be of before it had begun.
  const bool has_answer = *known && results::is_answered(**known) && !results::is_cancelled(**known);
  if (!lost->empty() && *known && results::is_lost(**known)) return std::string();
  if (!lost->empty() && !has_answer) {
    if (auto retired = retire_other_booking(store, *known, recorded.study); !retired) return retired.error();
    return put_lost_selection(store, recorded, *lost);
  }
  if (*known && results::is_cancelled(**known) && !results::is_answered(recorded.study)) {
    if (auto added = add_later_runs(store, out, **known, recorded.study.trials); !added) return added.error();
  }
  if (*known && !results::is_answered(**known) && !results::is_answered(recorded.study)) {
    if (auto listed = list_runs(store, **known, recorded.study.trials); !listed) return listed.error();
  }
  if (says_as_much(*known, recorded.study)) return std::string();
  if (auto retired = retire_other_booking(store, *known, recorded.study); !retired) return retired.error();
  auto study = recorded.study;
  const bool are_open = *known && !results::is_answered(**known) && !results::is_answered(study);
  if (are_open) add_runs(study, (**known).trials);
  const bool is_cancelled = results::is_cancelled(study);
  // Runs of a cancelled study may have no end: what they executed is in its record.
  if (results::is_answered(study) && !is_cancelled) {
    auto why = put_runs(store, out, recorded);
    if (!why || !why->empty()) return why;
  }
  // Opened again, a cancelled one would not show that it had begun; and journals of an open one may
  // be lost before it is continued.
  if (recorded.has_begun || (is_cancelled && study.composition.unlisted))
    study.composition.booked_ahead = true;
  if (recorded.has_begun) {
    TrialBook book(store, out);
    for (const auto& id : recorded.journals) {
      if (auto taken = book.take_in(id); !taken) return taken.error();
    }
  }
  if (auto put = store.put_study(study); !put) return put.error();
  return std::string();
}

// True if a row that the database lacks, or has without its answer, has lost the journal of a run.
Result<bool> lacks_journals(const results::Store& store, const OutFolder& out, const ReleaseRecord& record) {
  for (const auto& recorded : record.studies) {
    const auto& study = recorded.study;
    if (!results::is_answered(study) || results::is_cancelled(study)) continue;
    const auto known = store.study(study.id);
    if (!known) return known.error();
    if (says_as_much(*known, study)) continue;
    const auto is_lost = [&](const std::string& id) {
      const auto journal = mechanism::read_journal(out.journal(id));
      return !journal || !has_lasting_end(*journal);
    };
    if (std::ranges::any_of(study.trials, is_lost)) return true;
  }
  return false;
}

// The row of a seeded spec, whose lost runs are made again. `remakes`: it has lost some, so that
// its comparisons are decided anew; until then a row that had its answer counts what it booked. A
// private selection that had its answer is not made again: its price holds for one making.
Result<std::string> put_seeded_back(results::Store& store, const OutFolder& out, RecordedStudy recorded,
                                    bool remakes) {
  const auto& study = recorded.study;
  if (remakes && results::is_answered(study) && !results::is_cancelled(study)) {
    const auto known = store.study(study.id);
    if (!known) return known.error();
    if (says_as_much(*known, study)) return std::string();
    if (!lists_its_runs(study.method, study.composition)) {
      const auto why = put_back(store, out, recorded);
      return why ? Result<std::string>("") : why.error();
    }
    auto put = store.put_retired({study.id, study.spec, study.method, study.composition, study.trials});
    return put ? Result<std::string>("") : put.error();
  }
  for (auto* journals : {&recorded.journals, &recorded.shared_journals})
    std::erase_if(*journals, [&](const std::string& id) { return is_missing_journal(out.journal(id)); });
  return put_back(store, out, recorded);
}

// True if `row` is the same one and, where `study` says what had not begun of it, says so, too: a
// row of a later version may be open again.
template <class Row>
bool stands_for(const Row& row, const results::StudyRecord& study) {
  const bool says_what_is_left = !row.composition.not_begun.empty() || study.composition.not_begun.empty();
  return row.id == study.id && says_what_is_left;
}

bool is_in_any(const std::vector<ReleaseRecord>& records, std::size_t from,
               const results::StudyRecord& study) {
  return std::any_of(
      records.begin() + static_cast<std::ptrdiff_t>(from), records.end(), [&](const ReleaseRecord& record) {
        return std::ranges::any_of(record.studies,
                                   [&](const RecordedStudy& one) { return stands_for(one.study, study); });
      });
}

// True if a row of that id lists all runs of `study` in the database, or `study` is a private
// selection, whose runs no row needs to list.
Result<bool> lists_runs_of(const results::Store& store, const std::vector<results::RetiredStudy>& retired,
                           const results::StudyRecord& study) {
  if (!lists_its_runs(study.method, study.composition)) return true;
  const auto known = store.study(study.id);
  if (!known) return known.error();
  const auto is_listed = [&](const std::string& run) {
    const auto lists = [&](const auto& row) {
      return row.id == study.id && std::ranges::count(row.trials, run) > 0;
    };
    return (*known && lists(**known)) || std::ranges::any_of(retired, lists);
  };
  return std::ranges::all_of(study.trials, is_listed);
}

// True if the database has the row, as one of the spec's or as a retired one.
Result<bool> has_row(const results::Store& store, const std::vector<results::RetiredStudy>& retired,
                     const results::StudyRecord& study) {
  const auto known = store.study(study.id);
  if (!known) return known.error();
  return (*known && stands_for(**known, study)) ||
         std::ranges::any_of(retired, [&](const auto& row) { return stands_for(row, study); });
}

// Private selections, which are counted once by their bookings, whoever tells of them.
Result<void> put_selections(results::Store& store, const ReleaseRecord& record) {
  auto released = record.others;
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  // A row that lists its runs tells of them.
  const auto lists_them = [](const auto& row, const results::RetiredStudy& one) {
    const auto& made = row.composition;
    return row.id == one.id && !row.trials.empty() && made.is_selection() &&
           made.booking == one.composition.booking && made.attempts == one.composition.attempts;
  };
  for (const auto& recorded : record.studies) {
    auto one = released_by(recorded);
    if (!one) continue;
    const auto known = store.study(one->id);
    if (!known) return known.error();
    const bool is_told =
        (*known && lists_them(**known, *one)) ||
        std::ranges::any_of(*retired, [&](const auto& row) { return lists_them(row, *one); });
    if (!is_told) released.push_back(std::move(*one));
  }
  for (const auto& one : released) {
    if (auto put = store.put_retired(one); !put) return put;
  }
  return {};
}

// Puts back what a seed of a comparison has booked, where the database has its row as one that was
// cancelled before it was booked, or where it was not needed and the database has it without runs
// and with less, as of an earlier version of the spec. The most of what is booked of a seed counts.
Result<void> put_booked_seed(results::Store& store, const results::StudyRecord& recorded) {
  const auto& composition = recorded.composition;
  if (composition.not_begun.empty() || !composition.dataset) return {};
  const auto known = store.study(recorded.id);
  if (!known) return known.error();
  if (!*known) return {};
  const auto& row = **known;
  const bool was_unbooked = results::is_cancelled(row) && row.composition.not_begun.empty();
  const bool has_less = results::is_not_needed(recorded) && row.trials.empty() &&
                        !trial::booked_of(row.composition).contains(trial::booked_of(composition));
  if (!was_unbooked && !has_less) return {};
  return store.put_retired({recorded.id, recorded.spec, recorded.method, composition, recorded.trials});
}

// Returns why rows of the spec cannot come back, or nothing. What everything cost comes back in any
// case, whatever the database has instead: it may be an older copy.
Result<std::string> restore(results::Store& store, const OutFolder& out, const std::string& spec,
                            const std::vector<ReleaseRecord>& records) {
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  const auto known = store.spec(spec);
  if (!known) return known.error();
  const bool is_known = !*known || std::ranges::any_of(records, [&](const ReleaseRecord& record) {
    return record.spec.hash == (**known).hash;
  });
  std::string missing;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& record = records[i];
    for (const auto& [dataset, identities] : record.data) {
      for (const auto& identity : identities) {
        if (auto put = store.put_data(dataset, identity); !put) return put.error();
      }
    }
    for (const auto& study : record.studies) {
      if (auto put = put_costs(store, out, study); !put) return put.error();
    }
    if (auto put = put_selections(store, record); !put) return put.error();
    // Otherwise the folder went on with something else.
    const bool is_current = is_known && i + 1 == records.size();
    const bool is_seeded = has_seeded_noise(record.spec);
    bool remakes = false;
    if (is_current) {
      if (auto put = store.put_spec(record.spec, true); !put) return put.error();
    }
    if (is_current && is_seeded) {
      const auto lacks = lacks_journals(store, out, record);
      if (!lacks) return lacks.error();
      remakes = *lacks;
    }
    for (const auto& study : record.studies) {
      if (is_current) {
        const auto why =
            is_seeded ? put_seeded_back(store, out, study, remakes) : put_back(store, out, study);
        if (!why) return why.error();
        if (missing.empty()) missing = *why;
        if (auto put = put_booked_seed(store, study.study); !put) return put.error();
        continue;
      }
      // An earlier release's rows are retired by the next one; its runs stay in the odometer. A
      // later version of the spec has the same row, which counts once. What each has booked of a
      // seed is put back whatever others say, as the most of it counts.
      const auto& one = study.study;
      const auto is_listed = lists_runs_of(store, *retired, one);
      if (!is_listed) return is_listed.error();
      const auto is_there = has_row(store, *retired, one);
      if (!is_there) return is_there.error();
      const bool is_booked_seed = !one.composition.not_begun.empty() && one.composition.dataset;
      if (!is_booked_seed && *is_listed && (*is_there || is_in_any(records, i + 1, one))) continue;
      if (auto put = store.put_retired({one.id, one.spec, one.method, one.composition, one.trials}); !put)
        return put.error();
    }
  }
  return missing;
}

}  // namespace

Result<std::map<std::string, std::string>> restore_from_records(results::Store& store, const OutFolder& out) {
  std::map<std::string, std::string> missing;
  const auto names = specs_with_records(out);
  if (!names) return names.error();
  for (const auto& name : *names) {
    const auto records = read_release_records(out, name);
    if (!records) continue;
    auto why = restore(store, out, name, *records);
    if (!why) return in_context(out.release_record(name), why.error());
    if (!why->empty()) missing.emplace(name, std::move(*why));
  }
  return missing;
}

Result<void> restore_for(results::Store& store, const OutFolder& out, const std::string& spec, bool fresh) {
  const auto missing = restore_from_records(store, out);
  if (!missing) return missing.error();
  if (const auto own = read_release_records(out, spec); !own) return own.error();
  if (missing->contains(spec) && !fresh) return error(missing->at(spec));
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
      // The spec's own rule may need what another rule did not, and a row that was cancelled in
      // another spec was not cancelled in this one.
      const bool is_of_spec = results::is_not_needed(recorded.study) || results::is_cancelled(recorded.study);
      if (is_of_spec && !is_same) continue;
      const auto why = put_back(store, out, recorded);
      if (!why) return why.error();
      if (!why->empty()) return error(*why);
    }
  }
  return {};
}

Result<std::map<std::string, Composition>> lost_selections(const results::Store& store,
                                                           const OutFolder& out) {
  auto studies = store.all_studies();
  if (!studies) return studies.error();
  auto retired = store.retired_studies();
  if (!retired) return retired.error();
  std::vector<Composition> compositions;
  for (auto& study : *studies) compositions.push_back(std::move(study.composition));
  for (auto& study : *retired) compositions.push_back(std::move(study.composition));
  std::map<std::string, Composition> found;
  for (auto& composition : compositions) {
    if (composition.booking.empty() || composition.attempts.empty()) continue;  // it is open
    const auto lost = lost_of(store, out, composition.trials);
    if (!lost) return lost.error();
    if (!lost->empty()) found.emplace(composition.booking, std::move(composition));
  }
  return found;
}

Result<void> add_later_runs(results::Store& store, const OutFolder& out, results::StudyRecord cancelled,
                            const std::vector<std::string>& runs) {
  TrialBook book(store, out);
  auto& composition = cancelled.composition;
  auto priced = composition.trials;
  bool has_later = false;
  for (const auto& id : runs) {
    if (auto taken = book.take_in(id); !taken) return taken;
    if (std::ranges::count(cancelled.trials, id) == 0) cancelled.trials.push_back(id);
    const auto run = store.trial(id);
    if (!run) return run.error();
    const bool has_begun = *run && !(**run).events.empty();
    if (!has_begun || std::ranges::count(priced, id) > 0) continue;
    priced.push_back(id);
    has_later = true;
  }
  if (has_later && composition.not_begun.empty()) {
    composition.rule = Composition::Rule::sum;
    composition.trials = std::move(priced);
    cancelled.total.reset();
  }
  return store.put_study(cancelled);
}

}  // namespace hyfreedp::runner
