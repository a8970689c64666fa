// Logits, losses, per-sample norms and clipped sums against vectors computed by torch.autograd in float64
// (tests/data/models; fields are described in the README of that set). Per-layer and per-parameter values are had by
// training that layer or parameter alone.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <torch/types.h>

#include "harness/base/json.h"
#include "harness/models/activation.h"
#include "harness/models/linear.h"
#include "harness/models/loss.h"
#include "harness/models/network.h"
#include "harness/models/safetensors.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;
using Tensors = std::map<std::string, Tensor>;

// Kinds in the reference set that other suites own, or that this room does not build yet.
const std::set<std::string> kOtherSuites = {"README.json", "text_metrics.json", "tokenizer.json"};
const std::set<std::string> kNotCoveredYet = {
    "Conv2d",     "MaxPool2d", "Flatten",          "MeanHW",          "GroupNorm",       "embed_tied",
    "embed_mean", "vit",       "image_preprocess", "GPT2LMHeadModel", "LlamaForCausalLM"};
const std::set<std::string> kCovered = {"Linear", "Tanh", "ReLU", "Reuse"};

fs::path reference_folder() {
  const char* given = std::getenv("HYFREEDP_REFERENCE_DIR");
  return fs::path(given != nullptr ? given : HYFREEDP_TEST_DATA) / "models";
}

// What must be supported to run a case: its layer types, or the one name of its architecture.
std::set<std::string> kinds_of(const fs::path& folder) {
  if (!fs::exists(folder / "config.json")) return {folder.filename().string()};
  const auto config = read_json_file((folder / "config.json").string()).value().as_object();
  std::set<std::string> kinds;
  if (const auto* layers = config.if_contains("layers"); layers != nullptr && layers->is_array()) {
    for (const auto& layer : layers->get_array()) kinds.emplace(layer.at("type").as_string());
  } else if (const auto* architectures = config.if_contains("architectures")) {
    kinds.emplace(architectures->at(0).as_string());
  } else if (config.contains("architecture")) {
    kinds.insert(string_or(config, "architecture", "").substr(0, 3));
  } else {
    kinds.insert(string_or(config, "model", "no model"));
  }
  return kinds;
}

bool is_subset(const std::set<std::string>& inner, const std::set<std::string>& outer) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

struct Case {
  json::object description;
  json::object config;
  Tensors weights, inputs, expected;

  static Case read(const fs::path& folder) {
    const auto tensors = [&](const char* name) { return read_safetensors((folder / name).string()).value(); };
    return {read_json_file((folder / "case.json").string()).value().as_object(),
            read_json_file((folder / "config.json").string()).value().as_object(),
            tensors("weights.safetensors"), tensors("inputs.safetensors"), tensors("expected.safetensors")};
  }
};

Network build(const Case& reference, torch::ScalarType dtype, const Network::Trainable& trainable) {
  std::vector<Network::Place> places;
  std::map<std::string, std::shared_ptr<Layer>> known;
  for (const auto& item : reference.config.at("layers").as_array()) {
    const auto& layer = item.as_object();
    const auto type = string_or(layer, "type", "");
    const auto name = string_or(layer, "name", type + std::to_string(places.size()));
    if (type == "Linear") {
      known[name] = std::make_shared<Linear>(int_or(layer, "in", 0), int_or(layer, "out", 0),
                                             bool_or(layer, "bias", true));
    } else if (type == "Tanh") {
      known[name] = std::make_shared<Tanh>();
    } else if (type == "ReLU") {
      known[name] = std::make_shared<Relu>();
    }
    places.push_back({name, known.at(name)});
  }
  auto network = Network::make(std::move(places), torch::TensorOptions().dtype(dtype), trainable).value();
  for (const auto& [name, value] : reference.weights) network.tensor(name).copy_(value);
  return network;
}

// One run ("full", "head", ...) of a case in one floating type.
class Checker {
 public:
  Checker(const Case& reference, std::string run, torch::ScalarType dtype)
      : reference_(reference),
        run_(std::move(run)),
        dtype_(dtype),
        description_(reference.description.at("runs").at(run_).as_object()) {
    for (const auto& name : description_.at("trainable").as_array()) trainable_.emplace(name.as_string());
    loss_ = string_or(description_, "loss", "") == "cross_entropy" ? Loss::cross_entropy
                                                                   : Loss::binary_cross_entropy;
  }

  void check() {
    check_forward();
    check_total();
    check_layers();
    check_parameters();
  }

 private:
  Tensor expected(const std::string& key) const { return reference_.expected.at(run_ + "/" + key); }
  bool has(const std::string& key) const { return reference_.expected.contains(run_ + "/" + key); }

  // In float32 a sum whose terms cancel is worse than 1e-5; the case says how bad a plain loop is.
  double tolerance(const std::string& what) const {
    if (dtype_ == torch::kFloat64) return 1e-9;
    const auto& guide = description_.at("float32_rel_err").as_object();
    return std::max(1e-5, 2 * double_or(guide, what, 0));
  }

  // A recorded and differentiated pass with `names` trainable.
  Network recorded(const std::set<std::string>& names) const {
    auto network = build(reference_, dtype_, [&](const std::string& name) { return names.contains(name); });
    const auto logits = network.record(reference_.inputs.at("x").to(dtype_));
    network.backward(sample_losses(loss_, logits, reference_.inputs.at("labels"), true).logit_gradient);
    return network;
  }

  void check_forward() const {
    const auto network = build(reference_, dtype_, {});
    const auto logits = network.forward(reference_.inputs.at("x").to(dtype_));
    EXPECT_TRUE(near_relative(logits, reference_.expected.at(string_or(description_, "logits_key", "")),
                              tolerance("logits")));
    const auto losses = sample_losses(loss_, logits, reference_.inputs.at("labels"), false).losses;
    EXPECT_TRUE(near_relative(losses, reference_.expected.at(string_or(description_, "loss_key", "")),
                              tolerance("loss")));
  }

  void check_sum(const Network& network, const Tensor& factors, const std::string& what) const {
    auto sum = torch::zeros({network.dimension()}, dtype_);
    network.add_clipped_sum(factors.to(dtype_), sum);
    for (const auto& slice : network.layout()) {
      const auto part = sum.narrow(0, slice.offset, slice.size).view(slice.shape);
      EXPECT_TRUE(near_relative(part, expected(what + "/" + slice.name), tolerance(what)))
          << what << " " << slice.name;
    }
  }

  void check_total() const {
    const auto network = recorded(trainable_);
    EXPECT_EQ(network.dimension(), int_or(description_, "n_trainable", -1));
    EXPECT_TRUE(
        near_relative(network.squared_norms().sqrt(), expected("norm_total"), tolerance("norm_total")));
    check_sum(network, expected("factor_autos"), "sum_autos");
    check_sum(network, expected("factor_abadi"), "sum_abadi");
    const auto samples = expected("norm_total").size(0);
    for (std::int64_t i = 0; i < samples; ++i) check_gradient(network, i, samples);
  }

  void check_gradient(const Network& network, std::int64_t sample, std::int64_t samples) const {
    auto one = torch::zeros({samples}, dtype_);
    one[sample] = 1;
    auto sum = torch::zeros({network.dimension()}, dtype_);
    network.add_clipped_sum(one, sum);
    for (const auto& slice : network.layout()) {
      if (!has("grad/" + slice.name)) continue;
      const auto part = sum.narrow(0, slice.offset, slice.size).view(slice.shape);
      EXPECT_TRUE(near_relative(part, expected("grad/" + slice.name)[sample], tolerance("grad")))
          << slice.name << " of sample " << sample;
    }
  }

  void check_layers() const {
    const auto& layers = description_.at("layers").as_array();
    const double share = 1 / std::sqrt(static_cast<double>(layers.size()));
    for (std::size_t column = 0; column < layers.size(); ++column) {
      std::set<std::string> names;
      for (const auto& name : layers[column].at(1).as_array()) names.emplace(name.as_string());
      const auto network = recorded(names);
      const auto at = static_cast<std::int64_t>(column);
      const auto norms = expected("layer_norm").select(1, at);
      EXPECT_TRUE(near_relative(network.squared_norms().sqrt(), norms, tolerance("norm_total")))
          << *names.begin();
      check_sum(network, expected("factor_abadi_layer").select(1, at), "sum_abadi_layer");
      if (has("sum_autos_layer/" + *names.begin()))
        check_sum(network, share / (norms + 0.01), "sum_autos_layer");
    }
  }

  void check_parameters() const {
    const double share = 1 / std::sqrt(static_cast<double>(trainable_.size()));
    for (const auto& name : trainable_) {
      const auto network = recorded({name});
      const auto norms = expected("norm/" + name);
      EXPECT_TRUE(near_relative(network.squared_norms().sqrt(), norms, tolerance("norm_total"))) << name;
      if (has("sum_abadi_param/" + name)) {
        check_sum(network, share / norms.clamp_min(share), "sum_abadi_param");
      }
    }
  }

  const Case& reference_;
  std::string run_;
  torch::ScalarType dtype_;
  const json::object& description_;
  std::set<std::string> trainable_;
  Loss loss_ = Loss::cross_entropy;
};

void check_case(const fs::path& folder) {
  const auto reference = Case::read(folder);
  for (const auto& run : reference.description.at("runs").as_object()) {
    for (const auto dtype : {torch::kFloat64, torch::kFloat32}) {
      SCOPED_TRACE(folder.filename().string() + ", run " + std::string(run.key()) +
                   (dtype == torch::kFloat64 ? ", float64" : ", float32"));
      Checker(reference, run.key(), dtype).check();
    }
  }
}

TEST(ReferenceModels, LinearLayersAndActivations) {
  const auto folder = reference_folder();
  if (!fs::is_directory(folder)) {
    std::printf("SKIPPED SUITE: no reference folder %s\n", folder.c_str());
    GTEST_SKIP();
  }
  std::vector<std::string> covered, later;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (!entry.is_directory()) {
      const bool has_cases = entry.path().extension() == ".json" &&
                             read_json_file(entry.path().string()).value().as_object().contains("cases");
      EXPECT_TRUE(kOtherSuites.contains(name) || !has_cases) << entry.path() << " is of an unknown kind";
      continue;
    }
    const auto kinds = kinds_of(entry.path());
    if (is_subset(kinds, kCovered)) {
      check_case(entry.path());
      covered.push_back(name);
      continue;
    }
    std::set<std::string> known = kCovered;
    known.insert(kNotCoveredYet.begin(), kNotCoveredYet.end());
    EXPECT_TRUE(is_subset(kinds, known)) << entry.path() << " is of an unknown kind";
    later.push_back(name);
  }
  std::printf("ReferenceModels: %zu cases ran, %zu not covered yet by this room\n", covered.size(),
              later.size());
  EXPECT_FALSE(covered.empty()) << folder << " holds no case";
}

}  // namespace
}  // namespace hyfreedp::models
