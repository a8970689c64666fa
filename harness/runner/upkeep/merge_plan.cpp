#include "harness/runner/upkeep/merge_plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <utility>

#include "harness/base/text.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record_file.h"
#include "results/provenance/export.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

using results::StudyRecord;

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

// True if one folder lost the runs of a private selection that the other has or may begin.
bool is_lost_in_one(const StudyRecord& one, const StudyRecord& other) {
  if (lists_its_runs(one.method, one.composition)) return false;
  return results::is_lost(one) != results::is_lost(other);
}

std::string answer_of(const StudyRecord& study) {
  if (study.state == results::StudyState::failed) return study.failure_kind;
  if (!study.total) return name_of(study.state);
  return fmt::format("epsilon {}", study.total->epsilon);
}

class Comparison {
 public:
  explicit Comparison(const std::vector<Side>& sides) : sides_(sides) {}

  // Compares all folders.
  Result<MergePlan> plan() {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      if (auto done = compare_specs(side); !done) return done.error();
      if (auto done = compare_runs(side); !done) return done.error();
      if (auto done = compare_releases(side); !done) return done.error();
    }
    if (contradictions_.empty() && !differs_hidden_) return std::move(plan_);
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

 private:
  void contradict(std::string what) { contradictions_.push_back(std::move(what)); }

  // Names the folders with these numbers.
  std::string both(std::size_t one, std::size_t other) const {
    return fmt::format("{} and {}", sides_[one].out.root, sides_[other].out.root);
  }

  Result<void> compare_specs(std::size_t side) {
    const auto specs = sides_[side].store->specs();
    if (!specs) return specs.error();
    for (const auto& spec : *specs) {
      const auto [known, is_new] = plan_.specs.try_emplace(spec.name, side);
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
        if (!must_equal) plan_.continued.insert(spec.name);
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
      return one.composition.is_selection() && (!results::is_answered(one) || results::is_cancelled(one));
    };
    const auto is_begun = [&](const StudyRecord& one) {
      return !one.trials.empty() || is_open_selection(one) ||
             (results::is_answered(one) && !results::is_cancelled(one));
    };
    const auto [known, is_new] = plan_.studies.try_emplace(study.id, side);
    if (!is_new) {
      const auto recorded = sides_[known->second].store->study(study.id);
      if (!recorded) return recorded.error();
      if (results::same_outcome(**recorded, study) && !is_open_selection(study)) {
        ++plan_.equal;
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
    const auto [known, is_new] = plan_.studies.try_emplace(study.id, side);
    if (is_new) return !must_equal;
    const auto recorded = sides_[known->second].store->study(study.id);
    if (!recorded) return recorded.error();
    const StudyRecord& earlier = **recorded;
    if (is_lost_in_one(earlier, study)) {
      contradict(
          fmt::format("{}: one of {} lost what its private selection released, and the other has it "
                      "or may make it again. Its price holds for one making.",
                      study_name(study), both(known->second, side)));
      return false;
    }
    if (results::same_outcome(earlier, study)) {
      ++plan_.equal;
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
        plan_.open_elsewhere.push_back({study.id, study.spec, study.method, study.composition, study.trials});
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
      const auto known = plan_.runs.find(id);
      // A run of this folder is read again only if another folder has it, too.
      if (side == 0) {
        plan_.runs.emplace(id, side);
        continue;
      }
      auto now = held(sides_[side], id);
      if (!now) return now.error();
      if (!*now) continue;
      is_open = is_open ||
                (!(**now).is_final && !has_seeded_noise((**now).record) && !(**now).record.events.empty());
      if (known == plan_.runs.end()) {
        take(id, side, (**now).has_journal);
        keep_told(id, **now, (**now).told);
        continue;
      }
      if (auto compared = compare_run(id, known->second, **now, side); !compared) return compared;
    }
    if (is_open) {
      plan_.notes.push_back(fmt::format(
          "{} has runs that are not over. What they booked is counted here now. Do not go on with them "
          "there: that would not be counted here. Here their next attempt has new noise, which is "
          "charged in addition.",
          sides_[side].out.root));
    }
    return {};
  }

  // Of a run that is over, where a folder tells of more attempts than its record.
  void keep_told(const std::string& id, const Held& run, std::vector<trial::ChargedAttempt> all) {
    if (run.is_final && !beside(run.record.charged, all).empty()) plan_.seeded_attempts[id] = std::move(all);
  }

  void take(const std::string& id, std::size_t side, bool has_journal) {
    plan_.runs[id] = side;
    if (has_journal) plan_.journals[id] = side;
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
      if (!*same) {
        differ(id, before, side);
      } else if (has_seeded_noise(now.record)) {
        const auto known = plan_.seeded_attempts.find(id);
        auto all = known != plan_.seeded_attempts.end() ? known->second : earlier.told;
        add_attempts(all, now.told);
        keep_told(id, earlier, std::move(all));
      }
      return {};
    }
    if (has_seeded_noise(now.record)) {
      const auto config = trial::TrialConfig::from_json(now.record.config, "trial " + id);
      if (!config) return config.error();
      auto& all = plan_.seeded_attempts.try_emplace(id, earlier.told).first->second;
      const bool goes_on = !earlier.is_final && !is_contained(now.told, all);
      add_attempts(all, now.told);
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
                    "bits differ, or more attempts in one folder.",
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
      if (plan_.specs.at(name) == side && side != 0) plan_.releases[name] = side;
    }
    return {};
  }

  const std::vector<Side>& sides_;
  MergePlan plan_;
  std::vector<std::string> contradictions_;
  bool differs_hidden_ = false;
};

}  // namespace

Result<MergePlan> plan_merge(const std::vector<Side>& sides) { return Comparison(sides).plan(); }

}  // namespace hyfreedp::runner
