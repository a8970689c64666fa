// The audit accepts the training path as it is and refutes each bug that is planted in it, by the
// findings that are meant for it.
#include <algorithm>
#include <chrono>

#include "harness/base/text.h"
#include "tests/audit_path/settings.h"

namespace hyfreedp::training {
namespace {

struct Case {
  const char* name;
  Bug bug;
  Setting setting;
  std::vector<std::string> refuted_by;  // all of these refute
};

Setting small(const std::string& hyfreedp = "none") {
  Setting setting;
  setting.hyfreedp = hyfreedp;
  setting.runs = 4;
  return setting;
}

Setting two_workers() {
  auto setting = small();
  setting.workers = 2;
  return setting;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"noise at 2/3 scale",
       Bug::noise_two_thirds,
       small(),
       {"residuals: noise scale", "residuals: noise shape", "canaries: scores out, gradient"}},
      {"one layer left unclipped",
       Bug::unclipped_layer,
       small(),
       {"residuals: noise scale", "residuals: along the clipped sum"}},
      {"probes booked as sampled apart", Bug::probes_booked_apart, small("folded"), {"ledger: completeness"}},
      {"divisor is the realised batch size",
       Bug::realised_divisor,
       small(),
       {"residuals: scale against batch size", "residuals: along the clipped sum"}},
      {"noise reused in two steps", Bug::noise_reused, small(), {"residuals: independence across steps"}},
      {"empty batches skipped",
       Bug::empty_batches_skipped,
       small(),
       {"ledger: completeness", "sampler: batch sizes, gradient, small population"}},
      {"one key in two workers", Bug::shared_key, two_workers(), {"residuals: independence across runs"}},
      {"losses not clamped",
       Bug::losses_not_clamped,
       small("folded"),
       {"residuals: loss noise scale", "residuals: loss noise mean",
        "canaries: scores in, gradient and probe"}},
      {"batches without replacement",
       Bug::without_replacement,
       small("separate-batch"),
       {"sampler: batch sizes, gradient", "sampler: batch sizes, probe"}},
  };
  return all;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void expect_refuted_by(const audit::Report& report, const std::vector<std::string>& expected) {
  const auto found = refuting(report);
  for (const auto& name : expected) {
    EXPECT_NE(std::find(found.begin(), found.end(), name), found.end()) << "not refuted by " << name << "\n"
                                                                        << text_of(report);
  }
}

class PlantedBug : public testing::TestWithParam<std::size_t> {};

TEST_P(PlantedBug, IsRefuted) {
  const auto& tested = cases()[GetParam()];
  const Planted planted(tested.bug);
  const auto begin = std::chrono::steady_clock::now();
  const auto report = report_on(request_of(tested.setting));
  expect_refuted_by(report, tested.refuted_by);
  std::cout << fmt::format("{:<36} {:4.1f} s  {}\n", tested.name, seconds_since(begin),
                           join(refuting(report), "; "));
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBug, testing::Range(std::size_t{0}, cases().size()));

// On a network, too, where the last layer's gradient is one of several.
TEST(PlantedBugInMlp, UnclippedLayerAndSmallNoiseAreRefuted) {
  auto setting = small();
  setting.model = "mlp";
  setting.clipping = "abadi";
  {
    const Planted planted(Bug::unclipped_layer);
    expect_refuted_by(report_on(request_of(setting)), {"residuals: along the clipped sum"});
  }
  const Planted planted(Bug::noise_two_thirds);
  expect_refuted_by(report_on(request_of(setting)), {"residuals: noise scale"});
}

// The algorithm as published prices probes of the gradient's batch as batches of their own: nothing
// is wrong with the path, and the canaries alone show more than epsilon 8.
TEST(PaperMode, ItsClaimIsRefutedByCanariesAndBySimulation) {
  Setting setting = small("paper");
  setting.population = 1000;
  setting.sample_rate = 0.02;
  setting.steps = 250;
  setting.interval = 1;
  setting.canaries = 100;
  setting.runs = 20;
  const auto begin = std::chrono::steady_clock::now();
  const auto report = report_on(request_of(setting));
  const std::vector<std::string> expected = {"canaries: audited epsilon", "ledger: simulated delta"};
  EXPECT_EQ(refuting(report), expected) << text_of(report);
  EXPECT_NEAR(report.claim.epsilon, 8, 0.01);
  EXPECT_GT(report.audited_epsilon, 8);
  std::cout << fmt::format("paper mode, nominal epsilon {:.3f}: at least {:.3f} by canaries ({:.1f} s)\n",
                           report.claim.epsilon, report.audited_epsilon, seconds_since(begin));
}

}  // namespace
}  // namespace hyfreedp::training
