#include "harness/runner/replay/replay_pool.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <utility>

#include "harness/base/text.h"
#include "optimizers/options.h"

namespace hyfreedp::runner {
namespace {

constexpr std::size_t kShownDifferences = 4;

// A run's settings, which must agree with those of a pooled run, and the learning rate and noise
// multiplier, which need not.
struct Coordinates {
  json::object setting;
  double rate = 0;  // 0: the controller has no constant one
  double noise = 0;
};

Coordinates coordinates_of(const trial::TrialConfig& config) {
  Coordinates at{.setting = config.to_json()};
  for (const char* key : {"seed", "repetition", "noise_seed", "evaluation"}) at.setting.erase(key);
  if (config.controller.name == "constant") {
    at.rate = read_options<optimizers::ConstantOptions>(config.controller.options).lr;
    at.setting.at("controller").at("options").as_object().erase("lr");
  }
  at.noise = config.privacy.gradient_noise;
  at.setting.at("privacy").as_object().erase("gradient_noise");
  return at;
}

double factor_between(double a, double b) {
  if (a == b) return 1;
  if (!(a > 0) || !(b > 0)) return std::numeric_limits<double>::infinity();
  return std::max(a / b, b / a);
}

// Key paths at which two values differ, as "privacy.batch_size: 200, pooled 100".
void differences(const json::value& wanted, const json::value& pooled, const std::string& path,
                 std::vector<std::string>& found) {
  if (wanted.is_object() && pooled.is_object()) {
    const auto inner = [&](const auto& member) {
      return path.empty() ? std::string(member.key()) : fmt::format("{}.{}", path, std::string(member.key()));
    };
    for (const auto& member : wanted.get_object()) {
      const auto* other = pooled.get_object().if_contains(member.key());
      differences(member.value(), other == nullptr ? json::value(nullptr) : *other, inner(member), found);
    }
    for (const auto& member : pooled.get_object()) {
      if (!wanted.get_object().contains(member.key())) {
        differences(nullptr, member.value(), inner(member), found);
      }
    }
    return;
  }
  if (canonical_json(wanted) == canonical_json(pooled)) return;
  found.push_back(fmt::format("{}: {}, pooled {}", path, canonical_json(wanted), canonical_json(pooled)));
}

const auto& nearest_rate(const auto& by_rate, double rate) {
  return *std::ranges::min_element(by_rate, {},
                                   [&](const auto& entry) { return factor_between(entry.first, rate); });
}

std::optional<double> last_value(const std::vector<trial::MetricRecord>& metrics, const std::string& split) {
  std::optional<double> value;
  for (const auto& metric : metrics) {
    if (metric.split == split && metric.name == "accuracy") value = metric.value;
  }
  return value;
}

Result<PooledRun> pooled(const results::Store& store, const results::TrialRecord& record) {
  PooledRun run{.trial = record.id,
                .failed = record.state == trial::TrialState::failed,
                .failure_kind = record.failure_kind};
  if (run.failed) return run;
  const auto metrics = store.metrics(record.id, true);
  if (!metrics) return metrics.error();
  const auto test = last_value(*metrics, "test");
  if (!test) return error("The run " + record.id + " has no test accuracy; a pool needs it.");
  run.test = *test;
  run.validation = last_value(*metrics, trial::kValidationSplit);
  run.train = last_value(*metrics, trial::kTrainSplit);
  return run;
}

}  // namespace

Result<ReplayPool> ReplayPool::open(const results::Store& store, const std::string& spec) {
  const auto ids = store.trial_ids(spec);
  if (!ids) return ids.error();
  ReplayPool pool;
  for (const auto& id : *ids) {
    const auto record = store.trial(id);
    if (!record) return record.error();
    if (!*record || (**record).state == trial::TrialState::running) continue;
    const auto config = trial::TrialConfig::from_json((**record).config, "trial " + id);
    if (!config) return config.error();
    auto run = pooled(store, **record);
    if (!run) return run.error();
    if (auto added = pool.add(*config, std::move(*run)); !added) return added.error();
  }
  if (pool.runs_ == 0) {
    return error(
        fmt::format("The spec '{}' has no finished run to replay; `hyfreedp run` trains a pool.", spec));
  }
  return pool;
}

Result<void> ReplayPool::add(const trial::TrialConfig& config, PooledRun run) {
  auto at = coordinates_of(config);
  auto& setting = settings_.try_emplace(canonical_json(at.setting), Setting{at.setting, {}}).first->second;
  const auto [place, is_new] = setting.by_rate[at.rate].try_emplace(at.noise);
  if (is_new) place->second.index = cells_++;
  auto& runs = place->second.runs;
  if (std::ranges::any_of(runs, [&](const auto& known) { return known.trial == run.trial; })) {
    return error("The run " + run.trial + " is in the pool twice.");
  }
  runs.push_back(std::move(run));
  ++runs_;
  return {};
}

std::size_t ReplayPool::fewest_runs() const {
  std::size_t fewest = runs_;
  for (const auto& [key, setting] : settings_) {
    for (const auto& [rate, by_noise] : setting.by_rate) {
      for (const auto& [noise, cell] : by_noise) fewest = std::min(fewest, cell.runs.size());
    }
  }
  return fewest;
}

Error ReplayPool::unknown(const json::object& wanted) const {
  std::vector<std::string> fewest;
  for (const auto& [key, setting] : settings_) {
    std::vector<std::string> found;
    differences(wanted, setting.described, "", found);
    if (fewest.empty() || found.size() < fewest.size()) fewest = std::move(found);
  }
  if (fewest.size() > kShownDifferences) fewest.resize(kShownDifferences);
  return error(fmt::format("The pool has no run with these settings; the nearest one differs in {}.",
                           join(fewest, "; ")));
}

Result<PoolMatch> ReplayPool::find(const trial::TrialConfig& wanted, double max_rate_factor,
                                   double uniform) const {
  const auto at = coordinates_of(wanted);
  const auto known = settings_.find(canonical_json(at.setting));
  if (known == settings_.end()) return unknown(at.setting);
  const auto& [rate, by_noise] = nearest_rate(known->second.by_rate, at.rate);
  PoolMatch match{.rate_factor = factor_between(rate, at.rate)};
  if (match.rate_factor > max_rate_factor) {
    return error(
        fmt::format("The pool has no learning rate near {}: the nearest, {}, is a factor {} away, and "
                    "{} is allowed (--snap).",
                    short_number(at.rate), short_number(rate), short_number(match.rate_factor),
                    short_number(max_rate_factor)));
  }
  const auto above = by_noise.lower_bound(at.noise);
  if (above != by_noise.end() && above->first == at.noise) {
    match.cell = &above->second;
    return match;
  }
  if (above != by_noise.begin() && above != by_noise.end() && std::prev(above)->first > 0) {
    const auto below = std::prev(above);
    if (above->first <= kMaxNoiseGap * below->first) {
      const double weight = std::log(at.noise / below->first) / std::log(above->first / below->first);
      match.cell = uniform < weight ? &above->second : &below->second;
      match.between_noises = true;
      return match;
    }
  }
  const auto& nearest = nearest_rate(by_noise, at.noise);
  if (factor_between(nearest.first, at.noise) > kMaxNoiseFactor) {
    return error(
        fmt::format("The pool has no noise near {} (at learning rate {} it has {} to {}); train it at "
                    "further epsilons.",
                    short_number(at.noise), short_number(rate), short_number(by_noise.begin()->first),
                    short_number(by_noise.rbegin()->first)));
  }
  match.cell = &nearest.second;
  match.between_noises = true;
  return match;
}

}  // namespace hyfreedp::runner
