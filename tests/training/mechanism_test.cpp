// What the mechanism refuses, and what it makes of a sum.
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace mechanism_test {

using mechanism::BoundedSum;
using mechanism::BoundedVector;

const random::Key kKey = random::key_from_seed("tests of the mechanism");

trial::TrialConfig config_with_score() {
  auto config = probing_config(true);
  config.privacy.clipping.rule = trial::ClippingRule::adaptive;
  config.privacy.clipping.constant = 0.5;
  config.privacy.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = 5};
  config.evaluation.score = trial::ScoreRelease{7};
  return config;
}

// A mechanism with bookings that count.
struct Counted : NoBookings {
  Counted() : NoBookings(3) {}
  Result<void> ensure_booked(std::int64_t step) override {
    booked.push_back(step);
    return {};
  }
  Result<void> book_score(double noise, const std::string& split) override {
    scores.push_back(std::to_string(noise) + " " + split);
    return {};
  }
  Result<void> step(const trial::StepRecord& record, const std::set<std::string>& made) override {
    steps.push_back({record, made});
    return {};
  }
  std::optional<std::string> expected_hash(std::int64_t) const override { return expected; }

  std::vector<std::int64_t> booked;
  std::vector<std::string> scores;
  std::vector<std::pair<trial::StepRecord, std::set<std::string>>> steps;
  std::optional<std::string> expected;
};

class TheMechanism : public testing::Test {
 protected:
  void gradient(std::int64_t step, double sensitivity = 0.5) {
    auto sum = torch::zeros({4});
    ASSERT_TRUE(door.release(mechanism::kGradient, step, {sum, sensitivity, sum}, {}));
  }
  std::vector<double> values(const std::string& purpose, std::int64_t step, std::vector<BoundedSum> sums) {
    return door.release(purpose, step, sums).value();
  }
  void count(std::int64_t step) { values(mechanism::kClipCount, step, {{1, 0.5}}); }
  // Makes all releases of the steps before `end`.
  void pass_steps(std::int64_t end) {
    for (std::int64_t step = passed_; step < end; ++step) {
      gradient(step);
      count(step);
      if (step % 5 == 0) values(mechanism::kProbe, step, {{1, 1}, {1, 1}, {1, 1}});
      ASSERT_TRUE(door.end_step(step, {}).value());
    }
    passed_ = end;
  }

  trial::TrialConfig config = config_with_score();
  Counted bookings;
  mechanism::Mechanism door{config, kKey, bookings};
  std::int64_t passed_ = 0;
};

TEST_F(TheMechanism, AddsThePlansNoiseAndDividesByThePlansDivisor) {
  pass_steps(2);
  auto sum = torch::full({4}, 3.0, torch::kFloat64);
  auto expected = sum.clone();
  ASSERT_TRUE(door.release(mechanism::kGradient, 2, {sum, 0.25, sum}, {}));
  random::add_normals(kKey, address_of(random::Purpose::gradient_noise, 2, 3), 0, 1.1 * 0.25,
                      std::span<double>(expected.data_ptr<double>(), 4));
  EXPECT_TRUE(sum.equal(expected / 60));

  std::vector<double> z(3);
  random::fill_normals(kKey, address_of(random::Purpose::clip_count_noise, 2, 3), 0, z);
  EXPECT_EQ(values(mechanism::kClipCount, 2, {{-4, 0.5}})[0], (-4 + 5 * 0.5 * z[0]) / 60 + 0.5);
  ASSERT_TRUE(door.end_step(2, {}).value());

  passed_ = 3;
  pass_steps(5);
  random::fill_normals(kKey, address_of(random::Purpose::probe_noise, 5, 3), 0, z);
  const auto losses = values(mechanism::kProbe, 5, {{8, 2}, {9, 2}, {1, 0.1, true}});
  EXPECT_EQ(losses[1], (9 + 2.0 * 2 * z[1]) / 60);
  EXPECT_EQ(losses[2], losses[0] + (1 + 2.0 * 0.1 * z[2]) / 60);
  gradient(5);
  count(5);
  ASSERT_TRUE(door.end_step(5, {}).value());

  passed_ = 6;
  pass_steps(12);

  random::fill_normals(kKey, address_of(random::Purpose::score_noise, 12, 3), 0, z);
  EXPECT_EQ(values(mechanism::kScore, 12, {{40, 1}})[0], 40 + 7 * z[0]);
}

// 20000 values: the mean of |x| is the scale, with a standard deviation of 0.7 %. 5 of them are
// passed by chance with probability 6e-7.
TEST(MechanismOfLaplaceNoise, HasItsScaleAndNoOther) {
  auto plan = probing_config(true).privacy;
  plan.probe = trial::ProbePlan{.separate_batch = true,
                                .sample_rate = 1,
                                .batch_size = 600,
                                .noise = 2,
                                .distribution = accounting::Noise::laplace,
                                .points = 20000,
                                .interval = 1};
  ASSERT_TRUE(plan.check());
  const std::vector<BoundedSum> nothing(20000, {0, 0.5});
  const auto released = Door(plan, kKey, 0)->release(mechanism::kProbe, 0, nothing).value();
  double scale = 0, square = 0;
  for (const double x : released) {
    scale += std::abs(x) * 600 / 20000;
    square += x * x * 600 * 600 / 20000;
  }
  EXPECT_NEAR(scale, 2 * 0.5, 5 * 0.007);
  EXPECT_NEAR(square, 2 * scale * scale, 0.15) << "a normal would have pi / 2 times the square";
  EXPECT_NE(released, Door(plan, kKey, 0, 1)->release(mechanism::kProbe, 1, nothing).value());
  plan.probe->sample_rate = 0.5;
  EXPECT_FALSE(plan.check()) << "nothing folds several Laplace releases of a sampled batch";
}

TEST_F(TheMechanism, BooksBeforeItReleases) {
  gradient(0);
  EXPECT_EQ(bookings.booked, std::vector<std::int64_t>{0});
  count(0);
  values(mechanism::kProbe, 0, {{1, 1}, {1, 1}, {1, 1}});
  ASSERT_TRUE(door.end_step(0, {}).value());
  passed_ = 1;
  pass_steps(12);
  values(mechanism::kScore, 12, {{40, 1}});
  EXPECT_EQ(bookings.scores.size(), 1U);
}

TEST_F(TheMechanism, RefusesWhatThePlanDoesNotHave) {
  EXPECT_THROW(values("labels", 0, {{1, 1}}), std::logic_error);
  EXPECT_THROW(values(mechanism::kProbe, 1, {{1, 1}, {1, 1}, {1, 1}}), std::logic_error) << "another step";
  EXPECT_THROW(values(mechanism::kProbe, 0, {{1, 1}, {1, 1}}), std::logic_error) << "another number";
  EXPECT_THROW(values(mechanism::kGradient, 0, {{1, 1}}), std::logic_error) << "values for a vector";
  EXPECT_THROW(values(mechanism::kGradient, 0, {}), std::logic_error) << "no value for a vector";
  EXPECT_THROW(gradient(12), std::logic_error) << "after the last step";
  EXPECT_THROW(values(mechanism::kScore, 11, {{1, 1}}), std::logic_error) << "before the end";
  EXPECT_THROW(door.draw(random::Purpose::gradient_noise, 0, [](const auto&, const auto&) {}),
               std::logic_error);
}

TEST_F(TheMechanism, RefusesASecondReleaseOfOnePurpose) {
  gradient(0);
  EXPECT_THROW(gradient(0), std::logic_error);
  count(0);
  values(mechanism::kProbe, 0, {{1, 1}, {1, 1}, {1, 1}});
  ASSERT_TRUE(door.end_step(0, {}).value());
  EXPECT_THROW(gradient(0), std::logic_error) << "a step that ended";
  EXPECT_THROW(gradient(2), std::logic_error) << "a step that has not begun";
  EXPECT_THROW(door.end_step(0, {}), std::logic_error);
}

TEST_F(TheMechanism, AScoreIsReleasedOnceAndAtTheEnd) {
  EXPECT_THROW(values(mechanism::kScore, 12, {{40, 1}}), std::logic_error) << "before the steps";
  pass_steps(12);
  values(mechanism::kScore, 12, {{40, 1}});
  EXPECT_THROW(values(mechanism::kScore, 12, {{41, 1}}), std::logic_error);
}

TEST_F(TheMechanism, RefusesNoiseThatUnderflows) {
  config.privacy.clipping.adaptive.reset();
  config.privacy.clipping.rule = trial::ClippingRule::abadi;
  config.privacy.clipping.constant = 5e-324;
  config.privacy.gradient_noise = 0.4;
  mechanism::Mechanism tiny(config, kKey, bookings);
  auto sum = torch::zeros({4}, torch::kFloat64);
  EXPECT_THROW((void)tiny.release(mechanism::kGradient, 0, {sum, 5e-324, sum}, {}), std::logic_error);
}

TEST_F(TheMechanism, RefusesASumWithoutABound) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(values(mechanism::kProbe, 0, {{1, 1}, {1, kInfinity}, {1, 1}}), std::logic_error);
  EXPECT_THROW(values(mechanism::kProbe, 0, {{1, 1, true}, {1, 1}, {1, 1}}), std::logic_error);
  EXPECT_THROW(values(mechanism::kClipCount, 0, {{1, 1}}), std::logic_error) << "the plan says 1/2";
  EXPECT_THROW(gradient(0, kInfinity), std::logic_error);
  mechanism::Mechanism fresh(config, kKey, bookings);
  auto sum = torch::zeros({4});
  EXPECT_THROW((void)fresh.release(mechanism::kGradient, 0, {sum, 0, sum}, {}), std::logic_error);
}

TEST_F(TheMechanism, AStepWithoutAllOfItsReleasesDoesNotEnd) {
  gradient(0);
  count(0);
  EXPECT_THROW(door.end_step(0, {}), std::logic_error) << "the probe is due";
  values(mechanism::kProbe, 0, {{1, 1}, {1, 1}, {1, 1}});
  EXPECT_TRUE(door.end_step(0, {{"eta", 1}}).value());
  ASSERT_EQ(bookings.steps.size(), 1U);
  EXPECT_EQ(bookings.steps[0].second, (std::set<std::string>{"clip-count", "gradient", "probe"}));
  gradient(1);
  EXPECT_TRUE(door.end_step(1, {}, true).value()) << "a run that diverged ends where it is";
}

TEST_F(TheMechanism, ARepeatedStepHasToReleaseTheSame) {
  pass_steps(1);
  mechanism::Mechanism again(config, kKey, bookings);
  bookings.expected = bookings.steps[0].first.hash;
  auto sum = torch::zeros({4});
  ASSERT_TRUE(again.release(mechanism::kGradient, 0, {sum, 0.5, sum}, {}));
  const std::vector<BoundedSum> losses(3, {1, 1});
  ASSERT_TRUE(again.release(mechanism::kProbe, 0, losses));
  const BoundedSum count_of_another{2, 0.5};
  ASSERT_TRUE(again.release(mechanism::kClipCount, 0, {&count_of_another, 1}));
  EXPECT_FALSE(again.end_step(0, {}).value());
  EXPECT_EQ(bookings.steps.size(), 1U) << "nothing is recorded";
}

TEST(Mechanism, APrivateReleaseWithoutNoiseIsRefusedAtOnce) {
  auto config = probing_config(false);
  config.privacy.probe->noise = 0;
  NoBookings none(0);
  EXPECT_THROW(mechanism::Mechanism(config, kKey, none), std::logic_error);
}

}  // namespace mechanism_test
}  // namespace hyfreedp::training
