// Attention in bfloat16, which forms its scores on a CPU where a text is short (graph/layers.h), is
// that of float64 but for its roundings.
#include <gtest/gtest.h>

#include "harness/models/layers/attention.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace narrow_attention_test {

using torch::Tensor;

struct Case {
  const char* what;
  AttentionShape shape;
  std::int64_t tokens;
};

struct Attended {
  Tensor output;
  Tensors gradients;
};

// `mask`: undefined where the layer takes none. The inputs are numbers of bfloat16 in any case.
Attended attended(const AttentionShape& shape, const Tensors& inputs, const Tensor& mask, const Tensor& table,
                  const Tensor& output_gradient, torch::ScalarType type) {
  Attention layer(shape);
  if (shape.side > 0) layer.bind({{table.to(type)}});
  Tensors given;
  for (const auto& input : inputs) given.push_back(input.to(type));
  if (mask.defined()) given.push_back(mask);
  ActivationRecord record{
      .inputs = given, .output = {}, .saved = {}, .output_gradient = output_gradient.to(type)};
  record.output = layer.forward_recorded(given, &record.saved);
  auto gradients = layer.input_gradients(record, std::vector<bool>(inputs.size(), true));
  gradients.resize(inputs.size());
  return {record.output, gradients};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::int64_t tokens : {1, 5, 128, 129}) {
    all.push_back({"all", {.heads = 2, .kv_heads = 2, .head_width = 4}, tokens});
    all.push_back({"causal", {.heads = 2, .kv_heads = 2, .head_width = 4, .causal = true}, tokens});
    all.push_back({"shared_heads",
                   {.heads = 4, .kv_heads = 2, .head_width = 4, .packed = false, .causal = true},
                   tokens});
    all.push_back({"mask", {.heads = 2, .kv_heads = 2, .head_width = 4, .masked = true}, tokens});
    all.push_back({"causal_with_a_mask",
                   {.heads = 2, .kv_heads = 2, .head_width = 4, .causal = true, .masked = true},
                   tokens});
  }
  all.push_back({"bias", {.heads = 2, .kv_heads = 2, .head_width = 4, .side = 3}, 10});
  return all;
}

class NarrowAttention : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, NarrowAttention, testing::ValuesIn(cases()), [](const auto& one) {
  return one.param.what + std::string("_of_") + std::to_string(one.param.tokens);
});

TEST_P(NarrowAttention, IsThatOfFloat64ButForRounding) {
  const auto& one = GetParam();
  torch::manual_seed(21);
  const auto& shape = one.shape;
  const std::int64_t batch = 3, width = shape.heads * shape.head_width,
                     kept = shape.kv_heads * shape.head_width;
  const auto numbers = [&](std::int64_t columns) {
    return torch::randn({batch, one.tokens, columns}).to(torch::kBFloat16).to(torch::kFloat64);
  };
  const auto inputs =
      shape.packed ? Tensors{numbers(3 * width)} : Tensors{numbers(width), numbers(kept), numbers(kept)};
  Tensor mask, table;
  if (shape.masked) {
    mask = torch::ones({batch, one.tokens}, torch::kInt64);
    mask.narrow(1, one.tokens / 2, one.tokens - one.tokens / 2)[1] = shape.padding;
    mask[2] = shape.padding;  // a text without a token
  }
  if (shape.side > 0)
    table = torch::randn({shape.distances(), shape.heads}).to(torch::kBFloat16).to(torch::kFloat64);
  const auto gradient = numbers(width);
  const auto exact = attended(shape, inputs, mask, table, gradient, torch::kFloat64);
  const auto narrow = attended(shape, inputs, mask, table, gradient, torch::kBFloat16);
  EXPECT_EQ(narrow.output.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(near_relative(narrow.output, exact.output, 0.02));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE(near_relative(narrow.gradients[i], exact.gradients[i], 0.02)) << "gradient " << i;
  }
}

TEST(AttentionShape, FormsScoresOfShortTextsAlone) {
  EXPECT_TRUE(AttentionShape::forms_scores(128, true, true));
  EXPECT_FALSE(AttentionShape::forms_scores(129, true, true));
  EXPECT_FALSE(AttentionShape::forms_scores(16, true, false));
  EXPECT_FALSE(AttentionShape::forms_scores(16, false, true));
}

}  // namespace narrow_attention_test
}  // namespace hyfreedp::models
