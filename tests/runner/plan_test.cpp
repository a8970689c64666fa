// From a resolved spec to cells.
#include "harness/runner/spec/plan.h"

#include <gtest/gtest.h>
#include <set>

namespace hyfreedp::runner {
namespace plan_test {

Spec quick() {
  auto spec = load_spec(HYFREEDP_SOURCE_DIR "/experiments/quick.yaml");
  if (!spec) throw std::runtime_error(spec.error().message);
  return *spec;
}

std::vector<PlannedStudy> cells_of(const std::vector<PlannedStudy>& studies, const std::string& panel,
                                   const std::string& row) {
  std::vector<PlannedStudy> picked;
  for (const auto& study : studies) {
    if (study.cell.panel == panel && study.cell.row == row) picked.push_back(study);
  }
  return picked;
}

// The main job: every method of the comparison, at its budgets and seeds.
TEST(Plan, TheMainJobHasItsRows) {
  const auto studies = plan(quick()).value();
  const auto linear = [&](const char* row) { return cells_of(studies, "linear", row).size(); };
  // Three budgets and the non-private arm; three seeds, ten where seeds scatter.
  for (const char* row : {"nondp-gs", "nondp-gs-wide", "d-adaptation", "prodigy", "hyfreedp-plus"}) {
    EXPECT_EQ(linear(row), 4u * 3u) << row;
  }
  for (const char* row : {"hyfreedp-paper", "hyfreedp-folded", "hyfreedp-separate"}) {
    EXPECT_EQ(linear(row), 4u * 10u) << row;
  }
  for (const char* row : {"dp-hyper-simulated", "dpadamwosm"}) EXPECT_EQ(linear(row), 3u * 3u) << row;
  EXPECT_EQ(linear("dp-hyper"), 3u * 10u);
  EXPECT_EQ(linear("linear-scaling"), 3u);
  EXPECT_EQ(cells_of(studies, "mlp", "prodigy").size(), 4u);
}

TEST(Plan, ACellHasWhatThePanelFixes) {
  const auto studies = plan(quick()).value();
  const auto cells = cells_of(studies, "linear", "hyfreedp-separate");
  const auto& private_cell = cells.front().cell;
  EXPECT_EQ(private_cell.epsilon, 1);
  EXPECT_NEAR(private_cell.delta, 6.778e-6, 1e-9);
  EXPECT_EQ(private_cell.dimension, 7170);
  EXPECT_EQ(private_cell.validation_size, 10000);
  EXPECT_EQ(private_cell.base.privacy.population, 50000);
  EXPECT_EQ(private_cell.base.privacy.batch_size, 1000);
  EXPECT_TRUE(private_cell.base.privacy.is_private);
  EXPECT_EQ(private_cell.base.privacy.clipping.rule, trial::ClippingRule::auto_s);
  EXPECT_EQ(private_cell.base.privacy.clipping.constant, 0.01);
  EXPECT_EQ(private_cell.base.steps, 250);
  EXPECT_EQ(private_cell.base.optimizer.name, "adamw");
  EXPECT_EQ(private_cell.base.noise_seed, "quick-1");
  EXPECT_EQ(cells.front().baseline->name, "hyfreedp");
  const auto& non_private = cells.back().cell;
  EXPECT_FALSE(non_private.epsilon);
  EXPECT_FALSE(non_private.base.privacy.is_private);
  EXPECT_EQ(non_private.base.privacy.clipping.rule, trial::ClippingRule::none);
  EXPECT_EQ(non_private.seed, 9);
  EXPECT_EQ(non_private.base.seed, 9);
}

TEST(Plan, IdsAreDistinctStableAndFollowTheSettings) {
  const auto studies = plan(quick()).value();
  std::set<std::string> ids;
  for (const auto& study : studies) ids.insert(study.id);
  EXPECT_EQ(ids.size(), studies.size());
  const auto again = plan(quick()).value();
  for (std::size_t i = 0; i < studies.size(); ++i) EXPECT_EQ(studies[i].id, again[i].id);

  auto other = quick();
  other.content.panels.at(0).delta = 1e-5;
  const auto changed = plan(other).value();
  for (std::size_t i = 0; i < studies.size(); ++i) {
    EXPECT_EQ(studies[i].id != changed[i].id, studies[i].cell.panel == "linear") << studies[i].cell.row;
  }
}

}  // namespace plan_test
}  // namespace hyfreedp::runner
