// BEiT beside timm's, and what its weights folders must have. Norms and sums: reference_test.cpp.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/layers/attention.h"
#include "harness/models/model.h"
#include "harness/models/networks/vit.h"
#include "harness/models/weights/weights.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace beit_test {

namespace fs = std::filesystem;
using torch::Tensor;

const random::Key kKey = random::key_from_seed("tests of BEiT");
const ModelInput kImages{.features = 3072, .classes = 5, .image = {3, 32, 32}};

std::string reference(const std::string& file) { return HYFREEDP_TEST_DATA "/models/beit/" + file; }

class Beit : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    fs::copy_file(reference("config.json"), folder_ / "config.json");
    fs::copy_file(reference("weights.safetensors"), folder_ / "model.safetensors");
  }
  ~Beit() override { fs::remove_all(folder_); }

  Result<Network> made(json::object options, const std::string& model = "beit",
                       const ModelInput& input = kImages) const {
    options["weights"] = folder_.string();
    const auto resolved = resolve_options(find_model(model).value()->options, options, model);
    if (!resolved) return resolved.error();
    const auto completed = complete_options(*resolved);
    if (!completed) return completed.error();
    return make_model(model, *completed, input, kKey, torch::kFloat64);
  }
  std::string refusal(const std::string& model = "beit", const ModelInput& input = kImages) const {
    const auto network = made({{"head", "file"}}, model, input);
    return network ? std::string("accepted") : network.error().message;
  }
  void change_weights(const std::function<void(NamedTensors&)>& change) const {
    auto weights = read_weights(folder_.string()).value();
    change(weights);
    // The file is mapped until the last view of it is gone.
    for (auto& [name, value] : weights) value = value.clone();
    write_safetensors((folder_ / "model.safetensors").string(), weights).value();
  }
  void set_config(const std::function<void(json::object&)>& change) const {
    auto config = read_json_file(reference("config.json")).value().as_object();
    change(config);
    write_file_atomically((folder_ / "config.json").string(), json::serialize(config)).value();
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("beit-" + std::to_string(::getpid()));
};

TEST_F(Beit, GivesTimmsLogitsFromAWeightsFolder) {
  const auto network = made({{"head", "file"}, {"trainable", "head"}});
  ASSERT_TRUE(network) << network.error().message;
  const auto images = read_weights(reference("inputs.safetensors")).value().at("images").to(torch::kFloat64);
  const auto logits = read_weights(reference("expected.safetensors")).value().at("logits");
  EXPECT_TRUE(near_relative(network->forward(images), logits, 1e-12));
  EXPECT_TRUE(near_relative(network->forward(images.flatten(1)), logits, 1e-12));
  EXPECT_EQ(network->features(images).sizes(), (std::vector<std::int64_t>{2, 16}));
}

// Two patches a side. Positions: class token, top left, top right, bottom left, bottom right.
TEST_F(Beit, TablesHaveARowForEachDistance) {
  const std::vector<std::int64_t> rows = {11, 9, 9, 9, 9,   //
                                          10, 4, 3, 1, 0,   //
                                          10, 5, 4, 2, 1,   //
                                          10, 7, 6, 4, 3,   //
                                          10, 8, 7, 5, 4};  //
  EXPECT_TRUE(at::equal(distance_rows(2), torch::tensor(rows)));
  EXPECT_EQ(distance_rows(32).max().item<std::int64_t>() + 1, 63 * 63 + 3);
}

// Numbers of parameters as timm counts them.
TEST_F(Beit, CataloguedWeightsAreOfTimmsSizes) {
  struct Known {
    const char* weights;
    const char* model;
    std::int64_t image, classes, parameters;
  };
  for (const auto& one : {Known{"beit-large-patch16-512", "beit", 512, 1000, 305'674'728},
                          {"beit-large-patch16-224-in22k", "beit", 224, 21841, 325'792'593},
                          {"beitv2-large-patch16-224", "beit", 224, 1000, 304'430'568},
                          {"beitv2-large-patch16-224-in22k", "beit", 224, 21841, 325'792'593},
                          {"vit-large-patch16-384", "vit", 384, 1000, 304'715'752},
                          {"vit-large-patch16-224", "vit", 224, 1000, 304'326'632}}) {
    SCOPED_TRACE(one.weights);
    const auto* known = find_pretrained(one.weights);
    ASSERT_NE(known, nullptr);
    const ModelInput input{
        .features = 3 * one.image * one.image, .classes = one.classes, .image = {3, one.image, one.image}};
    const auto options =
        resolve_options(find_model(one.model).value()->options, {{"size", known->architecture}}, one.model)
            .value();
    EXPECT_EQ(parameter_count(one.model, options, input).value(), one.parameters);
    EXPECT_NEAR(static_cast<double>(known->supply.bytes), 4.0 * static_cast<double>(one.parameters), 1e5);
    EXPECT_EQ(feature_width(one.model, options, input).value(), 1024);
  }
}

TEST_F(Beit, OnlyItsOwnNetworksWeightsAreTaken) {
  EXPECT_NE(refusal("vit").find("'beit_base_patch16_224' is one of the model beit, not of vit"),
            std::string::npos)
      << refusal("vit");
  const ModelInput larger{.features = 3 * 48 * 48, .classes = 5, .image = {3, 48, 48}};
  EXPECT_NE(refusal("beit", larger)
                .find("of images of 32 pixels a side, the dataset's have 48. Give the "
                      "dataset 'side: 32'"),
            std::string::npos)
      << refusal("beit", larger);
  set_config([](auto& config) { config["architecture"] = "vit_tiny_patch16_224"; });
  EXPECT_NE(refusal().find("one of the model vit, not of beit"), std::string::npos) << refusal();
  set_config([](auto& config) { config["architecture"] = "beit_huge_patch16_224"; });
  EXPECT_NE(refusal().find("{beit|beitv2}_{base|large}"), std::string::npos) << refusal();
  set_config([](auto& config) { config["model_args"].as_object()["use_shared_rel_pos_bias"] = true; });
  EXPECT_NE(refusal().find("'use_shared_rel_pos_bias' is true, where only false is supported"),
            std::string::npos)
      << refusal();
  set_config([](auto& config) { config["model_args"].as_object()["init_values"] = -1; });
  EXPECT_NE(refusal().find("init_values"), std::string::npos) << refusal();
  for (const char* size : {"img_size", "patch_size", "embed_dim", "depth", "num_heads"}) {
    set_config([&](auto& config) { config["model_args"].as_object()[size] = std::int64_t{1} << 62; });
    EXPECT_NE(refusal().find("must be at most"), std::string::npos) << refusal();
  }
}

TEST_F(Beit, WeightsThatLackOrHaveAPartAreNamed) {
  // Older files have the rows of the table, which are known.
  change_weights([](auto& weights) {
    weights["blocks.0.attn.relative_position_index"] = torch::zeros({17, 17}, torch::kInt64);
  });
  EXPECT_EQ(refusal(), "accepted");
  change_weights([](auto& weights) { weights.erase("blocks.1.gamma_2"); });
  EXPECT_NE(refusal().find("missing: blocks.1.gamma_2"), std::string::npos) << refusal();
  set_config([](auto& config) { config["model_args"].as_object()["init_values"] = nullptr; });
  EXPECT_NE(refusal().find("unexpected: blocks.0.gamma_1"), std::string::npos) << refusal();
  set_config([](auto& config) { config["model_args"].as_object()["num_heads"] = 4; });
  EXPECT_NE(refusal().find("blocks.0.attn.relative_position_bias_table [52, 2] for [52, 4]"),
            std::string::npos)
      << refusal();
  fs::resize_file(folder_ / "model.safetensors", 20'000);
  EXPECT_NE(refusal().find("model.safetensors"), std::string::npos) << refusal();
}

// A BEiT of a folder may have positions, and neither tables nor layer scale.
TEST_F(Beit, AKeptConfigSaysWhichPartsThereAre) {
  set_config([](auto& config) {
    auto& args = config["model_args"].as_object();
    args["use_abs_pos_emb"] = true;
    args["use_rel_pos_bias"] = false;
    args["init_values"] = nullptr;
  });
  change_weights([](auto& weights) {
    std::erase_if(weights, [](const auto& one) {
      return one.first.find("gamma") != std::string::npos || one.first.ends_with("_table");
    });
    weights["pos_embed"] = torch::zeros({1, 17, 16});
  });
  EXPECT_EQ(refusal(), "accepted");
  // Positions are resampled.
  const ModelInput larger{.features = 3 * 48 * 48, .classes = 5, .image = {3, 48, 48}};
  EXPECT_EQ(refusal("beit", larger), "accepted");
  const auto config = read_json_file((folder_ / "config.json").string()).value().as_object();
  const auto shape = VitShape::from_json(config, "config", VitShape::Family::beit).value();
  const auto again = VitShape::from_json(model_config(shape), "kept", VitShape::Family::beit).value();
  EXPECT_TRUE(again.positions);
  EXPECT_FALSE(again.relative_bias);
  EXPECT_EQ(again.layer_scale, 0);
  EXPECT_EQ(again.pool, VitShape::Pool::mean);
}

// As timm's init_weights has them.
TEST_F(Beit, BeginsAsItsAuthorsDo) {
  const auto options =
      resolve_options(find_model("beit").value()->options, {{"width", 64}, {"depth", 2}}, "beit").value();
  const auto network = make_model("beit", options, kImages, kKey, torch::kFloat64);
  ASSERT_TRUE(network) << network.error().message;
  const auto all = [&](const std::string& name, double value) {
    return (network->tensor(name) == value).all().item<bool>();
  };
  EXPECT_TRUE(all("blocks.0.gamma_1", 0.1) && all("blocks.1.gamma_2", 0.1));
  EXPECT_TRUE(all("blocks.0.attn.relative_position_bias_table", 0) && all("blocks.0.attn.q_bias", 0));
  // A normal cut at two standard deviations has 0.88 of them.
  const auto deviation = [&](const std::string& name) {
    return network->tensor(name).std().item<double>() / 0.8796;
  };
  EXPECT_NEAR(deviation("blocks.1.attn.qkv.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation("blocks.0.mlp.fc2.weight"), 0.02 / std::sqrt(2), 0.001);
  EXPECT_NEAR(deviation("blocks.1.attn.proj.weight"), 0.01, 0.0005);
  EXPECT_NEAR(deviation("cls_token"), 0.02, 0.006);
  EXPECT_NEAR(deviation("head.weight"), 2e-5, 3e-6);
}

// Every way to train it, tables and layer scale included, is tested with the registered models.
TEST_F(Beit, BitfitTrainsTheBiasesOfQueriesAndValues) {
  const auto network = made({{"trainable", "bitfit"}});
  ASSERT_TRUE(network) << network.error().message;
  std::vector<std::string> names;
  for (const auto& slice : network->layout()) names.push_back(slice.name);
  EXPECT_NE(std::find(names.begin(), names.end(), "blocks.1.attn.q_bias"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "blocks.1.attn.v_bias"), names.end());
  EXPECT_EQ(names.size(), 1 + 2 * 7 + 2U);
}

}  // namespace beit_test
}  // namespace hyfreedp::models
