// A thousand clean nights, drawn from one real night of experiments/nightly.yaml: its cells, its tests, its spreads and how they
// go together.
#include <cmath>
#include <fmt/format.h>
#include <iostream>
#include <random>

#include "results/night.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace {

using results::Night;
using results::NightCell;
using results::NightRun;

// Runs of a cell, drawn from the normal distribution that has the real runs' mean and covariance over all that is compared:
// mean + sum_i g_i (x_i - mean) / sqrt(n - 1) with independent standard normal g_i.
class DrawnCell {
 public:
  explicit DrawnCell(const NightCell& real) : real_(real) {
    for (const auto& run : real.runs) {
      if (run.state != NightRun::State::value) continue;
      auto values = std::vector<double>{run.accuracy.value(), run.loss.value()};
      for (const auto& [name, norm] : run.norms) values.push_back(std::log(std::max(norm, 1e-30)));
      values_.push_back(std::move(values));
    }
  }

  NightCell draw(std::mt19937_64& random, const std::string& noise_seed) const {
    auto cell = real_;
    if (values_.size() < 2) return cell;
    for (auto& run : cell.runs) draw_run(random, run);
    for (auto& run : cell.runs) run.noise_seed = noise_seed;
    return cell;
  }

 private:
  void draw_run(std::mt19937_64& random, NightRun& run) const {
    if (run.state != NightRun::State::value) return;
    const auto n = static_cast<double>(values_.size());
    std::vector<double> mean(values_.front().size(), 0), drawn;
    for (const auto& values : values_) {
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += values[k] / n;
    }
    drawn = mean;
    std::normal_distribution<double> normal;
    for (const auto& values : values_) {
      const double g = normal(random) / std::sqrt(n - 1);
      for (std::size_t k = 0; k < mean.size(); ++k) drawn[k] += g * (values[k] - mean[k]);
    }
    run.accuracy = drawn[0];
    run.loss = drawn[1];
    std::size_t k = 2;
    for (auto& [name, norm] : run.norms) norm = std::exp(drawn[k++]);
    run.metrics["drawn"] = drawn[1];  // no two draws are equal bits
    if (!run.noise) return;
    std::gamma_distribution<double> half_chi_square(run.noise->freedom / 2, 2.0);
    run.noise->sum = half_chi_square(random);
  }

  NightCell real_;
  std::vector<std::vector<double>> values_;  // one vector a run
};

struct Counted {
  int alarms = 0;
  std::size_t tests = 0;
};

Counted count_alarms(const Night& real, int nights, const results::RegressOptions& options,
                     bool other_noise) {
  std::vector<DrawnCell> cells(real.cells.begin(), real.cells.end());
  std::mt19937_64 random(20);
  Counted counted;
  for (int i = 0; i < nights; ++i) {
    Night tonight = real, reference = real;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      tonight.cells[c] = cells[c].draw(random, other_noise ? "other" : "one");
      reference.cells[c] = cells[c].draw(random, "one");
    }
    const auto report = results::compare_nights(tonight, reference, {}, options);
    counted.alarms += report.count(results::RegressVerdict::regressed) > 0 ||
                      report.count(results::RegressVerdict::improved) > 0;
    counted.tests = report.tests;
  }
  return counted;
}

class DrawnNights : public Program {};

// 1000 nights of 5 % give more than 50 + 4 sd = 77 alarms with probability 1e-4. With margins of nothing the null's edge is
// tested; with the spec's own the nights are well inside it.
TEST_F(DrawnNights, RaiseNoMoreAlarmsThanStated) {
  const auto spec = std::string(HYFREEDP_SOURCE_DIR) + "/experiments/nightly.yaml";
  ASSERT_EQ(run({"run", spec, "--quiet"}).code, 0);
  const auto store =
      results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only);
  ASSERT_TRUE(store) << store.error().message;
  const auto real = results::read_night(**store, "nightly");
  ASSERT_TRUE(real) << real.error().message;
  results::RegressOptions edge;
  edge.hashes = false;
  edge.margin = {.accuracy = 1e-9, .loss = 1e-9, .norm = 1 + 1e-9, .noise = 1 + 1e-9};
  for (const bool other_noise : {false, true}) {
    const auto counted = count_alarms(*real, 1000, edge, other_noise);
    std::cout << fmt::format("{} of 1000 drawn nights of {} tests raised an alarm at 5 %, margins nil, {}\n",
                             counted.alarms, counted.tests, other_noise ? "other noise (Welch)" : "paired");
    EXPECT_LE(counted.alarms, 77);
    EXPECT_GE(counted.alarms, 5) << "tests that never raise an alarm see nothing";
    EXPECT_GT(counted.tests, 100U);
  }
  auto own = results::regress_options((**store).spec("nightly").value()->resolved).value();
  own.hashes = false;
  const auto counted = count_alarms(*real, 1000, own, true);
  std::cout << fmt::format("{} of 1000 at {} with the spec's margins\n", counted.alarms,
                           own.false_alarms_per_night);
  EXPECT_LE(counted.alarms, 24) << "10 + 4.5 sd";
}

}  // namespace
}  // namespace hyfreedp::end_to_end
