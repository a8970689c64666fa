// The whole report: honest training is accepted at the stated rate, each planted bug is refuted by
// the test that should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "harness/audit/binomial.h"
#include "tests/audit/simulated.h"

namespace hyfreedp::audit {
namespace judge_test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What the honest setting really costs, a little above: claimed as the command does.
Claim honest_claim(const Setting& setting) {
  const double delta = 1e-3;
  const auto priced = accounting::epsilon_pld({{}, simulated_events(setting)}, delta);
  return {priced.value().epsilon, delta, "PLD of the calibrated events"};
}

Report report_of(const Setting& setting, double rate = 1e-4) {
  return judge(observe(setting), honest_claim(setting), rate).value();
}

TEST(Judge, HonestTrainingIsAcceptedAtTheDefaultRate) {
  // False failure 20 x 1e-4.
  for (int seed = 0; seed < 20; ++seed) {
    Setting setting;
    setting.seed = "default rate " + std::to_string(seed);
    const auto report = report_of(setting);
    EXPECT_THAT(refuted_names(report), IsEmpty()) << setting.seed << "\n" << pretty_json(to_json(report));
    EXPECT_GT(report.audited_epsilon, 0.3 * report.claim.epsilon);
    EXPECT_LE(report.audited_epsilon, report.claim.epsilon);
  }
}

struct Planted {
  Bug bug;
  std::string found_by;
};

class PlantedBug : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedBug, IsRefutedByTheTestForIt) {
  Setting setting;
  setting.bug = GetParam().bug;
  if (setting.bug == Bug::skipped_empty) setting.population = 100;
  setting.seed = GetParam().found_by;
  const auto report = report_of(setting);
  EXPECT_THAT(refuted_names(report), Contains(HasSubstr(GetParam().found_by)))
      << pretty_json(to_json(report));
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedBug,
    ::testing::Values(Planted{Bug::small_noise, "noise scale"}, Planted{Bug::large_noise, "noise scale"},
                      Planted{Bug::small_noise, "scores out"}, Planted{Bug::unclipped_layer, "noise mean"},
                      Planted{Bug::unclipped_layer, "along the clipped sum"},
                      Planted{Bug::realised_divisor, "scale against batch size"},
                      Planted{Bug::reused_noise, "independence across steps"},
                      Planted{Bug::skipped_empty, "batch sizes"}, Planted{Bug::skipped_empty, "completeness"},
                      Planted{Bug::same_seed, "independence across runs"},
                      Planted{Bug::unclamped_losses, "loss noise mean"},
                      Planted{Bug::fixed_size_batches, "batch sizes"},
                      Planted{Bug::small_loss_noise, "loss noise scale"},
                      Planted{Bug::large_loss_noise, "loss noise scale"},
                      Planted{Bug::shared_stream, "independence across coordinates"},
                      Planted{Bug::loss_from_gradient, "losses against gradients"}));

// The paper's accounting at epsilon 8: what is booked is worth 14.8, so the nominal claim must
// fall.
TEST(Judge, PaperAccountingIsRefutedByLedgerAndCanaries) {
  Setting setting;
  setting.runs = 4;
  setting.steps = 250;
  setting.dimension = 20;
  setting.sigma_g = 0.6438;
  setting.sigma_l = 0.912;
  const auto report = judge(observe(setting), {8, 6.778e-6, "paper accounting"}, 1e-4).value();
  EXPECT_THAT(refuted_names(report), ::testing::UnorderedElementsAre("simulated delta", "audited epsilon"))
      << pretty_json(to_json(report));
  EXPECT_GT(report.audited_epsilon, 8);
  EXPECT_LT(report.audited_epsilon, 14.82);
}

// Over 300 honest experiments at a rate of 5 %, refusals are at most what Bin(300, 0.05) gives but
// for 1e-4; the union bound makes fewer of them. False failure of the test: 1e-4.
TEST(Judge, RefusesHonestTrainingNoMoreOftenThanItStates) {
  constexpr std::int64_t kExperiments = 300;
  constexpr double kRate = 0.05;
  std::int64_t refused = 0;
  std::map<std::string, int> by;
  for (std::int64_t seed = 0; seed < kExperiments; ++seed) {
    Setting setting;
    setting.runs = 3;
    setting.steps = 15;
    setting.dimension = 40;
    setting.population = 150;
    setting.canaries = 5;
    setting.seed = "rate " + std::to_string(seed);
    auto seen = observe(setting);
    seen.runs.clear();  // the ledger is the same each time; ledger_test.cpp varies its draws
    const auto report = judge(seen, honest_claim(setting), kRate).value();
    if (report.refuted()) ++refused;
    for (const auto& name : refuted_names(report)) ++by[name];
  }
  for (const auto& [name, count] : by) std::cout << "  " << name << " refused " << count << '\n';
  std::cout << "  in all " << refused << " of " << kExperiments << " at rate " << kRate << '\n';
  EXPECT_GT(binomial_at_least(refused, kExperiments, kRate), 1e-4);
}

TEST(Judge, SplitsItsRateAndSaysSo) {
  const auto report = report_of(Setting{}, 1e-3);
  double sum = 0;
  for (const auto& finding : report.findings) sum += finding.false_alarm;
  EXPECT_NEAR(sum, 1e-3, 1e-15);
  EXPECT_GT(report.confidence, 1 - 1e-3);
  std::vector<std::string> groups;
  for (const auto& finding : report.findings) {
    if (groups.empty() || groups.back() != finding.group) groups.push_back(finding.group);
  }
  EXPECT_THAT(groups, ::testing::ElementsAre("residuals", "canaries", "ledger", "sampler"));
}

TEST(Judge, ReportSurvivesJson) {
  const auto report = report_of(Setting{.bug = Bug::small_noise});
  const auto again = from_json<Report>(to_json(report), "report").value();
  EXPECT_EQ(canonical_json(to_json(again)), canonical_json(to_json(report)));
  EXPECT_TRUE(again.refuted());
  EXPECT_EQ(again.findings.size(), report.findings.size());
}

TEST(Judge, BrokenJsonIsNamed) {
  EXPECT_THAT(from_json<Report>(json::array{}, "answer").error().message, HasSubstr("answer"));
  auto object = to_json(report_of(Setting{}));
  object["findings"].get_array()[1].get_object().erase("refuted");
  EXPECT_THAT(from_json<Report>(object, "answer").error().message, HasSubstr("answer.findings[1]"));
}

TEST(Judge, NothingSeenIsNothingRefuted) {
  const auto report = judge({}, {1, 1e-5, "x"}, 1e-4).value();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.audited_epsilon, 0);
}

TEST(Judge, NotANumberIsRefuted) {
  auto seen = observe(Setting{});
  seen.residuals[3].gradient[5] = std::numeric_limits<float>::quiet_NaN();
  seen.canaries[0].in[2] = std::numeric_limits<double>::infinity();
  const auto report = judge(seen, {100, 1e-3, "x"}, 1e-4).value();
  EXPECT_THAT(refuted_names(report), ::testing::ElementsAre("finite values", "finite scores"));
}

// Values far beyond anything that trains must not break the arithmetic.
TEST(Judge, AbsurdResidualsAreRefutedNotThrown) {
  for (const double scale : {0.0, 1e-20, 1e15}) {
    auto seen = observe(Setting{});
    for (auto& one : seen.residuals) {
      for (float& value : one.gradient) value = static_cast<float>(value * scale);
      for (double& value : one.losses) value *= scale;
      one.along_sum *= scale;
    }
    const auto report = judge(seen, {100, 1e-3, "x"}, 1e-4);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_THAT(refuted_names(*report), Contains("noise scale")) << scale;
    EXPECT_THAT(refuted_names(*report), Contains("loss noise scale")) << scale;
  }
}

TEST(Judge, ContradictoryObservationsAreErrors) {
  const Claim claim{1, 1e-5, "x"};
  const auto refused = [&](auto change, const char* words) {
    auto seen = observe(Setting{.steps = 5});
    change(seen);
    const auto report = judge(seen, claim, 1e-4);
    ASSERT_FALSE(report.has_value()) << words;
    EXPECT_THAT(report.error().message, HasSubstr(words));
  };
  refused([](auto& seen) { seen.residuals[1].gradient.pop_back(); }, "coordinates");
  refused([](auto& seen) { seen.residuals[5].losses.pop_back(); }, "losses");
  refused([](auto& seen) { seen.residuals[1] = seen.residuals[0]; }, "twice");
  refused([](auto& seen) { ++seen.samplers[0].sizes[0]; }, "contradict");
  refused([](auto& seen) { seen.samplers[0].inclusions.pop_back(); }, "inclusion");
  refused([](auto& seen) { seen.samplers[0].sample_rate = 1.5; }, "sampling rate");
  refused([](auto& seen) { seen.canaries[0].claimed_mu = 0; }, "claimed mu");
  refused([](auto& seen) { seen.one_run.push_back({10, 5, 6}); }, "one-run");
  refused([](auto& seen) { seen.runs[0].executed[0].what = accounting::NotAccountable{"shuffled"}; },
          "shuffled");
  EXPECT_FALSE(judge({}, claim, 0).has_value());
  EXPECT_FALSE(judge({}, claim, 1).has_value());
  EXPECT_FALSE(judge({}, {-1, 1e-5, "x"}, 1e-4).has_value());
  EXPECT_FALSE(judge({}, {1, 0, "x"}, 1e-4).has_value());
}

}  // namespace judge_test
}  // namespace hyfreedp::audit
