// The audit accepts the training path as it is (honest_test.cpp) and refutes it with each faulty
// part (tests/training/faults.h), by the findings that are meant for it.
#include <algorithm>
#include <chrono>

#include "harness/base/text.h"
#include "tests/audit_path/settings.h"
#include "tests/training/faults.h"

namespace hyfreedp::training {
namespace planted_test {

struct Case {
  const char* name;
  Parts parts;
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

Setting of_losses() {
  Setting setting;
  setting.released = "loss-change";
  setting.clipping = "abadi";
  return setting;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"noise at 2/3 scale",
       scaled_noise(2.0 / 3.0),
       small(),
       {"residuals: noise scale", "residuals: noise shape", "canaries: scores out, gradient"}},
      {"one layer left unclipped",
       unclipped_last_layer(),
       small(),
       {"residuals: noise scale", "residuals: along the clipped sum"}},
      {"probes booked as sampled apart",
       with_mechanism<ProbesOnGradientBatch>(),
       small("separate-batch"),
       {"ledger: completeness"}},
      {"divisor is the realised batch size",
       with_mechanism<RealisedDivisor>(),
       small(),
       {"residuals: scale against batch size", "residuals: along the clipped sum"}},
      {"noise reused in two steps",
       with_mechanism<ReusedNoise>(),
       small(),
       {"residuals: independence across steps"}},
      {"empty batches skipped",
       with_mechanism<SkippedEmptyBatches>(),
       small(),
       {"ledger: completeness", "sampler: batch sizes, gradient, small population"}},
      {"one key in two workers", shared_key(), two_workers(), {"residuals: independence across runs"}},
      {"losses not clamped",
       losses_not_clamped(),
       small("folded"),
       {"residuals: loss noise scale", "residuals: loss noise mean",
        "canaries: scores in, gradient and probe"}},
      {"Laplace losses not clamped",
       losses_not_clamped(),
       small("laplace"),
       {"residuals: loss noise scale", "residuals: loss noise mean"}},
      {"batches without replacement",
       with_mechanism<WithoutReplacement>(),
       small("separate-batch"),
       {"sampler: batch sizes, gradient", "sampler: batch sizes, probe"}},
      {"changes of losses not clipped",
       changes_not_clipped(),
       of_losses(),
       {"residuals: noise scale", "residuals: along the clipped sum"}},
      {"changes of losses without noise",
       scaled_noise(0),
       of_losses(),
       {"residuals: noise scale", "residuals: noise shape"}},
      {"changes of losses with noise at 2/3 scale",
       scaled_noise(2.0 / 3.0),
       of_losses(),
       {"residuals: noise scale"}},
      {"noise of a change reused in two steps",
       with_mechanism<ReusedNoise>(),
       of_losses(),
       {"residuals: independence across steps"}},
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
  const auto begin = std::chrono::steady_clock::now();
  const auto report = report_on(request_of(tested.setting), tested.parts);
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
  expect_refuted_by(report_on(request_of(setting), unclipped_last_layer()),
                    {"residuals: along the clipped sum"});
  expect_refuted_by(report_on(request_of(setting), scaled_noise(2.0 / 3.0)), {"residuals: noise scale"});
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

}  // namespace planted_test
}  // namespace hyfreedp::training
