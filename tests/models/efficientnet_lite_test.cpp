// EfficientNet-Lite beside its authors' network in PyTorch, and what its weights files must have.
#include "harness/models/networks/efficientnet_lite.h"

#include <gtest/gtest.h>
#include <limits>

#include "harness/base/files.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/model.h"
#include "harness/models/weights/batch_norm_folding.h"
#include "tests/models/compare.h"
#include "tests/models/published_weights.h"
#include "tests/models/reference_images.h"
#include "tests/models/weights_folder.h"

namespace hyfreedp::models {
namespace efficientnet_lite_test {

using torch::Tensor;
using Shape = EfficientNetLiteShape;

const random::Key kKey = random::key_from_seed("tests of EfficientNet-Lite");
const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

std::string fixture(const std::string& name) {
  return std::string(HYFREEDP_TEST_DATA) + "/efficientnet_lite/" + name;
}

json::object expected(const std::string& what) {
  return read_json_file(fixture("expected.json")).value().as_object().at(what).as_object();
}

Shape narrow(std::int64_t side) {
  Shape shape;
  shape.side = side;
  shape.classes = 3;
  shape.stem = 4;
  shape.widths = {3, 4, 4, 5, 4, 4, 5};
  shape.blocks = {1, 2, 1, 1, 1, 1, 2};
  shape.top = 12;
  return shape;
}

Network with_weights(const Shape& shape, const NamedTensors& weights) {
  auto network = make_network(graph_of(shape).value(), kDouble).value();
  const auto loaded = load_weights(network, weights);
  EXPECT_TRUE(loaded) << loaded.error().message;
  network.set_head("classifier");
  return network;
}

TEST(EfficientNetLite, GivesTheReferencesLogitsWithBatchNormFolded) {
  const auto file = read_weights(fixture("")).value();
  for (const std::int64_t side : {33, 64}) {
    SCOPED_TRACE(side);
    const auto folded = fold_batch_norms(normed(narrow(side)), file, true);
    ASSERT_TRUE(folded) << folded.error().message;
    const auto network = with_weights(narrow(side), *folded);
    const auto wanted = expected(std::to_string(side));
    EXPECT_TRUE(near_relative(network.forward(reference_images(side)), rows(wanted.at("logits")), 1e-12));
    EXPECT_TRUE(
        near_relative(network.forward(reference_images(side).flatten(1)), rows(wanted.at("logits")), 1e-12));
    EXPECT_TRUE(near_relative(network.features(reference_images(side)), rows(wanted.at("features")), 1e-12));
  }
}

// Every side that a stage's image can have.
TEST(EfficientNetLite, SamePaddingIsTensorFlows) {
  for (std::int64_t side = 1; side <= 64; ++side) {
    for (const std::int64_t kernel : {3, 5}) {
      for (const std::int64_t stride : {1, 2}) {
        const auto [before, after] = same_padding(side, kernel, stride);
        EXPECT_GE(before, 0);
        EXPECT_TRUE(after == before || after == before + 1);
        EXPECT_EQ((side + before + after - kernel) / stride + 1, (side + stride - 1) / stride);
        EXPECT_TRUE(stride == 2 || before == after);
      }
    }
  }
  EXPECT_EQ(same_padding(224, 3, 2).before, 0);
  EXPECT_EQ(same_padding(224, 3, 2).after, 1);
  EXPECT_EQ(same_padding(56, 5, 2).before, 1);
  EXPECT_EQ(same_padding(56, 5, 2).after, 2);
}

TEST(EfficientNetLite, Lite0HasThePublishedCount) {
  const auto count = [](const json::object& given) {
    const auto options =
        resolve_options(find_model("efficientnet-lite").value()->options, given, "efficientnet-lite").value();
    return parameter_count("efficientnet-lite", options,
                           {.features = 3 * 224 * 224, .classes = 1000, .image = {3, 224, 224}});
  };
  // 4,652,008 with the BatchNorms' scales, which are folded in.
  EXPECT_EQ(count({}).value(), 4631000);
  EXPECT_EQ(count({{"size", "efficientnet-lite0"}}).value(), 4631000);
  // 385,187,552 weights by a count of its own, and a bias for each value that comes out. The paper
  // has 0.39 billion for EfficientNet-B0, which has the same convolutions.
  const auto options = resolve_options(find_model("efficientnet-lite").value()->options, {}, "").value();
  const auto uses = weight_uses("efficientnet-lite", options,
                                {.features = 3 * 224 * 224, .classes = 1000, .image = {3, 224, 224}});
  EXPECT_EQ(uses.value(), 385187552 + 6738696);
  EXPECT_EQ(count({{"trainable", "head"}}).value(), 1281000);
  EXPECT_EQ(count({{"trainable", "bitfit-head"}}).value(), 1281000 + 21008);
  EXPECT_NE(count({{"size", "efficientnet-lite1"}}).error().message.find("Sizes: efficientnet-lite0"),
            std::string::npos);
  EXPECT_NE(count({{"size", "efficientnet-lite0"}, {"blocks", json::array{1, 1, 1, 1, 1, 1, 1}}})
                .error()
                .message.find("leave 'blocks' out"),
            std::string::npos);
  EXPECT_NE(count({{"blocks", json::array{1, 1}}}).error().message.find("7 whole numbers"),
            std::string::npos);
  EXPECT_NE(count({{"widths", json::array{1, 1}}}).error().message.find("9 whole numbers"),
            std::string::npos);
}

TEST(EfficientNetLite, RefusesImagesThatDoNotSuit) {
  const auto says = [](const ModelInput& input) {
    const auto options =
        resolve_options(find_model("efficientnet-lite").value()->options, {}, "efficientnet-lite").value();
    const auto count = parameter_count("efficientnet-lite", options, input);
    return count ? std::string("accepted") : count.error().message;
  };
  EXPECT_EQ(says({.features = 3 * 32 * 32, .classes = 2, .image = {3, 32, 32}}), "accepted");
  EXPECT_NE(says({.features = 32 * 32, .classes = 2, .image = {1, 32, 32}}).find("3 channels"),
            std::string::npos);
  EXPECT_NE(says({.features = 3 * 31 * 31, .classes = 2, .image = {3, 31, 31}}).find("at least 32"),
            std::string::npos);
  EXPECT_NE(says({.features = 3 * 32 * 33, .classes = 2, .image = {3, 32, 33}}).find("square"),
            std::string::npos);
  EXPECT_NE(says({.features = 7, .classes = 2}).find("square"), std::string::npos);
}

TEST(EfficientNetLite, WhatDoesNotFitIsListedByTheFilesNames) {
  const auto shape = narrow(32);
  const auto good = read_weights(fixture("")).value();
  const auto says = [&](const std::function<void(NamedTensors&)>& change, bool with_head = true) {
    auto file = good;
    change(file);
    const auto folded = fold_batch_norms(normed(shape), file, with_head);
    return folded ? std::string("accepted") : folded.error().message;
  };
  const auto has = [](const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                   : testing::AssertionFailure() << message;
  };
  const auto several = says([](NamedTensors& file) {
    file.erase("_blocks.3._bn1.running_mean");
    file["_blocks.4._se_reduce.weight"] = torch::zeros({1});
    file["_conv_stem.weight"] = torch::zeros({4, 3, 3});
    file["_blocks.0._bn1.bias"] = torch::zeros({1});
  });
  EXPECT_TRUE(has(several, "missing: _blocks.3._bn1.running_mean"));
  EXPECT_TRUE(has(several, "unexpected: _blocks.4._se_reduce.weight"));
  EXPECT_TRUE(has(several, "_conv_stem.weight [4, 3, 3] for [4, 3, 3, 3]"));
  EXPECT_TRUE(has(several, "_blocks.0._bn1.bias [1] for [4]"));
  EXPECT_TRUE(has(says([](NamedTensors& file) {
                    auto variance = file.at("_bn1.running_var").clone();
                    variance[3] = -0.5;
                    file["_bn1.running_var"] = variance;
                  }),
                  "_bn1.running_var: a variance is negative"));
  EXPECT_TRUE(has(says([](NamedTensors& file) {
                    auto mean = file.at("_bn1.running_mean").clone();
                    mean[3] = std::numeric_limits<float>::infinity();
                    file["_bn1.running_mean"] = mean;
                  }),
                  "conv_head.bias: after folding, a value is infinite"));
  EXPECT_TRUE(has(says([](NamedTensors& file) { file.erase("_fc.bias"); }), "missing: _fc.bias"));
  // Without its head nothing of the head is looked at.
  EXPECT_EQ(says([](NamedTensors& file) { file["_fc.weight"] = torch::zeros({1}); }, false), "accepted");
  // Counts of batches may be there or not.
  EXPECT_EQ(says([](NamedTensors& file) {
              std::erase_if(file, [](const auto& one) { return one.first.ends_with("num_batches_tracked"); });
            }),
            "accepted");
}

class EfficientNetLiteFolder : public WeightsFolder {
 protected:
  EfficientNetLiteFolder() : WeightsFolder("efficientnet-lite") {}
  Result<Network> made(const json::object& given, std::int64_t classes, std::int64_t side = 32) const {
    return WeightsFolder::made(given, classes, side, torch::kFloat32);
  }
};

// A file of lite0's names and shapes, through the options of a model.
TEST_F(EfficientNetLiteFolder, GivesAllButAHeadThatStartsAtZero) {
  Shape shape;
  shape.classes = 5;
  NamedTensors file;
  at::manual_seed(4);
  const auto conv = [&](const std::string& name, const std::string& norm, std::vector<std::int64_t> sizes) {
    const auto outputs = sizes.front();
    file[name + ".weight"] = at::randn(sizes) * 0.1;
    file[norm + ".weight"] = at::rand({outputs}) + 0.5;
    file[norm + ".bias"] = at::randn({outputs});
    file[norm + ".running_mean"] = at::randn({outputs});
    file[norm + ".running_var"] = at::rand({outputs});
    file[norm + ".num_batches_tracked"] = torch::ones({}, torch::kInt64);
  };
  conv("_conv_stem", "_bn0", {32, 3, 3, 3});
  int number = 0;
  for (const auto& block : shape.list_blocks()) {
    const auto name = "_blocks." + std::to_string(number++) + ".";
    if (number > 1) conv(name + "_expand_conv", name + "_bn0", {block.hidden, block.inputs, 1, 1});
    conv(name + "_depthwise_conv", name + "_bn1", {block.hidden, 1, block.kernel, block.kernel});
    conv(name + "_project_conv", name + "_bn2", {block.outputs, block.hidden, 1, 1});
  }
  conv("_conv_head", "_bn1", {1280, 320, 1, 1});
  file["_fc.weight"] = at::randn({5, 1280});
  file["_fc.bias"] = at::randn({5});
  ASSERT_TRUE(write_safetensors((folder_ / "model.safetensors").string(), file));
  write_config(R"({"architecture": "efficientnet_lite0"})");

  const auto drawn = made({}, 2);
  ASSERT_TRUE(drawn) << drawn.error().message;
  EXPECT_EQ(drawn->tensor("classifier.weight").sizes(), (std::vector<std::int64_t>{2, 1280}));
  EXPECT_EQ(drawn->tensor("classifier.weight").abs().max().item<float>(), 0);
  const auto scale = file.at("_blocks.15._bn2.weight").to(torch::kFloat64) /
                     (file.at("_blocks.15._bn2.running_var").to(torch::kFloat64) + 1e-3).sqrt();
  const auto bias =
      file.at("_blocks.15._bn2.bias") - file.at("_blocks.15._bn2.running_mean").to(torch::kFloat64) * scale;
  EXPECT_TRUE(at::equal(drawn->tensor("blocks.6.0.conv_pwl.bias"), bias.to(torch::kFloat32)));
  const auto kept = made({{"head", "file"}, {"trainable", "bitfit-head"}}, 5, 33);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(at::equal(kept->tensor("classifier.weight"), file.at("_fc.weight")));
  EXPECT_TRUE(at::equal(kept->tensor("blocks.6.0.conv_pwl.bias"), drawn->tensor("blocks.6.0.conv_pwl.bias")));

  const auto misfit = made({{"head", "file"}}, 2);
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().message.find("_fc.weight [5, 1280] for [2, 1280]"), std::string::npos)
      << misfit.error().message;
  const auto twice = made({{"size", "efficientnet-lite0"}}, 2);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("leave 'size' out"), std::string::npos) << twice.error().message;

  // The file's names tell whether it is a published one; config.json has only the sizes.
  const std::string own = R"({"model_type": "hyfreedp-efficientnet-lite",
      "widths": [32,16,24,40,80,112,192,320,1280], "blocks": [1,2,2,3,3,4,1]})";
  const auto same = [&](const std::string& config) {
    write_config(config);
    const auto read = made({}, 2);
    return read ? at::equal(read->tensor("blocks.6.0.conv_pwl.bias"), bias.to(torch::kFloat32)) : false;
  };
  EXPECT_TRUE(same(own));
  ASSERT_TRUE(write_safetensors((folder_ / "model.safetensors").string(), named_tensors(*kept, {})));
  EXPECT_TRUE(same(own));
  EXPECT_TRUE(same(R"({"architecture": "efficientnet_lite0"})"));
  ASSERT_TRUE(write_safetensors((folder_ / "model.safetensors").string(), file));

  // A config.json that says something else, or hostile sizes.
  const std::pair<const char*, const char*> refused[] = {
      {R"({"architecture": "efficientnet_lite9"})", "no EfficientNet-Lite that is known"},
      {R"({})", "no EfficientNet-Lite that is known"},
      {R"([])", "must be an object"},
      {R"({"model_type": "hyfreedp-efficientnet-lite"})", "'widths' must be a list"},
      {R"({"model_type": "hyfreedp-efficientnet-lite", "widths": [1,1,1,1,1,1,1,1,1]})", "'blocks' must be"},
      {R"({"model_type": "hyfreedp-efficientnet-lite", "widths": [0,1,1,1,1,1,1,1,1], "blocks": []})",
       "9 whole numbers"},
      {R"({"model_type": "hyfreedp-efficientnet-lite", "widths": [1,1,1,1,1,1,1,1,1],
           "blocks": [1,1,1,1,1,1,9223372036854775807]})",
       "7 whole numbers"},
      // As kept with other sizes, but the file is a published one.
      {R"({"model_type": "hyfreedp-efficientnet-lite", "widths": [4,3,4,4,5,4,4,5,12],
           "blocks": [1,1,1,1,1,1,1]})",
       "_blocks.0._bn1.bias [32] for [4]"}};
  for (const auto& [config, says] : refused) {
    write_config(config);
    const auto bad = made({}, 2);
    ASSERT_FALSE(bad) << config;
    EXPECT_NE(bad.error().message.find(says), std::string::npos) << bad.error().message;
  }
}

// As published, in float64, in which PyTorch computed what is compared.
TEST(EfficientNetLite, Lite0AsPublishedGivesTheReferencesLogits) {
  const auto folder = published_efficientnet_lite0();
  if (folder.empty()) GTEST_SKIP() << without_weights("efficientnet-lite0");
  const auto wanted = expected("lite0");
  const auto side = wanted.at("side").to_number<std::int64_t>();
  const auto options =
      complete_options(resolve_options(find_model("efficientnet-lite").value()->options,
                                       {{"weights", folder}, {"head", "file"}}, "efficientnet-lite")
                           .value());
  ASSERT_TRUE(options) << options.error().message;
  const auto network = make_model("efficientnet-lite", *options,
                                  {.features = 3 * side * side, .classes = 1000, .image = {3, side, side}},
                                  kKey, torch::kFloat64);
  ASSERT_TRUE(network) << network.error().message;
  std::vector<std::int64_t> classes;
  for (const auto& one : wanted.at("classes").as_array()) classes.push_back(one.to_number<std::int64_t>());
  const auto logits = network->forward(reference_images(side)).index_select(1, torch::tensor(classes));
  EXPECT_TRUE(near_relative(logits, rows(wanted.at("logits")), 1e-10));
}

}  // namespace efficientnet_lite_test
}  // namespace hyfreedp::models
