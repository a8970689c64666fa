// The free step: one more step along the momentum buffer after the last one, of which no release,
// event or earlier number knows anything.
#include <fstream>

#include "harness/accounting/accountant.h"
#include "harness/base/files.h"
#include "harness/models/weights/weights.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace free_step_test {

using torch::Tensor;

constexpr double kRate = 0.3;
constexpr double kMomentum = 0.9;

trial::TrialConfig config_with(json::object options, std::int64_t steps = 6) {
  auto config = small_config(steps);
  options["momentum"] = kMomentum;
  config.optimizer = optimizer_named("sgd", options);
  config.controller = controller_named("constant", {{"lr", kRate}});
  return config;
}

// Every step w <- w - eta u of a run.
struct Step {
  Tensor before;
  Tensor direction;
  double eta = 0;
  Tensor after;
};

struct Recorded {
  std::vector<Step> steps;
  Tensor kept;  // [classes, features]: the weights that were written at the end
  std::string values;
  mechanism::Journal journal;
};

Recorded record(const trial::TrialConfig& config) {
  const TemporaryFolder folder;
  Recorded recorded;
  {
    auto journal =
        mechanism::JournalWriter::open(folder.file("run"), config, fingerprint(config.device)).value();
    const auto dataset = data_of(config);
    Parts parts;
    parts.weight_step = [&recorded](const Tensor& weights, const Tensor& direction, double eta, Tensor& out) {
      Step step{weights.clone(), direction.clone(), eta, {}};
      const bool finite = subtract_scaled(weights, direction, eta, out);
      step.after = out.clone();
      recorded.steps.push_back(step);
      return finite;
    };
    const auto end = train({.config = config,
                            .dataset = dataset,
                            .key = seeded_key(config),
                            .journal = *journal,
                            .weights_folder = folder.file("weights"),
                            .parts = parts})
                         .value();
    EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.message;
    EXPECT_EQ(end.weights_problem, "");
  }
  recorded.journal = mechanism::read_journal(folder.file("run")).value();
  recorded.kept = models::read_weights(folder.file("weights")).value().at("fc.weight");
  recorded.values =
      string_or(read_json_file(folder.file("weights/kept.json")).value().as_object(), "values", "");
  return recorded;
}

double gap(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

// By hand, in double: from the direction of each step the gradient, from the gradients the buffer.
// With Nesterov's look-ahead the last direction is not the buffer.
TEST(FreeStep, GoesAlongTheBufferThatTheLastStepLeft) {
  for (const bool nesterov : {false, true}) {
    const auto run = record(config_with({{"free_step", true}, {"nesterov", nesterov}}));
    ASSERT_EQ(run.steps.size(), 7U);
    Tensor buffer;
    for (std::size_t t = 0; t < 6; ++t) {
      const auto u = run.steps[t].direction.to(torch::kFloat64);
      const auto decayed = t == 0 ? torch::zeros_like(u) : kMomentum * buffer;
      // u = g + m b and b = decayed + g, or u = b.
      const auto gradient = nesterov ? (u - kMomentum * decayed) / (1 + kMomentum) : u - decayed;
      buffer = decayed + gradient;
    }
    const auto& last = run.steps[5];
    const auto& free = run.steps[6];
    EXPECT_TRUE(torch::equal(free.before, last.after));
    EXPECT_EQ(free.eta, kRate);
    const auto expected = last.after.to(torch::kFloat64) - kRate * buffer;
    EXPECT_LT(gap(free.after, expected), 1e-5);
    EXPECT_GT(gap(free.after, last.after), 1e-2);
    // A buffer that had decayed once more, or the last direction again with look-ahead.
    EXPECT_GT(gap(free.after, last.after.to(torch::kFloat64) - kRate * kMomentum * buffer), 1e-3);
    if (nesterov) {
      EXPECT_GT(gap(free.after, last.after - kRate * last.direction), 1e-3);
    }
    EXPECT_TRUE(torch::equal(run.kept.flatten(), free.after.narrow(0, 0, run.kept.numel())));
    EXPECT_EQ(run.values, "of the free step after the last");
  }
}

TEST(FreeStep, ChangesTheLastEvaluationAlone) {
  const auto journal_with = [](bool free_step) {
    auto config = config_with({{"free_step", free_step}}, 12);
    config.evaluation.every = 4;
    return journal_under_one_key(config);
  };
  const auto plain = journal_with(false);
  const auto free = journal_with(true);
  EXPECT_EQ(hashes_of(plain), hashes_of(free));
  ASSERT_EQ(plain.metrics.size(), free.metrics.size());
  for (std::size_t i = 0; i < plain.metrics.size(); ++i) {
    const auto& [before, after] = std::pair(plain.metrics[i], free.metrics[i]);
    EXPECT_EQ(before.step, after.step);
    if (before.name != "loss") continue;
    EXPECT_EQ(before.value == after.value, before.step < 12) << before.step;
  }
  EXPECT_EQ(plain.executed.size(), free.executed.size());
  const auto price = accounting::epsilon_pld({.events = plain.executed}, 1e-5)->epsilon;
  EXPECT_GT(price, 0);
  EXPECT_EQ(accounting::epsilon_pld({.events = free.executed}, 1e-5)->epsilon, price);
}

// Killed at any byte of its journal, also behind its last step.
TEST(FreeStep, IsTakenOnceByARunThatIsResumed) {
  const TemporaryFolder folder;
  const auto config = config_with({{"free_step", true}});
  run_once(config, folder.file("whole"));
  const auto whole = mechanism::read_journal(folder.file("whole")).value();
  const auto text = read_file(folder.file("whole")).value();
  const auto evaluated = text.find(R"("type":"metric")");
  ASSERT_NE(evaluated, std::string::npos);
  for (const std::size_t bytes : {text.size() / 3, text.size() * 2 / 3, evaluated, text.rfind("{")}) {
    std::ofstream(folder.file("torn"), std::ios::trunc) << text.substr(0, bytes);
    run_once(config, folder.file("torn"));
    const auto resumed = mechanism::read_journal(folder.file("torn")).value();
    EXPECT_EQ(hashes_of(resumed), hashes_of(whole)) << bytes;
    EXPECT_EQ(metric_of(resumed, "test", "loss"), metric_of(whole, "test", "loss")) << bytes;
    EXPECT_EQ(resumed.executed.size(), whole.executed.size()) << bytes;
  }
}

// The identity of runs from before there was one.
TEST(FreeStep, IsPartOfATrialOnlyWhereItIsTaken) {
  const auto without = config_with({});
  EXPECT_EQ(canonical_json(without.to_json()).find("free_step"), std::string::npos);
  EXPECT_EQ(config_with({{"free_step", false}}).id(), without.id());
  EXPECT_NE(config_with({{"free_step", true}}).id(), without.id());
}

TEST(FreeStep, IsRefusedWithoutMomentumOrBesideAnAverage) {
  const auto refusal = [](const trial::TrialConfig& config) {
    const TemporaryFolder folder;
    const auto end = run_once(config, folder.file("run"));
    EXPECT_EQ(end.finish.kind, "invalid-config");
    return end.finish.message;
  };
  auto config = config_with({{"free_step", true}});
  config.optimizer.options["momentum"] = 0.0;
  EXPECT_NE(
      refusal(config).find("'free_step' goes along the momentum buffer, so it needs a 'momentum' above 0"),
      std::string::npos);
  config = config_with({{"free_step", true}});
  config.training.average = trial::Average::swa;
  EXPECT_NE(refusal(config).find("train.average evaluates the run at their average"), std::string::npos);
  EXPECT_TRUE(
      resolve_options(optimizers::find_optimizer("adamw").value()->options, {{"free_step", true}}, "adamw")
          .has_error());
}

}  // namespace free_step_test
}  // namespace hyfreedp::training
