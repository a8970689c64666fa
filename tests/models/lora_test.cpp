// Adapters' scale, which no shape shows: a wrong one trains another model.
#include "harness/models/graph/lora.h"

#include <gtest/gtest.h>

namespace hyfreedp::models {
namespace lora_test {

json::object peft_config() { return {{"r", 16}, {"lora_alpha", 8}, {"target_modules", {"q_proj"}}}; }

TEST(Lora, ScaleIsAlphaOverTheRankOrOverItsRoot) {
  auto config = peft_config();
  EXPECT_EQ(Lora::from_json(config, "file").value().scale(), 0.5);
  config["use_rslora"] = true;
  EXPECT_EQ(Lora::from_json(config, "file").value().scale(), 2);
}

// Each of these changes what an adapter computes, so that leaving it out unread would be another
// model.
TEST(Lora, WhatCannotBeRunIsRefusedByName) {
  const json::object strange{{"use_dora", true},
                             {"lora_bias", true},
                             {"use_qalora", true},
                             {"rank_pattern", {{"q_proj", 4}}},
                             {"alpha_pattern", {{"q_proj", 4}}},
                             {"modules_to_save", {"head"}},
                             {"layers_to_transform", {0}},
                             {"bias", "all"},
                             {"peft_type", "LOHA"},
                             {"r", 0},
                             {"target_modules", json::array{}}};
  for (const auto& member : strange) {
    auto config = peft_config();
    config[member.key()] = member.value();
    const auto refused = Lora::from_json(config, "file");
    ASSERT_FALSE(refused) << member.key();
    EXPECT_NE(refused.error().message.find(std::string(member.key())), std::string::npos)
        << refused.error().message;
  }
}

}  // namespace lora_test
}  // namespace hyfreedp::models
