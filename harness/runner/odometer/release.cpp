#include "harness/runner/odometer/release.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/runner/odometer/changed_rows.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/release_record_file.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/odometer/unrecorded_runs.h"
#include "results/regress/setting_changes.h"
#include "results/store/records.h"
#include "results/store/states.h"

namespace hyfreedp::runner {

namespace {

// Every row of `spec` with the row of that name in `other`; null where it has none.
template <class Use>
void with_rows_of(Spec& spec, const spec::Spec& other, Use use) {
  for (auto& panel : spec.content.panels) {
    const auto* there = spec::find_panel(other, panel.id);
    for (auto& row : panel.rows) use(panel, row, there == nullptr ? nullptr : spec::find_row(*there, row.id));
  }
}

}  // namespace

void set_releases(Spec& spec, const spec::Spec& other) {
  spec.content.release = other.release;
  with_rows_of(spec, other, [](const auto&, spec::Row& row, const spec::Row* there) {
    row.release = there == nullptr ? 0 : there->release;
  });
}

void set_device(Spec& spec, const std::string& device) {
  for (auto& panel : spec.content.panels) panel.train.device = device;
}

bool has_seeded_noise(const Spec& spec) { return spec.content.noise_seed.has_value(); }

namespace {

bool names_seed(const json::object& described) {
  const auto* seed = described.if_contains("noise_seed");
  return seed != nullptr && !seed->is_null();
}

}  // namespace

bool has_seeded_noise(const results::SpecRecord& spec) { return names_seed(spec.resolved); }

bool has_seeded_noise(const results::TrialRecord& run) { return names_seed(run.config); }

bool has_further_release(const Spec& spec) {
  return spec.content.release > 0 || std::ranges::any_of(spec.content.panels, [](const auto& panel) {
           return std::ranges::any_of(panel.rows, [](const auto& row) { return row.release > 0; });
         });
}

bool draws_anything(const std::vector<PlannedStudy>& studies) {
  // A method that draws asks for other runs under other draws; that all of these agree by chance is
  // next to impossible.
  constexpr std::array<const char*, 6> kSecrets = {"a", "b", "c", "d", "e", "f"};
  const auto wishes = [](const PlannedStudy& study, const std::string& secret) {
    auto cell = study.cell;
    cell.draw_secret = secret;
    std::vector<std::string> ids;
    const auto wanted = study.baseline->next(cell, {});
    if (!wanted) return ids;
    for (const auto& config : *wanted) ids.push_back(config.id());
    return ids;
  };
  return std::ranges::any_of(studies, [&](const PlannedStudy& study) {
    const auto first = wishes(study, kSecrets.front());
    return std::ranges::any_of(kSecrets, [&](const char* secret) { return wishes(study, secret) != first; });
  });
}

namespace {

// The number that no earlier trial of the folder has: another spec's are not to answer for these,
// nor those of which an older database does not know. 0 where nothing was recorded.
Result<std::int64_t> next_release(const results::Store& store, const OutFolder& out) {
  const auto journals = latest_release_of_journals(out);
  if (!journals) return journals.error();
  std::int64_t latest = journals->value_or(-1);
  const auto specs = store.specs();
  if (!specs) return specs.error();
  for (const auto& record : *specs) {
    const auto spec = results::spec_of(record);
    if (!spec) return spec.error();
    latest = std::max(latest, spec->release);
    for (const auto& panel : spec->panels) {
      for (const auto& row : panel.rows) latest = std::max(latest, spec->release + row.release);
    }
  }
  const auto trials = store.trials();
  if (!trials) return trials.error();
  for (const auto& trial : *trials) {
    latest = std::max(latest, int_or(trial.config, "repetition", 0) / kRepetitionsPerRelease);
  }
  return latest + 1;
}

constexpr std::size_t kMostChanges = 6;  // that a refusal lists

// " What differs (there -> here): steps 100 -> 60 (main); row b is new."
std::string changes_since(const json::object& recorded, const json::object& now) {
  auto changes = results::spec_changes(recorded, now);
  if (changes.empty()) return "";
  const auto more = changes.size() > kMostChanges ? changes.size() - kMostChanges : 0;
  changes.resize(changes.size() - more);
  return fmt::format(" What differs (there -> here): {}{}.", join(changes, "; "),
                     more > 0 ? fmt::format("; and {} more changes", more) : "");
}

// An error where journals that neither the database nor a record names may be of `studies`, which
// the database does not have.
Result<void> check_unrecorded(const results::Store& store, const OutFolder& out, const Spec& spec,
                              const std::vector<PlannedStudy>& studies) {
  const auto unrecorded = latest_unrecorded(store, out, studies);
  if (!unrecorded) return unrecorded.error();
  if (!*unrecorded || !draws_anything(studies)) return {};
  return error(
      fmt::format("{}: {} has journals of private runs, but neither a database nor a release record says "
                  "whose they are. They may be "
                  "this spec's, which draws its runs at random, so running it might release the same data a "
                  "second time unseen. Put "
                  "the database back from a copy, use --out DIR if the journals are another spec's, or make "
                  "a new release with --fresh.",
                  spec.path, out.journals()));
}

// The database and the records know another version of the spec: they may be older copies, of
// before this one was run.
Result<void> check_added(const results::Store& store, const OutFolder& out, const Spec& spec) {
  if (has_seeded_noise(spec)) return {};
  const auto records = read_release_records(out, spec.content.name);
  if (!records) return records.error();
  auto added = plan_release(spec);
  if (!added) return added.error();
  std::set<std::string> known;
  for (const auto& record : *records) {
    for (const auto& one : record.studies) {
      if (results::is_answered(one.study) || !one.study.composition.booking.empty())
        known.insert(one.study.id);
    }
  }
  for (const auto& study : *added) {
    const auto found = store.study(study.id);
    if (!found) return found.error();
    if (*found) known.insert(study.id);
  }
  std::erase_if(*added, [&](const PlannedStudy& study) { return known.contains(study.id); });
  return check_unrecorded(store, out, spec, *added);
}

// Neither the database nor a record knows the spec, but there may be runs of it: both were lost, or
// the program kept no records.
Result<void> settle_unrecorded(const results::Store& store, const OutFolder& out, Spec& spec, bool fresh) {
  if (has_seeded_noise(spec)) return {};
  const auto studies = plan(spec);
  if (!studies) return studies.error();
  if (!fresh) return check_unrecorded(store, out, spec, *studies);
  const auto unrecorded = latest_unrecorded(store, out, *studies);
  if (!unrecorded) return unrecorded.error();
  const auto next = next_release(store, out);
  if (!next) return next.error();
  spec.content.release = std::max(*next, *unrecorded ? **unrecorded + 1 : 0);
  return {};
}

}  // namespace

Result<void> settle_release(const results::Store& store, const OutFolder& out, Spec& spec, bool fresh,
                            bool replace) {
  const auto& name = spec.content.name;
  if (fresh && has_seeded_noise(spec)) {
    return error(
        spec.path +
        ": --fresh is for specs without `noise_seed`. This one has it, so a fresh run would give the same "
        "rows; change the seed, or use another folder with --out DIR.");
  }
  const auto recorded = store.spec(name);
  if (!recorded) return recorded.error();
  bool same = false;
  auto before = spec;  // but for rows that are to be trained anew
  if (*recorded) {
    const auto content = results::spec_of(**recorded);
    if (!content) return content.error();
    set_releases(before, *content);
    same = (**recorded).hash == before.hash();
    spec.content.release = content->release;
    with_rows_of(spec, *content, [](const auto&, spec::Row& row, const spec::Row* there) {
      if (there != nullptr) row.release = std::max(row.release, there->release);
    });
  }
  if (*recorded && !same && !replace) {
    const auto changed = changed_rows(store, out, before);
    if (!changed) return changed.error();
    if (!changed->lost.empty()) {
      return error(fmt::format(
          "{}: the folder {} already holds '{}', as another spec or an earlier version of this one, and rows "
          "that it has would leave the table: {}.{} To keep both, give --out DIR or another name. To go on, "
          "add --replace: what the earlier rows released stays in the odometer. `hyfreedp diff {}` with the "
          "same --preset, --set and --out says what each change does.",
          spec.path, out.root, name, text_of(changed->lost),
          changes_since((**recorded).resolved, as_json(spec.content)), spec.path));
    }
  }
  if (*recorded) {
    if (!fresh) return same ? Result<void>() : check_added(store, out, spec);
    const auto next = next_release(store, out);
    if (!next) return next.error();
    spec.content.release = *next;
    for (auto& panel : spec.content.panels) {
      for (auto& row : panel.rows) row.release = 0;
    }
    return {};
  }
  return settle_unrecorded(store, out, spec, fresh);
}

Result<std::string> differs_from_recorded(const results::Store& store, Spec spec) {
  const auto recorded = store.spec(spec.content.name);
  if (!recorded) return recorded.error();
  if (!*recorded) return std::string();
  const auto content = results::spec_of(**recorded);
  if (!content) return content.error();
  set_releases(spec, *content);
  for (auto& panel : spec.content.panels) {
    const auto* there = spec::find_panel(*content, panel.id);
    if (there != nullptr) panel.train.device = there->train.device;
  }
  if ((**recorded).hash == spec.hash()) return std::string();
  return changes_since((**recorded).resolved, as_json(spec.content));
}

Result<void> enter_spec(results::Store& store, const OutFolder& out, Spec& spec, bool fresh, bool replace) {
  if (auto restored = restore_for(store, out, spec.content.name, fresh); !restored) return restored;
  if (auto settled = settle_release(store, out, spec, fresh, replace); !settled) return settled;
  const results::SpecRecord record{.name = spec.content.name,
                                   .hash = spec.hash(),
                                   .resolved = as_json(spec.content),
                                   .text = spec.text,
                                   .version = program_version()};
  const auto recorded = store.spec(record.name);
  if (!recorded) return recorded.error();
  if (auto known = record_data(store, spec.content); !known) return known;
  if (*recorded && (**recorded).hash != record.hash) {
    if (auto left = leave_release_record(store, out, record.name); !left) return left;
  }
  if (!*recorded || (**recorded).hash == record.hash || replace || fresh) {
    return store.put_spec(record, replace || fresh);
  }
  // settle_release() allowed the rows that leave to do so: they had not begun, or are trained anew.
  const auto planned = plan_release(spec);
  if (!planned) return planned.error();
  const auto studies = store.studies(record.name);
  if (!studies) return studies.error();
  std::set<std::string> kept;
  for (const auto& study : *planned) kept.insert(study.id);
  std::vector<std::string> leaving;
  for (const auto& study : *studies) {
    if (!kept.contains(study.id)) leaving.push_back(study.id);
  }
  return store.amend_spec(record, leaving);
}

Result<void> retrain(const results::Store& store, const OutFolder& out, Spec& spec,
                     const std::set<std::pair<std::string, std::string>>& rows) {
  const auto recorded = store.spec(spec.content.name);
  if (!recorded) return recorded.error();
  if (!*recorded) return {};
  const auto content = results::spec_of(**recorded);
  if (!content) return content.error();
  const auto next = next_release(store, out);
  if (!next) return next.error();
  with_rows_of(spec, *content, [&](const spec::Panel& panel, spec::Row& row, const spec::Row* there) {
    if (there != nullptr && rows.contains({panel.id, row.id})) row.release = *next - content->release;
  });
  return {};
}

Result<std::vector<PlannedStudy>> plan_release(const Spec& spec) {
  auto studies = plan(spec);
  if (!studies) return studies;
  for (auto& study : *studies) {
    const auto* panel = spec::find_panel(spec.content, study.cell.panel);
    const auto* row = panel == nullptr ? nullptr : spec::find_row(*panel, study.cell.row);
    const auto release = spec.content.release + (row == nullptr ? 0 : row->release);
    if (release == 0) continue;
    study.cell.base.repetition += release * kRepetitionsPerRelease;
    study.id = sha256_hex(study.id + " release " + std::to_string(release)).substr(0, 16);
  }
  return studies;
}

}  // namespace hyfreedp::runner
