// What of a run is not in its YAML: the device asked for on the command line, and which release of
// the spec it is.
//
// A finished unseeded spec is not run again. `--fresh` is a new release about the same data: every
// trial gets a new identity (TrialConfig::repetition counts up from
// release * kRepetitionsPerRelease), hence a new key and new noise, and every study a new id. The
// rows of the earlier release leave the tables; its trials, with what they spent, stay in the
// database. A database that was lost is put back first (release_record.h), so that it forgets no
// release. Both settings enter Spec::resolved ("release", each panel's "device") and so the spec's
// hash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/runner/out_folder.h"
#include "harness/runner/plan.h"

namespace hyfreedp::runner {

using baselines::kRepetitionsPerRelease;

std::int64_t release_of(const json::object& resolved);  // 0 where none is recorded
void set_release(Spec& spec, std::int64_t release);
void set_device(Spec& spec, const std::string& device);
bool has_seeded_noise(const Spec& spec);

// Settles which release of the spec enter_spec() would run, or why none; records nothing. `store`
// after restore_releases().
Result<void> settle_release(const results::Store& store, const OutFolder& out, Spec& spec, bool fresh,
                            bool replace);
// Settles which release runs, and records the spec in the store. Without `fresh` it is the recorded
// one, so that an interrupted release is continued; with it, the next.
//   another spec of that name is recorded       error, unless `replace` discards its rows
//   `fresh` for a seeded spec                   error: it would give the same rows
//   the spec draws without a noise seed, and
//   only journals tell of what was released     error, unless `fresh`: it may be released already
Result<void> enter_spec(results::Store& store, const OutFolder& out, Spec& spec, bool fresh, bool replace);

// Whether any of the studies draws: a number of runs, candidates, rates.
bool draws_anything(const std::vector<PlannedStudy>& studies);

// plan(), with the release in trials and ids.
Result<std::vector<PlannedStudy>> plan_release(const Spec& spec);

}  // namespace hyfreedp::runner
