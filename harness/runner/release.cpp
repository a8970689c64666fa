#include "harness/runner/release.h"

#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/version.h"

namespace hyfreedp::runner {

std::int64_t release_of(const json::object& resolved) { return int_or(resolved, "release", 0); }

void set_release(Spec& spec, std::int64_t release) {
  if (release == 0) {
    spec.resolved.erase("release");
  } else {
    spec.resolved["release"] = release;
  }
}

void set_device(Spec& spec, const std::string& device) {
  for (auto& panel : spec.resolved.at("panels").as_array()) panel.as_object()["device"] = device;
}

bool has_seeded_noise(const Spec& spec) {
  const auto* seed = spec.resolved.if_contains("noise_seed");
  return seed != nullptr && seed->is_string();
}

Result<void> settle_release(const results::Store& store, Spec& spec, bool fresh, bool replace) {
  const std::string name = string_or(spec.resolved, "name", "");
  if (fresh && has_seeded_noise(spec)) {
    return error(
        spec.path +
        ": --fresh is for specs without `noise_seed`. This one has it, so a fresh run would give the same "
        "rows; change the seed, or delete the output folder.");
  }
  const auto recorded = store.spec(name);
  if (!recorded) return recorded.error();
  if (*recorded) set_release(spec, release_of((**recorded).resolved));
  const bool same = *recorded && (**recorded).hash == spec.hash();
  if (*recorded && !same && !replace) {
    return error(
        fmt::format("{}: the output folder belongs to another spec of the name '{}'. Use --out DIR, rename "
                    "the spec, or discard the old rows with --replace.",
                    spec.path, name));
  }
  if (*recorded && fresh) set_release(spec, release_of(spec.resolved) + 1);
  return {};
}

Result<void> enter_spec(results::Store& store, Spec& spec, bool fresh, bool replace) {
  if (auto settled = settle_release(store, spec, fresh, replace); !settled) return settled;
  return store.put_spec({.name = string_or(spec.resolved, "name", ""),
                         .hash = spec.hash(),
                         .resolved = spec.resolved,
                         .text = spec.text,
                         .version = program_version()},
                        replace || fresh);
}

Result<std::vector<PlannedStudy>> plan_release(const Spec& spec) {
  auto studies = plan(spec);
  const auto release = release_of(spec.resolved);
  if (!studies || release == 0) return studies;
  for (auto& study : *studies) {
    study.cell.base.repetition += release * kRepetitionsPerRelease;
    study.id = sha256_hex(study.id + " release " + std::to_string(release)).substr(0, 16);
  }
  return studies;
}

}  // namespace hyfreedp::runner
