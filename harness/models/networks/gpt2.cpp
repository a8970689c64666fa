#include "harness/models/networks/gpt2.h"

#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"

namespace hyfreedp::models {

Result<Network> make_gpt2(const Gpt2Shape& shape, const std::optional<Lora>& lora,
                          const torch::TensorOptions& options, const Network::Trainable& trainable) {
  Builder builder(lora);
  const auto d = shape.width;
  const auto table = std::make_shared<Embedding>(shape.vocabulary, d);
  builder.add("transformer.wte", table);
  int x = builder.add("transformer.wpe",
                      std::make_shared<Positions>("weight", std::vector<std::int64_t>{shape.positions, d}));
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = "transformer.h." + std::to_string(i);
    const int normed = builder.add(block + ".ln_1", std::make_shared<LayerNorm>(d, shape.eps), {x});
    const int qkv = builder.linear(block + ".attn.c_attn", {d, 3 * d, true, true}, normed);
    AttentionShape heads;
    heads.heads = heads.kv_heads = shape.heads;
    heads.head_width = d / shape.heads;
    heads.causal = true;
    heads.masked = shape.masked;
    std::vector<int> inputs{qkv};
    if (shape.masked) inputs.push_back(Network::kMask);
    const int attended = builder.add(block + ".attn", std::make_shared<Attention>(heads), inputs);
    const int projected = builder.linear(block + ".attn.c_proj", {d, d, true, true}, attended);
    x = builder.add(block + ".add1", std::make_shared<Add>(), {x, projected});
    const int second = builder.add(block + ".ln_2", std::make_shared<LayerNorm>(d, shape.eps), {x});
    const int wide = builder.linear(block + ".mlp.c_fc", {d, shape.hidden, true, true}, second);
    const int active = builder.add(block + ".mlp.act", std::make_shared<Gelu>(Gelu::Form::tanh), {wide});
    const int narrow = builder.linear(block + ".mlp.c_proj", {shape.hidden, d, true, true}, active);
    x = builder.add(block + ".add2", std::make_shared<Add>(), {x, narrow});
  }
  const int normed = builder.add("transformer.ln_f", std::make_shared<LayerNorm>(d, shape.eps), {x});
  if (shape.tied) {
    builder.add("transformer.wte", table, {normed});
  } else {
    builder.linear("lm_head", {d, shape.vocabulary, false}, normed);
  }
  return builder.build(options, trainable);
}

}  // namespace hyfreedp::models
