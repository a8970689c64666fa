// Compares tonight's rows with a reference: what moved, and whether chance explains it. It is pure:
// two Nights in, a report out. night.h reads a Night from a store, regress_writers.h prints a
// report, and `hyfreedp regress` is the command.
//
// A cell is one (panel, row, epsilon); its replicates are seeds. Some checks involve no chance and
// are outside the false-alarm rate:
//
//   setting      what each method made of an equal spec: the configs of the runs that it asked for,
//                without seeds. Under one noise seed they are a function of spec and program, so a
//                change is the program's, whatever it does to the results. Of a method that
//                searches this holds on the same build, device and threads alone: elsewhere another
//                choice may be rounding, and cannot be told. Of a private selection the reported
//                run alone is compared. Where the spec changed, the notes say in what
//   bits         hashes of all releases and all metrics of each run, bit for bit. Only where both
//                runs had the same config, a noise_seed, and the same build, device and threads;
//                elsewhere skipped, and said. A run that had a value and diverged tonight is not
//                the same
//   epsilon      what the row spent, the largest over seeds, tonight at most (1 + margin) times the
//                reference
//   values       no seed without a value for a reason that is the program's own; and a cell in
//                which more than half of the seeds had a value has one yet. A row whose runs
//                diverge by themselves with probability q loses all n of them just so with
//                probability q^n P(more than half of n have a value): at most 0.9 % with 6 seeds, 8
//                % with 3, 25 % with 1 (the worst q), nearly nothing where divergence is rare
//
// All tests of a night together raise an alarm with probability at most `false_alarms_per_night` if
// nothing changed (regress_tests.h; Holm over all p-values of all cells; or FDR):
//
//   accuracy       percentage points of the reported run's last test accuracy; t, by seed; worse:
//                  smaller
//   loss           nats of its last test loss; t, by seed; worse: larger
//   gradient norm, update norm, update of TENSOR
//                  log of the root mean square over steps of the released gradient, of the change
//                  of the weights, or of one tensor's change; t, by seed; any change is worse. They
//                  show a wrong eta, or a layer that does not move. Only if the reported runs have
//                  one setting
//   noise          log sd of the noise that was really added over the sd in the plan; chi-square,
//                  absolute
//   failures       more seeds without a value than before (diverged); Fisher, exact; worse: more
//   speed, memory  log ratio of A/B rounds (harness/runner/ab_timing.h); t, by round; worse: larger
//
// "by seed": paired over the seeds that both have if both have one noise seed, so that runs differ
// only by what changed; else Welch. A run whose norms were not journaled has no norm tests.
//
// Verdict of a test at margin m:
//   regressed    the change is beyond the margin, in the bad direction, and chance does not explain
//                it (adjusted p <= rate)
//   improved     the same in the good direction
//   same         no alarm, and shown to be within the margin (two one-sided tests at
//                `equivalence_level`). That a whole night is called the same needs all of its tests
//                to show it, so this level holds for the night as it is (intersection-union)
//   unclear      neither: "could not tell"; `seeds_needed` says how many seeds would, were the
//                change what was seen: more than were run, and at most kMostSeeds (regress_tests.h)
//   skipped      not compared, with the reason; counts for nothing
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "results/regress_tests.h"
#include "results/setting_changes.h"

namespace hyfreedp::results {

struct NoiseSeen {
  double sum = 0;      // of squared standardised residuals: 1 each on average
  double freedom = 0;  // how many there are
};

// The reported run of one study.
struct NightRun {
  enum class State { value, failed, open };
  std::int64_t seed = 0;
  State state = State::open;
  std::string failure_kind;
  // its config without noise seed and seed: equal settings are comparable in norms
  Setting setting;
  std::vector<Setting>
      asked;  // of all runs that the study asked for, sorted; empty: confidential, or not known
  std::vector<Setting> lost_settings;  // of a failed study: those of its trials that failed
  std::string noise_seed;              // empty: private noise
  std::string machine;                 // build, device, threads: equal ones give equal bits
  std::vector<std::string> hashes;
  std::map<std::string, double> metrics;  // every released and test metric, for the bits
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
};

struct Night {
  std::string spec;
  std::string hash;
  std::string version;
  json::object resolved = {};  // the spec
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

enum class FalseAlarmControl { holm, fdr };

struct RegressMargins {
  double accuracy = 0.5;   // percentage points
  double loss = 0.05;      // nats
  double norm = 1.05;      // ratio
  double noise = 1.02;     // ratio of standard deviations
  double epsilon = 0.001;  // relative
  double speed = 1.1;      // ratio
  double memory = 1.1;     // ratio
};

struct RegressOptions {
  RegressMargins margin;
  double false_alarms_per_night = 0.05;
  FalseAlarmControl control = FalseAlarmControl::holm;
  double equivalence_level = 0.05;
  double power = 0.8;
  bool hashes = true;
};

enum class RegressVerdict { regressed, unclear, improved, same, skipped };  // worst first
std::string to_string(RegressVerdict verdict);

struct RegressFinding {
  std::string what;  // "accuracy", "update norm", ...
  std::string test;  // "paired t, 5 seeds"; empty where nothing is by chance
  RegressVerdict verdict = RegressVerdict::skipped;
  std::string text;  // what moved, and whether chance explains it; or why it was skipped
  double change = 0;
  double margin = 0;
  int bad = 0;                     // sign of a change for the worse; 0: any change is
  std::optional<double> p;         // of an alarm
  std::optional<double> adjusted;  // over the night
  std::optional<double> equivalence;
  std::optional<double> sd;  // of what was seen, from which the seeds that are needed follow
  bool paired = true;
  // seeds, rounds or runs that were compared; of two unequal sets the smaller
  std::int64_t replicates = 0;
  std::optional<std::int64_t> seeds_needed;  // where it could not be told: more than `replicates`
};

struct RegressCell {
  std::string panel;
  std::string row;
  std::string title;
  std::optional<double> epsilon;
  std::vector<RegressFinding> findings;  // worst first

  RegressVerdict verdict() const;  // of its worst finding; skipped ones count for nothing
  std::string name() const;        // "linear, hyfreedp, epsilon 3"
};

struct RegressReport {
  std::string spec;
  RegressOptions options;
  std::vector<RegressCell> cells;  // worst first
  std::size_t tests = 0;           // that the false-alarm rate is shared among
  std::vector<std::string> notes;  // of the whole night

  bool spec_changed = false;

  RegressVerdict verdict() const;
  bool is_quiet() const;                            // all the same, of one spec: nothing to read
  std::size_t count(RegressVerdict verdict) const;  // of cells
  // 0 same or improved, 1 regressed, 2 could not tell.
  int exit_code() const;
};

RegressReport compare_nights(const Night& tonight, const Night& reference,
                             const std::vector<AbTiming>& timings = {}, const RegressOptions& options = {});

// The `regress` block of a resolved spec, or the defaults if it has none.
Result<RegressOptions> regress_options(const json::object& resolved);

}  // namespace hyfreedp::results
