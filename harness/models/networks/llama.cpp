#include "harness/models/networks/llama.h"

#include "harness/models/layers/activation.h"
#include "harness/models/layers/attention.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"

namespace hyfreedp::models {

Result<Network> make_llama(const LlamaShape& shape, const std::optional<Lora>& lora,
                           const torch::TensorOptions& options, const Network::Trainable& trainable) {
  Builder builder(lora);
  const auto d = shape.width;
  const auto table = std::make_shared<Embedding>(shape.vocabulary, d);
  int x = builder.add("model.embed_tokens", table);
  const auto queries = shape.heads * shape.head_width;
  const auto keys = shape.kv_heads * shape.head_width;
  for (std::int64_t i = 0; i < shape.depth; ++i) {
    const auto block = "model.layers." + std::to_string(i);
    const auto attention = block + ".self_attn";
    const int normed = builder.add(block + ".input_layernorm", std::make_shared<RmsNorm>(d, shape.eps), {x});
    const int q = builder.linear(attention + ".q_proj", {d, queries, shape.attention_bias}, normed);
    const int k = builder.linear(attention + ".k_proj", {d, keys, shape.attention_bias}, normed);
    const int v = builder.linear(attention + ".v_proj", {d, keys, shape.attention_bias}, normed);
    std::vector<int> inputs{q, k, v};
    if (shape.masked) inputs.push_back(Network::kMask);
    const AttentionShape heads{.heads = shape.heads,
                               .kv_heads = shape.kv_heads,
                               .head_width = shape.head_width,
                               .packed = false,
                               .causal = true,
                               .masked = shape.masked,
                               .rotary = Rotary{shape.frequencies}};
    const int attended = builder.add(attention, std::make_shared<Attention>(heads), inputs);
    const int projected = builder.linear(attention + ".o_proj", {queries, d, shape.attention_bias}, attended);
    x = builder.add(block + ".add1", std::make_shared<Add>(), {x, projected});
    const int second =
        builder.add(block + ".post_attention_layernorm", std::make_shared<RmsNorm>(d, shape.eps), {x});
    const int gate = builder.linear(block + ".mlp.gate_proj", {d, shape.hidden, shape.mlp_bias}, second);
    const int up = builder.linear(block + ".mlp.up_proj", {d, shape.hidden, shape.mlp_bias}, second);
    const int gated = builder.add(block + ".mlp.act", std::make_shared<GatedSilu>(), {gate, up});
    const int narrow = builder.linear(block + ".mlp.down_proj", {shape.hidden, d, shape.mlp_bias}, gated);
    x = builder.add(block + ".add2", std::make_shared<Add>(), {x, narrow});
  }
  const int normed = builder.add("model.norm", std::make_shared<RmsNorm>(d, shape.eps), {x});
  if (shape.tied) {
    builder.add("model.embed_tokens", table, {normed});
  } else {
    builder.linear("lm_head", {d, shape.vocabulary, false}, normed);
  }
  return builder.build(options, trainable);
}

}  // namespace hyfreedp::models
