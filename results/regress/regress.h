// Compares tonight's rows with a reference: which values changed, and whether chance explains it.
// These functions read and write no files: two Nights in, a report out. night.h reads a Night from
// a store, regress_writers.h prints a report, and `hyfreedp regress` is the command.
//
// A cell is one (panel, row, epsilon); its replicates are the seeds that both nights' specs have.
// Some checks involve no chance and are outside the false-alarm rate:
//
//   row          Tonight's row was trained by this program's code. Otherwise, as in a folder that
//                was not emptied, it says nothing of this program, and the verdict is "could not
//                tell", without further checks. The reference may be of any code
//   setting      The configs of the runs that each method asked for, without seeds and the number
//                of the release (`run --retrain`, `--fresh`), are the same if the spec is. With one
//                noise seed they are a function of spec and program, so a change is the program's,
//                whatever its effect on the results. For a method that searches, this holds only on
//                the same build, device and number of threads; elsewhere rounding may change its
//                choice, and the verdict is "could not tell". For a private selection only the
//                reported run is compared. If the spec changed, the notes say in what
//   bits         The hashes of all releases and all metrics of each run are equal. This is compared
//                only if both runs had the same config, a noise seed, and the same build, device
//                and number of threads; otherwise it is skipped, with the reason. A run that had a
//                value and diverged tonight is not equal, and has regressed
//   epsilon      What the row spent, the largest over seeds, is at most (1 + margin) times the
//                reference
//   values       No seed lost its value for a reason that is the program's, and a cell in which
//                more than half of the seeds had a value still has one. If runs of a row diverge by
//                chance with probability q, all n do so, after more than half had a value, with
//                probability q^n P(more than half of n have a value): at most 0.9 % with 6 seeds,
//                8 % with 3, 25 % with 1 (for the worst q), and far less where divergence is rare.
//                Of a cell without a value in either night nothing was compared, and of seeds that
//                failed both nights, but for those that diverged, neither: could not tell
//
// If nothing changed, all tests of a night together raise an alarm with probability at most
// `false_alarms_per_night` (regress_tests.h; Holm over all p-values of all cells; or FDR):
//
//   accuracy       percentage points, of the reported run's last test accuracy; t-test by seed;
//                  smaller is worse
//   loss           nats, of its last test loss; t-test by seed; larger is worse
//   gradient norm, update norm, update of TENSOR
//                  logarithm of the root mean square over steps of the norm of the released
//                  gradient, of the change of all weights, or of one tensor's change; t-test by
//                  seed; any change is worse. These show a wrong learning rate, or a layer that
//                  does not train. Only if the reported runs have one setting
//   noise          logarithm of the noise's standard deviation over the plan's; chi-square test of
//                  tonight's runs alone
//   failures       more diverged runs than before; Fisher's exact test; more is worse
//   speed, memory  logarithm of the ratio in each A/B round (harness/runner/execute/ab_timing.h);
//                  t-test by round; larger is worse
//
// A t-test by seed is paired over the seeds that both nights have, if both have one noise seed, so
// that paired runs differ only by what changed; otherwise it is Welch's. A run whose norms were not
// journaled has no norm tests.
//
// Verdict of a test at margin m:
//   regressed    The change is beyond the margin, in the bad direction, and chance does not explain
//                it (adjusted p <= rate)
//   improved     The same in the good direction
//   changed      The same where no direction is the bad one (settings, bits, norms)
//   same         There is no alarm, and the change is shown to be within the margin (two one-sided
//                tests at `equivalence_level`). A whole night is the same only if all of its tests
//                show it, so this level holds for the night as well (intersection-union)
//   unclear      Neither: "could not tell". `seeds_needed` says how many seeds would decide it, if
//                the true change were the observed one: more than were run, and at most kMostSeeds
//                (regress_tests.h)
//   skipped      It was not compared, for the reason given; it has no effect on other verdicts
// A cell is better if its accuracy or loss improved and nothing of it regressed. What changed in
// such a cell raises no alarm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/spec/regress.h"
#include "results/regress/regress_tests.h"
#include "results/regress/setting_changes.h"

namespace hyfreedp::results {

// The noise that a run added.
struct NoiseSeen {
  double sum = 0;      // of squared standardised residuals: 1 each on average
  double freedom = 0;  // how many residuals
};

// The reported run of one study.
struct NightRun {
  enum class State { value, failed, open };
  std::int64_t seed = 0;
  State state = State::open;
  std::string failure_kind;
  // its config without noise seed, seed and the number of the release: equal settings are
  // comparable in norms
  Setting setting;
  // of all runs that the study asked for, sorted; empty: confidential or unknown
  std::vector<Setting> asked;
  std::vector<Setting> lost_settings;  // of a failed study: those of its trials that failed
  std::string noise_seed;              // empty: private noise
  std::string machine;                 // build, device, threads; equal ones give equal results
  std::vector<std::string> hashes;
  std::map<std::string, double> metrics;  // every released and test metric, for the check of bits
  std::optional<double> accuracy;         // percent
  std::optional<double> loss;             // nats
  std::optional<double> epsilon;
  std::map<std::string, double> norms;  // by name: root mean square over steps
  std::optional<NoiseSeen> noise;
  double seconds = 0;
};

struct NightCell {
  std::string panel;
  std::string row;
  std::string title;              // of the row
  std::optional<double> epsilon;  // absent: non-private
  double resolution = 0;          // of accuracy, percentage points
  std::vector<NightRun> runs;
  std::set<std::int64_t> seeds = {};  // of the spec; empty: not known
  // Seeds that a comparison did not need (spec::SequentialSeeds).
  std::set<std::int64_t> not_needed = {};
  // The parts of the code in which the program that trained tonight's row differs from the one that
  // compares ("the engine, the optimizer adamw"); empty: none
  std::string other_code = {};
};

struct Night {
  std::string spec;
  std::string hash;  // of `resolved`
  std::string version;
  json::object resolved = {};  // the spec, without the numbers of its releases
  std::vector<NightCell> cells;
};

// Times (or peaks of memory) of tonight's worker and the reference's on one cell, or on the whole
// night, round by round.
struct AbRound {
  double tonight = 0;
  double reference = 0;
};
struct AbTiming {
  std::string what;  // "speed" or "memory"
  std::string panel;
  std::string row;
  std::optional<double> epsilon;
  std::vector<AbRound> rounds;
};

using FalseAlarmControl = spec::FalseAlarmControl;
using RegressMargins = spec::Margins;
using RegressOptions = spec::Regress;

enum class RegressVerdict { regressed, changed, unclear, improved, same, skipped };  // worst first
std::string to_string(RegressVerdict verdict);

struct RegressFinding {
  std::string what;  // "accuracy", "update norm", ...
  std::string test;  // "paired t, 5 seeds"; empty for a check without chance
  RegressVerdict verdict = RegressVerdict::skipped;
  std::string text;  // what changed, and whether chance explains it; or why it was skipped
  double change = 0;
  double margin = 0;
  int bad = 0;                        // sign of a change for the worse; 0: neither is
  bool is_any_change_bad = false;     // of noise, which is compared with the plan
  std::optional<double> p;            // of a change beyond the margin
  std::optional<double> adjusted;     // p, adjusted for all tests of the night
  std::optional<double> equivalence;  // p-value of the two one-sided tests
  std::optional<double> sd;           // of the compared values, from which seeds_needed is computed
  bool paired = true;
  // seeds, rounds or runs that were compared; of two unequal sets the smaller
  std::int64_t replicates = 0;
  std::optional<std::int64_t> seeds_needed;  // if unclear: more than `replicates`
};

struct RegressCell {
  std::string panel;
  std::string row;
  std::string title;
  std::optional<double> epsilon;
  std::vector<RegressFinding> findings;  // worst first

  RegressVerdict verdict() const;  // of its worst finding; skipped ones are ignored
  bool is_better() const;
  bool is_alarm() const;     // regressed, or changed without being better
  std::string name() const;  // "linear, hyfreedp, epsilon 3"
};

struct RegressReport {
  std::string spec;
  RegressOptions options;
  std::vector<RegressCell> cells;  // worst first
  std::size_t tests = 0;           // number of tests that share the false-alarm rate
  std::vector<std::string> notes;  // of the whole night

  bool spec_changed = false;

  RegressVerdict verdict() const;
  bool is_quiet() const;                            // whether all is the same, of one spec
  std::size_t count(RegressVerdict verdict) const;  // of cells
  // 0: the same or better, 1: regressed, or changed and not better, 2: could not tell.
  int exit_code() const;
};

// Compares two nights, with optional A/B timings.
RegressReport compare_nights(const Night& tonight, const Night& reference,
                             const std::vector<AbTiming>& timings = {}, const RegressOptions& options = {});

}  // namespace hyfreedp::results
