#include "tests/bench/training_cases.h"

#include <ATen/Functions.h>

#include "harness/models/facts/facts.h"
#include "harness/models/layers/activation.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/model.h"
#include "harness/models/networks/gpt2.h"
#include "harness/models/networks/vit.h"

namespace hyfreedp::bench {
namespace {

using models::Network;
using torch::Tensor;

Tensor linear(const Parameters& p, const std::string& layer, const Tensor& input) {
  const auto bias = p.find(layer + ".bias");
  return at::linear(input, p.at(layer + ".weight"), bias == p.end() ? Tensor() : bias->second);
}

// Beside a layer of weight [out, in]: what peft adds to it.
Tensor adapted(const Parameters& p, const std::string& layer, const Tensor& input, const Tensor& output,
               double scale) {
  const auto prefix = "base_model.model." + layer;
  const auto down = p.find(prefix + ".lora_A.weight");
  if (down == p.end()) return output;
  return output + at::linear(at::linear(input, down->second), p.at(prefix + ".lora_B.weight")) * scale;
}

Tensor layer_norm(const Parameters& p, const std::string& layer, const Tensor& input, double eps) {
  return at::layer_norm(input, {input.size(-1)}, p.at(layer + ".weight"), p.at(layer + ".bias"), eps);
}

Tensor attention(const Tensor& qkv, std::int64_t heads, bool causal) {
  const auto width = qkv.size(2) / 3;
  const auto packed = qkv.view({qkv.size(0), qkv.size(1), 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  const auto parts = packed.unbind(0);
  const auto output = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, causal);
  return output.transpose(1, 2).reshape({qkv.size(0), qkv.size(1), width});
}

Tensor cnn_logits(const Parameters& p, const Tensor& input) {
  auto x = input.view({-1, 1, 28, 28});
  x = at::conv2d(x, p.at("conv1.weight"), p.at("conv1.bias"), {2, 2}, {3, 3}).tanh();
  x = at::max_pool2d(x, {2, 2}, {1, 1});
  x = at::conv2d(x, p.at("conv2.weight"), p.at("conv2.bias"), {2, 2}).tanh();
  x = at::max_pool2d(x, {2, 2}, {1, 1}).flatten(1);
  return linear(p, "fc2", linear(p, "fc1", x).tanh());
}

Tensor mlp_logits(const Parameters& p, const Tensor& input) {
  return linear(p, "fc2", linear(p, "fc1", input).tanh());
}

constexpr double kLoraScale = 2;

Tensor vit_logits(const Parameters& p, const Tensor& images) {
  auto x = at::conv2d(images, p.at("patch_embed.proj.weight"), p.at("patch_embed.proj.bias"), {16, 16});
  x = x.flatten(2).transpose(1, 2);
  x = at::cat({p.at("cls_token").expand({x.size(0), -1, -1}), x}, 1) + p.at("pos_embed");
  for (int i = 0; i < 12; ++i) {
    const auto block = "blocks." + std::to_string(i);
    const auto normed = layer_norm(p, block + ".norm1", x, 1e-6);
    const auto qkv =
        adapted(p, block + ".attn.qkv", normed, linear(p, block + ".attn.qkv", normed), kLoraScale);
    x = x + linear(p, block + ".attn.proj", attention(qkv, 3, false));
    const auto wide = linear(p, block + ".mlp.fc1", layer_norm(p, block + ".norm2", x, 1e-6));
    x = x + linear(p, block + ".mlp.fc2", at::gelu(wide));
  }
  return linear(p, "head", layer_norm(p, "norm", x, 1e-6).select(1, 0));
}

// Hugging Face's Conv1D: weight [in, out].
Tensor conv1d(const Parameters& p, const std::string& layer, const Tensor& input) {
  const auto rows = input.reshape({-1, input.size(2)});
  return at::addmm(p.at(layer + ".bias"), rows, p.at(layer + ".weight"))
      .view({input.size(0), input.size(1), -1});
}

Tensor gpt2_logits(const Parameters& p, const Tensor& ids) {
  const auto& table = p.at("transformer.wte.weight");
  auto x = at::embedding(table, ids) + p.at("transformer.wpe.weight").narrow(0, 0, ids.size(1));
  for (int i = 0; i < 12; ++i) {
    const auto block = "transformer.h." + std::to_string(i);
    const auto normed = layer_norm(p, block + ".ln_1", x, 1e-5);
    const auto qkv =
        adapted(p, block + ".attn.c_attn", normed, conv1d(p, block + ".attn.c_attn", normed), kLoraScale);
    x = x + conv1d(p, block + ".attn.c_proj", attention(qkv, 12, true));
    const auto wide = conv1d(p, block + ".mlp.c_fc", layer_norm(p, block + ".ln_2", x, 1e-5));
    x = x + conv1d(p, block + ".mlp.c_proj", at::gelu(wide, "tanh"));
  }
  return at::linear(layer_norm(p, "transformer.ln_f", x, 1e-5), table);
}

// Any weights of a network's usual size: only their cost is measured.
Network filled(Result<Network> made) {
  auto network = std::move(made).value();
  for (const auto* layout : {&network.layout(), &network.frozen_layout()}) {
    for (const auto& slice : *layout) {
      auto tensor = network.tensor(slice.name);
      const bool scale = slice.shape.size() == 1 && slice.name.ends_with(".weight");
      scale ? tensor.fill_(1) : tensor.normal_(0, 0.02);
    }
  }
  return network;
}

torch::TensorOptions float32_on(torch::Device device) {
  return torch::TensorOptions(torch::kFloat32).device(device);
}

Network registered(const std::string& name, const json::object& given, std::int64_t features,
                   torch::Device device) {
  const auto options = resolve_options(models::find_model(name).value()->options, given, name).value();
  return filled(models::make_model(name, options, {.features = features, .classes = 10},
                                   random::key_from_seed("bench"), float32_on(device)));
}

bool is_adapter(const std::string& name) { return name.starts_with("base_model."); }
bool is_bias_or_head(const std::string& name) { return name.ends_with(".bias") || name.starts_with("head."); }

Case dense(const std::string& name, std::int64_t batch, std::int64_t features,
           const std::function<Network(torch::Device)>& network,
           const std::function<Tensor(const Parameters&, const Tensor&)>& stock) {
  return {.name = name,
          .batch = batch,
          .loss = models::Loss::cross_entropy,
          .network = network,
          .stock_logits = stock,
          .inputs =
              [features](std::int64_t rows) {
                return torch::randn({rows, features});
              },
          .labels = [](std::int64_t rows) { return torch::randint(0, 10, {rows}, torch::kInt64); }};
}

Case vit(const std::string& name, const std::optional<models::Lora>& lora,
         const Network::Trainable& trainable) {
  models::VitShape shape;
  shape.classes = 100;
  return {.name = name,
          .batch = 8,
          .loss = models::Loss::cross_entropy,
          .network =
              [=](torch::Device device) {
                return filled(models::make_network(models::graph_of(shape, lora).value(), float32_on(device),
                                                   trainable));
              },
          .stock_logits = vit_logits,
          .inputs =
              [](std::int64_t rows) {
                return torch::randn({rows, 3, 224, 224});
              },
          .labels = [](std::int64_t rows) { return torch::randint(0, 100, {rows}, torch::kInt64); }};
}

Case gpt2(const std::string& name, const std::optional<models::Lora>& lora,
          const Network::Trainable& trainable) {
  models::Gpt2Shape shape;
  shape.masked = false;
  const auto tokens = [shape](std::int64_t rows) {
    return torch::randint(0, shape.vocabulary, {rows, 64}, torch::kInt64);
  };
  return {.name = name,
          .batch = 4,
          .loss = models::Loss::token_mean,
          .network =
              [=](torch::Device device) {
                return filled(models::make_network(models::graph_of(shape, lora).value(), float32_on(device),
                                                   trainable));
              },
          .stock_logits = gpt2_logits,
          .inputs = tokens,
          .labels = [tokens](std::int64_t rows) { return models::next_tokens(tokens(rows)); }};
}

models::Lora adapter(const std::string& target) {
  models::Lora lora;
  lora.rank = 8;
  lora.alpha = kLoraScale * 8;
  lora.targets = {target};
  return lora;
}

}  // namespace

std::vector<Case> training_cases() {
  const auto mlp = [](torch::Device device) {
    return registered("mlp", {{"hidden", json::array{128}}, {"activation", "tanh"}}, 784, device);
  };
  const auto regression = [](const Parameters& p, const Tensor& x) { return linear(p, "fc", x); };
  return {
      dense(
          "logistic_b1000", 1000, 716,
          [](torch::Device device) { return registered("linear", {}, 716, device); }, regression),
      dense("mlp_b256", 256, 784, mlp, mlp_logits),
      dense("mlp_b1000", 1000, 784, mlp, mlp_logits),
      dense(
          "cnn_b256", 256, 784, [](torch::Device device) { return registered("cnn", {}, 784, device); },
          cnn_logits),
      vit("vit_full", {}, {}),
      vit("vit_bitfit", {}, is_bias_or_head),
      vit("vit_lora", adapter("attn.qkv"), is_adapter),
      gpt2("gpt2_full", {}, {}),
      gpt2("gpt2_lora", adapter("attn.c_attn"), is_adapter),
  };
}

}  // namespace hyfreedp::bench
