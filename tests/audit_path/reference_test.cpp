// The audit's own gradients and losses against the training path's, and records that count as
// nothing.
#include "harness/training/audit/reference.h"

#include <numeric>

#include "harness/training/audit/one_run.h"
#include "harness/training/gradient.h"
#include "harness/training/setup.h"
#include "tests/audit_path/settings.h"

namespace hyfreedp::training {
namespace reference_test {

struct Both {
  torch::Tensor path;
  torch::Tensor reference;
};

Both sums_of(const Experiment& experiment, const std::vector<std::int64_t>& rows) {
  const torch::NoGradGuard no_gradients;
  auto config = experiment.config;
  config.dtype = "float64";
  auto setup = set_up(config, experiment.dataset);
  EXPECT_TRUE(setup) << setup.error().message;
  auto& weights = setup->network.parameters();
  weights.copy_(at::linspace(-0.5, 0.5, weights.numel(), torch::kFloat64).sin());
  auto sum = torch::zeros_like(weights);
  const auto count = static_cast<std::int64_t>(rows.size());
  clipped_gradient_sum(setup->network, setup->labels.loss, setup->clipping, setup->train,
                       {.count = count, .all = false, .indices = rows}, sum);
  const Reference reference(config, experiment.dataset.private_train);
  EXPECT_EQ(reference.dimension(), weights.numel());
  return {sum, reference.clipped_sum(weights, rows)};
}

std::vector<std::int64_t> last_rows(std::int64_t population, std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), population - count);
  return rows;
}

TEST(Reference, AgreesWithThePath) {
  for (const std::string model : {"linear", "mlp"}) {
    for (const std::string clipping : {"auto-s", "auto-v", "abadi"}) {
      Setting setting;
      setting.model = model;
      setting.clipping = clipping;
      const auto experiment = full_experiment(request_of(setting)).value();
      const auto both = sums_of(experiment, last_rows(setting.population, 60));
      EXPECT_GT(both.path.norm().item<double>(), 1);
      EXPECT_LT((both.path - both.reference).abs().max().item<double>(), 1e-9) << model << " " << clipping;
    }
  }
}

TEST(Reference, AgreesWithThePathPerLayer) {
  for (const std::string clipping : {"auto-s", "auto-v", "abadi"}) {
    for (const std::string shares : {"uniform", "size"}) {
      Setting setting;
      setting.model = "mlp";
      setting.clipping = clipping;
      setting.groups = "per-layer";
      setting.shares = shares;
      const auto experiment = full_experiment(request_of(setting)).value();
      const auto both = sums_of(experiment, last_rows(setting.population, 60));
      EXPECT_GT(both.path.norm().item<double>(), 1);
      EXPECT_LT((both.path - both.reference).abs().max().item<double>(), 1e-9) << clipping << " " << shares;
    }
  }
}

TEST(Reference, ClampedLosses) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto losses = torch::tensor({-1.0, 0.5, 3.0, std::nan(""), kInfinity, -kInfinity}, torch::kFloat64);
  const auto expected = torch::tensor({0.0, 0.5, 2.0, 0.0, 2.0, 0.0}, torch::kFloat64);
  EXPECT_TRUE(Reference::clamped(losses, 2).equal(expected));
}

// A record of NaN is as good as absent: for the path's sum and for the reference's.
TEST(OneRun, AbsentCanariesCountAsNothing) {
  for (const std::string model : {"linear", "mlp"}) {
    for (const std::string clipping : {"auto-s", "auto-v", "abadi"}) {
      Setting setting;
      setting.model = model;
      setting.clipping = clipping;
      const auto experiment =
          one_run_experiment(request_of(setting), std::vector<bool>(kOneRunCanaries, false)).value();
      const auto rows = last_rows(setting.population, kOneRunCanaries + 10);
      const std::vector<std::int64_t> without(rows.begin(), rows.begin() + 10);
      const auto with_absent = sums_of(experiment, rows);
      const auto plain = sums_of(experiment, without);
      EXPECT_TRUE(with_absent.path.allclose(plain.path, 1e-12, 1e-12)) << model << " " << clipping;
      EXPECT_TRUE(with_absent.reference.allclose(plain.reference, 1e-12, 1e-12));
    }
  }
}

TEST(OneRun, GuessesTheSmallestInAndTheLargestOut) {
  const auto guesses = guess({0.1, 5, 3, 4, 0.2, 6, 2, 1, 7, 2.5},
                             {true, false, true, true, false, true, false, false, false, true});
  EXPECT_EQ(guesses.canaries, 10);
  EXPECT_EQ(guesses.guesses, 4);
  EXPECT_EQ(guesses.correct, 2);  // in: 0.1 right, 0.2 wrong; out: 7 right, 6 wrong
}

TEST(Experiment, CanariesHaveColumnsOfTheirOwn) {
  Setting setting;
  const auto experiment = full_experiment(request_of(setting)).value();
  const auto& features = experiment.dataset.private_train.features;
  const auto own = features.narrow(1, kOrdinaryFeatures, setting.canaries);
  EXPECT_EQ(at::count_nonzero(own).item<std::int64_t>(), setting.canaries);
  for (const auto row : experiment.canaries) {
    EXPECT_EQ(at::count_nonzero(features[row]).item<std::int64_t>(), 1);
  }
}

}  // namespace reference_test
}  // namespace hyfreedp::training
