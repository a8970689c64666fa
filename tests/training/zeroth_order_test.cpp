// DP-ZO: directions, the bounded sum of changes, whole steps against a reference, and what a run
// with it promises as any other does.
#include "harness/training/zeroth_order.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "harness/accounting/accountant.h"
#include "harness/base/files.h"
#include "harness/models/model.h"
#include "harness/training/setup.h"
#include "tests/training/fixtures.h"
#include "tests/training/resumable.h"

namespace hyfreedp::training {
namespace {

using optimizers::Direction;
using torch::Tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor direction_of(Direction law, std::int64_t size, std::int64_t step = 0, const std::string& key = "z",
                    torch::ScalarType type = torch::kFloat64) {
  auto z = torch::empty({size}, type);
  const RandomDirection direction(law, random::key_from_seed(key), step, z);
  z.zero_();
  direction.add_to(z, 1);
  return z;
}

// 100,000 numbers: mean, variance and fourth moment within 6 standard errors (2e-9 each, and the
// seed is fixed).
TEST(RandomDirection, IsStandardNormal) {
  const auto z = direction_of(Direction::gaussian, 100'000);
  EXPECT_NEAR(z.mean().item<double>(), 0, 6 / std::sqrt(1e5));
  EXPECT_NEAR(z.square().mean().item<double>(), 1, 6 * std::sqrt(2 / 1e5));
  EXPECT_NEAR(z.pow(4).mean().item<double>(), 3, 6 * std::sqrt(96 / 1e5));
}

TEST(RandomDirection, OnTheSphereIsTheSameOneAtTheRootOfItsDimension) {
  for (const std::int64_t size : {1, 7, 100'000}) {
    const auto gaussian = direction_of(Direction::gaussian, size);
    const auto sphere = direction_of(Direction::sphere, size);
    EXPECT_NEAR(sphere.norm().item<double>() / std::sqrt(static_cast<double>(size)), 1, 1e-12);
    EXPECT_NEAR((sphere.dot(gaussian) / sphere.norm() / gaussian.norm()).item<double>(), 1, 1e-12);
  }
}

TEST(RandomDirection, IsAnotherAtEachStepAndUnderEachKey) {
  const auto z = direction_of(Direction::gaussian, 10'000);
  EXPECT_TRUE(at::equal(z, direction_of(Direction::gaussian, 10'000)));
  for (const auto& other :
       {direction_of(Direction::gaussian, 10'000, 1), direction_of(Direction::gaussian, 10'000, 0, "y")}) {
    EXPECT_LT(std::abs((z * other).mean().item<double>()), 6 / std::sqrt(1e4));
  }
  auto config = zeroth_order_config();
  const auto key = direction_key(config);
  EXPECT_EQ(direction_key(config), key);
  EXPECT_NE(seeded_key(config), key);
  config.noise_seed = "another";  // neither noise nor batches
  config.privacy.gradient_noise = 7;
  EXPECT_EQ(direction_key(config), key);
  config.repetition = 1;
  EXPECT_NE(direction_key(config), key);
  config.repetition = 0;
  config.seed = 1;
  EXPECT_NE(direction_key(config), key);
}

TEST(RandomDirection, IsAddedWithEitherSignAndRoundedOnce) {
  const auto wide = direction_of(Direction::gaussian, 50'000);
  auto scratch = torch::empty({50'000});
  const RandomDirection direction(Direction::gaussian, random::key_from_seed("z"), 0, scratch);
  for (const double x : {1e-3, -1e-3, 2.5}) {
    auto sum = torch::full({50'000}, 0.3, torch::kFloat32);
    direction.add_to(sum, x);
    EXPECT_TRUE(at::equal(sum, (at::full_like(wide, double(0.3F)) + x * wide).to(torch::kFloat32))) << x;
  }
}

TEST(ChangeSum, IsOfClippedChanges) {
  const auto after = torch::tensor({1.0, 5.0, 0.0, std::nan(""), kInfinity, kInfinity, 1.0}, torch::kFloat64);
  const auto before = torch::tensor({0.75, 1.0, 3.0, 1.0, kInfinity, 1.0, kInfinity}, torch::kFloat64);
  // .25, .5, -.5, 0, 0, .5, -.5
  const auto sum = bounded_change_sum(after, before, 0.5);
  EXPECT_NEAR(sum.sum, 0.25, 1e-6);
  EXPECT_EQ(sum.sensitivity, 0.5);
  EXPECT_FALSE(sum.from_first);
  const auto none = torch::empty({0}, torch::kFloat64);
  EXPECT_EQ(bounded_change_sum(none, none, 0.5).sum, 0);
  const auto plain = bounded_change_sum(after.narrow(0, 0, 4), before.narrow(0, 0, 4), kInfinity);
  EXPECT_EQ(plain.sum, 0.25 + 4 - 3);
  EXPECT_THROW(bounded_change_sum(none, none, 0), std::logic_error);
}

// Whatever the losses, one record more or less changes the sum by C at most, in floating point,
// too; and some do by nearly C. The order of the records changes nothing.
TEST(ChangeSum, OneRecordChangesItByItsBoundAtMost) {
  torch::manual_seed(40);
  for (const double bound : {0.1, 1.0, 3e-4, 77.7}) {
    double most = 0;
    for (int trial = 0; trial < 50; ++trial) {
      const std::int64_t count = 1 + trial * 40;
      auto after = torch::randn({count}, torch::kFloat64) * bound * std::pow(10.0, trial % 5 - 2);
      const auto before = torch::rand({count}, torch::kFloat64) * bound;
      if (trial % 7 == 0) after[0] = std::vector<double>{std::nan(""), kInfinity, -kInfinity}[trial % 3];
      const double whole = bounded_change_sum(after, before, bound).sum;
      for (const std::int64_t out : {std::int64_t{0}, count / 2, count - 1}) {
        const auto without = [&](const Tensor& all) {
          return at::cat({all.narrow(0, 0, out), all.narrow(0, out + 1, count - out - 1)});
        };
        const double rest = bounded_change_sum(without(after), without(before), bound).sum;
        EXPECT_LE(std::abs(whole - rest), bound) << trial;
        most = std::max(most, std::abs(whole - rest));
      }
      const auto order = torch::randperm(count);
      EXPECT_EQ(bounded_change_sum(after.index_select(0, order), before.index_select(0, order), bound).sum,
                whole);
    }
    EXPECT_GT(most, bound * (1 - 1e-5));
  }
}

TEST(LossesBeside, AreThoseOfBothSidesAndLeaveTheWeights) {
  const auto config = zeroth_order_config();
  auto setup = set_up(config, data_of(config));
  ASSERT_TRUE(setup) << setup.error().message;
  auto& weights = setup->network.parameters();
  weights.normal_();
  const auto before = weights.clone();
  auto kept = torch::empty_like(weights);
  const RandomDirection direction(Direction::gaussian, random::key_from_seed("z"), 3, kept);
  const Rows rows{.batch = "gradient", .count = 40, .all = true, .indices = {}};
  const auto beside =
      losses_beside(setup->network, setup->labels.loss, direction, 0.1, setup->train, rows, kept);
  EXPECT_TRUE(at::equal(weights, before));
  for (const double x : {0.1, -0.1}) {
    direction.add_to(weights, x);
    const auto there = losses_at_weights(setup->network, setup->labels.loss, setup->train, rows);
    EXPECT_TRUE(at::equal(x > 0 ? beside.ahead : beside.behind, there));
    weights.copy_(before);
  }
  EXPECT_FALSE(at::equal(beside.ahead, beside.behind));
  // Of six microbatches all but the first ask: stopped on the first side, or on the second.
  BatchReader reader(data_of(config).private_train, setup->options, 7);
  for (const int times : {0, 5}) {
    int asked = 0;
    reader.stop_when([&] { return ++asked > times; });
    const auto none = losses_beside(setup->network, setup->labels.loss, direction, 0.1, reader, rows, kept);
    EXPECT_EQ(asked, times + 1);
    ASSERT_TRUE(reader.was_stopped()) << times;
    EXPECT_FALSE(none.ahead.defined());
    EXPECT_FALSE(none.behind.defined());
    EXPECT_TRUE(at::equal(weights, before));
  }
}

// What a run shows of its steps.
class Steps : public mechanism::Observer {
 public:
  void vector_released(const mechanism::VectorSeen&) override { ADD_FAILURE() << "a vector"; }
  void values_released(const mechanism::ValuesSeen& seen) override {
    EXPECT_EQ(seen.purpose, "loss-change");
    ASSERT_EQ(seen.origin.abscissas.size(), 2U);
    weights.push_back(seen.origin.weights->clone());
    directions.push_back(seen.origin.direction->clone());
    released.push_back(seen.released.front());
  }
  void run_ended(const Tensor& last) override { weights.push_back(last.clone()); }

  std::vector<Tensor> weights, directions;
  std::vector<double> released;
};

Tensor vector_of(const json::value& list) {
  return torch::tensor(from_json<std::vector<double>>(list, "numbers").value(), torch::kFloat64);
}

double distance(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() ? (a - b).abs().max().item<double>() : kInfinity;
}

// tests/data/zeroth_order/make.py has NumPy do the same steps in float64 from the same start along
// the same directions. There changes are clipped to C itself, here to C (1 - 2^-20): that is less
// than 2e-7 of a weight.
TEST(ZerothOrder, StepsAreThoseOfTheReference) {
  const auto file = read_json_file(HYFREEDP_SOURCE_DIR "/tests/data/zeroth_order/steps.json");
  ASSERT_TRUE(file) << file.error().message;
  for (const auto& item : file->as_object().at("cases").as_array()) {
    const auto& given = item.as_object();
    const auto law = std::string(given.at("direction").as_string());
    const auto steps = given.at("steps").to_number<std::int64_t>();
    trial::TrialConfig config = zeroth_order_config(
        steps, {{"scale", given.at("scale")}, {"direction", law}, {"momentum", given.at("momentum")}});
    config.dataset =
        resolved(datasets::find_dataset("synthetic"), "synthetic",
                 {{"train", 12}, {"validation", 12}, {"test", 12}, {"features", 3}, {"classes", 3}});
    config.model = model_named("mlp", {{"hidden", json::array{4}}});
    config.controller = controller_named("constant", {{"lr", given.at("rate")}});
    config.privacy = {
        .is_private = false,
        .sampler = trial::Sampler::full_batch,
        .released = trial::Released::loss_change,
        .population = 12,
        .batch_size = 12,
        .sample_rate = 1,
        .clipping = {.rule = trial::ClippingRule::abadi, .constant = given.at("bound").to_number<double>()}};
    config.dtype = "float64";
    config.training.microbatch = 5;
    auto dataset = data_of(config);
    dataset.private_train.features = vector_of(given.at("features")).view({12, 3}).to(torch::kFloat32);
    dataset.private_train.labels = vector_of(given.at("labels")).to(torch::kInt64);

    Steps seen;
    const auto journal = journal_under_one_key(config, dataset, &seen);
    ASSERT_EQ(std::ssize(seen.released), steps);
    if (const char* path = std::getenv("HYFREEDP_WRITE_GIVEN")) {
      json::array directions;
      for (const auto& z : seen.directions) {
        directions.push_back(
            as_json(std::vector<double>(z.const_data_ptr<double>(), z.const_data_ptr<double>() + z.numel())));
      }
      const auto& w = seen.weights.front();
      std::ofstream(path + ("/" + law + ".json")) << canonical_json(
          json::object{{"directions", directions},
                       {"start", as_json(std::vector<double>(w.const_data_ptr<double>(),
                                                             w.const_data_ptr<double>() + w.numel()))}});
      continue;
    }
    const auto& directions = given.at("directions").as_array();
    const auto& expected = given.at("weights").as_array();
    EXPECT_LT(distance(seen.weights.front(), vector_of(given.at("start"))), 1e-15);
    for (std::int64_t t = 0; t < steps; ++t) {
      const auto place = static_cast<std::size_t>(t);
      EXPECT_LT(distance(seen.directions[place], vector_of(directions[place])), 1e-14) << law << t;
      EXPECT_LT(distance(seen.weights[place + 1], vector_of(expected[place])), 2e-7) << law << t;
      EXPECT_NEAR(journal.steps[place].scalars.at("loss_slope"),
                  given.at("slopes").as_array()[place].to_number<double>(), 1e-5);
    }
    EXPECT_GT(distance(seen.weights.back(), seen.weights.front()), 0.05);
  }
}

// The number that leaves is the mean change and its noise: 1000 steps, of which each is known
// without noise from what the observer is shown. Mean and scale within 5 standard errors.
TEST(ZerothOrder, ReleasesTheMeanChangeWithNoiseOfItsScale) {
  auto config = zeroth_order_config(1000);
  config.controller = controller_named("constant", {{"lr", 1e-4}});
  const auto dataset = data_of(config);
  Steps seen;
  journal_under_one_key(config, dataset, &seen);
  auto made = set_up(config, dataset);
  ASSERT_TRUE(made);
  auto& setup = *made;
  const auto key = random::key_from_seed("one key");
  double sum = 0, squares = 0;
  for (std::int64_t t = 0; t < config.steps; ++t) {
    const auto place = static_cast<std::size_t>(t);
    const auto rows = gradient_rows(config.privacy, key, t, 0);
    auto kept = torch::empty_like(seen.weights[place]);
    const RandomDirection direction(Direction::gaussian, direction_key(config), t, kept);
    setup.network.parameters().copy_(seen.weights[place]);
    const auto beside =
        losses_beside(setup.network, setup.labels.loss, direction, 1e-3, setup.train, rows, kept);
    const double change = bounded_change_sum(beside.ahead, beside.behind, 0.01).sum;
    const double z = (seen.released[place] * 60 - change) / (1.1 * 0.01);
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / 1000, 0, 5 / std::sqrt(1e3));
  EXPECT_NEAR(squares / 1000, 1, 5 * std::sqrt(2 / 1e3));
}

TEST(ZerothOrder, AnObserverChangesNothing) {
  const auto config = zeroth_order_config();
  Steps seen;
  expect_same_outcome(journal_under_one_key(config, data_of(config), &seen),
                      journal_under_one_key(config, data_of(config), nullptr));
}

// At an epsilon so large that the noise is small, losses fall along random directions, too.
TEST(ZerothOrder, LearnsAtALargeEpsilon) {
  auto config = zeroth_order_config(800, {{"direction", "sphere"}});
  config.controller = controller_named("constant", {{"lr", 0.03}});
  const auto noise = accounting::calibrate_gaussian(0.1, 800, 100, 1e-5).value();
  config.privacy.gradient_noise = noise.noise_multiplier;
  const auto journal = journal_under_one_key(config);
  const auto spent = accounting::epsilon_pld({.events = journal.executed}, 1e-5);
  ASSERT_TRUE(spent);
  EXPECT_NEAR(spent->epsilon, 100, 0.5);
  EXPECT_LE(spent->epsilon, 100);
  auto untrained = config;
  untrained.controller = controller_named("constant", {{"lr", 0.0}});
  const auto start = journal_under_one_key(untrained);
  EXPECT_GT(metric_of(journal, "test", "accuracy"), 0.9);
  EXPECT_LT(metric_of(start, "test", "accuracy"), 0.6);
  EXPECT_LT(metric_of(journal, "test", "loss"), metric_of(start, "test", "loss") / 2);
}

// Stopped and killed wherever, on goes the same run: it is of the same bits and books the same.
TEST(ZerothOrder, IsResumedToTheSameBits) {
  for (const std::string law : {"gaussian", "sphere"}) {
    const auto config = zeroth_order_config(12, {{"direction", law}});
    const auto whole = undisturbed(config);
    EXPECT_EQ(std::get<accounting::Batch>(whole.executed.at(0).what).releases.at(0).purpose, "loss-change");
    for (const std::int64_t stop : {0, 1, 5, 11}) {
      Resumable run(config);
      run.run(stop);
      EXPECT_EQ(run.run().finish.state, trial::TrialState::finished);
      EXPECT_EQ(run.from_, stop);
      expect_same_outcome(run.journal(), whole);
      EXPECT_EQ(events_of(run.journal()), events_of(whole));
    }
    const TemporaryFolder folder;
    run_once(config, folder.file("whole"));
    const auto text = read_file(folder.file("whole")).value();
    for (const double part : {0.3, 0.6, 0.9}) {
      std::ofstream(folder.file("torn"), std::ios::trunc)
          << text.substr(0, static_cast<std::size_t>(part * double(text.size())));
      run_once(config, folder.file("torn"));
      const auto journal = mechanism::read_journal(folder.file("torn")).value();
      EXPECT_EQ(journal.attempt, 0);
      EXPECT_EQ(hashes_of(journal), hashes_of(whole));
      EXPECT_EQ(metric_of(journal, "test", "loss"), metric_of(whole, "test", "loss"));
    }
  }
}

TEST(ZerothOrder, PlanAndOptimizerAgree) {
  const auto problem = [](const trial::TrialConfig& config) {
    const auto setup = set_up(config, data_of(config));
    return setup ? std::string() : setup.error().message;
  };
  auto config = zeroth_order_config();
  EXPECT_EQ(problem(config), "");
  config.optimizer = optimizer_named("adamw");
  EXPECT_EQ(problem(config),
            "optimizer 'adamw' follows gradients, and the privacy plan releases changes of losses.");
  config = small_config();
  config.optimizer = optimizer_named("dp-zo");
  EXPECT_EQ(problem(config),
            "optimizer 'dp-zo' follows changes of losses, and the privacy plan releases gradients.");
  mechanism::set_optimizer(config, config.optimizer);
  EXPECT_NE(problem(config).find("clipping abadi"), std::string::npos) << problem(config);
  mechanism::set_optimizer(config, optimizer_named("sgd"));
  EXPECT_EQ(problem(config), "");
}

// Losses of any size count at the bound, and the run goes on; without clipping they throw the
// weights out of what float32 holds, and the run ends as diverged.
TEST(ZerothOrder, HugeLossesAreClippedOrEndTheRun) {
  auto config = zeroth_order_config(12, {{"scale", 1.0}});
  auto dataset = data_of(config);
  dataset.private_train.features.zero_().narrow(1, 0, 1).fill_(3e38F);
  EXPECT_EQ(journal_under_one_key(config, dataset, nullptr).steps.size(), 12U);
  config.controller = controller_named("constant", {{"lr", 1e6}});
  config.privacy.is_private = false;
  config.privacy.drop_noise();
  config.privacy.drop_clipping();
  config.privacy.sampler = trial::Sampler::full_batch;
  config.privacy.sample_rate = 1;
  config.privacy.batch_size = 600;
  const TemporaryFolder folder;
  auto journal = mechanism::JournalWriter::open(folder.file("journal"), config, fingerprint(config.device));
  const auto end = train(
      {.config = config, .dataset = dataset, .key = random::key_from_seed("one key"), .journal = **journal});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->finish.kind, "diverged") << end->finish.message;
}

}  // namespace
}  // namespace hyfreedp::training
