// ConvNeXt beside timm's network, and what its weights folders must have.
#include "harness/models/networks/convnext.h"

#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/models/facts/model_config.h"
#include "harness/models/layers/loss.h"
#include "harness/models/weights/weights.h"
#include "tests/models/compare.h"
#include "tests/models/reference_images.h"
#include "tests/models/weights_folder.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

std::string fixture() { return std::string(HYFREEDP_TEST_DATA) + "/convnext"; }

json::object expected() { return read_json_file(fixture() + "/expected.json").value().as_object(); }

json::object resolved(const json::object& given) {
  return resolve_options(find_model("convnext").value()->options, given, "convnext").value();
}

Result<std::int64_t> count(const json::object& given) {
  return parameter_count("convnext", resolved(given), input_of(224, 1000));
}

TEST(Convnext, NamedSizesHaveTimmsCounts) {
  const auto sizes = expected().at("sizes").as_object();
  for (const auto& [name, wanted] : sizes) {
    SCOPED_TRACE(std::string(name));
    EXPECT_EQ(count({{"size", name}}).value(), wanted.at("parameters").as_int64());
    EXPECT_EQ(weight_uses("convnext", resolved({{"size", name}}), input_of(224, 1000)).value(),
              wanted.at("uses").as_int64());
  }
  EXPECT_EQ(count({}).value(), count({{"size", "convnext_tiny"}}).value());
  EXPECT_EQ(count({{"trainable", "head"}}).value(), 769000);
  EXPECT_EQ(feature_width("convnext", resolved({{"size", "convnext_xlarge"}}), input_of(384, 10)).value(),
            2048);
  // The last block, head.norm and head.fc.
  const std::int64_t block = 768 * (49 + 1 + 2 + 1) + 2 * 4 * 768 * 768 + 5 * 768;
  EXPECT_EQ(count({{"trainable", "last-block"}}).value(), block + 2 * 768 + 769000);
  // Two linear layers in each of 18 blocks.
  std::int64_t adapters = 0;
  for (const auto& [width, blocks] : {std::pair{96, 3}, {192, 3}, {384, 9}, {768, 3}})
    adapters += std::int64_t{blocks} * 2 * 4 * (width + 4 * width);
  EXPECT_EQ(count({{"trainable", "lora"}, {"lora_rank", 4}}).value(), adapters);

  const auto says = [&](const json::object& given) { return count(given).error().message; };
  EXPECT_NE(says({{"size", "convnext_tyni"}}).find("Did you mean 'convnext_tiny'?"), std::string::npos);
  EXPECT_NE(says({{"size", "convnext_tiny"}, {"widths", json::array{1}}}).find("leave 'widths' out"),
            std::string::npos);
  EXPECT_NE(says({{"blocks", json::array{1, 1}}}).find("4 whole numbers"), std::string::npos);
  const auto small = parameter_count("convnext", resolved({}), input_of(31, 10));
  EXPECT_NE(small.error().message.find("at least 32 pixels"), std::string::npos) << small.error().message;
}

class ConvnextFolder : public WeightsFolder {
 protected:
  ConvnextFolder() : WeightsFolder("convnext") {}
};

constexpr const char* kConfig =
    R"({"architecture": "convnext_tiny", "num_classes": 3,
        "model_args": {"depths": [1,2,1,1], "dims": [4,3,5,6]}})";

TEST_F(ConvnextFolder, GivesTimmsLogitsFeaturesAndGradientNorms) {
  write_weights(read_weights(fixture()).value());
  write_config(kConfig);
  for (const std::int64_t side : {44, 64}) {
    SCOPED_TRACE(side);
    const auto wanted = expected().at(std::to_string(side)).as_object();
    auto network = made({{"head", "file"}}, 3, side).value();
    const auto images = reference_images(side);
    EXPECT_TRUE(near_relative(network.forward(images), rows(wanted.at("logits")), 1e-12));
    EXPECT_TRUE(near_relative(network.forward(images.flatten(1)), rows(wanted.at("logits")), 1e-12));
    EXPECT_TRUE(near_relative(network.features(images), rows(wanted.at("features")), 1e-12));

    const auto labels = torch::tensor({2, 0}, torch::kInt64);
    const auto logits = network.record(images);
    network.backward(sample_losses(Loss::cross_entropy, logits, labels, true).logit_gradient);
    const auto norms = network.squared_norms();
    const auto& squares = wanted.at("squared_norms").as_array();
    for (std::int64_t i = 0; i < 2; ++i) {
      const auto square = squares.at(static_cast<std::size_t>(i)).to_number<double>();
      EXPECT_NEAR(norms[i].item<double>() / square, 1, 1e-10) << i;
    }
    const auto single = made({{"head", "file"}}, 3, side, torch::kFloat32).value();
    EXPECT_TRUE(near_relative(single.forward(images.to(torch::kFloat32)), rows(wanted.at("logits")), 1e-5));
  }
}

TEST_F(ConvnextFolder, GivesAllButTheHeadUnlessThatIsAskedFor) {
  write_weights(read_weights(fixture()).value());
  write_config(kConfig);
  const auto wanted = expected().at("44").as_object();
  const auto drawn = made({{"trainable", "bitfit-head"}}, 2, 44);
  ASSERT_TRUE(drawn) << drawn.error().message;
  EXPECT_EQ(drawn->tensor("head.fc.weight").sizes(), (std::vector<std::int64_t>{2, 6}));
  EXPECT_TRUE(near_relative(drawn->features(reference_images(44)), rows(wanted.at("features")), 1e-12));

  const auto misfit = made({{"head", "file"}}, 2, 44);
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().message.find("head.fc.weight [3, 6] for [2, 6]"), std::string::npos)
      << misfit.error().message;
}

TEST_F(ConvnextFolder, IsReadAgainAsItWasKept) {
  write_weights(read_weights(fixture()).value());
  write_config(kConfig);
  const auto network = made({{"head", "file"}}, 3, 44).value();
  const auto plan = blueprint("convnext", complete_options(resolved({{"weights", folder_.string()}})).value(),
                              input_of(44, 3))
                        .value();
  write_weights(named_tensors(network, {}));
  write_config(canonical_json(model_config(plan.shape)));
  const auto again = made({{"head", "file"}}, 3, 44);
  ASSERT_TRUE(again) << again.error().message;
  const auto wanted = expected().at("44").as_object();
  EXPECT_TRUE(near_relative(again->forward(reference_images(44)), rows(wanted.at("logits")), 1e-12));
}

TEST_F(ConvnextFolder, AConfigurationThatDoesNotSuitIsRefused) {
  write_weights(read_weights(fixture()).value());
  const std::pair<const char*, const char*> refused[] = {
      // As timm writes it, of a file that is another network's.
      {R"({"architecture": "convnext_tiny", "num_classes": 1000, "num_features": 768,
           "pretrained_cfg": {"tag": "fb_in22k_ft_in1k_384"}})",
       "head.norm.bias [6] for [768]"},
      {R"({"architecture": "convnextv2_tiny"})", "no ConvNeXt that is known here"},
      {R"({"architecture": "vit_base_patch16_224"})", "no ConvNeXt that is known here"},
      {R"({})", "no ConvNeXt that is known here"},
      {R"({"architecture": "convnext_tiny", "model_args": {"conv_mlp": true}})",
       "'conv_mlp' is true, where only false is supported"},
      {R"({"architecture": "convnext_tiny", "model_args": {"dims": [4,3,5]}})", "4 whole numbers"},
      {R"({"architecture": "convnext_tiny", "model_args": {"depths": 3}})", "'depths' must be a list"}};
  for (const auto& [config, says] : refused) {
    write_config(config);
    const auto bad = made({}, 2);
    ASSERT_FALSE(bad) << config;
    EXPECT_NE(bad.error().message.find(says), std::string::npos) << bad.error().message;
  }
}

}  // namespace
}  // namespace hyfreedp::models
