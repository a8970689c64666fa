// fixed-rate by itself; registry_test.cpp holds every method to the contract.
#include "baselines/support.h"
#include "fake_world.h"

namespace hyfreedp::baselines {
namespace {

TEST(FixedRate, IsOneRunAtTheRateAskedFor) {
  const auto& method = *find_baseline("fixed-rate").value();
  const auto cell = fake::cell_of(method, 3, {{"lr", 0.25}});
  const auto study = fake::run_study(method, cell, fake::ordinary_world);
  ASSERT_EQ(study.finished.size(), 1u);
  EXPECT_EQ(double_or(study.finished[0].config.controller.options, "lr", -1), 0.25);
  EXPECT_EQ(study.conclusion.reported_trial, study.finished[0].id);
}

}  // namespace
}  // namespace hyfreedp::baselines
