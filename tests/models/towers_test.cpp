// CLIP's image towers, EVA-02, and features joined from every block, beside timm's networks.
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/loss.h"
#include "harness/models/networks/vit.h"
#include "harness/models/weights/weights.h"
#include "tests/models/compare.h"
#include "tests/models/reference_images.h"
#include "tests/models/weights_folder.h"

namespace hyfreedp::models {
namespace towers_test {

using torch::Tensor;

constexpr std::int64_t kSide = 20;
constexpr std::int64_t kClasses = 3;

std::string fixture(const std::string& file) { return HYFREEDP_TEST_DATA "/towers/" + file; }
const json::object& expected() {
  static const auto all = read_json_file(fixture("expected.json")).value().as_object();
  return all;
}
json::object resolved(const std::string& model, const json::object& given) {
  return resolve_options(find_model(model).value()->options, given, model).value();
}

// A network of the fixture, under its name there.
class Towers : public WeightsFolder, public testing::WithParamInterface<const char*> {
 protected:
  explicit Towers() : Towers(std::string(GetParam())) {}
  explicit Towers(const std::string& name) : WeightsFolder(name == "clip-quick" ? "clip" : name) {
    write_weights(read_weights(fixture(name + ".safetensors")).value());
    write_config(json::serialize(wanted().at("config")));
  }
  static const json::object& wanted() { return expected().at(GetParam()).as_object(); }
};
INSTANTIATE_TEST_SUITE_P(Networks, Towers, testing::Values("vit", "beit", "clip", "clip-quick", "eva02"));

TEST_P(Towers, GiveTimmsLogitsFeaturesAndGradientNorms) {
  auto network = made({{"head", "file"}}, kClasses, kSide).value();
  const auto images = reference_images(kSide);
  EXPECT_TRUE(near_relative(network.forward(images), rows(wanted().at("logits")), 1e-12));
  EXPECT_TRUE(near_relative(network.features(images), rows(wanted().at("features")), 1e-12));

  const auto labels = torch::tensor({2, 0}, torch::kInt64);
  const auto logits = network.record(images);
  network.backward(sample_losses(Loss::cross_entropy, logits, labels, true).logit_gradient);
  const auto norms = network.squared_norms();
  const auto& squares = wanted().at("squared_norms").as_array();
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto square = squares.at(static_cast<std::size_t>(i)).to_number<double>();
    EXPECT_NEAR(norms[i].item<double>() / square, 1, 1e-10) << i;
  }
  const auto single = made({{"head", "file"}}, kClasses, kSide, torch::kFloat32).value();
  EXPECT_TRUE(near_relative(single.forward(images.to(torch::kFloat32)), rows(wanted().at("logits")), 1e-4));
}

TEST_P(Towers, JoinWhatEveryBlockGives) {
  for (const char* pool : {"block-tokens", "block-quarters"}) {
    SCOPED_TRACE(pool);
    const auto network = made({{"pool", pool}, {"trainable", "head"}}, kClasses, kSide);
    ASSERT_TRUE(network) << network.error().message;
    EXPECT_TRUE(near_relative(network->features(reference_images(kSide)), rows(wanted().at(pool)), 1e-12));
    const auto options = complete_options(resolved(model_, {{"weights", folder_.string()}, {"pool", pool}}));
    const auto width = feature_width(model_, options.value(), input_of(kSide, kClasses)).value();
    EXPECT_EQ(width, std::string(pool) == "block-tokens" ? 2 * 16 : 4 * 2 * 16);
    EXPECT_EQ(network->tensor("head.weight").sizes(), (std::vector<std::int64_t>{kClasses, width}));
  }
  // The file's own head reads something else.
  const auto misfit = made({{"pool", "block-tokens"}, {"head", "file"}}, kClasses, kSide);
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().message.find("head.weight [3, 16] for [3, 32]"), std::string::npos)
      << misfit.error().message;
  const auto decided = made({{"pool", "mean"}}, kClasses, kSide);
  ASSERT_FALSE(decided);
  EXPECT_NE(decided.error().message.find("leave 'pool' out"), std::string::npos) << decided.error().message;
}

TEST_P(Towers, AreReadAgainAsTheyWereKept) {
  for (const char* pool : {"", "block-quarters"}) {
    SCOPED_TRACE(pool);
    write_weights(read_weights(fixture(std::string(GetParam()) + ".safetensors")).value());
    write_config(json::serialize(wanted().at("config")));
    json::object given{{"weights", folder_.string()}};
    if (*pool != '\0') given["pool"] = pool;
    const auto options = complete_options(resolved(model_, given)).value();
    const auto plan = blueprint(model_, options, input_of(kSide, kClasses)).value();
    const auto network =
        make_model(model_, options, input_of(kSide, kClasses), random::key_from_seed("kept"), torch::kFloat64)
            .value();
    const auto logits = network.forward(reference_images(kSide));
    auto kept = named_tensors(network, {});
    for (auto& [name, value] : kept) value = value.clone();
    write_weights(kept);
    write_config(canonical_json(plan.description.config));
    const auto again = made({{"head", "file"}}, kClasses, kSide);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(near_relative(again->forward(reference_images(kSide)), logits, 1e-12));
  }
}

// A folder of timm's has the shape of another network, whose values would be read as this one's.
TEST_P(Towers, AreOfTheirOwnModel) {
  for (const char* model : {"vit", "beit", "clip", "eva02"}) {
    if (model == model_) continue;
    const auto other = complete_options(resolved(model, {{"weights", folder_.string()}}));
    const auto found = feature_width(model, other.value(), input_of(kSide, kClasses));
    ASSERT_FALSE(found) << model;
    EXPECT_NE(found.error().message.find("is one of the model " + model_ + ", not of " + model),
              std::string::npos)
        << found.error().message;
  }
}

TEST(TowerSizes, AreTimms) {
  for (const auto& [name, counted] : expected().at("counts").as_object()) {
    SCOPED_TRACE(std::string(name));
    const std::string model = name.starts_with("eva02") ? "eva02" : "clip";
    const auto input = input_of(counted.at("image").as_int64(), 1000);
    const auto options = resolved(model, {{"size", name}});
    EXPECT_EQ(parameter_count(model, options, input).value(), counted.at("parameters").as_int64());
    EXPECT_EQ(feature_width(model, options, input).value(), counted.at("features").as_int64());
  }
  // As Panda et al.'s program has it of EVA-02-L: 4 x 24 x 1024.
  const auto joined = resolved("eva02", {{"size", "eva02_large_patch14_448"}, {"pool", "block-quarters"}});
  EXPECT_EQ(feature_width("eva02", joined, input_of(448, 1000)).value(), 98304);
}

TEST(TowerSizes, CataloguedWeightsAreOfThem) {
  struct Known {
    const char* weights;
    const char* model;
    std::int64_t image, classes, features;
  };
  for (const auto& one : {Known{"clip-base-patch16-224-openai", "clip", 224, 512, 768},
                          {"clip-base-patch32-224-laion2b", "clip", 224, 512, 768},
                          {"clip-large-patch14-224-laion2b", "clip", 224, 768, 1024},
                          {"clip-huge-patch14-224-laion2b", "clip", 224, 1024, 1280},
                          {"clip-giant-patch14-224-laion2b", "clip", 224, 1024, 1408},
                          {"eva02-large-patch14-448", "eva02", 448, 21841, 1024}}) {
    SCOPED_TRACE(one.weights);
    const auto* known = find_pretrained(one.weights);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->normalise, "clip");
    const auto options = resolved(one.model, {{"size", known->architecture}});
    const auto input = input_of(one.image, one.classes);
    EXPECT_NEAR(static_cast<double>(known->supply.bytes),
                4.0 * static_cast<double>(parameter_count(one.model, options, input).value()), 1e5);
    EXPECT_EQ(feature_width(one.model, options, input).value(), one.features);
  }
}

// The hub has OpenAI's weights under the name of the network with GELU.
TEST(TowerSizes, OpenAisWeightsComeWithTheirActivation) {
  const auto& supply = find_pretrained("clip-base-patch16-224-openai")->supply;
  ASSERT_EQ(supply.downloads.size(), 1U);
  EXPECT_EQ(supply.downloads[0].urls[0],
            "https://huggingface.co/timm/vit_base_patch16_clip_224.openai/resolve/main/model.safetensors");
  ASSERT_EQ(supply.written.size(), 1U);
  const auto config = json::parse(supply.written[0].content).as_object();
  const auto shape = VitShape::from_json(config, "config", VitShape::Family::clip);
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_TRUE(shape->quick_gelu);
}

// Names that are nearly known, and an image whose patches are too few.
TEST(TowerSizes, OthersAreRefused) {
  const auto says = [](const std::string& model, const json::object& given, std::int64_t side = 224) {
    return parameter_count(model, resolved(model, given), input_of(side, 10)).error().message;
  };
  for (const char* name :
       {"vit_base_patch16_clip", "vit_tiny_patch16_clip_224", "vit_base_patch16_quickgelu_224",
        "vit_base_patch16_clip_quickgelu", "vit_base_patch16_clip_224_x"}) {
    EXPECT_NE(says("clip", {{"size", name}}).find("is not known. Sizes: vit_{base|large|huge"),
              std::string::npos)
        << says("clip", {{"size", name}});
  }
  EXPECT_NE(says("eva02", {{"size", "eva02_tiny_patch14_224"}}).find("eva02_{base|large}"),
            std::string::npos);
  EXPECT_NE(says("eva02", {{"width", 12}, {"heads", 2}}).find("multiple of 4"), std::string::npos);
  EXPECT_NE(says("vit", {{"patch", 112}, {"pool", "block-quarters"}}, 112).find("fewer than four patches"),
            std::string::npos);
}

// Two patches a side, trained on four: places 0 and 2; a head of four numbers turns once by row and
// once by column.
TEST(TowerSizes, RotationsAreOfRowThenColumn) {
  const auto angles = grid_angles({.side = 2, .trained_side = 4}, 4);
  const std::vector<double> turns = {0, 0, 0, 0, 0, 2, 2, 0, 2, 2};
  EXPECT_TRUE(at::equal(angles, torch::tensor(turns, torch::kFloat64).view({5, 2})));
}

}  // namespace towers_test
}  // namespace hyfreedp::models
