// The number of a spec's release, and the device of a run: two settings that are not in the YAML of
// the spec. Both are stored with it (`release`, and `device` of each panel) and so are
// part of the spec's hash.
//
// A spec without `noise_seed` that has finished is not run again. `--fresh` makes a new release on
// the same data, with a number that no other trial of the folder has: every trial gets a new
// identity (TrialConfig::repetition counts up from release * kRepetitionsPerRelease), and therefore
// a new key and new noise, and every study gets a new id. Rows of the earlier release are no longer
// shown in tables. Its trials, with what they spent, stay in the database. If the database was
// lost, it is rebuilt first (release_record.h), so that no earlier release is left out.
//
// `--retrain` makes a new release of single rows, those that other code trained (other_code.h):
// Row::release is added to the spec's number, and the sum is new in the folder. It is for seeded
// specs too, whose trials then have another identity and the same noise (mechanism::seeded_key()).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

using baselines::kRepetitionsPerRelease;

// Gives the spec and its rows the numbers of release that `other`, a version of the same spec, has.
void set_releases(Spec& spec, const spec::Spec& other);
// Stores the device ("cpu", "cuda") in every panel of spec.resolved.
void set_device(Spec& spec, const std::string& device);
// True if the spec, or the run's spec, has a `noise_seed`.
bool has_seeded_noise(const Spec& spec);
bool has_seeded_noise(const results::SpecRecord& spec);
bool has_seeded_noise(const results::TrialRecord& run);
// True if any of it is of another release than the first.
bool has_further_release(const Spec& spec);

// Sets in `spec` the number of the release that enter_spec() would run, without recording anything.
// Returns the errors of enter_spec(). Call restore_for() on `store` before.
Result<void> settle_release(const results::Store& store, const OutFolder& out, Spec& spec, bool fresh,
                            bool replace);
// Returns the differences between the recorded spec of that name and `spec`, as a sentence that
// begins with a blank (" What differs (there -> here): ..."). The number of the release and the
// device, which are not in a spec's file, are not compared. Empty if the two are the same, or none
// is recorded.
Result<std::string> differs_from_recorded(const results::Store& store, Spec spec);
// Decides which release runs, sets its number in `spec`, and records the spec in the store. Without
// `fresh` it is the recorded release, so that an interrupted one continues; with `fresh` it is the
// folder's next. A row whose number is above the recorded one, as retrain() leaves it, keeps it.
// First rebuilds what a lost database had (restore_for()). Another version of the spec that is
// recorded takes its place where no row of that would leave the table: rows stay as they are, and
// what the version adds is open. Errors:
//   - another spec of the same name is recorded, rows of which would leave the table
//     (changed_rows.h), and `replace` is false. With `replace` these rows are discarded;
//   - `fresh` for a spec with a noise seed, which would give the same rows;
//   - there are journals of private runs that neither the database nor a release record mentions
//     (latest_unrecorded()), the spec makes random draws without a noise seed, and `fresh` is
//     false. The journals may be this spec's, so running it might be a second release.
Result<void> enter_spec(results::Store& store, const OutFolder& out, Spec& spec, bool fresh, bool replace);

// Gives these rows of `spec`, pairs of panel and row, the next release of the folder. Call
// restore_for() on `store` before, and enter_spec() after it.
Result<void> retrain(const results::Store& store, const OutFolder& out, Spec& spec,
                     const std::set<std::pair<std::string, std::string>>& rows);

// True if the method of any study chooses at random: a number of runs, candidates, learning rates.
// The function compares the trials that the method asks for under six draw secrets, so it misses a
// method only if all six agree by chance.
bool draws_anything(const std::vector<PlannedStudy>& studies);

// plan() (plan.h), with the number of the row's release in the trials' repetitions and the studies'
// ids.
Result<std::vector<PlannedStudy>> plan_release(const Spec& spec);

}  // namespace hyfreedp::runner
