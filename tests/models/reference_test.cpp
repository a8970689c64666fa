// Logits, losses, per-sample norms and clipped sums against vectors computed by torch.autograd in
// float64 (tests/data/models; fields are described in the README of that set). Per-layer and
// per-parameter values are had by training that layer or parameter alone.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <torch/types.h>

#include "harness/base/json.h"
#include "harness/models/layers/activation.h"
#include "harness/models/layers/bare.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/loss.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"
#include "harness/models/networks/bert.h"
#include "harness/models/networks/gpt2.h"
#include "harness/models/networks/llama.h"
#include "harness/models/networks/opt.h"
#include "harness/models/networks/vit.h"
#include "harness/models/weights/safetensors.h"
#include "tests/models/compare.h"
#include "tests/need_device.h"

namespace hyfreedp::models {
namespace reference_test {

namespace fs = std::filesystem;
using torch::Tensor;
using NamedTensors = std::map<std::string, Tensor>;

// Kinds in the reference set that other suites own, or that this room does not build yet.
const std::set<std::string> kOtherSuites = {"README.json", "text_metrics.json", "tokenizer.json"};
const std::set<std::string> kOtherRooms = {"image_preprocess"};
const std::set<std::string> kCovered = {"Linear",
                                        "Tanh",
                                        "ReLU",
                                        "Reuse",
                                        "Conv2d",
                                        "MaxPool2d",
                                        "Flatten",
                                        "MeanHW",
                                        "GroupNorm",
                                        "embed_tied",
                                        "embed_mean",
                                        "vit",
                                        "beit",
                                        "GPT2LMHeadModel",
                                        "LlamaForCausalLM",
                                        "OPTForCausalLM",
                                        "BertForSequenceClassification",
                                        "RobertaForSequenceClassification"};

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
    const auto architecture = string_or(config, "architecture", "");
    kinds.insert(architecture.substr(0, architecture.find('_')));
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
  NamedTensors weights, inputs, expected;
  std::optional<json::object> adapter_config;
  NamedTensors adapter;

  static Case read(const fs::path& folder) {
    const auto object = [&](const fs::path& name) {
      return read_json_file((folder / name).string()).value().as_object();
    };
    const auto tensors = [&](const fs::path& name) {
      return read_safetensors((folder / name).string()).value();
    };
    Case one{object("case.json"),
             object("config.json"),
             tensors("weights.safetensors"),
             tensors("inputs.safetensors"),
             tensors("expected.safetensors"),
             {},
             {}};
    if (fs::exists(folder / "lora")) {
      one.adapter_config = object("lora/adapter_config.json");
      one.adapter = tensors("lora/adapter_model.safetensors");
    }
    return one;
  }

  // What the network takes, in the options' type, on their device.
  Tensors network_inputs(const torch::TensorOptions& options) const {
    const auto moved = [&](const char* name) { return inputs.at(name).to(options.device()); };
    if (inputs.contains("input_ids")) return {moved("input_ids"), moved("attention_mask")};
    if (inputs.contains("ids")) return {moved("ids")};
    return {inputs.at(inputs.contains("images") ? "images" : "x").to(options)};
  }
  Tensor labels() const {
    const bool causal = string_or(description, "task", "") == "causal_lm";
    return causal ? next_tokens(inputs.at("labels")) : inputs.at("labels");
  }
};

std::array<std::int64_t, 2> pair_of(const json::object& layer, const char* key) {
  const auto& array = layer.at(key).as_array();
  return {array.at(0).to_number<std::int64_t>(), array.at(1).to_number<std::int64_t>()};
}

std::shared_ptr<Layer> listed_layer(const json::object& layer) {
  const auto type = string_or(layer, "type", "");
  if (type == "Linear") {
    return std::make_shared<Linear>(int_or(layer, "in", 0), int_or(layer, "out", 0),
                                    bool_or(layer, "bias", true));
  }
  if (type == "Conv2d") {
    return std::make_shared<Conv2d>(Conv2dShape{.inputs = int_or(layer, "in", 0),
                                                .outputs = int_or(layer, "out", 0),
                                                .kernel = pair_of(layer, "kernel"),
                                                .stride = pair_of(layer, "stride"),
                                                .padding = pair_of(layer, "padding"),
                                                .dilation = pair_of(layer, "dilation"),
                                                .groups = int_or(layer, "groups", 1),
                                                .with_bias = bool_or(layer, "bias", true)});
  }
  if (type == "GroupNorm") {
    return std::make_shared<GroupNorm>(int_or(layer, "groups", 1), int_or(layer, "channels", 1),
                                       double_or(layer, "eps", 1e-5));
  }
  if (type == "MaxPool2d")
    return std::make_shared<MaxPool2d>(pair_of(layer, "kernel"), pair_of(layer, "stride"));
  if (type == "Flatten") return std::make_shared<Flatten>();
  if (type == "MeanHW") return std::make_shared<MeanPlaces>();
  if (type == "Tanh") return std::make_shared<Tanh>();
  return std::make_shared<Relu>();
}

Result<Network> build_list(const json::object& config, const torch::TensorOptions& options,
                           const Network::Trainable& trainable) {
  std::vector<Network::Place> places;
  std::map<std::string, std::shared_ptr<Layer>> known;
  for (const auto& item : config.at("layers").as_array()) {
    const auto& layer = item.as_object();
    const auto type = string_or(layer, "type", "");
    const auto name = string_or(layer, "name", type + std::to_string(places.size()));
    if (type != "Reuse") known[name] = listed_layer(layer);
    places.push_back({name, known.at(name)});
  }
  return Network::make(std::move(places), options, trainable);
}

// y = x + bias, which no network of the program has.
class BareBias : public Bare {
 public:
  using Bare::Bare;
  torch::Tensor forward(const torch::Tensor& input) const override { return input + value_.value; }
  torch::Tensor input_gradient(const ActivationRecord& record) const override {
    return record.output_gradient;
  }

 protected:
  torch::Tensor gradient(const ActivationRecord& record) const override { return record.output_gradient; }
};

Result<Network> build_embedding(const json::object& config, const torch::TensorOptions& options,
                                const Network::Trainable& trainable) {
  const auto rows = int_or(config, "vocab_size", 0);
  const auto width = int_or(config, "dim", 0);
  const auto table = std::make_shared<Embedding>(rows, width, int_or(config, "padding_idx", 0));
  std::vector<Network::Place> places = {
      {"emb", table}, {"ln", std::make_shared<LayerNorm>(width, double_or(config, "layer_norm_eps", 0))}};
  if (string_or(config, "model", "") == "embed_mean") {
    places.push_back({"mean", std::make_shared<MeanTokens>(0)});
    places.push_back({"fc", std::make_shared<Linear>(width, int_or(config, "num_classes", 0))});
  } else {
    places.push_back({"fc", std::make_shared<Linear>(width, width)});
    places.push_back({"tanh", std::make_shared<Tanh>()});
    places.push_back({"emb", table});
    places.push_back({"out", std::make_shared<BareBias>("bias", rows)});
  }
  return Network::make(std::move(places), options, trainable);
}

Network build(const Case& reference, const torch::TensorOptions& options, bool adapted,
              const Network::Trainable& trainable) {
  const auto& config = reference.config;
  std::optional<Lora> lora;
  if (adapted) lora = Lora::from_json(*reference.adapter_config, "adapter").value();
  const auto kind = config.contains("architectures")
                        ? std::string(config.at("architectures").at(0).as_string())
                        : string_or(config, "model", "vit");
  auto network = [&]() -> Result<Network> {
    const auto made = [&](const auto& shape) {
      return make_network(graph_of(shape, lora).value(), options, trainable);
    };
    if (kind == "GPT2LMHeadModel") return made(Gpt2Shape::from_json(config, "config").value());
    if (kind == "OPTForCausalLM") return made(OptShape::from_json(config, "config").value());
    if (kind == "LlamaForCausalLM") return made(LlamaShape::from_json(config, "config").value());
    if (kind == "BertForSequenceClassification" || kind == "RobertaForSequenceClassification") {
      const bool is_roberta = kind.starts_with("Roberta");
      const auto family = is_roberta ? BertShape::Family::roberta : BertShape::Family::bert;
      auto shape = BertShape::from_json(config, "config", family).value();
      shape.classes =
          reference.weights.at(is_roberta ? "classifier.out_proj.bias" : "classifier.bias").size(0);
      return made(shape);
    }
    if (kind == "vit") {
      const bool beit = string_or(config, "architecture", "").starts_with("beit");
      const auto family = beit ? VitShape::Family::beit : VitShape::Family::vit;
      return made(VitShape::from_json(config, "config", family).value());
    }
    if (kind.starts_with("embed_")) return build_embedding(config, options, trainable);
    return build_list(config, options, trainable);
  }();
  if (!network) throw std::runtime_error(network.error().message);
  for (const auto& weights : {reference.weights, adapted ? reference.adapter : NamedTensors()}) {
    for (const auto& [name, value] : weights) {
      if (!network->tensor(name).defined()) throw std::runtime_error("the network has no " + name);
      network->tensor(name).copy_(value);
    }
  }
  return std::move(*network);
}

// One run ("full", "head", ...) of a case in one floating type on one device.
class Checker {
 public:
  Checker(const Case& reference, std::string run, const torch::TensorOptions& options)
      : reference_(reference),
        run_(std::move(run)),
        options_(options),
        description_(reference.description.at("runs").at(run_).as_object()) {
    for (const auto& name : description_.at("trainable").as_array()) trainable_.emplace(name.as_string());
    static const std::map<std::string, Loss> losses = {{"cross_entropy", Loss::cross_entropy},
                                                       {"binary_cross_entropy", Loss::binary_cross_entropy},
                                                       {"bce_with_logits", Loss::binary_cross_entropy},
                                                       {"token_mean", Loss::token_mean},
                                                       {"token_sum", Loss::token_sum}};
    loss_ = losses.at(string_or(description_, "loss", ""));
    adapted_ = string_or(description_, "logits_key", "").starts_with("lora/");
  }

  void check() {
    check_forward();
    check_total();
    check_layers();
    check_parameters();
  }

  static inline int by_layer = 0;  // passes whose layers were all checked at once

 private:
  Tensor expected(const std::string& key) const { return reference_.expected.at(run_ + "/" + key); }
  bool has(const std::string& key) const { return reference_.expected.contains(run_ + "/" + key); }

  // In float32 a sum whose terms cancel is worse than 1e-5; the case says how bad a plain loop is,
  // for the kinds of sums that it lists, and the worst of them for the others. cuDNN's convolutions
  // were 1.7e-5 off at most on an H200. TF32 rounds each factor to 5e-4.
  double tolerance(const std::string& what) const {
    return (options_.device().is_cuda() ? 4 : 1) * tolerance_on_cpu(what);
  }
  double tolerance_on_cpu(const std::string& what) const {
    if (options_.dtype() == torch::kFloat64) return 1e-9;
    const auto& guide = description_.at("float32_rel_err").as_object();
    if (guide.contains(what) || !what.starts_with("sum"))
      return std::max(1e-5, 2 * double_or(guide, what, 0));
    double worst = 1e-5;
    for (const auto& one : guide) {
      if (one.key().starts_with("sum")) worst = std::max(worst, 2 * one.value().to_number<double>());
    }
    return worst;
  }

  // A recorded and differentiated pass with `names` trainable.
  Network recorded(const std::set<std::string>& names) const {
    auto network =
        build(reference_, options_, adapted_, [&](const std::string& name) { return names.contains(name); });
    const auto logits = network.record(reference_.network_inputs(options_));
    network.backward(sample_losses(loss_, logits, labels(), true).logit_gradient);
    return network;
  }

  Tensor labels() const { return reference_.labels().to(options_.device()); }

  // Logits of positions that are padding mean nothing.
  Tensor meaningful(const Tensor& on_device) const {
    const auto logits = on_device.cpu();
    if (!reference_.inputs.contains("attention_mask")) return logits;
    return logits.masked_fill((reference_.inputs.at("attention_mask") == 0).unsqueeze(2), 0);
  }

  void check_forward() const {
    const auto network = build(reference_, options_, adapted_, {});
    const auto logits = network.forward(reference_.network_inputs(options_));
    EXPECT_TRUE(near_relative(meaningful(logits),
                              meaningful(reference_.expected.at(string_or(description_, "logits_key", ""))),
                              tolerance("logits")));
    const auto losses = sample_losses(loss_, logits, labels(), false).losses;
    EXPECT_TRUE(near_relative(losses, reference_.expected.at(string_or(description_, "loss_key", "")),
                              tolerance("loss")));
  }

  void check_sum(const Network& network, const Tensor& factors, const std::string& what) const {
    auto sum = torch::zeros({network.dimension()}, options_);
    network.add_clipped_sum(factors.to(options_), sum);
    for (const auto& slice : network.layout()) {
      const auto part = sum.narrow(0, slice.offset, slice.size).view(slice.shape);
      if (!has(what + "/" + slice.name)) continue;
      EXPECT_TRUE(near_relative(part, expected(what + "/" + slice.name), tolerance(what)))
          << what << " " << slice.name;
    }
  }

  void check_total() {
    const auto network = recorded(trainable_);
    EXPECT_EQ(network.dimension(), int_or(description_, "n_trainable", -1));
    EXPECT_TRUE(
        near_relative(network.squared_norms().sqrt(), expected("norm_total"), tolerance("norm_total")));
    if (has("factor_autos")) check_sum(network, expected("factor_autos"), "sum_autos");
    if (has("factor_abadi")) check_sum(network, expected("factor_abadi"), "sum_abadi");
    check_gradients(network);
    check_by_layer(network);
  }

  // Every sample's gradient, as a clipped sum with one factor 1; relative to the parameter's
  // largest entry in the batch.
  void check_gradients(const Network& network) {
    const auto samples = expected("norm_total").size(0);
    auto each = torch::zeros({samples, network.dimension()}, options_);
    for (std::int64_t i = 0; i < samples; ++i) {
      auto one = torch::zeros({samples}, options_);
      one[i] = 1;
      auto sum = each[i];
      network.add_clipped_sum(one, sum);
    }
    for (const auto& slice : network.layout()) {
      if (!has("grad/" + slice.name)) continue;
      auto shape = slice.shape;
      shape.insert(shape.begin(), samples);
      const auto part = each.narrow(1, slice.offset, slice.size).reshape(shape);
      EXPECT_TRUE(near_relative(part, expected("grad/" + slice.name), tolerance("grad"))) << slice.name;
    }
  }

  // min(1, c / norm); 1 where the norm is 0.
  static Tensor layer_factors(const Network& network, double share) {
    return share / network.squared_norms().sqrt().clamp_min(share);
  }

  // Attention does not depend on a bias of its keys: the gradient of that is 0 but for rounding.
  void expect_norms(const Network& network, const Tensor& expected_norms, const std::string& name) const {
    const auto norms = network.squared_norms().sqrt();
    if (expected_norms.max().item<double>() < 1e-12) {
      EXPECT_LT(norms.max().item<double>(), 1e-6) << name;
    } else {
      EXPECT_TRUE(near_relative(norms, expected_norms, tolerance("norm_total"))) << name;
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
      if (!has("layer_norm") && !has("factor_abadi_layer")) {
        check_sum(network, layer_factors(network, share), "sum_abadi_layer");
        continue;
      }
      const auto norms = expected("layer_norm").select(1, at);
      expect_norms(network, norms, *names.begin());
      check_sum(network, layer_factors(network, share), "sum_abadi_layer");
      if (has("sum_autos_layer/" + *names.begin()))
        check_sum(network, share / (norms + 0.01), "sum_autos_layer");
    }
  }

  // Norms and sums of all layers from one pass, where the reference's layers are the network's
  // (a LoRA pair is two there).
  void check_by_layer(const Network& network) const {
    if (!has("layer_norm")) return;
    std::map<std::set<std::string>, std::int64_t> columns;
    for (const auto& layer : description_.at("layers").as_array()) {
      std::set<std::string> names;
      for (const auto& name : layer.at(1).as_array()) names.emplace(name.as_string());
      columns.emplace(names, static_cast<std::int64_t>(columns.size()));
    }
    std::vector<Tensor> norms;
    for (const auto& layer : network.trainable_layers()) {
      const auto found = columns.find({layer.parameters.begin(), layer.parameters.end()});
      if (found == columns.end()) return;
      norms.push_back(expected("layer_norm").select(1, found->second));
    }
    const auto wanted = at::stack(norms);  // [L, B]
    const auto squared = network.squared_norms_by_layer();
    EXPECT_TRUE(near_relative(squared.sqrt(), wanted, tolerance("norm_total")));
    EXPECT_TRUE(near_relative(squared.sum(0), network.squared_norms(), tolerance("norm_total")));
    const double share = 1 / std::sqrt(static_cast<double>(columns.size()));
    auto sum = torch::zeros({network.dimension()}, options_);
    network.add_clipped_sum_by_layer((share / squared.sqrt().clamp_min(share)).to(options_), sum);
    for (const auto& slice : network.layout()) {
      if (!has("sum_abadi_layer/" + slice.name)) continue;
      EXPECT_TRUE(near_relative(sum.narrow(0, slice.offset, slice.size).view(slice.shape),
                                expected("sum_abadi_layer/" + slice.name), tolerance("sum_abadi_layer")))
          << slice.name;
    }
    ++by_layer;
  }

  void check_parameters() const {
    const double share = 1 / std::sqrt(static_cast<double>(trainable_.size()));
    for (const auto& name : trainable_) {
      const auto network = recorded({name});
      if (!has("norm/" + name)) continue;
      const auto norms = expected("norm/" + name);
      expect_norms(network, norms, name);
      if (has("sum_abadi_param/" + name)) {
        check_sum(network, share / norms.clamp_min(share), "sum_abadi_param");
      }
    }
  }

  const Case& reference_;
  std::string run_;
  torch::TensorOptions options_;
  const json::object& description_;
  std::set<std::string> trainable_;
  Loss loss_ = Loss::cross_entropy;
  bool adapted_ = false;
};

void check_case(const fs::path& folder, torch::Device device) {
  const auto reference = Case::read(folder);
  for (const auto& run : reference.description.at("runs").as_object()) {
    for (const auto dtype : {torch::kFloat64, torch::kFloat32}) {
      SCOPED_TRACE(folder.filename().string() + ", run " + std::string(run.key()) +
                   (dtype == torch::kFloat64 ? ", float64" : ", float32"));
      Checker(reference, run.key(), torch::TensorOptions(device).dtype(dtype)).check();
    }
  }
}

TEST(ReferenceModels, LogitsLossesNormsAndClippedSums) {
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
      check_case(entry.path(), torch::kCPU);
      covered.push_back(name);
      continue;
    }
    std::set<std::string> known = kCovered;
    known.insert(kOtherRooms.begin(), kOtherRooms.end());
    EXPECT_TRUE(is_subset(kinds, known)) << entry.path() << " is of an unknown kind";
    later.push_back(name);
  }
  std::printf("ReferenceModels: %zu cases ran, %zu are of other rooms\n", covered.size(), later.size());
  EXPECT_FALSE(covered.empty()) << folder << " holds no case";
  EXPECT_GT(Checker::by_layer, 0);
}

// The same cases on a GPU.
TEST(DeviceModels, LogitsLossesNormsAndClippedSums) {
  HYFREEDP_NEED_DEVICE();
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(reference_folder())) {
    if (!entry.is_directory() || !is_subset(kinds_of(entry.path()), kCovered)) continue;
    check_case(entry.path(), torch::kCUDA);
    ++cases;
  }
  std::printf("DeviceModels: %d cases ran\n", cases);
  EXPECT_GT(cases, 0) << reference_folder() << " holds no case";
}

}  // namespace reference_test
}  // namespace hyfreedp::models
