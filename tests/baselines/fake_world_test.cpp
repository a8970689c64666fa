#include "fake_world.h"

#include <algorithm>
#include <cmath>

#include "baselines/calibrations.h"
#include "harness/base/files.h"
#include "harness/mechanism/releases.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines::fake {
namespace {

constexpr int kMostTrials = 400;

trial::Named defaults_of(const std::vector<optimizers::Facts>& table, const std::string& name) {
  for (const auto& facts : table) {
    if (facts.name == name) return {name, resolve_options(facts.options, {}, name).value()};
  }
  return {};
}

// In [0, 1), from the config alone.
double noise_of(const trial::TrialConfig& config) {
  return static_cast<double>(std::stoul(config.id().substr(0, 8), nullptr, 16)) / 4294967296.0;
}

std::vector<std::string> ids_of(const Configs& configs) {
  std::vector<std::string> ids;
  for (const auto& config : configs) ids.push_back(config.id());
  return ids;
}

}  // namespace

Cell cell_of(const Baseline& baseline, std::optional<double> epsilon, const json::object& options) {
  Cell cell;
  cell.panel = "panel";
  cell.row = baseline.name;
  cell.epsilon = epsilon;
  cell.delta = 1e-5;
  cell.seed = 3;
  cell.options = resolve_options(baseline.options, options, baseline.name).value();
  cell.accountant = noise_accountant(baseline, cell.options, "").value();
  cell.validation_size = 500;
  cell.dimension = 51;
  static const auto calibrations = std::make_shared<Calibrations>();  // of all tests
  cell.calibrations = calibrations;
  auto& base = cell.base;
  base.dataset = {"synthetic", {}};
  base.model = {"linear", {}};
  base.optimizer = defaults_of(optimizers::optimizer_facts(), "adamw");
  base.controller = defaults_of(optimizers::controller_facts(), "constant");
  base.steps = 12;
  base.seed = cell.seed;
  base.noise_seed = "test";
  base.privacy.is_private = epsilon.has_value();
  base.privacy.population = 2000;
  base.privacy.sample_rate = 0.1;
  base.privacy.batch_size = 200;
  if (!epsilon) base.privacy.clipping.rule = trial::ClippingRule::none;
  return cell;
}

FinishedTrial ordinary_world(const trial::TrialConfig& config) {
  FinishedTrial trial{.id = config.id(), .config = config};
  const double rate = double_or(config.controller.options, "lr", 1e-2);
  if (rate > 10) {
    trial.failed = true;
    trial.failure_kind = "diverged";
    return trial;
  }
  const double distance = std::log(rate * static_cast<double>(config.steps) / 0.2);
  const double accuracy =
      0.9 * std::exp(-0.02 * distance * distance) / (1 + 0.01 * config.privacy.gradient_noise);
  if (config.evaluation.oracle_validation) trial.oracle_validation = accuracy;
  if (config.evaluation.oracle_train) trial.oracle_train = accuracy;
  if (config.evaluation.score) trial.released_score = accuracy + 0.05 * (noise_of(config) - 0.5);
  return trial;
}

FinishedTrial broken_world(const trial::TrialConfig& config) {
  return {.id = config.id(), .config = config, .failed = true, .failure_kind = "diverged"};
}

std::size_t first(std::size_t) { return 0; }
std::size_t last(std::size_t wanted) { return wanted - 1; }

Study run_study(const Baseline& baseline, const Cell& cell, const World& world, const Order& order) {
  Study study;
  std::set<std::string> done;
  for (int round = 0;; ++round) {
    const auto wanted = baseline.next(cell, study.finished);
    if (!wanted) {
      ADD_FAILURE() << baseline.name << ": " << wanted.error().message;
      return study;
    }
    const auto ids = ids_of(*wanted);
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size())
        << "equal trials asked for at once";
    for (const auto& id : ids) EXPECT_EQ(done.count(id), 0u) << "a finished trial is asked for again";
    std::vector<FinishedTrial> turned(study.finished.rbegin(), study.finished.rend());
    EXPECT_EQ(ids_of(baseline.next(cell, turned).value()), ids)
        << "next() depends on the order of the finished set";
    if (wanted->empty()) break;
    if (round == kMostTrials) {
      ADD_FAILURE() << baseline.name << " does not end";
      return study;
    }
    const auto& config = (*wanted)[order(wanted->size())];
    study.finished.push_back(world(config));
    done.insert(config.id());
  }
  auto conclusion = baseline.conclude(cell, study.finished);
  if (conclusion) {
    study.conclusion = *conclusion;
  } else {
    ADD_FAILURE() << baseline.name << ": " << conclusion.error().message;
  }
  return study;
}

std::vector<accounting::Event> intended_events(const trial::TrialConfig& config) {
  auto events = mechanism::events(config.privacy, 0, config.steps);
  if (config.evaluation.score) {
    events.push_back(accounting::batch(
        1, {{.noise_multiplier = config.evaluation.score->noise_counts, .purpose = "score"}}, 1));
    events.back().split = "private_validation";
  }
  return events;
}

Result<accounting::Events> cost(const Study& study) {
  return compose(study.conclusion.composition,
                 [&](const std::string& id) -> Result<std::vector<accounting::Event>> {
                   for (const auto& trial : study.finished) {
                     if (trial.id == id) return intended_events(trial.config);
                   }
                   return error("no trial " + id);
                 });
}

}  // namespace hyfreedp::baselines::fake
