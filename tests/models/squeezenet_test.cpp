// SqueezeNet 1.1 beside torchvision's in PyTorch, and what its weights files must have.
#include "harness/models/networks/squeezenet.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/layers/loss.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/model.h"
#include "harness/models/weights/squeezenet_weights.h"
#include "tests/models/compare.h"
#include "tests/models/published_weights.h"
#include "tests/models/reference_images.h"
#include "tests/models/weights_folder.h"

namespace hyfreedp::models {
namespace squeezenet_test {

namespace fs = std::filesystem;
using torch::Tensor;
using Shape = SqueezeNetShape;

const random::Key kKey = random::key_from_seed("tests of SqueezeNet");
const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

std::string fixture(const std::string& name) {
  return std::string(HYFREEDP_TEST_DATA) + "/squeezenet/" + name;
}

json::value expected(const std::string& what) {
  return read_json_file(fixture("expected.json")).value().as_object().at(what);
}

Shape narrow(std::int64_t side, Shape::Head head = Shape::Head::convolution) {
  Shape shape;
  shape.side = side;
  shape.classes = 3;
  shape.stem = 4;
  shape.squeezes = {2, 2, 3, 2, 3, 2, 3, 4};
  shape.branches = {3, 4, 4, 5, 4, 3, 5, 6};
  shape.head = head;
  return shape;
}

NamedTensors published_form() { return read_weights(fixture("")).value(); }

Network with_weights(const Shape& shape, const NamedTensors& weights, const LoadRules& rules = {}) {
  auto network = make_network(graph_of(shape).value(), kDouble).value();
  const auto loaded = load_weights(network, weights, rules);
  EXPECT_TRUE(loaded) << loaded.error().message;
  return network;
}

json::object options_of(const json::object& given) {
  return resolve_options(find_model("squeezenet").value()->options, given, "squeezenet").value();
}

TEST(SqueezeNet, GivesTheReferencesLogitsAndFeatures) {
  for (const std::int64_t side : {17, 33, 64}) {
    SCOPED_TRACE(side);
    const auto weights = squeezenet_from_caffe(caffe_network(narrow(side)), published_form(), true);
    ASSERT_TRUE(weights) << weights.error().message;
    const auto wanted = expected(std::to_string(side)).as_object();
    const auto network = with_weights(narrow(side), *weights);
    EXPECT_TRUE(near_relative(network.forward(reference_images(side)), rows(wanted.at("logits")), 1e-12));
    EXPECT_TRUE(
        near_relative(network.forward(reference_images(side).flatten(1)), rows(wanted.at("logits")), 1e-12));
    // With a head of new classes the features are what the head reads.
    const auto without = squeezenet_from_caffe(caffe_network(narrow(side)), published_form(), false);
    ASSERT_TRUE(without) << without.error().message;
    EXPECT_FALSE(without->contains("classifier.1.weight"));
    auto linear = with_weights(
        narrow(side, Shape::Head::mean_then_linear), *without,
        {.may_be_absent = [](const std::string& name) { return name.starts_with("classifier"); }});
    linear.set_head("classifier.1");
    EXPECT_TRUE(near_relative(linear.features(reference_images(side)), rows(wanted.at("features")), 1e-12));
    EXPECT_EQ(linear.forward(reference_images(side)).abs().max().item<double>(), 0);
  }
}

TEST(SqueezeNet, NamesAreTorchvisions) {
  const auto network = make_network(graph_of(narrow(32)).value(), kDouble).value();
  json::array names;
  for (const auto& slice : network.layout()) names.push_back(json::value(slice.name));
  EXPECT_EQ(names, expected("names").as_array());
}

TEST(SqueezeNet, HasThePublishedCount) {
  const auto count = [](const json::object& given) {
    return parameter_count("squeezenet", options_of(given), input_of(224, 1000));
  };
  EXPECT_EQ(count({}).value(), 1235496);  // torchvision's
  EXPECT_EQ(count({{"size", "squeezenet1.1"}}).value(), 1235496);
  EXPECT_EQ(count({{"trainable", "head"}}).value(), 513000);
  EXPECT_EQ(count({{"trainable", "bitfit"}}).value(), 64 + 2 * (144 + 288 + 432 + 576) + 1000);
  EXPECT_EQ(count({{"trainable", "last-block"}}).value(), 513000 + 512 * 64 + 64 + 64 * 2560 + 512);
  // torchvision's table has 0.35 billion multiplications; there the head is at all 13 x 13 places.
  const auto uses = weight_uses("squeezenet", options_of({}), input_of(224, 1000)).value();
  const auto head_at_places = 513000 * (13 * 13 - 1);
  EXPECT_NEAR(static_cast<double>(uses + head_at_places), 0.35e9, 0.005e9);
  const auto says = [&](const json::object& given) {
    const auto counted = count(given);
    return counted ? std::string("accepted") : counted.error().message;
  };
  const auto has = [&](const json::object& given, const char* part) {
    return says(given).find(part) != std::string::npos;
  };
  EXPECT_TRUE(has({{"size", "squeezenet1.0"}}, "Did you mean 'squeezenet1.1'?")) << says({{"size", "x"}});
  EXPECT_TRUE(has({{"size", "squeezenet1.1"}, {"squeeze", json::array{1}}}, "leave 'squeeze' out"));
  EXPECT_TRUE(has({{"widths", json::array{1, 1}}}, "9 whole numbers from 1 to 65536"));
  EXPECT_TRUE(has({{"squeeze", json::array{1, 1, 1, 1, 1, 1, 1, 1, 1}}}, "8 whole numbers"));
  // Adapters are for linear layers.
  EXPECT_FALSE(
      resolve_options(find_model("squeezenet").value()->options, {{"trainable", "lora"}}, "squeezenet"));
}

TEST(SqueezeNet, RefusesImagesThatDoNotSuit) {
  const auto says = [](const ModelInput& input) {
    const auto count = parameter_count("squeezenet", options_of({}), input);
    return count ? std::string("accepted") : count.error().message;
  };
  EXPECT_EQ(says(input_of(17, 2)), "accepted");
  EXPECT_NE(says(input_of(16, 2)).find("at least 17"), std::string::npos);
  EXPECT_NE(says({.features = 32 * 32, .classes = 2, .image = {1, 32, 32}}).find("3 channels"),
            std::string::npos);
  EXPECT_NE(says({.features = 7, .classes = 2}).find("square"), std::string::npos);
}

// Every side's shapes, which LibTorch would refuse if a pool had no place.
TEST(SqueezeNet, EachSideHasThePlacesThatItsShapeSays) {
  for (std::int64_t side = Shape::kLeastSide; side <= 70; ++side) {
    auto shape = narrow(side);
    const auto places = shape.list_modules().back().side;
    auto network = make_network(graph_of(shape).value(), kDouble).value();
    network.tensor("classifier.1.bias").fill_(1);
    EXPECT_EQ(network.forward(reference_images(side)).sizes(), (std::vector<std::int64_t>{2, 3}));
    shape.head = Shape::Head::mean_then_linear;
    // The pools' sizes, by the formula of torch.nn.MaxPool2d.
    auto size = (side - 3) / 2 + 1;
    for (int pool = 0; pool < 3; ++pool) {
      auto outputs = (size - 3 + 1) / 2 + 1;
      if ((outputs - 1) * 2 >= size) --outputs;
      size = outputs;
    }
    EXPECT_EQ(places, size) << side;
    EXPECT_GE(size, 1);
  }
}

// The gradients of the head that a published file has; the registered example has the other.
TEST(SqueezeNet, GradientsWithAConvolutionAsHeadAreAutograds) {
  const auto shape = narrow(26);
  const auto weights = squeezenet_from_caffe(caffe_network(shape), published_form(), true).value();
  for (const std::string trains : {"", "bias", "features.12", "classifier"}) {
    SCOPED_TRACE(trains);
    const auto chosen = [&](const std::string& name) { return name.find(trains) != std::string::npos; };
    const auto made = [&](bool with_gradient) {
      auto network =
          make_network(graph_of(shape).value(), kDouble.requires_grad(with_gradient), chosen).value();
      const torch::NoGradGuard no_gradients;
      EXPECT_TRUE(load_weights(network, weights));
      return network;
    };
    const auto labels = torch::tensor({1, 2});
    auto network = made(false);
    const auto logits = network.record(reference_images(26));
    network.backward(sample_losses(Loss::cross_entropy, logits, labels, true).logit_gradient);
    const auto norms = network.squared_norms();
    for (std::int64_t i = 0; i < 2; ++i) {
      const at::AutoGradMode with_gradients(true);
      auto other = made(true);
      sample_losses(Loss::cross_entropy, other.forward(reference_images(26).narrow(0, i, 1)),
                    labels.narrow(0, i, 1), false)
          .losses.sum()
          .backward();
      const auto gradient = other.parameters().grad();
      auto sum = torch::zeros_like(gradient);
      network.add_clipped_sum(torch::zeros({2}, kDouble).index_fill(0, torch::tensor({i}), 0.7), sum);
      EXPECT_GT(gradient.abs().max().item<double>(), 0);
      EXPECT_TRUE(near_relative(sum, gradient * 0.7, 1e-10));
      EXPECT_NEAR(norms[i].item<double>() / gradient.square().sum().item<double>(), 1, 1e-10);
    }
  }
}

TEST(SqueezeNet, WhatDoesNotFitIsListedByTheFilesNames) {
  const auto says = [](const std::function<void(NamedTensors&)>& change, bool with_head = true) {
    auto file = published_form();
    change(file);
    const auto fitted = squeezenet_from_caffe(caffe_network(narrow(32)), file, with_head);
    return fitted ? std::string("accepted") : fitted.error().message;
  };
  const auto several = says([](NamedTensors& file) {
    file.erase("fire5/squeeze1x1.1");
    file["fire10/squeeze1x1.0"] = torch::zeros({1});
    file["conv1.0"] = torch::zeros({4, 3, 3, 3});
    file["fire2/expand1x1.1"] = torch::zeros({1});
  });
  for (const char* part : {"missing: fire5/squeeze1x1.1", "unexpected: fire10/squeeze1x1.0",
                           "conv1.0 [4, 3, 3, 3] for [3, 3, 3, 4]", "fire2/expand1x1.1 [1] for [3]"}) {
    EXPECT_NE(several.find(part), std::string::npos) << several;
  }
  const auto spoil = [](NamedTensors& file) { file["conv10.0"] = torch::zeros({1}); };
  EXPECT_NE(says(spoil).find("conv10.0 [1] for [1, 1, 12, 3]"), std::string::npos) << says(spoil);
  // Without its head nothing of the head is looked at.
  EXPECT_EQ(says(spoil, false), "accepted");
}

class SqueezeNetFolder : public WeightsFolder {
 protected:
  SqueezeNetFolder() : WeightsFolder("squeezenet") {}

  const std::string own_ = R"({"model_type": "hyfreedp-squeezenet", "widths": [4,3,4,4,5,4,3,5,6],
      "squeeze": [2,2,3,2,3,2,3,4], "head": "convolution"})";
};

TEST_F(SqueezeNetFolder, GivesAllButAHeadThatStartsAtZero) {
  fs::copy_file(fixture("weights.pkl"), folder_ / "weights.pkl");
  write_config(own_);
  const auto drawn = made({}, 2);
  ASSERT_TRUE(drawn) << drawn.error().message;
  EXPECT_EQ(drawn->tensor("classifier.1.weight").sizes(), (std::vector<std::int64_t>{2, 12}));
  EXPECT_EQ(drawn->tensor("classifier.1.weight").abs().max().item<double>(), 0);
  EXPECT_TRUE(drawn->has_head());
  const auto wanted = expected("33").as_object();
  EXPECT_TRUE(
      near_relative(made({}, 2, 33)->features(reference_images(33)), rows(wanted.at("features")), 1e-12));
  const auto kept = made({{"head", "file"}}, 3, 33);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(near_relative(kept->forward(reference_images(33)), rows(wanted.at("logits")), 1e-12));
  EXPECT_FALSE(kept->has_head());
  const auto misfit = made({{"head", "file"}}, 2);
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().message.find("conv10.0 [1, 1, 12, 3] for [1, 1, 12, 2]"), std::string::npos)
      << misfit.error().message;
  // The checksum covers the pickle.
  const auto checksum = [&] { return complete_options(options_of({{"weights", folder_.string()}})).value(); };
  const auto before = checksum();
  auto damaged = read_file((folder_ / "weights.pkl").string()).value();
  damaged.back() = ',';
  ASSERT_TRUE(write_file_atomically((folder_ / "weights.pkl").string(), damaged));
  EXPECT_NE(checksum().at("weights_sha256"), before.at("weights_sha256"));
  const auto bad = made({}, 2);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("weights.pkl"), std::string::npos) << bad.error().message;

  // A head that was trained here, and torchvision's names, which are the network's.
  fs::remove(folder_ / "weights.pkl");
  for (const auto* network : {&*drawn, &*kept}) {
    ASSERT_TRUE(write_safetensors((folder_ / "model.safetensors").string(), named_tensors(*network, {})));
    const bool is_linear = network == &*drawn;
    auto shape = narrow(33, is_linear ? Shape::Head::mean_then_linear : Shape::Head::convolution);
    shape.classes = is_linear ? 2 : 3;
    write_config(pretty_json(model_config(shape)));
    const auto again = made({{"head", "file"}}, shape.classes, 33);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(at::equal(again->parameters(), network->parameters()));
    EXPECT_EQ(again->has_head(), is_linear);
    const auto anew = made({}, 5, 33);
    ASSERT_TRUE(anew) << anew.error().message;
    EXPECT_EQ(anew->tensor("classifier.1.weight").sizes(), (std::vector<std::int64_t>{5, 12}));
  }
}

TEST_F(SqueezeNetFolder, OtherConfigsAreRefused) {
  fs::copy_file(fixture("weights.pkl"), folder_ / "weights.pkl");
  const auto lists = R"("widths": [4,3,4,4,5,4,3,5,6], "squeeze": [2,2,3,2,3,2,3,4])";
  const std::string type = R"({"model_type": "hyfreedp-squeezenet")";
  const std::pair<std::string, const char*> refused[] = {
      {R"({"architecture": "squeezenet1_0"})", "no SqueezeNet that is known here"},
      {R"({})", "no SqueezeNet that is known here"},
      {R"([])", "must be an object"},
      {type + "}", "'widths' must be a list"},
      {type + R"(, "widths": [1,1,1,1,1,1,1,1,1]})", "'squeeze' must be a list"},
      {type + R"(, "widths": [0,1,1,1,1,1,1,1,1], "squeeze": []})", "9 whole numbers"},
      {type + R"(, "widths": [1,1,1,1,1,1,1,1,1], "squeeze": [1,1,1,1,1,1,1,9223372036854775807]})",
       "8 whole numbers"},
      {type + ", " + lists + "}", "'head' is ''"},
      {type + ", " + lists + R"(, "head": "tanh"})", "'head' is 'tanh', where 'linear' or 'convolution'"},
      // The published sizes, of which the file is not.
      {R"({"architecture": "squeezenet1_1"})", "conv1.0 [3, 3, 3, 4] for [3, 3, 3, 64]"}};
  for (const auto& [config, says] : refused) {
    write_config(config);
    const auto bad = made({}, 2);
    ASSERT_FALSE(bad) << config;
    EXPECT_NE(bad.error().message.find(says), std::string::npos) << bad.error().message;
  }
  // Features are what a linear head reads.
  const auto absent = feature_width(
      "squeezenet", options_of({{"weights", folder_.string()}, {"head", "file"}}), input_of(32, 3));
  ASSERT_FALSE(absent);
  write_config(own_);
  EXPECT_NE(feature_width("squeezenet", options_of({{"weights", folder_.string()}, {"head", "file"}}),
                          input_of(32, 3))
                .error()
                .message.find("Leave 'head: file' out"),
            std::string::npos);
  EXPECT_EQ(feature_width("squeezenet", options_of({{"weights", folder_.string()}}), input_of(32, 3)).value(),
            12);
}

// As published, in float64, in which PyTorch computed what is compared.
TEST(SqueezeNet, AsPublishedGivesTheReferencesLogits) {
  const auto folder = published_squeezenet();
  if (folder.empty()) GTEST_SKIP() << without_weights("squeezenet1.1");
  const auto wanted = expected("squeezenet1.1").as_object();
  const auto side = wanted.at("side").to_number<std::int64_t>();
  const auto made = [&](json::object given, torch::ScalarType type) -> Result<Network> {
    given["weights"] = folder;
    const auto options = complete_options(options_of(given));
    if (!options) return options.error();
    return make_model("squeezenet", *options, input_of(side, 1000), kKey, type);
  };
  std::vector<std::int64_t> classes;
  for (const auto& one : wanted.at("classes").as_array()) classes.push_back(one.to_number<std::int64_t>());
  for (const auto& [type, tolerance] :
       {std::pair{torch::kFloat64, 1e-10}, std::pair{torch::kFloat32, 1e-4}}) {
    const auto network = made({{"head", "file"}}, type);
    ASSERT_TRUE(network) << network.error().message;
    const auto logits =
        network->forward(reference_images(side).to(type)).index_select(1, torch::tensor(classes));
    EXPECT_TRUE(near_relative(logits, rows(wanted.at("logits")), tolerance));
  }
  const auto network = made({}, torch::kFloat64);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_TRUE(near_relative(network->features(reference_images(side)).narrow(1, 0, 8),
                            rows(wanted.at("features")), 1e-10));
}

}  // namespace squeezenet_test
}  // namespace hyfreedp::models
