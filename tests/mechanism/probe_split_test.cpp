// HyFreeDP's division of a budget, against the published table and closed forms.
#include "harness/mechanism/probe_split.h"

#include <cmath>
#include <gtest/gtest.h>

#include "harness/base/files.h"

namespace hyfreedp::mechanism {
namespace probe_split_test {

using accounting::Batch;

constexpr double kDelta = 6.7784905546796565e-06;

ProbeSplitRequest request(double epsilon, ProbeAccounting mode, std::int64_t interval = 5) {
  ProbeSplitRequest made;
  made.plan = probing_plan(0.02, interval);
  made.steps = 250;
  made.epsilon = epsilon;
  made.delta = kDelta;
  made.mode = mode;
  return made;
}

// The published table of noises: RDP on the orders of the file.
TEST(ProbeSplit, ReproducesTheGoldenNoises) {
  const auto file = read_json_file(std::string(HYFREEDP_TEST_DATA) + "/accounting/hyfreedp_noise.json");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  std::vector<double> orders;
  for (const auto& order : file->at("orders_rdp").as_array())
    orders.push_back(to_double(order, "order").value());
  const std::pair<ProbeAccounting, const char*> columns[] = {
      {ProbeAccounting::folded, "sigma_l_sound"},
      {ProbeAccounting::separate_batch, "sigma_l_separate_batch"},
      {ProbeAccounting::paper, "sigma_l_paper"},
      {ProbeAccounting::paper_appendix, "sigma_l_appendix_c"}};
  int checked = 0;
  for (const auto& value : file->at("rows").as_array()) {
    const auto& row = value.as_object();
    const auto at = [&](const char* key) { return get_double(row, key, "row").value(); };
    for (const auto& [mode, column] : columns) {
      ProbeSplitRequest asked = request(at("eps"), mode, static_cast<std::int64_t>(at("K")));
      asked.plan.sample_rate = at("q");
      asked.steps = static_cast<std::int64_t>(at("T"));
      asked.plan.probe->points = static_cast<int>(at("m"));
      asked.gamma = at("gamma");
      asked.delta = at("delta");
      asked.accountant = "rdp";
      asked.orders = orders;
      const auto split = split_budget(asked);
      ASSERT_TRUE(split.has_value()) << split.error().message;
      EXPECT_NEAR(split->sigma / at("sigma"), 1, 1e-6);
      EXPECT_NEAR(split->sigma_l / at(column), 1, 1e-6)
          << column << " eps " << asked.epsilon << " K " << asked.plan.probe->interval;
      EXPECT_LE(split->claimed_epsilon, asked.epsilon * (1 + 1e-12));
      if (mode == ProbeAccounting::paper) {
        EXPECT_NEAR(split->sound.epsilon / at("true_eps_of_paper_pld"), 1, 2e-3);
      }
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

TEST(ProbeSplit, EveryProbeStepHasAClosedForm) {
  for (const double epsilon : {1.0, 3.0, 8.0}) {
    const auto split = split_budget(request(epsilon, ProbeAccounting::folded, 1));
    ASSERT_TRUE(split.has_value()) << split.error().message;
    const double expected = split->sigma * std::sqrt(3 / (1 - 1 / (1.01 * 1.01)));
    EXPECT_NEAR(split->sigma_l / expected, 1, 5e-3);
  }
}

TEST(ProbeSplit, OnlyTheSoundModesMeetTheirClaim) {
  for (const double epsilon : {3.0, 8.0}) {
    for (const auto mode : {ProbeAccounting::folded, ProbeAccounting::separate_batch}) {
      const auto split = split_budget(request(epsilon, mode));
      EXPECT_LE(split->sound.epsilon, epsilon);
      EXPECT_GT(split->sound.epsilon, 0.999 * epsilon);
    }
    const auto paper = split_budget(request(epsilon, ProbeAccounting::paper));
    EXPECT_LE(paper->claimed_epsilon, epsilon);
    EXPECT_GT(paper->sound.epsilon_lower, 1.3 * epsilon) << "the published composition is refuted";
  }
}

TEST(ProbeSplit, ProbesAreCountedRoundedUpAndOnTheGradientsBatch) {
  auto asked = request(3, ProbeAccounting::folded, 7);
  const auto events = probe_events(asked, 1, 5);
  ASSERT_EQ(events.events.size(), 2u);
  EXPECT_EQ(std::get<Batch>(events.events[1].what).count, 36);
  EXPECT_EQ(std::get<Batch>(events.events[1].what).releases.size(), 2u);
  EXPECT_EQ(std::get<Batch>(events.events[0].what).count, 214);
  asked.mode = ProbeAccounting::separate_batch;
  asked.plan.probe->sample_rate = 0.08;
  const auto apart = probe_events(asked, 1, 5);
  EXPECT_EQ(std::get<Batch>(apart.events[0].what).count, 250);
  EXPECT_EQ(std::get<Batch>(apart.events[1].what).sample_rate, 0.08);
  EXPECT_EQ(std::get<Batch>(apart.events[1].what).count, 36);
}

// The mean takes its part of the budget: more noise for the rest, the same total.
TEST(ProbeSplit, LeavesRoomForAFeatureMean) {
  for (const auto mode : {ProbeAccounting::folded, ProbeAccounting::separate_batch}) {
    auto asked = request(3, mode);
    const auto plain = split_budget(asked);
    asked.plan.asked.feature_mean = trial::FeatureMean{1, 4};
    const auto beside = split_budget(asked);
    ASSERT_TRUE(plain && beside);
    EXPECT_GT(beside->sigma_g, plain->sigma_g * 1.01);
    EXPECT_LE(beside->sound.epsilon, 3);
    EXPECT_GT(beside->sound.epsilon, 0.999 * 3);
    const auto events = probe_events(asked, 1, 5).events;
    EXPECT_EQ(std::get<Batch>(events.at(0).what).sample_rate, 1);
    EXPECT_EQ(std::get<Batch>(events.at(0).what).releases.at(0).noise_multiplier, 4);
  }
  auto dear = request(3, ProbeAccounting::folded);
  dear.plan.asked.feature_mean = trial::FeatureMean{1, 0.5};
  EXPECT_FALSE(split_budget(dear));
  dear.plan.asked.feature_mean->noise = -1;
  EXPECT_NE(split_budget(dear).error().message.find("mean"), std::string::npos);
}

// Of the published modes RDP is the accountant, and another is not passed over.
TEST(ProbeSplit, PldSetsNoPublishedNoise) {
  for (const auto mode : {ProbeAccounting::paper, ProbeAccounting::paper_appendix}) {
    auto asked = request(3, mode);
    const auto usual = split_budget(asked);
    asked.accountant = "rdp";
    const auto by_rdp = split_budget(asked);
    ASSERT_TRUE(usual && by_rdp);
    EXPECT_EQ(usual->sigma_l, by_rdp->sigma_l);
    asked.accountant = "pld";
    ASSERT_FALSE(split_budget(asked));
    EXPECT_NE(split_budget(asked).error().message.find("'" + to_string(mode) + "' is set by RDP"),
              std::string::npos);
  }
}

TEST(ProbeSplit, BadRequestsAreSentences) {
  auto asked = request(3, ProbeAccounting::folded);
  asked.gamma = 1;
  EXPECT_NE(split_budget(asked).error().message.find("gamma"), std::string::npos);
  asked = request(3, ProbeAccounting::folded, 0);
  EXPECT_NE(split_budget(asked).error().message.find("interval"), std::string::npos);
  asked = request(-1, ProbeAccounting::folded);
  EXPECT_NE(split_budget(asked).error().message.find("psilon"), std::string::npos);
  EXPECT_NE(probe_accounting_from("foldd").error().message.find("folded'?"), std::string::npos);
  EXPECT_EQ(probe_accounting_from("paper-appendix").value(), ProbeAccounting::paper_appendix);
  EXPECT_EQ(to_string(ProbeAccounting::separate_batch), "separate-batch");
}

}  // namespace probe_split_test
}  // namespace hyfreedp::mechanism
