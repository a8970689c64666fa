#include "harness/runner/upkeep/merge.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/random/key_file.h"
#include "harness/runner/execute/asked_runs.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/upkeep/merge_plan.h"
#include "results/store/states.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

using results::TrialRecord;
using trial::ChargedAttempt;

class Merger {
 public:
  Merger(const OutFolder& into, results::Store& store) : into_(into), store_(store) {
    sides_.push_back({into, &store});
  }

  Result<void> add(const OutFolder& other) {
    if (auto checked = check_folder(other); !checked) return checked;
    auto copy = copy_of_folder(other);
    if (!copy) return copy.error();
    if (!copy->untold.empty()) return error(copy->untold.front());
    stores_.push_back(std::move(copy->store));
    sides_.push_back({other, stores_.back().get()});
    return {};
  }

  // Files first: a journal that the database does not know is counted by the odometer.
  Result<MergeReport> write() {
    auto compared = plan_merge(sides_);
    if (!compared) return compared.error();
    plan_ = std::move(*compared);
    report_.equal = plan_.equal;
    report_.notes = plan_.notes;
    const auto hides = brings_hidden_runs();
    if (!hides) return hides.error();
    if (*hides) {
      if (auto closed = close_to_others(into_); !closed.empty()) report_.notes.push_back(std::move(closed));
    }
    if (auto made = make_closed_folder(into_.journals()); !made) return made.error();
    for (const auto& [id, side] : plan_.journals) {
      if (auto copied = copy(sides_[side].out.journal(id), into_.journal(id)); !copied) return copied.error();
    }
    for (const auto& [spec, side] : plan_.releases) {
      if (auto copied = copy(sides_[side].out.release_record(spec), into_.release_record(spec)); !copied)
        return copied.error();
    }
    for (const auto& [id, side] : plan_.runs) {
      if (side == 0) continue;
      if (auto put = put_run(id, sides_[side]); !put) return put.error();
    }
    for (const auto& [name, side] : plan_.specs) {
      if (side == 0) continue;
      const auto spec = sides_[side].store->spec(name);
      if (!spec) return spec.error();
      if (auto put = store_.put_spec(**spec); !put) return put.error();
      // Its release record may be older than the runs that come with it.
      if (has_seeded_noise(**spec)) plan_.continued.insert(name);
      report_.specs.push_back(name);
    }
    for (const auto& [id, side] : plan_.studies) {
      if (side == 0) continue;
      const auto study = sides_[side].store->study(id);
      if (!study) return study.error();
      if (auto put = store_.put_study(**study); !put) return put.error();
      if (const auto spec = plan_.specs.find((**study).spec); spec != plan_.specs.end() && spec->second == 0)
        plan_.continued.insert(spec->first);
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
    for (const auto& [id, all] : plan_.seeded_attempts) {
      if (auto put = put_attempts(id, all); !put) return put.error();
    }
    for (const auto& row : plan_.open_elsewhere) {
      if (auto put = store_.put_retired(row); !put) return put.error();
    }
    for (const auto& name : plan_.continued) {
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
    for (const auto& [id, side] : plan_.studies) {
      if (side == 0) continue;
      const auto study = sides_[side].store->study(id);
      if (!study) return study.error();
      if (!(**study).composition.is_selection()) continue;
      const auto spec = sides_[side].store->spec((**study).spec);
      if (!spec) return spec.error();
      if (!has_seeded_noise(**spec)) return true;
    }
    for (std::size_t side = 1; side < sides_.size(); ++side) {
      const auto retired = sides_[side].store->retired_studies();
      if (!retired) return retired.error();
      const auto is_hidden = [](const results::RetiredStudy& study) {
        return study.composition.is_selection();
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
    if (auto put = put_record((**now).record, side); !put) return put;
    return put_system(id, side);
  }

  // With the steps and metrics that the folder has of it.
  Result<void> put_record(const TrialRecord& record, const Side& side) {
    const auto metrics = side.store->metrics(record.id, true);
    if (!metrics) return metrics.error();
    const auto steps = side.store->steps(record.id);
    if (!steps) return steps.error();
    return store_.put_trial(record, *steps, *metrics);
  }

  // Of a seeded run that several folders have: an attempt of one is not always another's.
  Result<void> put_attempts(const std::string& id, const std::vector<ChargedAttempt>& all) {
    const auto& side = sides_[plan_.runs.at(id)];
    auto kept = held(side, id);
    if (!kept) return kept.error();
    HYFREEDP_CHECK(kept->has_value(), "a run that was compared is not there");
    auto& record = (**kept).record;
    const auto others = beside(record.charged, all);
    if (others.empty()) return {};
    // A run that is finished is not changed.
    if ((**kept).is_final) {
      const auto spec = spec_of_run(store_, id);
      if (!spec) return spec.error();
      if (auto put = put_charge(store_, *spec, record, others); !put) return put;
      if (!spec->empty()) plan_.continued.insert(*spec);
      return random::delete_key(into_.key(id));  // whose attempt is recorded
    }
    record.charged = all;
    record.events = trial::events_of(record.charged);
    return put_record(record, side);
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
  MergePlan plan_;
  MergeReport report_;
};

}  // namespace

Result<MergeReport> merge_folders(const OutFolder& into, results::Store& store,
                                  const std::vector<OutFolder>& others) {
  Merger merger(into, store);
  for (const auto& other : others) {
    if (auto added = merger.add(other); !added) return added.error();
  }
  return merger.write();
}

}  // namespace hyfreedp::runner
