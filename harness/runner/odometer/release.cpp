#include "harness/runner/odometer/release.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/runner/odometer/release_record.h"
#include "results/regress/setting_changes.h"
#include "results/store/records.h"

namespace hyfreedp::runner {

void set_release(Spec& spec, std::int64_t release) { spec.content.release = release; }

void set_device(Spec& spec, const std::string& device) {
  for (auto& panel : spec.content.panels) panel.train.device = device;
}

bool has_seeded_noise(const Spec& spec) { return spec.content.noise_seed.has_value(); }

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

// Neither the database nor a record knows the spec, but there may be runs of it: both were lost, or
// the program kept no records.
Result<void> settle_unrecorded(const results::Store& store, const OutFolder& out, Spec& spec, bool fresh) {
  if (has_seeded_noise(spec)) return {};
  const auto studies = plan(spec);
  if (!studies) return studies.error();
  const auto unrecorded = has_unrecorded_runs(store, out, *studies);
  if (!unrecorded) return unrecorded.error();
  if (!*unrecorded) return {};
  if (fresh) {
    set_release(spec, 1);
    return {};
  }
  if (!draws_anything(*studies)) return {};
  return error(
      fmt::format("{}: {} has journals of private runs, but neither a database nor a release record says "
                  "whose they are. They may be "
                  "this spec's, which draws its runs at random, so running it might release the same data a "
                  "second time unseen. Put "
                  "the database back from a copy, use --out DIR if the journals are another spec's, or make "
                  "a new release with --fresh.",
                  spec.path, out.journals()));
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
  if (*recorded) {
    const auto content = results::spec_of(**recorded);
    if (!content) return content.error();
    set_release(spec, content->release);
  }
  const bool same = *recorded && (**recorded).hash == spec.hash();
  if (*recorded && !same && !replace) {
    return error(
        fmt::format("{}: the folder {} already holds '{}', as another spec or an earlier version of this "
                    "one.{} To keep both, give --out DIR or another name. With --replace the earlier rows "
                    "leave the table; what they released stays in the odometer.",
                    spec.path, out.root, name, changes_since((**recorded).resolved, as_json(spec.content))));
  }
  if (*recorded) {
    if (fresh) set_release(spec, spec.content.release + 1);
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
  set_release(spec, content->release);
  for (auto& panel : spec.content.panels) {
    const auto* there = spec::find_panel(*content, panel.id);
    if (there != nullptr) panel.train.device = there->train.device;
  }
  if ((**recorded).hash == spec.hash()) return std::string();
  return changes_since((**recorded).resolved, as_json(spec.content));
}

Result<void> enter_spec(results::Store& store, const OutFolder& out, Spec& spec, bool fresh, bool replace) {
  if (auto restored = restore_releases(store, out, spec.content.name); !restored) {
    return restored;
  }
  if (auto settled = settle_release(store, out, spec, fresh, replace); !settled) return settled;
  return store.put_spec({.name = spec.content.name,
                         .hash = spec.hash(),
                         .resolved = as_json(spec.content),
                         .text = spec.text,
                         .version = program_version()},
                        replace || fresh);
}

Result<std::vector<PlannedStudy>> plan_release(const Spec& spec) {
  auto studies = plan(spec);
  const auto release = spec.content.release;
  if (!studies || release == 0) return studies;
  for (auto& study : *studies) {
    study.cell.base.repetition += release * kRepetitionsPerRelease;
    study.id = sha256_hex(study.id + " release " + std::to_string(release)).substr(0, 16);
  }
  return studies;
}

}  // namespace hyfreedp::runner
