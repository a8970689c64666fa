#include "harness/trial/training_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trial/fixtures.h"

namespace hyfreedp::trial {
namespace training_options_test {

using testing::HasSubstr;

// Ids of finished trials must not move when an option is added.
TEST(TrainingOptions, DefaultsLeaveNoTraceInAConfig) {
  const auto config = private_config();
  EXPECT_FALSE(config.to_json().contains("training"));
  EXPECT_EQ(config.id(), "f6518f4c8a78134d");
  EXPECT_TRUE(TrainingOptions{}.to_json().empty());
  EXPECT_TRUE(TrainingOptions{}.notes().empty());
}

TEST(TrainingOptions, EveryOptionIsKeptWhereItIsNotTheDefaultAndChangesTheId) {
  const json::object changed{{"microbatch", 64},
                             {"average", "ema"},
                             {"average_decay", 0.99},
                             {"average_from", 10},
                             {"augmentations", 8},
                             {"augmentation_flip", false},
                             {"augmentation_shift", 2},
                             {"augmentation_padding", "zero"},
                             {"precision", "bf16"},
                             {"tf32", true},
                             {"activation_checkpointing", true},
                             {"probe_precision", "float32"}};
  const auto options = TrainingOptions::from_json(changed, "test");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->to_json(), changed);
  for (const auto& option : training_option_table()) {
    EXPECT_TRUE(changed.contains(option.name)) << option.name << ": this test leaves it out";
  }
  auto config = private_config();
  const auto before = config.id();
  config.training = *options;
  EXPECT_NE(config.id(), before);
  const auto again = TrialConfig::from_json(config.to_json(), "test");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->id(), config.id());
}

TEST(TrainingOptions, ProbesFollowThePrecisionUnlessToldOtherwise) {
  const auto probe = [](const json::object& given) {
    return TrainingOptions::from_json(given, "test")->probe_precision;
  };
  EXPECT_EQ(probe({}), Precision::float32);
  EXPECT_EQ(probe({{"precision", "bf16"}}), Precision::bf16);
  EXPECT_EQ(probe({{"probe_precision", "bf16"}}), Precision::bf16);
  EXPECT_EQ(probe({{"precision", "bf16"}, {"probe_precision", "float32"}}), Precision::float32);
}

TEST(TrainingOptions, RefusesWhatWouldHaveNoEffect) {
  const auto message = [](const json::object& given) {
    const auto options = TrainingOptions::from_json(given, "here");
    return options ? std::string("accepted") : options.error().message;
  };
  EXPECT_THAT(message({{"average_decay", 0.9}}), HasSubstr("'average_decay' has no effect without average"));
  EXPECT_THAT(message({{"average", "swa"}, {"average_decay", 0.9}}), HasSubstr("without average: ema"));
  EXPECT_THAT(message({{"average_from", 3}}), HasSubstr("without average"));
  EXPECT_THAT(message({{"augmentation_shift", 3}}), HasSubstr("without augmentations"));
  EXPECT_THAT(message({{"precision", "fp8"}}), HasSubstr("precision"));
  EXPECT_THAT(message({{"averag", "ema"}}), HasSubstr("average"));
}

TEST(TrainingOptions, TellTheReaderOfATable) {
  const auto options =
      TrainingOptions::from_json({{"average", "ema"}, {"average_from", 5}, {"augmentations", 1}}, "test");
  EXPECT_THAT(
      options->notes(),
      testing::ElementsAre(
          "Evaluated at the exponential moving average of the weights from step 5 on (decay 0.9999).",
          "Each per-sample gradient is the mean over 1 random copy of the image (moved by up to 4 pixels, "
          "mirrored half the time)."));
}

}  // namespace training_options_test
}  // namespace hyfreedp::trial
