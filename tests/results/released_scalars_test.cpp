#include "results/table/released_scalars.h"

#include <gtest/gtest.h>

namespace hyfreedp::results {
namespace released_scalars_test {

json::object config(bool is_private, const char* dataset) {
  return {{"privacy", {{"is_private", is_private}}}, {"dataset", {{"name", dataset}}}};
}

TEST(ReleasedScalars, AreThoseOfPrivateRunsAndOfPublicData) {
  EXPECT_TRUE(scalars_are_released(config(true, "fashion-mnist")));
  EXPECT_TRUE(scalars_are_released(config(false, "synthetic")));
  EXPECT_FALSE(scalars_are_released(config(false, "fashion-mnist")));
}

TEST(ReleasedScalars, WhatIsNotSaidIsConfidential) {
  EXPECT_FALSE(scalars_are_released(config(false, "no-such-data")));
  EXPECT_FALSE(scalars_are_released(json::object{}));
  EXPECT_FALSE(scalars_are_released({{"privacy", {{"is_private", "yes"}}}, {"dataset", 3}}));
}

TEST(ReleasedScalars, StepSizesAreNoLosses) {
  for (const char* name : {"eta", "d", "lr_used", "dlr"}) EXPECT_TRUE(is_step_size(name)) << name;
  for (const char* name : {"private_loss", "probe_loss.0", "R_l", "G", "H", "released_gradient_norm", ""}) {
    EXPECT_FALSE(is_step_size(name)) << name;
  }
}

}  // namespace released_scalars_test
}  // namespace hyfreedp::results
