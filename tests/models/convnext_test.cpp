// ConvNeXt beside timm's network, and what its weights folders must have.
#include "harness/models/networks/convnext.h"

#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/models/graph/lora.h"
#include "harness/models/layers/loss.h"
#include "harness/models/weights/weights.h"
#include "tests/models/compare.h"
#include "tests/models/reference_images.h"
#include "tests/models/weights_folder.h"

namespace hyfreedp::models {
namespace convnext_test {

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

// Adapters and a head of one's own on the folder's weights: at the start the folder's features,
// then the network of W + (alpha / rank) B A, with its gradients by the chain rule.
TEST_F(ConvnextFolder, AdaptersTrainWithANewHead) {
  const auto file = read_weights(fixture()).value();
  write_weights(file);
  write_config(kConfig);
  const std::int64_t rank = 2;
  auto adapted = made({{"trainable", "lora-head"}, {"lora_rank", rank}, {"lora_alpha", 6}}, 2, 44).value();
  const auto images = reference_images(44);
  const auto features = adapted.features(images);
  EXPECT_TRUE(near_relative(features, rows(expected().at("44").at("features")), 1e-12));
  const auto drawn = features.mm(adapted.tensor("head.fc.weight").t()) + adapted.tensor("head.fc.bias");
  EXPECT_TRUE(near_relative(adapted.forward(images), drawn, 1e-12));
  std::vector<std::string> layers;  // that have adapters
  std::int64_t trained = 2 * 6 + 2;
  for (const auto& [name, value] : file) {
    if (name.find(".mlp.fc") == std::string::npos || !name.ends_with(".weight")) continue;
    layers.push_back(name.substr(0, name.size() - std::string(".weight").size()));
    trained += rank * (value.size(0) + value.size(1));
  }
  EXPECT_EQ(layers.size(), 10U);
  EXPECT_EQ(adapted.dimension(), trained) << "these and the head, and nothing else";

  at::manual_seed(8);
  adapted.parameters().copy_(at::randn_like(adapted.parameters()));
  constexpr double kScale = 6.0 / 2;
  const auto factor = [&](const std::string& layer, const char* of) {
    return adapted.tensor(adapter_prefix(layer) + ".lora_" + of + ".weight");
  };
  NamedTensors merged;
  for (const auto& [name, value] : file) merged[name] = value.to(torch::kFloat64, false, true);
  for (const auto& layer : layers)
    merged[layer + ".weight"] += kScale * factor(layer, "B").mm(factor(layer, "A"));
  for (const char* name : {"head.fc.weight", "head.fc.bias"}) merged[name] = adapted.tensor(name).clone();
  write_weights(merged);
  std::string of_two = kConfig;
  of_two.replace(of_two.find(": 3"), 3, ": 2");  // classes
  write_config(of_two);
  auto dense = made({{"head", "file"}}, 2, 44).value();
  EXPECT_TRUE(near_relative(adapted.forward(images), dense.forward(images), 1e-12));

  const auto labels = torch::tensor({1, 0}, torch::kInt64);
  const auto gradient_of = [&](Network& network, std::int64_t i) {
    const auto logits = network.record(images.narrow(0, i, 1));
    network.backward(sample_losses(Loss::cross_entropy, logits, labels.narrow(0, i, 1), true).logit_gradient);
    auto sum = torch::zeros_like(network.parameters());
    network.add_clipped_sum(torch::ones({1}, torch::kFloat64), sum);
    return sum;
  };
  const auto part = [](const Network& network, const Tensor& sum, const std::string& name) {
    const auto value = network.tensor(name);
    return sum.as_strided(value.sizes(), value.strides(), value.storage_offset());
  };
  adapted.backward(sample_losses(Loss::cross_entropy, adapted.record(images), labels, true).logit_gradient);
  const auto norms = adapted.squared_norms().clone();
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto found = gradient_of(adapted, i), all = gradient_of(dense, i);
    EXPECT_NEAR(norms[i].item<double>() / found.square().sum().item<double>(), 1, 1e-10) << i;
    for (const char* name : {"head.fc.weight", "head.fc.bias"})
      EXPECT_TRUE(near_relative(part(adapted, found, name), part(dense, all, name), 1e-10)) << name;
    for (const auto& layer : layers) {
      const auto of_weight = part(dense, all, layer + ".weight");
      const auto prefix = adapter_prefix(layer);
      EXPECT_TRUE(near_relative(part(adapted, found, prefix + ".lora_A.weight"),
                                kScale * factor(layer, "B").t().mm(of_weight), 1e-10))
          << layer;
      EXPECT_TRUE(near_relative(part(adapted, found, prefix + ".lora_B.weight"),
                                kScale * of_weight.mm(factor(layer, "A").t()), 1e-10))
          << layer;
    }
  }
}

TEST_F(ConvnextFolder, IsReadAgainAsItWasKept) {
  write_weights(read_weights(fixture()).value());
  write_config(kConfig);
  const auto network = made({{"head", "file"}}, 3, 44).value();
  const auto plan = blueprint("convnext", complete_options(resolved({{"weights", folder_.string()}})).value(),
                              input_of(44, 3))
                        .value();
  write_weights(named_tensors(network, {}));
  write_config(canonical_json(plan.description.config));
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

}  // namespace convnext_test
}  // namespace hyfreedp::models
