#include "harness/models/layers/attention.h"

#include <ATen/core/grad_mode.h>
#include <cmath>
#include <limits>
#include <torch/csrc/autograd/autograd.h>

#include "harness/base/result.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::models {

using torch::Tensor;

namespace {

constexpr const char* kTable = "relative_position_bias_table";
Tensor for_each_query_head(const Tensor& heads, std::int64_t count) {
  return heads.size(1) == count ? heads : heads.repeat_interleave(count / heads.size(1), 1);
}

// q [B, H, T, w]; k, v [B, H or fewer, S, w]. `mask`: which keys a query attends to, broadcast to
// [B, H, T, S], or a bias of the scores; none: all, or, if `causal`, those up to its own. A query
// that may attend to none gets zeros.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Tensor>& mask,
                 bool causal) {
  const auto length = k.size(2);
  if (!AttentionShape::forms_scores(length, q.is_cpu(), at::isReducedFloatingType(q.scalar_type()))) {
    return at::scaled_dot_product_attention(q, k, v, mask, 0.0, causal, std::nullopt, k.size(1) != q.size(1));
  }
  const auto scaled = q / std::sqrt(static_cast<double>(q.size(3)));
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  auto scores = at::matmul(scaled, for_each_query_head(k, q.size(1)).transpose(2, 3));
  if (causal) scores = scores.masked_fill(torch::ones({length, length}, torch::kBool).triu(1), kNever);
  const bool masks = mask && mask->scalar_type() == torch::kBool;
  if (mask) scores = masks ? scores.masked_fill(~*mask, kNever) : scores + *mask;
  const auto weights = masks ? at::_safe_softmax(scores, -1) : scores.softmax(-1);
  return at::matmul(weights, for_each_query_head(v, q.size(1)));
}

}  // namespace

Tensor distance_rows(std::int64_t side) {
  const auto token_to_patch = AttentionShape{.side = side}.distances() - 3;
  const auto places = at::arange(side * side, torch::kInt64);
  const auto apart = [&](const Tensor& line) { return line.unsqueeze(1) - line.unsqueeze(0) + side - 1; };
  const auto down = apart(places.div(side, "floor"));
  const auto across = apart(places.remainder(side));
  auto rows = torch::empty({places.size(0) + 1, places.size(0) + 1}, torch::kInt64);
  rows.select(0, 0).fill_(token_to_patch);
  rows.select(1, 0).fill_(token_to_patch + 1);
  rows[0][0] = token_to_patch + 2;
  rows.narrow(0, 1, places.size(0)).narrow(1, 1, places.size(0)).copy_(down * (2 * side - 1) + across);
  return rows.flatten();
}

Tensor grid_angles(const GridRotation& grid, std::int64_t head_width) {
  constexpr double kBase = 10000;
  const auto count = head_width / 4;
  const auto steps = at::arange(count, torch::kFloat64) / static_cast<double>(count);
  const auto frequencies = at::pow(kBase, -steps);
  const double scale = static_cast<double>(grid.trained_side) / static_cast<double>(grid.side);
  const auto places = at::arange(grid.side, torch::kFloat64) * scale;
  const auto turns = at::outer(places, frequencies);  // [side, count]
  const std::vector<std::int64_t> all{grid.side, grid.side, count};
  const auto rows = turns.unsqueeze(1).expand(all), columns = turns.unsqueeze(0).expand(all);
  const auto patches = at::cat({rows, columns}, 2).view({grid.side * grid.side, 2 * count});
  return at::cat({torch::zeros({1, 2 * count}, torch::kFloat64), patches}, 0);
}

std::vector<ParameterSpec> Attention::parameters() const {
  if (shape_.side == 0) return {};
  return {{kTable, {shape_.distances(), shape_.heads}}};
}

void Attention::bind(std::vector<BoundParameter> parameters) {
  if (!parameters.empty()) table_ = std::move(parameters.front());
}

std::vector<std::string> Attention::ruled_parameters() const {
  if (shape_.side == 0) return {};
  return {kTable};
}

Tensor Attention::bias() const {
  const auto& table = table_.value;
  if (!rows_.defined() || rows_.device() != table.device()) {
    rows_ = distance_rows(shape_.side).to(table.device());
  }
  const auto length = shape_.side * shape_.side + 1;
  return table.t().index_select(1, rows_).view({1, shape_.heads, length, length});
}

// heads [B, H, T, head_width].
Tensor Attention::rotated(const Tensor& heads, const Tensor& positions) const {
  // Positions beyond 256 are no bfloat16 numbers, so angles are taken in float32 at least.
  const auto options =
      heads.options().dtype(heads.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32);
  if (!frequencies_.defined() || frequencies_.device() != options.device() ||
      frequencies_.scalar_type() != options.dtype()) {
    frequencies_ = torch::tensor(shape_.rotary->frequencies, options);
  }
  const auto places = positions.defined() ? positions.to(options) : at::arange(heads.size(2), options);
  const auto angles = places.unsqueeze(-1) * frequencies_;
  auto both = at::cat({angles, angles}, -1);  // [T, head_width] or [B, T, head_width]
  if (both.dim() == 3) both = both.unsqueeze(1);
  const auto half = shape_.head_width / 2;
  const auto turned = at::cat({-heads.narrow(3, half, half), heads.narrow(3, 0, half)}, 3);
  const auto narrowed = [&](const Tensor& factor) { return factor.to(heads.scalar_type()); };
  return (heads * narrowed(both.cos()) + turned * narrowed(both.sin())) * shape_.rotary->scale;
}

// heads [B, H, 1 + side^2, head_width].
Tensor Attention::rotated_by_place(const Tensor& heads) const {
  if (!frequencies_.defined() || frequencies_.device() != heads.device() ||
      frequencies_.scalar_type() != heads.scalar_type()) {
    const auto angles = grid_angles(*shape_.grid, shape_.head_width);
    frequencies_ = at::stack({angles.cos(), angles.sin()}).to(heads.options());
  }
  HYFREEDP_CHECK(heads.size(2) == frequencies_.size(1), "attention with rotations has another length");
  const auto cosine = frequencies_.select(0, 0), sine = frequencies_.select(0, 1);
  const auto pairs = heads.unflatten(3, {shape_.head_width / 2, 2});
  const auto first = pairs.select(4, 0), second = pairs.select(4, 1);
  return at::stack({first * cosine - second * sine, second * cosine + first * sine}, 4).flatten(3);
}

Attention::Heads Attention::split(const Tensors& inputs, const Tensor& positions) const {
  const auto batch = inputs[0].size(0);
  const auto length = inputs[0].size(1);
  const auto width = shape_.heads * shape_.head_width;
  Tensors parts = shape_.packed ? inputs[0].split(width, 2) : Tensors(inputs.begin(), inputs.begin() + 3);
  const auto by_head = [&](const Tensor& part, std::int64_t heads) {
    return part.view({batch, length, heads, shape_.head_width}).transpose(1, 2);
  };
  Heads heads{by_head(parts[0], shape_.heads), by_head(parts[1], shape_.kv_heads),
              by_head(parts[2], shape_.kv_heads)};
  if (shape_.rotary) {
    heads.q = rotated(heads.q, positions);
    heads.k = rotated(heads.k, positions);
  }
  if (shape_.grid) {
    heads.q = rotated_by_place(heads.q);
    heads.k = rotated_by_place(heads.k);
  }
  return heads;
}

Tensor Attention::attend(const Tensors& inputs) const {
  const auto batch = inputs[0].size(0);
  const auto length = inputs[0].size(1);
  const auto [q, k, v] = split(inputs);
  std::optional<Tensor> mask;
  if (shape_.masked) {
    const auto options = inputs.back().options().dtype(torch::kBool);
    mask = (inputs.back() != shape_.padding).view({batch, 1, 1, length});
    if (shape_.causal) mask = *mask & torch::ones({length, length}, options).tril();
  } else if (shape_.side > 0) {
    HYFREEDP_CHECK(length == shape_.side * shape_.side + 1, "attention with a bias has another length");
    mask = bias();
  }
  const auto output = attention(q, k, v, mask, shape_.causal && !mask);
  return output.transpose(1, 2).reshape({batch, length, shape_.heads * shape_.head_width});
}

Tensor Attention::forward_next(const Tensors& inputs, const NextTokens& tokens, KeysAndValues& past) const {
  HYFREEDP_CHECK(shape_.causal && !shape_.masked && !shape_.grid && shape_.side == 0,
                 "only causal attention without a mask reads on");
  const auto batch = inputs[0].size(0);
  const auto length = inputs[0].size(1);
  const auto [q, k, v] = split(inputs, tokens.positions);
  if (!past.keys.defined()) {
    // Zeros, not what was in memory: a weight of zero times NaN is NaN.
    past.keys = torch::zeros({batch, shape_.kv_heads, tokens.capacity, shape_.head_width}, k.options());
    past.values = torch::zeros_like(past.keys);
  }
  const auto places = tokens.positions.view({batch, 1, length, 1});
  past.keys.scatter_(2, places.expand_as(k), k);
  past.values.scatter_(2, places.expand_as(v), v);
  const auto mask = at::arange(tokens.reach, places.options()) <= places;
  const auto output =
      attention(q, past.keys.narrow(2, 0, tokens.reach), past.values.narrow(2, 0, tokens.reach), mask, false);
  return output.transpose(1, 2).reshape({batch, length, shape_.heads * shape_.head_width});
}

// saved: the inputs as leaves of a small graph, then its output.
Tensor Attention::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  const std::size_t projections = shape_.packed ? 1 : 3;
  HYFREEDP_CHECK(inputs.size() == projections + (shape_.masked ? 1 : 0), "attention has other inputs");
  if (saved == nullptr) return attend(inputs);
  const at::AutoGradMode enabled(true);
  Tensors leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto leaf = inputs[i].detach();
    if (i < projections) leaf.requires_grad_();
    leaves.push_back(std::move(leaf));
  }
  auto output = attend(leaves);
  auto value = output.detach();
  leaves.push_back(std::move(output));
  *saved = std::move(leaves);
  return value;
}

Tensors Attention::input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const {
  Tensors wanted;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] && record.saved[i].requires_grad()) wanted.push_back(record.saved[i]);
  }
  Tensors gradients(needed.size());
  if (wanted.empty()) return gradients;
  auto found = torch::autograd::grad({record.saved.back()}, wanted, {record.output_gradient});
  for (std::size_t i = 0, next = 0; i < needed.size(); ++i) {
    if (needed[i] && record.saved[i].requires_grad()) gradients[i] = found[next++];
  }
  return gradients;
}

// ds = p (dp - sum(p dp)) by rows, where s = q k^T / sqrt(w) + bias are the scores, p = softmax(s),
// o = p v and dp = do v^T.
Tensor Attention::table_gradient(const ActivationRecord& record) const {
  const auto [q, k, v] = split(record.inputs);
  const auto batch = q.size(0);
  const auto length = q.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(shape_.head_width));
  const auto weights = (at::matmul(q, k.transpose(2, 3)) * scale + bias()).softmax(-1);
  const auto output_gradient =
      record.output_gradient.view({batch, length, shape_.heads, shape_.head_width}).transpose(1, 2);
  auto scores = at::matmul(output_gradient, v.transpose(2, 3));
  scores = weights * (scores - (weights * scores).sum(-1, true));
  auto gradient = torch::zeros({batch * shape_.heads, shape_.distances()}, scores.options());
  gradient.index_add_(1, rows_, scores.reshape({batch * shape_.heads, length * length}));
  return gradient.view({batch, shape_.heads, -1}).transpose(1, 2).contiguous();
}

Tensor Attention::table_gradients(std::span<const ActivationRecord> records) const {
  Tensor total;
  for (const auto& record : records) {
    auto part = table_gradient(record);
    total = total.defined() ? total + part : std::move(part);
  }
  return total;
}

Tensors Attention::add_squared_norms(std::span<const ActivationRecord> records,
                                     SquaredNorms& squared_norms) const {
  auto formed = table_gradients(records);
  squared_norms.add_(squared_sample_norms(formed));
  return {std::move(formed)};
}

void Attention::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                                 const Tensor& factors, std::span<Tensor> sums) const {
  add_weighted_sum(formed.empty() ? table_gradients(records) : formed.front(), factors, sums[0]);
}

}  // namespace hyfreedp::models
