// Which rows' weights may be published without being asked for as confidential.
#include "results/provenance/weights_release.h"

#include <gtest/gtest.h>

namespace hyfreedp::results {
namespace weights_release_test {

json::object config_of(const char* dataset, bool is_private, json::value noise_seed = nullptr) {
  return {{"dataset", json::object{{"name", dataset}}},
          {"privacy", json::object{{"is_private", is_private}}},
          {"noise_seed", std::move(noise_seed)}};
}

TEST(WeightsRelease, APrivateRunsOwnRowIsARelease) {
  EXPECT_EQ(why_weights_are_confidential("end-to-end DP", config_of("adult", true)), "");
}

TEST(WeightsRelease, RunsWithoutNoiseUnchargedChoicesAndRepeatedNoiseAreNot) {
  const auto why = [](const char* label, const json::object& config) {
    return why_weights_are_confidential(label, config);
  };
  EXPECT_NE(why("non-private", config_of("adult", false)).find("without noise"), std::string::npos);
  EXPECT_NE(why("end-to-end DP", config_of("adult", false)).find("without noise"), std::string::npos);
  EXPECT_NE(why("oracle", config_of("adult", true)).find("'oracle'"), std::string::npos);
  EXPECT_NE(why("simulated", config_of("adult", true)).find("'simulated'"), std::string::npos);
  EXPECT_NE(why("end-to-end DP", config_of("adult", true, "s")).find("noise_seed"), std::string::npos);
  // What does not say is not trusted.
  EXPECT_NE(why("end-to-end DP", json::object{}), "");
  EXPECT_NE(why("", config_of("adult", true)), "");
  auto silent = config_of("adult", true);
  silent.erase("noise_seed");
  EXPECT_NE(why("end-to-end DP", silent), "");
  EXPECT_NE(why("end-to-end DP", config_of("unheard-of", false)), "");
}

TEST(WeightsRelease, PublicTrainingExamplesAreNobodysSecret) {
  for (const char* label : {"end-to-end DP", "oracle", "non-private"}) {
    EXPECT_EQ(why_weights_are_confidential(label, config_of("synthetic", false, "s")), "") << label;
  }
}

}  // namespace weights_release_test
}  // namespace hyfreedp::results
