// What the contract promises, for every optimizer in the registry: to be listed there is to be
// tested here.
#include <bit>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "optimizers/facts.h"
#include "optimizers/optimizer.h"
#include "optimizers/registry.h"
#include "tests/optimizers/registry_variants.h"

namespace hyfreedp::optimizers {
namespace {

constexpr std::int64_t kSize = 37;
const Layout kLayout = {{"weight", 0, 30}, {"bias", 30, 7}};
const RunConstants kConstants{.noise_multiplier = 2, .sensitivity = 1, .batch_size = 100, .steps = 24};

torch::Tensor drawn(std::mt19937_64& generator, torch::ScalarType type, double scale = 1) {
  std::normal_distribution<double> normal;
  std::vector<double> values(kSize);
  for (auto& value : values) value = scale * normal(generator);
  return torch::tensor(values, torch::kDouble).to(type);
}

std::unique_ptr<Optimizer> make(const Variant& variant) {
  auto made = make_optimizer(variant.name, variant.options);
  EXPECT_TRUE(made) << variant.label << ": " << (made ? "" : made.error().message);
  return std::move(*made);
}

// Equal as bits, NaN included.
bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.numel() != b.numel() || a.scalar_type() != b.scalar_type()) return false;
  const auto left = a.contiguous(), right = b.contiguous();
  return std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

// A quadratic bowl around `target` with noisy gradients, every eighth one uphill: every estimate
// moves, and running maxima are not always the latest value.
struct Descent {
  std::unique_ptr<Optimizer> optimizer;
  torch::Tensor weights, target, direction;
  std::mt19937_64 noise{5};
  int steps = 0;

  Descent(const Variant& variant, torch::ScalarType type) : optimizer(make(variant)) {
    std::mt19937_64 generator(11);
    weights = drawn(generator, type);
    target = drawn(generator, type);
    optimizer->begin(weights, kLayout, kConstants);
  }
  void step() {
    const double way = ++steps % 8 == 0 ? -3 : 1;
    const auto gradient = weights.sub(target).mul_(way).add_(drawn(noise, weights.scalar_type(), 0.1));
    optimizer->advance(gradient, weights, 0.5, direction);
    weights = weights.sub(direction, optimizer->owns_step_size() ? 1 : 0.5);
  }
};

class EveryOptimizer : public ::testing::TestWithParam<torch::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryOptimizer, ::testing::Values(torch::kFloat, torch::kDouble));

void expect_resumes(const Variant& variant, torch::ScalarType type, int stop) {
  Descent whole(variant, type);
  for (int t = 0; t < stop; ++t) whole.step();
  Descent resumed(variant, type);
  // Only what the contract calls state may carry over: start from other weights.
  resumed.weights = whole.weights.clone();
  resumed.optimizer->begin(torch::full_like(resumed.weights, 3), kLayout, kConstants);
  resumed.noise = whole.noise;
  resumed.steps = whole.steps;
  const auto saved = whole.optimizer->state_tensors();
  auto live = resumed.optimizer->state_tensors();
  ASSERT_EQ(saved.size(), live.size());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    ASSERT_EQ(saved[i].first, live[i].first);
    live[i].second.copy_(saved[i].second);
  }
  resumed.optimizer->restore_scalars(whole.optimizer->state_scalars());
  for (int t = stop; t < 16; ++t) {
    whole.step();
    resumed.step();
    ASSERT_TRUE(same_bits(whole.weights, resumed.weights)) << "at step " << t;
  }
  EXPECT_EQ(whole.optimizer->outcome(), resumed.optimizer->outcome());
  const auto left = whole.optimizer->scalars(), right = resumed.optimizer->scalars();
  ASSERT_EQ(left.size(), right.size());
  for (const auto& [name, value] : left) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(right.at(name))) << name;
  }
}

TEST_P(EveryOptimizer, ResumesBitForBit) {
  for (const auto& variant : variants(optimizer_facts())) {
    for (const int stop : {0, 1, 7}) {  // before the first step; in the middle of a pair of ADADP's
      SCOPED_TRACE(variant.label + " stopped at " + std::to_string(stop));
      expect_resumes(variant, GetParam(), stop);
    }
  }
}

TEST_P(EveryOptimizer, IsDeterministicAndMoves) {
  for (const auto& variant : variants(optimizer_facts())) {
    SCOPED_TRACE(variant.label);
    Descent first(variant, GetParam()), second(variant, GetParam());
    for (int t = 0; t < 16; ++t) {
      first.step();
      second.step();
    }
    EXPECT_TRUE(same_bits(first.weights, second.weights));
    EXPECT_GT(first.direction.abs().max().item<double>(), 0);
  }
}

// What a run needs in memory is told beforehand by this bound.
TEST_P(EveryOptimizer, KeepsNoMoreVectorsThanIsSaid) {
  for (const auto& variant : variants(optimizer_facts())) {
    Descent run(variant, GetParam());
    for (int t = 0; t < 2; ++t) run.step();
    std::int64_t kept = 0;
    for (const auto& [name, tensor] : run.optimizer->state_tensors()) kept += tensor.numel();
    EXPECT_LE(kept, kMostStateVectors * kSize) << variant.label;
  }
}

TEST_P(EveryOptimizer, LeavesItsInputsAlone) {
  for (const auto& variant : variants(optimizer_facts())) {
    SCOPED_TRACE(variant.label);
    Descent run(variant, GetParam());
    std::mt19937_64 generator(3);
    for (int t = 0; t < 3; ++t) {
      const auto gradient = drawn(generator, GetParam());
      const auto gradient_before = gradient.clone(), weights_before = run.weights.clone();
      run.optimizer->advance(gradient, run.weights, 0.5, run.direction);
      EXPECT_TRUE(same_bits(gradient, gradient_before));
      EXPECT_TRUE(same_bits(run.weights, weights_before));
      EXPECT_EQ(run.direction.numel(), kSize);
      EXPECT_EQ(run.direction.scalar_type(), GetParam());
    }
  }
}

// Where a rule goes by pieces: any partition, and a direction that takes the gradient's place, give
// advance()'s bits.
TEST_P(EveryOptimizer, PiecesEqualTheWhole) {
  int by_pieces = 0;
  for (const auto& variant : variants(optimizer_facts())) {
    SCOPED_TRACE(variant.label);
    Descent whole(variant, GetParam()), cut(variant, GetParam()), shared(variant, GetParam());
    std::mt19937_64 generator(7);
    bool goes = true;
    for (int t = 0; t < 5 && goes; ++t) {
      const auto gradient = drawn(generator, GetParam());
      auto place = gradient.clone();
      cut.direction = torch::empty_like(gradient);
      const auto work = cut.optimizer->advance_by_pieces(gradient, cut.weights, 0.5, cut.direction);
      const auto in_place = shared.optimizer->advance_by_pieces(place, shared.weights, 0.5, place);
      ASSERT_EQ(bool(work), bool(in_place));
      goes = bool(work);
      if (!goes) break;
      whole.optimizer->advance(gradient, whole.weights, 0.5, whole.direction);
      work(20, kSize);
      work(0, 20);
      in_place(0, kSize);
      ASSERT_TRUE(same_bits(whole.direction, cut.direction));
      ASSERT_TRUE(same_bits(whole.direction, place));
      EXPECT_EQ(whole.optimizer->scalars(), cut.optimizer->scalars());
      EXPECT_EQ(whole.optimizer->state_scalars(), cut.optimizer->state_scalars());
    }
    by_pieces += goes ? 1 : 0;
  }
  EXPECT_GT(by_pieces, 3);  // sgd, adam, adamw, dpadamwosm at least
}

TEST_P(EveryOptimizer, TakesDegenerateGradients) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& variant : variants(optimizer_facts())) {
    for (const double value : {0.0, -0.0, 1e-40, 1e30, nan, infinity}) {
      SCOPED_TRACE(variant.label + " gradient " + std::to_string(value));
      Descent run(variant, GetParam());
      for (int t = 0; t < 4; ++t) {
        ASSERT_NO_THROW(
            run.optimizer->advance(torch::full_like(run.weights, value), run.weights, 0.5, run.direction));
        // d-adapt-sgd leaves weight decay out of ||g0||: a tiny first gradient makes it diverge.
        const bool diverges = variant.name == "d-adapt-sgd" && variant.options.contains("weight_decay");
        if (std::abs(value) < 1 && !diverges) {
          EXPECT_TRUE(run.direction.isfinite().all().item<bool>());
        }
      }
      EXPECT_NO_THROW(run.optimizer->scalars());
      EXPECT_NO_THROW(run.optimizer->outcome());
    }
  }
}

TEST_P(EveryOptimizer, DoesNotMoveOnZeroGradientsWithoutWeightDecay) {
  for (const auto& facts : optimizer_facts()) {
    SCOPED_TRACE(facts.name);
    Variant variant{facts.name, {}, facts.name};
    for (const auto& option : facts.options) {
      if (option.name == "weight_decay") variant.options["weight_decay"] = 0.0;
    }
    Descent run(variant, GetParam());
    for (int t = 0; t < 5; ++t) {
      run.optimizer->advance(torch::zeros_like(run.weights), run.weights, 0.5, run.direction);
      EXPECT_EQ(run.direction.abs().max().item<double>(), 0);
    }
  }
}

TEST(Registry, HasTheFactsOfEveryOptimizerInTheSameOrder) {
  std::vector<std::string> names;
  for (const auto& facts : optimizer_facts()) {
    names.push_back(facts.name);
    EXPECT_FALSE(facts.title.empty() || facts.source.empty()) << facts.name;
    for (const auto& option : facts.options)
      EXPECT_FALSE(option.help.empty()) << facts.name << ' ' << option.name;
    const Variant variant{facts.name, {}, facts.name};
    EXPECT_EQ(make(variant)->owns_step_size(), facts.owns_step_size) << facts.name;
  }
  EXPECT_EQ(names, registered_optimizers());
}

// Trials that were run without such an option do not say what it was, so its default never changes.
TEST(Registry, DefaultsOfOptionsThatAreLeftOutStay) {
  std::vector<std::string> defaults;
  for (const auto* table : {&optimizer_facts(), &controller_facts()}) {
    for (const auto& facts : *table) {
      for (const auto& option : facts.options) {
        if (option.stored_always) continue;
        defaults.push_back(facts.name + " " + option.name + " " + canonical_json(option.default_value));
      }
    }
  }
  EXPECT_THAT(defaults,
              ::testing::ElementsAre("sgd free_step false", "dp-zo free_step false",
                                     "hyfreedp release \"separate\"", "hyfreedp difference_share 0.1",
                                     "hyfreedp pairs 1", "hyfreedp-plus release \"separate\"",
                                     "hyfreedp-plus difference_share 0.1", "hyfreedp-plus start_weight 0.0"));
}

TEST(Registry, NamesTheNearestOptimizer) {
  const auto made = make_optimizer("adamv", {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("Did you mean 'adam"));
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("dpadamwosm"));
}

TEST(Registry, RefusesUnknownAndContradictoryOptions) {
  const auto unknown = make_optimizer("sgd", {{"momentun", 0.9}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("Did you mean 'momentum'?"));
  const auto contradictory = make_optimizer("sgd", {{"nesterov", true}});
  ASSERT_FALSE(contradictory);
  EXPECT_THAT(contradictory.error().message, ::testing::HasSubstr("momentum"));
}

TEST(Outcome, SaysThatTheDistanceEstimateNeverLeftItsStart) {
  for (const char* name : {"prodigy", "d-adapt-adam", "d-adapt-sgd"}) {
    SCOPED_TRACE(name);
    Descent stuck({name, {}, name}, torch::kDouble);
    EXPECT_EQ(stuck.optimizer->outcome(), "");
    for (int t = 0; t < 10; ++t) {  // alternating gradients: <g, x0 - x> never accumulates
      const double sign = (t % 2 == 0 ? 1 : -1) * (1 + t / 100.0);
      stuck.optimizer->advance(torch::full_like(stuck.weights, sign), stuck.weights, 1, stuck.direction);
      stuck.weights = stuck.weights.sub(stuck.direction);
    }
    EXPECT_EQ(stuck.optimizer->outcome(), "stuck at d0");
    Descent moving({name, {}, name}, torch::kDouble);
    for (int t = 0; t < 10; ++t) moving.step();
    EXPECT_EQ(moving.optimizer->outcome(), "");
    EXPECT_GT(moving.optimizer->scalars().at("d"), 1e-6);
  }
}

TEST(Outcome, SaysThatAdadpRejectedEveryUpdate) {
  Descent run({"adadp", {{"tol", 1e-9}, {"lr0", 0.5}}, "adadp"}, torch::kDouble);
  const auto start = run.weights.clone();
  run.step();
  EXPECT_EQ(run.optimizer->outcome(), "");
  run.step();
  EXPECT_EQ(run.optimizer->outcome(), "every update rejected");
  EXPECT_LT(run.weights.sub(start).abs().max().item<double>(), 1e-14);
}

}  // namespace
}  // namespace hyfreedp::optimizers
