#include "harness/runner/upkeep/merge.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/journal.h"
#include "harness/runner/executors/executor.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/odometer/trial_book.h"
#include "harness/runner/upkeep/held_runs.h"
#include "harness/trial/event_tally.h"
#include "results/provenance/export.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

using results::StudyRecord;
using results::TrialRecord;
using trial::ChargedAttempt;

constexpr std::size_t kMostShown = 20;  // contradictions
constexpr std::size_t kMostRows = 5;    // in one of them

// A resolved spec but for the seeds of its panels and rows.
json::object without_seeds(json::object resolved) {
  const auto panels = resolved.find("panels");
  if (panels == resolved.end() || !panels->value().is_array()) return resolved;
  const auto each = [](json::value& list, const auto& visit) {
    if (!list.is_array()) return;
    for (auto& one : list.get_array()) {
      if (one.is_object()) visit(one.get_object());
    }
  };
  each(panels->value(), [&](json::object& panel) {
    panel.erase("seeds");
    if (auto* rows = panel.if_contains("rows")) each(*rows, [](json::object& row) { row.erase("seeds"); });
  });
  return resolved;
}

std::string study_name(const StudyRecord& study) {
  return fmt::format("{}, {}, {}, {}, seed {}", study.spec, study.panel, study.row,
                     study.epsilon_target ? "epsilon " + short_number(*study.epsilon_target) : "non-private",
                     study.seed);
}

std::string answer_of(const StudyRecord& study) {
  if (study.state == results::StudyState::failed) return study.failure_kind;
  if (!study.total) return name_of(study.state);
  return fmt::format("epsilon {}", study.total->epsilon);
}

class Merger {
 public:
  Merger(const OutFolder& into, results::Store& store) : into_(into), store_(store) {
    sides_.push_back({into, &store});
  }

  Result<void> add(const OutFolder& other) {
    if (auto checked = check_folder(other); !checked) return checked;
    // The other folder's release records may know more than its database.
    auto opened = results::Store::open(other.database(), results::Store::Mode::scratch);
    if (!opened) return opened.error();
    if (auto restored = restore_from_records(**opened, other); !restored) return restored.error();
    stores_.push_back(std::move(*opened));
    sides_.push_back({other, stores_.back().get()});
    return {};
  }

  // Compares all folders.
  Result<void> compare() {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      if (auto done = compare_specs(side); !done) return done;
      if (auto done = compare_runs(side); !done) return done;
      if (auto done = compare_releases(side); !done) return done;
    }
    if (contradictions_.empty() && !differs_hidden_) return {};
    if (differs_hidden_) {
      contradictions_.push_back(
          "runs that may belong to a private selection, and are therefore not named, differ between the "
          "folders, or "
          "were run in both under different noise keys, which is two releases of the same data.");
    }
    const auto more = contradictions_.size() > kMostShown ? contradictions_.size() - kMostShown : 0;
    contradictions_.resize(contradictions_.size() - more);
    if (more > 0) contradictions_.push_back(fmt::format("and {} more.", more));
    contradictions_.push_back("Nothing was merged. Keep these folders apart, or leave one of them out.");
    return error(join(contradictions_, "\n"));
  }

  // Files first: a journal that the database does not know is counted by the odometer.
  Result<MergeReport> write() {
    const auto hides = brings_hidden_runs();
    if (!hides) return hides.error();
    if (*hides) {
      if (auto closed = close_to_others(into_); !closed.empty()) report_.notes.push_back(std::move(closed));
    }
    if (auto made = make_closed_folder(into_.journals()); !made) return made.error();
    for (const auto& [id, side] : journals_) {
      if (auto copied = copy(sides_[side].out.journal(id), into_.journal(id)); !copied) return copied.error();
    }
    for (const auto& [spec, side] : releases_) {
      if (auto copied = copy(sides_[side].out.release_record(spec), into_.release_record(spec)); !copied)
        return copied.error();
    }
    for (const auto& [id, side] : runs_) {
      if (side == 0) continue;
      if (auto put = put_run(id, sides_[side]); !put) return put.error();
    }
    for (const auto& [name, side] : specs_) {
      if (side == 0) continue;
      const auto spec = sides_[side].store->spec(name);
      if (!spec) return spec.error();
      if (auto put = store_.put_spec(**spec); !put) return put.error();
      report_.specs.push_back(name);
    }
    for (const auto& [id, side] : studies_) {
      if (side == 0) continue;
      const auto study = sides_[side].store->study(id);
      if (!study) return study.error();
      if (auto put = store_.put_study(**study); !put) return put.error();
      if (const auto spec = specs_.find((**study).spec); spec != specs_.end() && spec->second == 0)
        continued_.insert(spec->first);
      ++report_.studies;
    }
    if (auto noted = put_notes(); !noted) return noted.error();
    if (auto known = put_data(); !known) return known.error();
    for (std::size_t side = 1; side < sides_.size(); ++side) {
      const auto retired = sides_[side].store->retired_studies();
      if (!retired) return retired.error();
      for (const auto& study : *retired) {
        if (auto put = store_.put_retired(study); !put) return put.error();
      }
    }
    for (const auto& [id, all] : seeded_attempts_) {
      if (auto put = put_attempts(id, all); !put) return put.error();
    }
    for (const auto& row : open_elsewhere_) {
      if (auto put = store_.put_retired(row); !put) return put.error();
    }
    for (const auto& name : continued_) {
      const auto studies = store_.studies(name);
      if (!studies) return studies.error();
      const auto spec = store_.spec(name);
      if (!spec) return spec.error();
      // A seeded spec draws nothing that a complete record would say to be over.
      const bool complete =
          *spec && !has_seeded_noise(**spec) && std::ranges::all_of(*studies, results::is_answered);
      if (auto written = write_release_record(store_, into_, name, complete); !written)
        return written.error();
      for (std::size_t side = 1; side < sides_.size(); ++side) {
        if (auto added = add_release_records(sides_[side].out, into_, name); !added) return added.error();
      }
    }
    return std::move(report_);
  }

 private:
  // True if the number of runs of some row that comes is confidential.
  Result<bool> brings_hidden_runs() const {
    for (const auto& [id, side] : studies_) {
      if (side == 0) continue;
      const auto study = sides_[side].store->study(id);
      if (!study) return study.error();
      if ((**study).composition.empty() || results::run_count_is_public(**study)) continue;
      const auto spec = sides_[side].store->spec((**study).spec);
      if (!spec) return spec.error();
      if (!has_seeded_noise(**spec)) return true;
    }
    for (std::size_t side = 1; side < sides_.size(); ++side) {
      const auto retired = sides_[side].store->retired_studies();
      if (!retired) return retired.error();
      const auto is_hidden = [](const results::RetiredStudy& study) {
        return string_or(study.composition, "rule", "") == "selection";
      };
      if (std::ranges::any_of(*retired, is_hidden)) return true;
    }
    return false;
  }

  // Tags of all folders together; of notes the one that is here, or else the first folder's.
  Result<void> put_notes() {
    auto here = store_.notes();
    if (!here) return here.error();
    for (std::size_t side = 1; side < sides_.size(); ++side) {
      const auto there = sides_[side].store->notes();
      if (!there) return there.error();
      for (const auto& [id, other] : *there) {
        auto& note = (*here)[id];
        note.study = id;
        if (note.note.empty()) note.note = other.note;
        std::set<std::string> tags(note.tags.begin(), note.tags.end());
        tags.insert(other.tags.begin(), other.tags.end());
        note.tags.assign(tags.begin(), tags.end());
        if (auto put = store_.put_note(note); !put) return put;
      }
    }
    return {};
  }

  Result<void> put_data() {
    for (std::size_t side = 1; side < sides_.size(); ++side) {
      const auto there = sides_[side].store->data();
      if (!there) return there.error();
      for (const auto& [dataset, identities] : *there) {
        for (const auto& identity : identities) {
          if (auto put = store_.put_data(dataset, identity); !put) return put;
        }
      }
    }
    return {};
  }

  Result<void> check_folder(const OutFolder& other) const {
    if (!fs::is_directory(other.root)) return error(fmt::format("there is no folder {}.", other.root));
    std::error_code failure;
    for (const auto& side : sides_) {
      if (fs::equivalent(side.out.root, other.root, failure))
        return error(fmt::format("{} and {} are the same folder.", side.out.root, other.root));
    }
    if (FolderLock::stays_held(other)) {
      return error(fmt::format("a run works in {}. Merge it when the run is over.", other.root));
    }
    return {};
  }

  void contradict(std::string what) { contradictions_.push_back(std::move(what)); }

  // Names the folders with these numbers.
  std::string both(std::size_t one, std::size_t other) const {
    return fmt::format("{} and {}", sides_[one].out.root, sides_[other].out.root);
  }

  Result<void> compare_specs(std::size_t side) {
    const auto specs = sides_[side].store->specs();
    if (!specs) return specs.error();
    for (const auto& spec : *specs) {
      const auto [known, is_new] = specs_.try_emplace(spec.name, side);
      bool are_parts = false, must_equal = false;
      if (!is_new) {
        const auto recorded = sides_[known->second].store->spec(spec.name);
        if (!recorded) return recorded.error();
        if ((**recorded).hash != spec.hash) {
          const bool by_seeds = without_seeds((**recorded).resolved) == without_seeds(spec.resolved);
          contradict(fmt::format(
              "{} have different specs named '{}', or different releases of it.{}", both(known->second, side),
              spec.name,
              by_seeds ? " They differ in their seeds alone: machines that share seeds need one spec that "
                         "lists all of them, each with `hyfreedp run --only seed=...`."
                       : ""));
          continue;
        }
        if (!has_seeded_noise(spec)) {
          const auto same = has_same_draws(known->second, side, spec);
          if (!same) return same.error();
          const auto content = results::spec_of(spec);
          if (!content) return content.error();
          must_equal = !*same && std::ranges::any_of(content->panels, [](const spec::Panel& panel) {
            return std::ranges::any_of(
                panel.rows, [&](const spec::Row& row) { return spec::has_sequential_seeds(panel, row); });
          });
          are_parts = !*same && !must_equal;
        }
        if (!must_equal) continued_.insert(spec.name);
      }
      const auto studies = sides_[side].store->studies(spec.name);
      if (!studies) return studies.error();
      bool differs = false;
      std::vector<std::string> twice;
      for (const auto& study : *studies) {
        if (are_parts) {
          if (auto compared = compare_part(study, side, twice); !compared) return compared;
          continue;
        }
        auto equal = compare_study(study, side, must_equal);
        if (!equal) return equal.error();
        differs = differs || !*equal;
      }
      if (must_equal) {
        const auto here = sides_[known->second].store->studies(spec.name);
        if (!here) return here.error();
        differs = differs || here->size() != studies->size();
      }
      if (twice.empty() && !(must_equal && differs)) continue;
      const auto more = twice.size() > kMostRows ? twice.size() - kMostRows : 0;
      twice.resize(twice.size() - more);
      const auto rows = twice.empty() ? std::string()
                                      : fmt::format(" Begun in both: {}{}.", join(twice, "; "),
                                                    more > 0 ? fmt::format(" and {} more", more) : "");
      contradict(
          fmt::format("{} have both run '{}', which has no noise_seed, with different rows. That is two "
                      "releases of the same data, and one table cannot show the epsilon of both.{}",
                      both(known->second, side), spec.name, rows));
    }
    return {};
  }

  // True if one folder is a copy of the other that went on: both records of an unseeded spec name
  // one key of draws.
  Result<bool> has_same_draws(std::size_t one, std::size_t other, const results::SpecRecord& spec) const {
    std::set<std::string> draws;
    for (const auto side : {one, other}) {
      const auto records = read_release_records(sides_[side].out, spec.name);
      if (!records) return records.error();
      const bool is_newest = !records->empty() && records->back().spec.hash == spec.hash;
      draws.insert(is_newest ? records->back().draws : "");
    }
    return draws.size() == 1 && !draws.contains("");
  }

  // A row of an unseeded spec that several folders ran under keys of their own. `twice` gets its
  // name where two of them began it.
  Result<void> compare_part(const StudyRecord& study, std::size_t side, std::vector<std::string>& twice) {
    // A private selection lists its runs only once it has its answer.
    const auto is_open_selection = [](const StudyRecord& one) {
      return !one.composition.empty() && !results::run_count_is_public(one) &&
             (!results::is_answered(one) || results::is_cancelled(one));
    };
    const auto is_begun = [&](const StudyRecord& one) {
      return !one.trials.empty() || is_open_selection(one) ||
             (results::is_answered(one) && !results::is_cancelled(one));
    };
    const auto [known, is_new] = studies_.try_emplace(study.id, side);
    if (!is_new) {
      const auto recorded = sides_[known->second].store->study(study.id);
      if (!recorded) return recorded.error();
      if (results::same_outcome(**recorded, study) && !is_open_selection(study)) {
        ++report_.equal;
        return {};
      }
      if (!is_begun(study)) return {};
      if (is_begun(**recorded)) {
        twice.push_back(study_name(study));
        return {};
      }
      known->second = side;
    }
    if (is_begun(study) && (!results::is_answered(study) || results::is_cancelled(study))) {
      contradict(
          fmt::format("{}: this row of {} is begun and not over, and its draws can only go on there. "
                      "Finish it there first.",
                      study_name(study), sides_[side].out.root));
    }
    return {};
  }

  // Returns true if the row is the same as the known one, or is new and need not equal one.
  Result<bool> compare_study(const StudyRecord& study, std::size_t side, bool must_equal) {
    const auto [known, is_new] = studies_.try_emplace(study.id, side);
    if (is_new) return !must_equal;
    const auto recorded = sides_[known->second].store->study(study.id);
    if (!recorded) return recorded.error();
    const StudyRecord& earlier = **recorded;
    if (results::same_outcome(earlier, study)) {
      ++report_.equal;
      return true;
    }
    if (must_equal) return false;
    // A row that was cancelled in one folder may have its answer in the other.
    const auto has_answer = [](const StudyRecord& one) {
      return results::is_answered(one) && !results::is_cancelled(one);
    };
    if (!has_answer(study)) {
      // It may list and book what the other does not.
      if (!has_answer(earlier))
        open_elsewhere_.push_back({study.id, study.spec, study.method, study.composition, study.trials});
      return false;
    }
    if (!has_answer(earlier)) {
      known->second = side;
      return false;
    }
    contradict(fmt::format("{}: {} have different results ({} and {}).", study_name(study),
                           both(known->second, side), answer_of(earlier), answer_of(study)));
    return false;
  }

  static Result<std::optional<Held>> held(const Side& side, const std::string& id) {
    auto recorded = side.store->trial(id);
    if (!recorded) return recorded.error();
    if (!*recorded || !results::is_final(**recorded)) return open_run(side, id, *recorded);
    return std::optional<Held>(Held{.record = std::move(**recorded),
                                    .is_final = true,
                                    .is_over = true,
                                    .has_journal = !is_missing_journal(side.out.journal(id))});
  }

  Result<void> compare_runs(std::size_t side) {
    std::set<std::string> ids;
    const auto trials = sides_[side].store->trials();
    if (!trials) return trials.error();
    for (const auto& trial : *trials) ids.insert(trial.id);
    auto journals = stems(sides_[side].out.journals(), ".jsonl");
    if (!journals) return journals.error();
    auto keys = stems(sides_[side].out.keys(), ".key");
    if (!keys) return keys.error();
    ids.merge(*journals);
    ids.merge(*keys);
    bool is_open = false;
    for (const auto& id : ids) {
      const auto known = runs_.find(id);
      // A run of this folder is read again only if another folder has it, too.
      if (side == 0) {
        runs_.emplace(id, side);
        continue;
      }
      auto now = held(sides_[side], id);
      if (!now) return now.error();
      if (!*now) continue;
      is_open = is_open ||
                (!(**now).is_final && !has_seeded_noise((**now).record) && !(**now).record.events.empty());
      if (known == runs_.end()) {
        take(id, side, (**now).has_journal);
        continue;
      }
      if (auto compared = compare_run(id, known->second, **now, side); !compared) return compared;
    }
    if (is_open) {
      report_.notes.push_back(fmt::format(
          "{} has runs that are not over. What they booked is counted here now. Do not go on with them "
          "there: that would not be counted here. Here their next attempt has new noise, which is "
          "charged in addition.",
          sides_[side].out.root));
    }
    return {};
  }

  void take(const std::string& id, std::size_t side, bool has_journal) {
    runs_[id] = side;
    if (has_journal) journals_[id] = side;
  }

  Result<void> compare_run(const std::string& id, std::size_t before, const Held& now, std::size_t side) {
    const auto recorded = held(sides_[before], id);
    if (!recorded) return recorded.error();
    if (!*recorded) {
      take(id, side, now.has_journal);
      return {};
    }
    const Held& earlier = **recorded;
    if (earlier.is_final && now.is_final) {
      const auto same = is_same_run(id, before, earlier, side, now);
      if (!same) return same.error();
      if (!*same) differ(id, before, side);
      return {};
    }
    if (has_seeded_noise(now.record)) {
      const auto config = trial::TrialConfig::from_json(now.record.config, "trial " + id);
      if (!config) return config.error();
      auto& all = seeded_attempts_.try_emplace(id, earlier.record.charged).first->second;
      const bool goes_on = !earlier.is_final && !is_contained(now.record.charged, all);
      add_seeded(all, now.record);
      if (now.is_final || goes_on) take(id, side, now.has_journal);
      // The price of a selection that is over does not grow by single runs.
      const auto& over = now.is_final ? now : earlier;
      const bool is_over = over.is_final && config->evaluation.score.has_value();
      if (is_over && !is_contained(all, over.record.charged)) differ(id, before, side);
      return {};
    }
    const bool may_stay = !now.is_final && is_contained(now.record.charged, earlier.record.charged);
    const bool may_go = !earlier.is_final && is_contained(earlier.record.charged, now.record.charged);
    if (now.is_final ? may_go : (!may_stay && may_go)) {
      take(id, side, now.has_journal);
    } else if (!may_stay) {
      differ(id, before, side);
    }
    return {};
  }

  // Attempts of one number that began at different steps are not the same release. Where they
  // differ nothing tells whether they did, so both are charged.
  static void add_seeded(std::vector<ChargedAttempt>& all, const TrialRecord& record) {
    auto now = record;
    const auto whole_of = [](const ChargedAttempt& one) {
      return trial::EventTally(trial::events_of({one}));
    };
    for (auto& attempt : now.charged) {
      const auto same = std::ranges::find(all, attempt.name, &ChargedAttempt::name);
      if (same == all.end() || attempt.name == mechanism::seeded_nonce(0)) continue;
      const auto one = whole_of(*same), other = whole_of(attempt);
      if (!one.contains(other) || !other.contains(one)) attempt = {"", other.events()};
    }
    add_recorded(all, now);
  }

  Result<bool> is_same_run(const std::string& id, std::size_t before, const Held& earlier, std::size_t side,
                           const Held& now) const {
    if (outcome_of(earlier.record) != outcome_of(now.record)) return false;
    const bool same_charge = is_contained(now.record.charged, earlier.record.charged) &&
                             is_contained(earlier.record.charged, now.record.charged);
    if (!has_seeded_noise(now.record) && !same_charge) return false;
    return has_same_values(*sides_[before].store, *sides_[side].store, id);
  }

  static Result<bool> has_same_values(const results::Store& one, const results::Store& other,
                                      const std::string& id) {
    const auto metrics_of = [&](const results::Store& store) -> Result<std::string> {
      const auto metrics = store.metrics(id, true);
      if (!metrics) return metrics.error();
      return canonical_json(as_json(*metrics));
    };
    const auto hashes_of = [&](const results::Store& store) -> Result<std::string> {
      const auto steps = store.steps(id);
      if (!steps) return steps.error();
      std::string hashes;
      for (const auto& step : *steps) hashes += fmt::format("{} {}\n", step.step, step.hash);
      return hashes;
    };
    for (const auto& values : {std::function(metrics_of), std::function(hashes_of)}) {
      const auto first = values(one);
      if (!first) return first.error();
      const auto second = values(other);
      if (!second) return second.error();
      if (*first != *second) return false;
    }
    return true;
  }

  void differ(const std::string& id, std::size_t before, std::size_t side) {
    const bool may_name = results::check_releasable(*sides_[before].store, id).has_value() ||
                          results::check_releasable(*sides_[side].store, id).has_value();
    if (!may_name) {
      differs_hidden_ = true;
      return;
    }
    contradict(
        fmt::format("the run {} has other metrics, events or noise keys in {} than in {}. Of an unseeded run "
                    "that is two releases of the same data; of a seeded one, two machines or builds whose "
                    "bits differ.",
                    id, sides_[before].out.root, sides_[side].out.root));
  }

  Result<void> compare_releases(std::size_t side) {
    const auto names = specs_with_records(sides_[side].out);
    if (!names) return names.error();
    for (const auto& name : *names) {
      if (const auto read = read_release_records(sides_[side].out, name); !read) return read.error();
      const auto spec = sides_[side].store->spec(name);
      if (!spec) return spec.error();
      if (!*spec) {
        contradict(
            fmt::format("{} has a release record of '{}', which its database lacks. Run that spec there "
                        "first, which rebuilds its rows.",
                        sides_[side].out.root, name));
        continue;
      }
      // The rows of a spec that is in both were compared already.
      if (specs_.at(name) == side && side != 0) releases_[name] = side;
    }
    return {};
  }

  static Result<void> copy(const std::string& from, const std::string& to) {
    const auto content = read_file(from);
    if (!content) return content.error();
    return write_file_atomically(to, *content, 0600);
  }

  Result<void> put_run(const std::string& id, const Side& side) {
    const auto now = held(side, id);
    if (!now) return now.error();
    HYFREEDP_CHECK(now->has_value(), "a run that was compared is not there");
    if (!(**now).is_recorded) return {};  // its journal was copied
    const auto metrics = side.store->metrics(id, true);
    if (!metrics) return metrics.error();
    const auto steps = side.store->steps(id);
    if (!steps) return steps.error();
    if (auto put = store_.put_trial((**now).record, *steps, *metrics); !put) return put;
    return put_system(id, side);
  }

  // A run that is finished is not changed.
  Result<void> put_other_attempts(const TrialRecord& run, const std::vector<ChargedAttempt>& all) {
    std::vector<ChargedAttempt> others;
    for (const auto& attempt : all) {
      if (!is_contained({attempt}, run.charged)) others.push_back(attempt);
    }
    const auto studies = store_.all_studies();
    if (!studies) return studies.error();
    const auto row = std::ranges::find_if(
        *studies, [&](const StudyRecord& one) { return std::ranges::count(one.trials, run.id) > 0; });
    return put_charge(store_, row != studies->end() ? row->spec : "", run, trial::events_of(others));
  }

  // Of a seeded run that several folders have: an attempt of one is not always another's.
  Result<void> put_attempts(const std::string& id, const std::vector<ChargedAttempt>& all) {
    const auto& side = sides_[runs_.at(id)];
    auto kept = held(side, id);
    if (!kept) return kept.error();
    HYFREEDP_CHECK(kept->has_value(), "a run that was compared is not there");
    auto& record = (**kept).record;
    if (is_contained(all, record.charged)) return {};
    if ((**kept).is_final) return put_other_attempts(record, all);
    add_recorded(record.charged, {.charged = all});
    record.events = trial::events_of(record.charged);
    const auto metrics = side.store->metrics(id, true);
    if (!metrics) return metrics.error();
    const auto steps = side.store->steps(id);
    if (!steps) return steps.error();
    return store_.put_trial(record, *steps, *metrics);
  }

  // Copies the samples of the machine during the run, unless they are here already.
  Result<void> put_system(const std::string& id, const Side& side) {
    const auto here = store_.system(id);
    if (!here) return here.error();
    const auto there = side.store->system(id);
    if (!there) return there.error();
    if (!here->empty()) return {};
    std::map<std::int64_t, std::vector<results::SystemSample>> executions;
    for (const auto& sample : *there) executions[sample.execution].push_back(sample);
    for (const auto& [execution, samples] : executions) {
      if (auto put = store_.put_system(id, samples); !put) return put;
    }
    return {};
  }

  OutFolder into_;
  results::Store& store_;
  std::vector<std::unique_ptr<results::Store>> stores_;
  std::vector<Side> sides_;  // the first is `into`
  // All attempts at the seeded runs that several folders have.
  std::map<std::string, std::vector<ChargedAttempt>> seeded_attempts_;
  std::vector<results::RetiredStudy> open_elsewhere_;  // rows that are open in several folders
  // The side from which each thing is taken.
  std::map<std::string, std::size_t> specs_, studies_, runs_, journals_, releases_;
  // Specs of which rows of another folder come, or with which one folder went on.
  std::set<std::string> continued_;
  std::vector<std::string> contradictions_;
  bool differs_hidden_ = false;
  MergeReport report_;
};

}  // namespace

Result<MergeReport> merge_folders(const OutFolder& into, results::Store& store,
                                  const std::vector<OutFolder>& others) {
  Merger merger(into, store);
  for (const auto& other : others) {
    if (auto added = merger.add(other); !added) return added.error();
  }
  if (auto compared = merger.compare(); !compared) return compared.error();
  return merger.write();
}

}  // namespace hyfreedp::runner
