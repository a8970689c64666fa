// ResNets for ImageNet beside torchvision's network, and what their weights files must have.
#include "harness/models/networks/resnet_imagenet.h"

#include <gtest/gtest.h>
#include <limits>

#include "harness/base/files.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/layers/loss.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/model.h"
#include "harness/models/weights/batch_norm_folding.h"
#include "tests/models/compare.h"
#include "tests/models/reference_images.h"
#include "tests/models/weights_folder.h"

namespace hyfreedp::models {
namespace resnet_imagenet_test {

using torch::Tensor;
using Shape = ResnetImagenetShape;

const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

std::string fixture(const std::string& name) {
  return std::string(HYFREEDP_TEST_DATA) + "/resnet_imagenet/" + name;
}

// The fixture's network of this kind of block.
Shape narrow(const std::string& kind, std::int64_t side) {
  Shape shape;
  shape.side = side;
  shape.classes = 3;
  const bool basic = kind == "basic";
  shape.kind = basic ? Shape::Kind::basic : Shape::Kind::bottleneck;
  shape.stem = basic ? 4 : 5;
  using Numbers = std::vector<std::int64_t>;
  shape.widths = basic ? Numbers{3, 4, 5, 6} : Numbers{2, 3, 2, 2};
  shape.blocks = basic ? Numbers{1, 2, 1, 1} : Numbers{2, 1, 1, 1};
  if (kind == "cifar") {
    shape.for_cifar = true;
    shape.kind = Shape::Kind::basic;
    shape.stem = 4;
    shape.widths = {4, 3, 5};
    shape.blocks = {2, 1, 2};
  }
  return shape;
}

Network folded_network(const Shape& shape, const NamedTensors& file) {
  auto network = make_network(graph_of(shape).value(), kDouble).value();
  const auto folded = fold_batch_norms(normed(shape), file, true);
  EXPECT_TRUE(folded) << folded.error().message;
  const auto loaded = load_weights(network, *folded);
  EXPECT_TRUE(loaded) << loaded.error().message;
  network.set_head("fc");
  return network;
}

TEST(ResnetImagenet, GivesTheReferencesLogitsAndGradientNormsWithBatchNormFolded) {
  const auto expected = read_json_file(fixture("expected.json")).value().as_object();
  for (const std::string kind : {"basic", "bottleneck", "cifar"}) {
    const auto file = read_weights(fixture(kind)).value();
    for (const std::int64_t side : {33, 64}) {
      SCOPED_TRACE(kind + " " + std::to_string(side));
      auto network = folded_network(narrow(kind, side), file);
      const auto& wanted = expected.at(kind).as_object().at(std::to_string(side)).as_object();
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
    }
  }
}

TEST(ResnetImagenet, NamedSizesHaveThePublishedCounts) {
  const auto resolved = [](const json::object& given) {
    return resolve_options(find_model("resnet-imagenet").value()->options, given, "resnet-imagenet").value();
  };
  const auto count = [&](const json::object& given) {
    return parameter_count("resnet-imagenet", resolved(given), input_of(224, 1000));
  };
  // torchvision's, less a scale of every channel that a BatchNorm has: 4800 in ResNet-18, 8512 in
  // ResNet-34, 26560, 52672 and 75712 in the others.
  EXPECT_EQ(count({}).value(), 11689512 - 4800);
  EXPECT_EQ(count({{"size", "resnet18"}}).value(), 11689512 - 4800);
  EXPECT_EQ(count({{"size", "resnet34"}}).value(), 21797672 - 8512);
  EXPECT_EQ(count({{"size", "resnet50"}}).value(), 25557032 - 26560);
  EXPECT_EQ(count({{"size", "resnet101"}}).value(), 44549160 - 52672);
  EXPECT_EQ(count({{"size", "resnet152"}}).value(), 60192808 - 75712);
  // Multiplications of torchvision's, and a bias for each value that comes out.
  const auto uses = [&](const char* size) {
    return weight_uses("resnet-imagenet", resolved({{"size", size}}), input_of(224, 1000)).value();
  };
  EXPECT_EQ(uses("resnet18"), 1814073344 + 2484712);
  EXPECT_EQ(uses("resnet50"), 4089184256 + 11114984);
  // Of CIFAR's, as their author counts them: 0.28, 0.47, 0.67 and 0.86 million, less the scales.
  const auto cifar = [&](const char* size) {
    return parameter_count("resnet-imagenet", resolved({{"size", size}}), input_of(32, 100)).value();
  };
  EXPECT_EQ(cifar("resnet20"), 278324 - 784);
  EXPECT_EQ(cifar("resnet32"), 472756 - 1232);
  EXPECT_EQ(cifar("resnet44"), 667188 - 1680);
  EXPECT_EQ(cifar("resnet56"), 861620 - 2128);
  EXPECT_EQ(count({{"trainable", "head"}}).value(), 513000);
  EXPECT_EQ(count({{"trainable", "bitfit-head"}}).value(), 513000 + 4800);
  EXPECT_EQ(count({{"trainable", "last-block"}}).value(), 513000 + 2 * (512 * 512 * 9 + 512));

  const auto says = [&](const json::object& given) { return count(given).error().message; };
  EXPECT_NE(says({{"size", "resnet21"}}).find("Sizes: resnet18, resnet34, resnet50"), std::string::npos);
  EXPECT_NE(says({{"size", "resnet18"}, {"block", "basic"}}).find("leave 'block' out"), std::string::npos);
  EXPECT_NE(says({{"size", "resnet18"}, {"widths", json::array{1}}}).find("leave 'widths' out"),
            std::string::npos);
  EXPECT_NE(says({{"blocks", json::array{1, 1}}}).find("4 whole numbers"), std::string::npos);
  EXPECT_NE(says({{"widths", json::array{1, 1}}}).find("5 whole numbers"), std::string::npos);
}

TEST(ResnetImagenet, WhatDoesNotFitIsListedByTheFilesNames) {
  const auto good = read_weights(fixture("bottleneck")).value();
  const auto says = [&](const std::function<void(NamedTensors&, Shape&)>& change, bool with_head = true) {
    auto file = good;
    auto shape = narrow("bottleneck", 32);
    change(file, shape);
    const auto folded = fold_batch_norms(normed(shape), file, with_head);
    return folded ? std::string("accepted") : folded.error().message;
  };
  const auto has = [](const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                   : testing::AssertionFailure() << message;
  };
  const auto several = says([](NamedTensors& file, Shape&) {
    file.erase("layer2.0.bn3.running_mean");
    file["layer1.0.se.fc1.weight"] = torch::zeros({1});
    file["layer1.0.downsample.0.weight"] = torch::zeros({8, 5, 3, 3});
  });
  EXPECT_TRUE(has(several, "missing: layer2.0.bn3.running_mean"));
  EXPECT_TRUE(has(several, "unexpected: layer1.0.se.fc1.weight"));
  EXPECT_TRUE(has(several, "layer1.0.downsample.0.weight [8, 5, 3, 3] for [8, 5, 1, 1]"));
  // Another number of blocks, other widths, another kind of block.
  EXPECT_TRUE(has(says([](NamedTensors&, Shape& shape) { shape.blocks[1] = 2; }),
                  "missing: layer2.1.bn1.bias, layer2.1.bn1.running_mean"));
  EXPECT_TRUE(has(says([](NamedTensors&, Shape& shape) { shape.blocks[0] = 1; }),
                  "unexpected: layer1.1.bn1.bias, layer1.1.bn1.running_mean"));
  EXPECT_TRUE(
      has(says([](NamedTensors&, Shape& shape) { shape.widths[3] = 3; }), "fc.weight [3, 8] for [3, 12]"));
  EXPECT_TRUE(has(says([](NamedTensors&, Shape& shape) { shape.kind = Shape::Kind::basic; }),
                  "unexpected: layer1.0.bn3.bias"));
  EXPECT_TRUE(has(says([](NamedTensors& file, Shape&) {
                    auto variance = file.at("layer4.0.downsample.1.running_var").clone();
                    variance[3] = std::numeric_limits<float>::quiet_NaN();
                    file["layer4.0.downsample.1.running_var"] = variance;
                  }),
                  "layer4.0.downsample.1.running_var: a variance is negative"));
  EXPECT_TRUE(has(says([](NamedTensors& file, Shape&) { file.erase("fc.bias"); }), "missing: fc.bias"));
  // Without its head nothing of the head is looked at.
  EXPECT_EQ(says([](NamedTensors& file, Shape&) { file["fc.weight"] = torch::zeros({1}); }, false),
            "accepted");
}

class ResnetImagenetFolder : public WeightsFolder {
 protected:
  ResnetImagenetFolder() : WeightsFolder("resnet-imagenet") {}
};

constexpr const char* kOwnConfig =
    R"({"model_type": "hyfreedp-resnet-imagenet", "widths": [5,2,3,2,2], "blocks": [2,1,1,1],
        "block": "bottleneck", "classes": 3})";

// The fixture's sizes are in a config.json as this program keeps it; the file's names tell that its
// BatchNorms are still there.
TEST_F(ResnetImagenetFolder, GivesThePublishedNetworkOrAllOfItButAHeadThatStartsAtZero) {
  const auto expected = read_json_file(fixture("expected.json")).value().as_object();
  const auto& wanted = expected.at("bottleneck").as_object().at("33").as_object();
  const auto file = read_weights(fixture("bottleneck")).value();
  write_weights(file);
  write_config(kOwnConfig);
  const auto kept = made({{"head", "file"}}, 3, 33);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(near_relative(kept->forward(reference_images(33)), rows(wanted.at("logits")), 1e-12));
  const auto single = made({{"head", "file"}}, 3, 33, torch::kFloat32);
  ASSERT_TRUE(single) << single.error().message;
  EXPECT_TRUE(near_relative(single->forward(reference_images(33).to(torch::kFloat32)),
                            rows(wanted.at("logits")), 1e-5));

  const auto drawn = made({{"trainable", "bitfit-head"}}, 2, 33);
  ASSERT_TRUE(drawn) << drawn.error().message;
  EXPECT_EQ(drawn->tensor("fc.weight").sizes(), (std::vector<std::int64_t>{2, 8}));
  EXPECT_EQ(drawn->tensor("fc.weight").abs().max().item<double>(), 0);
  EXPECT_TRUE(near_relative(drawn->features(reference_images(33)), rows(wanted.at("features")), 1e-12));

  const auto misfit = made({{"head", "file"}}, 2);
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().message.find("fc.weight [3, 8] for [2, 8]"), std::string::npos)
      << misfit.error().message;
  const auto twice = made({{"block", "bottleneck"}}, 2);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("leave 'block' out"), std::string::npos) << twice.error().message;

  // As kept: folded already.
  write_weights(named_tensors(*kept, {}));
  const auto again = made({{"head", "file"}}, 3, 33);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(near_relative(again->forward(reference_images(33)), rows(wanted.at("logits")), 1e-12));
}

// The form for CIFAR, with its BatchNorms and as this program keeps it.
TEST_F(ResnetImagenetFolder, GivesTheNetworkForCifar) {
  const auto expected = read_json_file(fixture("expected.json")).value().as_object();
  const auto& wanted = expected.at("cifar").as_object().at("33").as_object();
  const auto shape = narrow("cifar", 33);
  const auto config = model_config(shape);
  EXPECT_TRUE(Shape::from_json(config, "here").value().for_cifar);
  write_config(json::serialize(config));
  write_weights(read_weights(fixture("cifar")).value());
  const auto published = made({{"head", "file"}}, 3, 33);
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_TRUE(near_relative(published->forward(reference_images(33)), rows(wanted.at("logits")), 1e-12));
  write_weights(named_tensors(*published, {}));
  const auto kept = made({{"head", "file"}}, 3, 33);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(near_relative(kept->forward(reference_images(33)), rows(wanted.at("logits")), 1e-12));
  // Four stages where three belong.
  write_config(R"({"model_type": "hyfreedp-resnet-imagenet", "widths": [4,4,3,5,6], "blocks": [2,1,2],
                   "block": "basic", "classes": 3, "for_cifar": true})");
  const auto refused = made({{"head", "file"}}, 3, 33);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("4 whole numbers"), std::string::npos) << refused.error().message;
}

TEST_F(ResnetImagenetFolder, AConfigurationThatDoesNotSuitIsRefused) {
  write_weights(read_weights(fixture("bottleneck")).value());
  const std::pair<const char*, const char*> refused[] = {
      // As timm writes it, of a file that is another network's.
      {R"({"architecture": "resnet50", "num_classes": 1000, "num_features": 2048,
           "pretrained_cfg": {"tag": "a1_in1k"}})",
       "missing: layer1.2.bn1.bias"},
      {R"({"architecture": "resnet18"})", "unexpected: layer1.0.bn3.bias"},
      {R"({"architecture": "resnet50", "model_args": {"stem_type": "deep"}})", "'stem_type' is \"deep\""},
      {R"({"architecture": "resnet50d"})", "Did you mean 'resnet50'?"},
      {R"({"architecture": "vit_base_patch16_224"})", "no ResNet that is known"},
      {R"({})", "no ResNet that is known"},
      {R"({"model_type": "hyfreedp-resnet-imagenet"})", "'widths' must be a list"},
      {R"({"model_type": "hyfreedp-resnet-imagenet", "widths": [5,2,3,2,2], "blocks": [2,1,1]})",
       "4 whole numbers"},
      {R"({"model_type": "hyfreedp-resnet-imagenet", "widths": [5,2,3,2,2], "blocks": [2,1,1,1]})",
       "'block' is ''"}};
  for (const auto& [config, says] : refused) {
    write_config(config);
    const auto bad = made({}, 2);
    ASSERT_FALSE(bad) << config;
    EXPECT_NE(bad.error().message.find(says), std::string::npos) << bad.error().message;
  }
}

// Of whom asks for the networks with GroupNorm.
TEST_F(ResnetImagenetFolder, IsNamedWhereItsWeightsAreGivenToTheOtherResnet) {
  write_weights(read_weights(fixture("bottleneck")).value());
  for (const std::string config : {R"({"architecture": "resnet18"})", kOwnConfig}) {
    write_config(config);
    const auto options =
        resolve_options(find_model("resnet").value()->options, {{"weights", folder_.string()}}, "resnet")
            .value();
    const auto count = parameter_count("resnet", options, input_of(32, 2));
    ASSERT_FALSE(count);
    EXPECT_NE(count.error().message.find("weights of the model resnet-imagenet"), std::string::npos)
        << count.error().message;
  }
}

}  // namespace resnet_imagenet_test
}  // namespace hyfreedp::models
