// What `hyfreedp run --dry-run` says of the time: from runs that were timed, and nothing of a
// private selection's number of runs.
#include "harness/cli/run/dry_run.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "command_fixture.h"
#include "harness/base/text.h"
#include "harness/cli/run/probe_forecast.h"

namespace hyfreedp::cli {
namespace dry_run_test {

using ::testing::HasSubstr;
using ::testing::Not;

class DryRunTime : public CommandTest {
 protected:
  DryRunTime() : CommandTest("run") {}

  // Of a spec of `seeds` seeds with one row.
  runner::Spec spec(const std::string& row, int seeds = 2) {
    std::vector<std::string> list;
    for (int seed = 0; seed < seeds; ++seed) list.push_back(std::to_string(seed));
    const auto text = fmt::format(
        "name: one\nnoise_seed: s\npanels:\n  - id: p\n    dataset: {{name: synthetic, train: 2000, "
        "validation: 500}}\n"
        "    model: linear\n    seeds: [{}]\n    epsilon: [3]\n    delta: 1e-5\n"
        "    train: {{sample_rate: 0.1, steps: 10, optimizer: adamw}}\n    rows: [{}]\n",
        join(list, ", "), row);
    return runner::load_spec(file("one.yaml", text)).value();
  }
  static std::string said(const runner::Spec& spec, const runner::Pace& pace, int workers = 2) {
    std::ostringstream out;
    const auto done = dry_run(spec, runner::plan(spec).value(), {100, pace, "out", workers}, out);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return out.str();
  }
};

constexpr const char* kFixed = "{method: fixed-rate, options: {lr: 0.1}}";
constexpr const char* kSelection = "{method: dp-hyper, options: {grid: [0.01, 0.1], mean_runs: 5}}";

TEST_F(DryRunTime, SaysThatTheTimeIsNotKnown) {
  EXPECT_THAT(said(spec(kFixed), {}),
              HasSubstr("CPU time is not known: no run on this device was timed in out"));
}

TEST_F(DryRunTime, StatesTheTimeBySimilarRuns) {
  const auto asked = spec(kFixed);
  const auto study = runner::plan(asked).value().front();
  runner::Pace pace;
  pace.measure(runner::work_of(study.baseline->next(study.cell, {}).value().front()), 40);
  EXPECT_THAT(said(asked, pace),
              HasSubstr("CPU time of these: about 1 min 20 s, so 40.0 s on 2 workers; by the times of 1 "
                        "earlier run in out."));
  auto elsewhere = runner::work_of(study.cell.base);
  elsewhere.kind.device = "cuda";
  runner::Pace other;
  other.measure(elsewhere, 30);
  EXPECT_THAT(said(asked, other), HasSubstr("CPU time is not known"));
}

// What a selection drew differs from seed to seed; its mean does not.
TEST_F(DryRunTime, CountsAPrivateSelectionAtItsMean) {
  const auto asked = spec(kSelection, 3);
  const auto studies = runner::plan(asked).value();
  runner::Pace pace;
  pace.measure(runner::work_of(studies.front().cell.base), 2);
  const double mean = runner::expected_runs(studies.front());
  EXPECT_GT(mean, 1);
  for (const auto& study : studies) EXPECT_EQ(runner::expected_runs(study), mean);
  const auto text = said(asked, pace, 1);
  EXPECT_THAT(text, HasSubstr("CPU time of these: about " + human_duration(3 * mean * 2)));
  EXPECT_THAT(text, HasSubstr("a hidden number of first trials"));
}

// By hand: noise s = sigma_l R / B in each loss and 2 R / eta* as slope, which is
// 2 s / (sqrt(2) eta0) at eta* = sqrt(2) eta0 B / sigma_l.
TEST_F(DryRunTime, ForetellsWhatTheFirstProbeCanSee) {
  const auto asked = spec("{method: hyfreedp, options: {accounting: separate-batch, eta0: 0.002}}");
  const auto study = runner::plan(asked).value().front();
  auto config = study.baseline->next(study.cell, {}).value().front();
  ASSERT_TRUE(config.privacy.probe);
  auto& probe = *config.privacy.probe;
  const auto forecast = foresee_probes(config);
  ASSERT_TRUE(forecast);
  EXPECT_EQ(forecast->first_rate, 0.002);
  EXPECT_NEAR(forecast->largest_visible, 0.002 * std::sqrt(2.0) * probe.batch_size / probe.noise, 1e-12);
  EXPECT_THAT(said(asked, {}), HasSubstr("a probe at its first rate, 0.002, can see a slope (2 sd of its "
                                         "noise) only if the best rate is below "));
  // Paired: of the differences alone, bounded by a tenth.
  config.controller.options["release"] = "paired";
  EXPECT_NEAR(foresee_probes(config)->largest_visible,
              0.002 * std::sqrt(2.0) * probe.batch_size / (0.1 * probe.noise), 1e-11);
  config.privacy.is_private = false;
  EXPECT_FALSE(foresee_probes(config));
  EXPECT_THAT(said(spec("hyfreedp-plus"), {}), Not(HasSubstr("a probe at its first rate")));
}

}  // namespace dry_run_test
}  // namespace hyfreedp::cli
