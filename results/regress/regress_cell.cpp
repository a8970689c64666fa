#include "results/regress/regress_cell.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <set>

#include "harness/base/text.h"
#include "results/regress/regress_settings.h"

namespace hyfreedp::results {
namespace {

constexpr double kLeastNorm = 1e-30;  // a tensor that stands still has norm 0 and still a logarithm
constexpr double kStandsStill = -20;  // of a log ratio
constexpr double kSeenLevel = 0.9;

using Value = std::function<std::optional<double>(const NightRun&)>;

// The meaning of a change, and how it reads.
struct Measure {
  std::string what;
  double margin = 0;      // in the scale of the test
  int bad = 0;            // sign of a change for the worse; 0: both
  bool ratio = false;     // the test is of logarithms
  std::string unit = {};  // of a difference
  double resolution = 0;
};

const NightRun* run_of(const NightCell& cell, std::int64_t seed) {
  const auto found =
      std::find_if(cell.runs.begin(), cell.runs.end(), [&](const NightRun& run) { return run.seed == seed; });
  return found == cell.runs.end() ? nullptr : &*found;
}

bool has_value(const NightRun& run) { return run.state == NightRun::State::value; }

struct Pair {
  const NightRun& tonight;
  const NightRun& reference;
};

std::vector<Pair> pairs_of(const NightCell& tonight, const NightCell& reference) {
  std::vector<Pair> pairs;
  for (const auto& before : reference.runs) {
    const auto* now = run_of(tonight, before.seed);
    if (now != nullptr && has_value(*now) && has_value(before)) pairs.push_back({*now, before});
  }
  return pairs;
}

// Seeds that had a value and diverged tonight.
std::vector<Pair> diverged_pairs(const NightCell& tonight, const NightCell& reference) {
  std::vector<Pair> pairs;
  for (const auto& before : reference.runs) {
    const auto* now = run_of(tonight, before.seed);
    if (now == nullptr || !has_value(before) || now->state != NightRun::State::failed) continue;
    if (fails_by_chance(now->failure_kind)) pairs.push_back({*now, before});
  }
  return pairs;
}

bool same_noise(const Pair& pair) {
  return !pair.tonight.noise_seed.empty() && pair.tonight.noise_seed == pair.reference.noise_seed;
}

bool equal_bits(const Pair& pair) {
  return has_value(pair.tonight) && pair.tonight.hashes == pair.reference.hashes &&
         pair.tonight.metrics == pair.reference.metrics;
}

// True if both nights report the same setting. For a study that failed tonight, true if the trial
// that the reference reports is among those that failed.
bool same_setting(const Pair& pair) {
  if (has_value(pair.tonight)) return pair.tonight.setting == pair.reference.setting;
  const auto& lost = pair.tonight.lost_settings;
  return std::find(lost.begin(), lost.end(), pair.reference.setting) != lost.end();
}

// Says why the bits of two runs cannot be compared; empty if they can.
std::string no_bits(const Pair& pair) {
  if (pair.tonight.noise_seed.empty() || pair.reference.noise_seed.empty()) return "no noise seed";
  if (pair.tonight.noise_seed != pair.reference.noise_seed) return "another noise seed";
  if (pair.tonight.machine != pair.reference.machine) return "another build, device or number of threads";
  if (!same_setting(pair)) return "another setting was reported";
  if (!has_value(pair.tonight)) return "";
  if (pair.tonight.hashes.empty() || pair.reference.hashes.empty()) return "no hashes are stored";
  return "";
}

std::string where_they_part(const Pair& pair) {
  if (!has_value(pair.tonight)) return fmt::format("seed {} diverged", pair.tonight.seed);
  const auto& now = pair.tonight.hashes;
  const auto& before = pair.reference.hashes;
  for (std::size_t step = 0; step < std::min(now.size(), before.size()); ++step) {
    if (now[step] != before[step]) return fmt::format("seed {} from step {} on", pair.tonight.seed, step);
  }
  if (now.size() != before.size()) return fmt::format("seed {} in the number of steps", pair.tonight.seed);
  return fmt::format("seed {} in its metrics alone", pair.tonight.seed);
}

RegressFinding compare_bits(const NightCell& tonight, const NightCell& reference) {
  auto pairs = pairs_of(tonight, reference);
  for (const auto& pair : diverged_pairs(tonight, reference)) pairs.push_back(pair);
  RegressFinding finding{.what = "bits", .test = "", .text = ""};
  std::set<std::string> reasons;
  std::vector<std::string> apart;
  bool is_lost = false;  // a value
  std::size_t compared = 0;
  for (const auto& pair : pairs) {
    if (auto reason = no_bits(pair); !reason.empty()) {
      reasons.insert(std::move(reason));
      continue;
    }
    ++compared;
    if (equal_bits(pair)) continue;
    apart.push_back(where_they_part(pair));
    is_lost = is_lost || !has_value(pair.tonight);
  }
  const std::vector<std::string> why(reasons.begin(), reasons.end());
  if (compared == 0) {
    finding.text = pairs.empty() ? "no seed has a value in both" : "not compared: " + join(why, ", ");
    return finding;
  }
  finding.replicates = static_cast<std::int64_t>(compared);
  finding.verdict = apart.empty() ? RegressVerdict::same
                    : is_lost     ? RegressVerdict::regressed
                                  : RegressVerdict::changed;
  finding.text = apart.empty()
                     ? fmt::format("{} runs are the same bit for bit", compared)
                     : fmt::format("{} of {} runs are not the same bit for bit: {}; no chance is involved",
                                   apart.size(), compared, join(apart, ", "));
  if (!why.empty()) finding.text += "; others not compared: " + join(why, ", ");
  return finding;
}

std::optional<double> largest_epsilon(const NightCell& cell) {
  std::optional<double> largest;
  for (const auto& run : cell.runs) {
    if (has_value(run) && run.epsilon) largest = std::max(largest.value_or(*run.epsilon), *run.epsilon);
  }
  return largest;
}

std::optional<RegressFinding> compare_epsilon(const NightCell& tonight, const NightCell& reference,
                                              double margin) {
  const auto now = largest_epsilon(tonight), before = largest_epsilon(reference);
  if (!now || !before) return std::nullopt;
  RegressFinding finding{.what = "epsilon", .test = "", .verdict = RegressVerdict::same, .text = ""};
  finding.change = *now - *before;
  finding.margin = margin;
  if (*now > *before * (1 + margin)) finding.verdict = RegressVerdict::regressed;
  if (*now * (1 + margin) < *before) finding.verdict = RegressVerdict::improved;
  finding.text = finding.verdict == RegressVerdict::same
                     ? fmt::format("{:.4g} is spent, as before", *now)
                     : fmt::format("{:.6g} is spent, {:.6g} before; no chance is involved", *now, *before);
  return finding;
}

std::string seeds_text(const std::vector<std::string>& seeds) {
  return (seeds.size() == 1 ? "seed " : "seeds ") + join(seeds, ", ");
}

std::size_t count_runs(const NightCell& cell, const std::function<bool(const NightRun&)>& counts) {
  return static_cast<std::size_t>(std::count_if(cell.runs.begin(), cell.runs.end(), counts));
}

// A cell of which nothing is left; regress.h says how often that is chance. Fisher's test, one of a
// hundred a night, does not see it: 6 of 6 against 0 of 6 has p = 1/924.
std::optional<RegressFinding> all_diverged(const NightCell& tonight, const NightCell& reference) {
  const auto diverged = count_runs(tonight, [](const NightRun& run) {
    return run.state == NightRun::State::failed && fails_by_chance(run.failure_kind);
  });
  const auto before = count_runs(reference, has_value);
  if (diverged == 0 || diverged < tonight.runs.size() || 2 * before <= reference.runs.size())
    return std::nullopt;
  return RegressFinding{.what = "values",
                        .test = "",
                        .verdict = RegressVerdict::regressed,
                        .text = fmt::format("all {} seeds diverged; {} of {} had a value", diverged, before,
                                            reference.runs.size())};
}

// Names the seeds that cannot be compared because they failed in both nights, or were run in
// neither.
std::optional<RegressFinding> no_values(const NightCell& tonight, const NightCell& reference) {
  std::map<std::string, std::vector<std::string>> failed;  // both nights, by kind
  for (const auto& before : reference.runs) {
    const auto* now = run_of(tonight, before.seed);
    if (now == nullptr || now->state != NightRun::State::failed || has_value(before)) continue;
    failed[now->failure_kind].push_back(std::to_string(before.seed));
  }
  const bool none = count_runs(tonight, has_value) + count_runs(reference, has_value) == 0;
  std::vector<std::string> parts;
  parts.reserve(failed.size() + 1);
  for (const auto& [kind, seeds] : failed) {
    if (!none && fails_by_chance(kind)) continue;
    parts.push_back(fmt::format("{} failed in the reference and failed again: {}", seeds_text(seeds), kind));
  }
  std::vector<std::string> unknown;  // the reference is of an unfinished run
  auto seeds = reference.seeds;
  for (const auto& before : reference.runs) seeds.insert(before.seed);
  for (const auto seed : seeds) {
    const auto* before = run_of(reference, seed);
    const auto* now = run_of(tonight, seed);
    const bool was_run = before != nullptr && before->state != NightRun::State::open;
    if (was_run || reference.not_needed.contains(seed) || now == nullptr || !has_value(*now)) continue;
    unknown.push_back(std::to_string(seed));
  }
  if (!unknown.empty())
    parts.push_back(fmt::format("{} not run in the reference, and so not compared", seeds_text(unknown)));
  if (none) parts.emplace_back("no seed has a value in either night, so nothing was compared");
  if (parts.empty()) return std::nullopt;
  return RegressFinding{
      .what = "values", .test = "", .verdict = RegressVerdict::unclear, .text = join(parts, "; ")};
}

// Seeds that had a value and have none now, but for those that failed by chance.
std::optional<RegressFinding> compare_values(const NightCell& tonight, const NightCell& reference) {
  std::map<std::string, std::vector<std::string>> lost;
  std::vector<std::string> open;
  bool own = false;
  for (const auto& before : reference.runs) {
    if (!has_value(before)) continue;
    const auto* now = run_of(tonight, before.seed);
    const auto seed = std::to_string(before.seed);
    if (tonight.not_needed.contains(before.seed)) continue;
    if (now == nullptr || now->state == NightRun::State::open) {
      open.push_back(seed);
    } else if (now->state == NightRun::State::failed && !fails_by_chance(now->failure_kind)) {
      lost[now->failure_kind].push_back(seed);
      own = own || !machine_failed(now->failure_kind);
    }
  }
  if (lost.empty() && open.empty()) {
    if (auto all = all_diverged(tonight, reference)) return all;
    return no_values(tonight, reference);
  }
  std::vector<std::string> parts;
  parts.reserve(lost.size() + 1);
  for (const auto& [kind, seeds] : lost)
    parts.push_back(fmt::format("{} failed: {}", seeds_text(seeds), kind));
  if (!open.empty()) parts.push_back(fmt::format("{} not run to the end", seeds_text(open)));
  RegressFinding finding{.what = "values",
                         .test = "",
                         .verdict = own ? RegressVerdict::regressed : RegressVerdict::unclear,
                         .text = join(parts, "; ")};
  finding.text += own ? "; no chance is involved" : "; no fault of the program's is shown";
  return finding;
}

RegressFinding compare_failures(const NightCell& tonight, const NightCell& reference) {
  const auto count = [](const NightCell& cell, bool all) {
    return std::count_if(cell.runs.begin(), cell.runs.end(), [&](const NightRun& run) {
      const bool failed = run.state == NightRun::State::failed && fails_by_chance(run.failure_kind);
      return failed || (all && has_value(run));
    });
  };
  const auto now = count(tonight, false), before = count(reference, false);
  RegressFinding finding{.what = "failures", .test = "Fisher, exact", .text = ""};
  finding.p = fisher_more_failures(now, count(tonight, true), before, count(reference, true));
  finding.change = static_cast<double>(now - before);
  finding.bad = 1;
  finding.equivalence = now > before ? 1.0 : 0.0;
  finding.text = fmt::format("{} of {} runs diverged, {} of {} before", now, count(tonight, true), before,
                             count(reference, true));
  return finding;
}

std::string change_text(const Measure& measure, const ShiftTest& test) {
  if (!measure.ratio) {
    auto text = fmt::format("{:+.3g} {}", test.change, measure.unit);
    if (test.seen)
      text += fmt::format(" (90 % interval {:+.3g} to {:+.3g})", test.seen->low, test.seen->high);
    return text + fmt::format(", margin {:.3g}", measure.margin);
  }
  if (test.change < kStandsStill) return "now stands still";
  auto text = fmt::format("× {:.4g}", std::exp(test.change));
  if (test.seen) {
    text +=
        fmt::format(" (90 % interval {:.4g} to {:.4g})", std::exp(test.seen->low), std::exp(test.seen->high));
  }
  return text + fmt::format(", margin × {:.3g}", std::exp(measure.margin));
}

RegressFinding finding_of(const Measure& measure, const ShiftTest& test, const std::string& how) {
  RegressFinding finding{.what = measure.what, .test = how, .text = change_text(measure, test)};
  finding.change = test.change;
  finding.margin = measure.margin;
  finding.bad = measure.bad;
  finding.is_any_change_bad = measure.what == "noise";
  finding.p = test.alarm();
  finding.equivalence = test.equivalence;
  return finding;
}

RegressFinding untested(const Measure& measure, RegressVerdict verdict, const std::string& why) {
  return {.what = measure.what, .test = "", .verdict = verdict, .text = why, .margin = measure.margin};
}

struct Samples {
  std::vector<double> tonight, reference, differences;  // differences: of the seeds that both have
  bool paired = false;  // one noise seed in both nights, for every shared seed
  bool equal = false;   // all shared runs bit for bit
};

Samples samples_of(const NightCell& tonight, const NightCell& reference, const Value& value) {
  Samples samples;
  for (const auto& [runs, values] :
       {std::pair{&tonight.runs, &samples.tonight}, std::pair{&reference.runs, &samples.reference}}) {
    for (const auto& run : *runs) {
      if (!has_value(run)) continue;
      if (const auto found = value(run)) values->push_back(*found);
    }
  }
  const auto pairs = pairs_of(tonight, reference);
  samples.paired = !pairs.empty() && std::all_of(pairs.begin(), pairs.end(), same_noise);
  samples.equal = !pairs.empty() && std::all_of(pairs.begin(), pairs.end(), equal_bits);
  for (const auto& pair : pairs) {
    const auto now = value(pair.tonight), before = value(pair.reference);
    if (now && before) samples.differences.push_back(*now - *before);
  }
  return samples;
}

// Noise of both nights apart: an sd from what the standard error says of all values.
double pooled_sd(const ShiftTest& test, const Samples& samples) {
  return test.standard_error / std::sqrt(1 / static_cast<double>(samples.tonight.size()) +
                                         1 / static_cast<double>(samples.reference.size()));
}

bool all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

std::optional<RegressFinding> compare_measure(const NightCell& tonight, const NightCell& reference,
                                              const Measure& measure, const Value& value) {
  const auto samples = samples_of(tonight, reference, value);
  if (samples.tonight.empty() && samples.reference.empty()) return std::nullopt;
  if (samples.tonight.empty() || samples.reference.empty()) {
    return untested(measure, RegressVerdict::skipped,
                    fmt::format("{} has none", samples.tonight.empty() ? "tonight" : "the reference"));
  }
  const ShiftRequest request{.margin = measure.margin, .resolution = measure.resolution, .level = kSeenLevel};
  if (samples.equal && !samples.differences.empty() && all_zero(samples.differences)) {
    auto finding = finding_of(measure, ShiftTest{.equivalence = 0, .seen = {}},
                              fmt::format("equal bits, {} seeds", samples.differences.size()));
    const auto seeds = samples.differences.size();
    finding.text = "equal to the last bit";
    if (seeds < samples.tonight.size() || seeds < samples.reference.size())
      finding.text += fmt::format(" in the {} seeds that have a value in both", seeds);
    return finding;
  }
  const auto test = samples.paired ? paired_shift(samples.differences, request)
                                   : welch_shift(samples.tonight, samples.reference, request);
  if (!test) {
    return untested(measure, RegressVerdict::unclear,
                    "one seed tells nothing about chance: give the spec more seeds");
  }
  auto finding = finding_of(measure, *test,
                            samples.paired ? fmt::format("paired t, {} seeds", samples.differences.size())
                                           : fmt::format("Welch, {} and {} seeds", samples.tonight.size(),
                                                         samples.reference.size()));
  finding.paired = samples.paired;
  finding.replicates =
      static_cast<std::int64_t>(samples.paired ? samples.differences.size()
                                               : std::min(samples.tonight.size(), samples.reference.size()));
  finding.sd = samples.paired
                   ? test->standard_error * std::sqrt(static_cast<double>(samples.differences.size()))
                   : pooled_sd(*test, samples);
  return finding;
}

std::set<std::string> norm_names(const NightCell& tonight, const NightCell& reference) {
  std::set<std::string> names;
  for (const auto* cell : {&tonight, &reference}) {
    for (const auto& run : cell->runs) {
      for (const auto& [name, norm] : run.norms) names.insert(name);
    }
  }
  return names;
}

bool one_setting(const NightCell& tonight, const NightCell& reference) {
  std::set<Setting> settings;
  for (const auto* cell : {&tonight, &reference}) {
    for (const auto& run : cell->runs) {
      if (has_value(run)) settings.insert(run.setting);
    }
  }
  return settings.size() <= 1;
}

void compare_norms(const NightCell& tonight, const NightCell& reference, const RegressOptions& options,
                   std::vector<RegressFinding>& findings) {
  const bool comparable = one_setting(tonight, reference);
  for (const auto& name : norm_names(tonight, reference)) {
    const Measure measure{.what = name, .margin = std::log(options.margin.norm), .bad = 0, .ratio = true};
    if (!comparable) {
      findings.push_back(
          untested(measure, RegressVerdict::skipped, "the reported runs are of different settings"));
      continue;
    }
    const auto value = [&](const NightRun& run) -> std::optional<double> {
      const auto found = run.norms.find(name);
      if (found == run.norms.end()) return std::nullopt;
      return std::log(std::max(found->second, kLeastNorm));
    };
    if (auto finding = compare_measure(tonight, reference, measure, value))
      findings.push_back(std::move(*finding));
  }
}

std::optional<RegressFinding> test_noise(const NightCell& tonight, const RegressOptions& options) {
  NoiseSeen all;
  for (const auto& run : tonight.runs) {
    if (!has_value(run) || !run.noise) continue;
    all.sum += run.noise->sum;
    all.freedom += run.noise->freedom;
  }
  const Measure measure{.what = "noise", .margin = std::log(options.margin.noise), .bad = 0, .ratio = true};
  const auto test =
      chi_square(all.sum, all.freedom, {.margin = measure.margin, .resolution = 0, .level = kSeenLevel});
  if (!test) return std::nullopt;
  auto finding = finding_of(
      measure, *test, fmt::format("chi-square, {:.4g} degrees of freedom, against the plan", all.freedom));
  finding.text = "sd " + finding.text;
  return finding;
}

// Returns how many seeds would have told, were the change what was seen. A change inside the margin
// is told by showing that; one beyond it by an alarm, which Holm raises at the latest where p is at
// most the night's rate over its tests.
std::optional<std::int64_t> seeds_that_tell(const RegressFinding& finding, std::size_t tests,
                                            const RegressOptions& options) {
  const double beyond = std::abs(finding.change) - finding.margin;
  const double alarm =
      options.false_alarms_per_night / (2 * static_cast<double>(std::max<std::size_t>(tests, 1)));
  return seeds_needed({.sd = *finding.sd,
                       .margin = std::abs(beyond),
                       .level = beyond < 0 ? options.equivalence_level : alarm,
                       .power = options.power,
                       .paired = finding.paired});
}

std::string chance_text(const RegressFinding& finding, double rate) {
  const double adjusted = finding.adjusted.value_or(1);
  const auto p = adjusted > 0
                     ? fmt::format("p = {:.2g}, over the night {:.2g}", finding.p.value_or(1), adjusted)
                     : std::string("p < 1e-300");
  return p + (adjusted <= rate ? ": chance does not explain it" : ": chance may explain it");
}

}  // namespace

bool fails_by_chance(const std::string& failure_kind) { return failure_kind == "diverged"; }

bool machine_failed(const std::string& failure_kind) {
  static const std::set<std::string> kinds = {
      "killed", "hung", "over-time", "out-of-memory", "missing-data", "device-unavailable", "cancelled"};
  return kinds.contains(failure_kind);
}

std::vector<RegressFinding> compare_cells(const NightCell& tonight, const NightCell& reference,
                                          bool same_spec, const RegressOptions& options) {
  std::vector<RegressFinding> findings;
  const auto add = [&](std::optional<RegressFinding> finding) {
    if (finding) findings.push_back(std::move(*finding));
  };
  add(compare_settings(tonight, reference, same_spec));
  if (options.hashes) add(compare_bits(tonight, reference));
  add(compare_epsilon(tonight, reference, options.margin.epsilon));
  add(compare_values(tonight, reference));
  add(compare_failures(tonight, reference));
  add(compare_measure(tonight, reference,
                      {.what = "accuracy",
                       .margin = options.margin.accuracy,
                       .bad = -1,
                       .unit = "points",
                       .resolution = tonight.resolution},
                      [](const NightRun& run) { return run.accuracy; }));
  add(compare_measure(tonight, reference,
                      {.what = "loss", .margin = options.margin.loss, .bad = 1, .unit = "nats"},
                      [](const NightRun& run) { return run.loss; }));
  compare_norms(tonight, reference, options, findings);
  add(test_noise(tonight, options));
  return findings;
}

RegressFinding timing_finding(const AbTiming& timing, const RegressOptions& options) {
  const double margin = timing.what == "memory" ? options.margin.memory : options.margin.speed;
  const Measure measure{.what = timing.what, .margin = std::log(margin), .bad = 1, .ratio = true};
  std::vector<double> differences;
  for (const auto& round : timing.rounds) {
    if (round.tonight > 0 && round.reference > 0)
      differences.push_back(std::log(round.tonight / round.reference));
  }
  const auto test =
      paired_shift(differences, {.margin = measure.margin, .resolution = 0, .level = kSeenLevel});
  if (!test) return untested(measure, RegressVerdict::unclear, "fewer than two rounds were measured");
  auto finding =
      finding_of(measure, *test, fmt::format("paired t on log ratios, {} rounds", differences.size()));
  finding.replicates = static_cast<std::int64_t>(differences.size());
  finding.sd = test->standard_error * std::sqrt(static_cast<double>(differences.size()));
  return finding;
}

void judge(RegressFinding& finding, std::size_t tests, const RegressOptions& options) {
  const bool alarm = finding.adjusted.value_or(1) <= options.false_alarms_per_night;
  if (alarm) {
    const bool is_directed = finding.bad != 0 || finding.is_any_change_bad;
    const bool good = finding.bad != 0 && finding.change * finding.bad < 0;
    finding.verdict = !is_directed ? RegressVerdict::changed
                      : good       ? RegressVerdict::improved
                                   : RegressVerdict::regressed;
    finding.text += "; " + chance_text(finding, options.false_alarms_per_night);
    return;
  }
  if (finding.equivalence.value_or(1) <= options.equivalence_level) {
    finding.verdict = RegressVerdict::same;
    return;
  }
  finding.verdict = RegressVerdict::unclear;
  finding.text += "; " + chance_text(finding, options.false_alarms_per_night);
  if (!finding.sd) return;
  const bool timed = finding.what == "speed" || finding.what == "memory";
  const auto unit = timed ? "rounds" : "seeds";
  const auto needed = seeds_that_tell(finding, tests, options);
  if (!needed) {
    finding.text += fmt::format("; no feasible number of {} would tell (more than {})", unit, kMostSeeds);
  } else if (*needed > finding.replicates) {  // as many as were run have not told
    finding.seeds_needed = needed;
    finding.text += fmt::format("; {} {} would tell with probability {:.3g}, were the change what was seen",
                                *needed, unit, options.power);
  }
}

}  // namespace hyfreedp::results
