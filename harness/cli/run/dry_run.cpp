#include "harness/cli/run/dry_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <unordered_set>
#include <utility>

#include "harness/base/text.h"
#include "harness/cli/common/run_needs.h"
#include "harness/cli/run/probe_forecast.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/execute/first_runs.h"
#include "harness/runner/execute/run_memory.h"
#include "harness/runner/progress/run_price.h"
#include "harness/trial/config_text.h"

namespace hyfreedp::cli {
namespace {

std::string epsilon_text(const std::optional<double>& epsilon) {
  return epsilon ? short_number(*epsilon) : "non-private";
}

// The noise multipliers of what some runs release, by purpose.
class NoiseRanges {
 public:
  struct Range {
    double low = 0, high = 0;
  };

  void add(const trial::TrialConfig& config) {
    for (const auto& release : mechanism::releases(config.privacy)) {
      const double noise = release.noise_multiplier;
      auto& range = ranges_.try_emplace(release.purpose, Range{noise, noise}).first->second;
      range = {std::min(range.low, noise), std::max(range.high, noise)};
    }
  }
  std::string text(const std::string& purpose) const {
    const auto& [low, high] = ranges_.at(purpose);
    return low == high ? short_number(low) : short_number(low) + " to " + short_number(high);
  }

 private:
  std::map<std::string, Range> ranges_;
};

// All cells of one row and epsilon; they differ in the seed only.
struct Group {
  const runner::PlannedStudy* first = nullptr;
  std::size_t seeds = 0;
  std::size_t wanted = 0;  // runs
  // The part of these that is trained whatever a comparison says (spec::SequentialSeeds).
  std::size_t sure_seeds = 0;
  std::size_t sure_trials = 0;
  std::optional<trial::PrivacyPlan> plan = {};  // of the first run
  std::optional<ProbeForecast> probes = {};     // likewise
  NoiseRanges noises = {};
  std::string problem = {};

  void add(const trial::TrialConfig& config) {
    ++wanted;
    if (!plan) {
      plan = config.privacy;
      probes = foresee_probes(config);
    }
    noises.add(config);
  }
};

// True for a private selection, whose number of runs is confidential, even if it is known
// beforehand.
bool hides_count(const Group& group) { return group.first->baseline->confidential_runs; }

// "auto-s", "abadi per-layer (size)".
std::string clipping_text(const spec::Train& train) {
  auto words = name_of(train.clipping.rule);
  if (train.clipping.groups != trial::ClippingGroups::all) words += " " + name_of(train.clipping.groups);
  if (train.clipping.shares != trial::GroupShares::uniform)
    words += fmt::format(" ({})", name_of(train.clipping.shares));
  return words;
}

// "  training: average ema, microbatch 64"; nothing where all is as usual.
std::string training_line(const trial::TrainingOptions& training) {
  std::vector<std::string> parts;
  for (const auto& option : training.to_json()) {
    const auto value = option.value().is_string() ? std::string(option.value().get_string())
                                                  : canonical_json(option.value());
    parts.push_back(fmt::format("{} {}", std::string(option.key()), value));
  }
  return parts.empty() ? "" : fmt::format("  training: {}\n", join(parts, ", "));
}

void panel_heading(const spec::Panel& panel, std::ostream& out) {
  const auto& train = panel.train;
  out << fmt::format("\n{}: {}\n", panel.id, panel.title);
  out << fmt::format(
      "  {} and {}: N = {}, d = {}, B = {}, q = {}, T = {}, {} sampling, {} clipping, delta = {}\n",
      panel.dataset.name, panel.model.name, panel.population, panel.dimension,
      short_number(train.batch_size, 8), short_number(train.sample_rate), train.steps, name_of(train.sampler),
      clipping_text(train), short_number(panel.delta));
  out << training_line(train.training);
  for (const auto& [id, dataset] : panel.ood_test) {
    const auto facts = datasets::find_dataset(dataset.name);
    if (!facts) continue;
    out << fmt::format("  ood_test {}: {} records of {}\n", id,
                       datasets::sizes(**facts, dataset.options).test, dataset.name);
  }
}

// Says what a non-private run keeps of private training.
std::string control_text(const trial::PrivacyPlan& plan) {
  const std::string batches = plan.sampler == trial::Sampler::shuffle ? "shuffled batches" : "same sampling";
  return batches + (plan.clipping.rule == trial::ClippingRule::none ? ", no clipping" : ", clipping");
}

// "sigma_g 1.508, clip-count 10, sigma_l 5.559": noise multipliers by release; a range where runs
// differ. ", by rdp": where that accountant sets them, and not PLD.
std::string noise_text(const Group& group) {
  if (!group.plan) return "no noise";
  const auto& plan = *group.plan;
  if (!plan.is_private) return "no noise; " + control_text(plan);
  const std::map<std::string, std::string> symbols = {
      {mechanism::kGradient, "sigma_g"}, {mechanism::kLossChange, "sigma_c"}, {mechanism::kProbe, "sigma_l"}};
  std::vector<std::string> parts;
  for (const auto& release : mechanism::releases(plan)) {
    const auto symbol = symbols.find(release.purpose);
    parts.push_back((symbol == symbols.end() ? release.purpose : symbol->second) + " " +
                    group.noises.text(release.purpose));
  }
  const auto& cell = group.first->cell;
  // A method may bring a clipping of its own.
  const auto& panels = cell.base.privacy;
  if (plan.clipping.rule != panels.clipping.rule || plan.clipping.constant != panels.clipping.constant) {
    parts.push_back(plan.clipping.rule == trial::ClippingRule::auto_v
                        ? "clips by auto-v"
                        : fmt::format("clips by {} at {}", name_of(plan.clipping.rule),
                                      short_number(plan.clipping.constant)));
  }
  if (!cell.noise_multiplier && cell.accountant != "pld") parts.push_back("by " + cell.accountant);
  return join(parts, ", ");
}

// "20", "3 to 20".
std::string range_text(std::size_t least, std::size_t most) {
  return least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
}

std::string group_line(const Group& group) {
  const auto& cell = group.first->cell;
  const auto head = fmt::format("  {:<24} {:<12} {:>2} seed{}  ", cell.row, epsilon_text(cell.epsilon),
                                range_text(group.sure_seeds, group.seeds), group.seeds == 1 ? " " : "s");
  if (!group.problem.empty()) return head + group.problem + "\n";
  const bool hidden = hides_count(group);
  const auto count = hidden ? "a hidden number of" : range_text(group.sure_trials, group.wanted);
  auto line = head + fmt::format("{} first trial{}, {}\n", count, group.wanted == 1 && !hidden ? "" : "s",
                                 noise_text(group));
  if (!group.probes) return line;
  return line + fmt::format(
                    "    a probe at its first rate, {}, can see a slope (2 sd of its noise) only if the best "
                    "rate is below {}\n",
                    short_number(group.probes->first_rate), short_number(group.probes->largest_visible, 2));
}

// The expected time of the first trials. A private selection is expected to take its mean number of
// runs, which is public.
class ExpectedTime {
 public:
  explicit ExpectedTime(const runner::Pace& pace) : pace_(pace) {}

  void add(const runner::Work& work, double runs = 1) {
    const auto seconds = pace_.predicted(work);
    all_known_ = all_known_ && seconds;
    seconds_ += runs * seconds.value_or(0);
  }

  std::string text(const DryRunRates& rates) const {
    if (!all_known_ || rates.measured.runs() == 0) {
      return fmt::format(
          "CPU time is not known: no run on this device was timed in {} yet. The first `hyfreedp run` "
          "there is timed.",
          rates.folder);
    }
    return fmt::format(
        "CPU time of these: about {}, so {} on {}; by the times of {} in {}. Of private selections the "
        "mean number of runs is counted.",
        human_duration(seconds_), human_duration(seconds_ / rates.workers), counted(rates.workers, "worker"),
        counted(rates.measured.runs(), "earlier run"), rates.folder);
  }

 private:
  const runner::Pace& pace_;
  double seconds_ = 0;
  bool all_known_ = true;
};

// Computes what runs cost. Those of a grid or of further seeds cost the same, one after another, so
// the last answer is kept.
class Costs {
 public:
  struct Cost {
    std::optional<runner::RunPrice> price;
    runner::Work work;
  };

  const Cost& of(const trial::TrialConfig& config) {
    if (!last_ || !is_same(*last_, config)) {
      last_ = config;
      const auto price = runner::price_of(config);
      cost_ = {price ? std::optional(*price) : std::nullopt, runner::work_of(config)};
    }
    return cost_;
  }

 private:
  // True if the configs agree in all but seed, noise and options of optimizer and controller, of
  // which neither price_of() nor work_of() reads any.
  static bool is_same(const trial::TrialConfig& a, const trial::TrialConfig& b) {
    const auto& p = a.privacy;
    const auto& q = b.privacy;
    return a.dataset == b.dataset && a.ood_test == b.ood_test && a.model == b.model &&
           a.optimizer.name == b.optimizer.name && a.controller.name == b.controller.name &&
           a.steps == b.steps && a.device == b.device && a.dtype == b.dtype && a.training == b.training &&
           a.evaluation == b.evaluation && p.sampler == q.sampler && p.clipping.rule == q.clipping.rule &&
           p.population == q.population && p.sample_rate == q.sample_rate && p.probe == q.probe;
  }

  std::optional<trial::TrialConfig> last_;
  Cost cost_;
};

// The trials of seeds that are trained whatever a comparison says, and their price.
struct SureTrials {
  std::set<std::string> trials;
  runner::RunPrice price;
};

// True if a comparison decides how many seeds one of the panels has.
bool has_sequential_seeds(const spec::Spec& spec) {
  return std::ranges::any_of(spec.panels, [](const auto& panel) { return panel.sequential.has_value(); });
}

void print_sure(const SureTrials& sure, std::ostream& out) {
  out << fmt::format(
      "Seeds are trained until a comparison is decided: at least {} of these trials ({} examples seen, about "
      "{} FLOPs), at most all. The odometer and --cap count all.\n",
      sure.trials.size(), short_number(sure.price.examples, 3), short_number(sure.price.flops, 3));
}

void print_room(const runner::Spec& spec, const std::vector<runner::PlannedStudy>& studies,
                const DryRunRates& rates, std::ostream& out) {
  const auto largest = runner::largest_run(studies);
  out << (largest ? runner::memory_text(*largest, rates.workers, rates.memory)
                  : "The memory of a run is not known: " + largest.error().message)
      << '\n';
  if (const auto disk = disk_text(disk_needs(spec)); !disk.empty()) out << disk << '\n';
}

}  // namespace

Result<void> dry_run(const runner::Spec& spec, const std::vector<runner::PlannedStudy>& studies,
                     const DryRunRates& rates, std::ostream& out) {
  out << fmt::format("{}: {}\n{}\n", spec.content.name, spec.content.title,
                     runner::size_text(studies.size(), runner::count_cells(studies)));
  const bool is_sequential = has_sequential_seeds(spec.content);
  std::unordered_set<std::string> trials;
  runner::RunPrice price;
  SureTrials sure;
  ExpectedTime time(rates.measured);
  Costs costs;
  trial::ConfigText ids;
  std::size_t asked = 0;
  double features = 0;
  std::set<std::string> priced;  // datasets: panels share their features
  for (const auto& panel : spec.content.panels) {
    panel_heading(panel, out);
    for (const auto& dataset : spec::datasets_of(panel)) {
      if (!priced.insert(dataset.name + canonical_json(dataset.options)).second) continue;
      const auto made = runner::feature_flops(dataset);
      if (!made) return made.error();
      features += *made;
    }
    std::vector<Group> groups;
    for (const auto& study : studies) {
      const auto& cell = study.cell;
      if (cell.panel != panel.id) continue;
      const bool same = !groups.empty() && groups.back().first->cell.row == cell.row &&
                        groups.back().first->cell.epsilon == cell.epsilon;
      if (!same) groups.push_back({.first = &study});
      auto& group = groups.back();
      ++group.seeds;
      const auto* row = spec::find_row(panel, cell.row);
      const bool is_sure =
          row == nullptr || !spec::has_sequential_seeds(panel, *row) || cell.seed < panel.sequential->from;
      if (is_sure) ++group.sure_seeds;
      const auto wanted = runner::first_runs(study);
      if (!wanted) {
        group.problem = wanted.error().message;
        continue;
      }
      if (!hides_count(group)) {
        for (const auto& config : *wanted) {
          auto id = ids.id_of(config);
          const auto& cost = costs.of(config);
          if (is_sequential && is_sure && sure.trials.insert(id).second && cost.price) {
            sure.price.add(*cost.price);
          }
          if (!trials.insert(std::move(id)).second) continue;
          if (cost.price) price.add(*cost.price);
          time.add(cost.work);
        }
        asked += wanted->size();
        if (is_sure) group.sure_trials += wanted->size();
      } else {
        time.add(runner::work_of(cell.base), runner::expected_runs(study));
      }
      for (const auto& config : *wanted) group.add(config);
      if (!wanted->empty()) continue;
      const auto conclusion = study.baseline->conclude(cell, {});
      if (conclusion && conclusion->failure) group.problem = conclusion->failure->message;
    }
    for (const auto& group : groups) out << group_line(group);
  }
  out << fmt::format(
      "\n{} to start with ({} before rows share equal ones; private selection's not counted); methods "
      "that\n"
      "search ask for more as these finish.\n",
      counted(static_cast<std::int64_t>(trials.size()), "trial"), asked);
  if (is_sequential) print_sure(sure, out);
  out << runner::price_text(price, rates.gpu_tflops, features) << '\n' << time.text(rates) << '\n';
  print_room(spec, studies, rates, out);
  return {};
}

}  // namespace hyfreedp::cli
