#include "harness/models/layers/embedding.h"

#include "harness/base/result.h"
#include "harness/models/layers/samples.h"
#include "harness/models/layers/sequence_norms.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

bool is_lookup(const ActivationRecord& record) { return !record.input().is_floating_point(); }

// The sum of `part` over the records: the gradient of values that are added in each of them.
template <class Part>
Tensor total_of(std::span<const ActivationRecord> records, const Part& part) {
  Tensor total = part(records.front());
  for (const auto& record : records.subspan(1)) total = total + part(record);
  return total;
}

Tensor total_lookup_gradient(std::span<const ActivationRecord> records) {
  return total_of(records, [](const ActivationRecord& record) { return record.output_gradient; });
}

Tensor total_first_gradient(std::span<const ActivationRecord> records) {
  return total_of(records,
                  [](const ActivationRecord& record) { return record.output_gradient.select(1, 0); });
}

}  // namespace

Tensor Embedding::forward(const Tensor& input) const {
  if (!input.is_floating_point()) return at::embedding(weight_.value, input);
  HYFREEDP_CHECK(input.dim() == 3 && input.size(2) == width_, "an output projection takes [B, T, D]");
  return at::mm(input.reshape({-1, width_}), weight_.value.t()).view({input.size(0), input.size(1), rows_});
}

Tensor Embedding::input_gradient(const ActivationRecord& record) const {
  if (is_lookup(record)) return {};
  return at::mm(record.output_gradient.reshape({-1, rows_}), weight_.value).view(record.input().sizes());
}

Tensor Embedding::lookup_gradient(const ActivationRecord& record) const {
  if (!padding_index_) return record.output_gradient;
  return record.output_gradient.masked_fill((record.input() == *padding_index_).unsqueeze(2), 0);
}

Tensors Embedding::add_squared_norms(std::span<const ActivationRecord> records,
                                     SquaredNorms& squared_norms) const {
  auto estimates = torch::zeros_like(squared_norms.estimates);
  auto reach = torch::zeros_like(estimates);
  const auto add = [&](const Tensor& left, const Tensor& right, double factor) {  // [B, S, T] each
    estimates.add_((left * right).sum({1, 2}, false, torch::kFloat64), factor);
  };
  for (std::size_t k = 0; k < records.size(); ++k) {
    const bool by_kernel = records[k].output_gradient.is_cuda();
    if (by_kernel) {
      const auto norms = norms_by_kernel(records[k]);
      estimates.add_(norms.estimates);
      reach.add_(norms.reaches);
    } else {
      reach.add_(reach_of(records[k]));
    }
    for (std::size_t l = 0; l <= k; ++l) {
      if (l == k && by_kernel) continue;
      const double factor = k == l ? 1 : 2;
      const auto& one = is_lookup(records[k]) ? records[k] : records[l];
      const auto& other = is_lookup(records[k]) ? records[l] : records[k];
      if (is_lookup(other)) {
        const auto same = one.input().unsqueeze(2) == other.input().unsqueeze(1);
        const auto products = k == l ? gram_matrices(lookup_gradient(one))
                                     : inner_products(lookup_gradient(one), lookup_gradient(other));
        add(same.to(products.scalar_type()), products, factor);
      } else if (is_lookup(one)) {
        // <b_s, h_t>
        const auto products = inner_products(lookup_gradient(one), other.input());
        const auto rows = one.input().unsqueeze(1).expand({-1, other.input().size(1), -1});
        add(other.output_gradient.gather(2, rows).transpose(1, 2), products, factor);
      } else {
        add(inner_products(one.input(), other.input()),
            inner_products(one.output_gradient, other.output_gradient), factor);
      }
    }
  }
  add_beyond_rounding(estimates, reach.square_(), records.front().output_gradient.scalar_type(),
                      squared_norms);
  return {};
}

bool Embedding::norm_rule_reads_narrow(std::span<const ActivationRecord> records) const {
  return records.size() == 1 && is_lookup(records.front()) &&
         can_multiply_narrow(records.front().output_gradient);
}

// The norms of one record alone, without the cross terms between records.
SequenceNorms Embedding::norms_by_kernel(const ActivationRecord& record) const {
  if (is_lookup(record)) return lookup_norms(record.input(), record.output_gradient, padding_index_);
  return product_norms(record.input(), record.output_gradient);
}

// [B]: sum over the positions of ||a_t|| ||b_t||; a looked-up row's a is a unit vector.
Tensor Embedding::reach_of(const ActivationRecord& record) const {
  if (is_lookup(record)) return reach_lengths(lookup_gradient(record)).sum(1);
  return (reach_lengths(record.input()) * reach_lengths(record.output_gradient)).sum(1);
}

void Embedding::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors&,
                                 const Tensor& factors, std::span<Tensor> sums) const {
  for (const auto& record : records) {
    if (is_lookup(record)) {
      add_rows_by_id(record.input().reshape({-1}), record.output_gradient.reshape({-1, width_}), factors,
                     padding_index_, sums[0]);
    } else {
      // The factors go into the smaller operand.
      const auto input = scaled_samples(record.input(), factors).reshape({-1, width_});
      add_product(record.output_gradient.reshape({-1, rows_}), input, sums[0]);
    }
  }
}

Tensor Positions::forward(const Tensor& input) const {
  const auto table = weight_.value.view({-1, weight_.value.size(-1)});
  HYFREEDP_CHECK(first_ + input.size(1) <= table.size(0), "a sequence is longer than the table of positions");
  return input + table.narrow(0, first_, input.size(1));
}

Tensor Positions::forward_next(const Tensors& inputs, const NextTokens& tokens,
                               KeysAndValues& /*past*/) const {
  const auto table = weight_.value.view({-1, weight_.value.size(-1)});
  HYFREEDP_CHECK(first_ + tokens.reach <= table.size(0), "a text is longer than the table of positions");
  return inputs.front() + at::embedding(table, tokens.positions + first_);
}

Tensors Positions::add_squared_norms(std::span<const ActivationRecord> records,
                                     SquaredNorms& squared_norms) const {
  auto gradient = total_lookup_gradient(records);
  squared_norms.add_(squared_sample_norms(gradient));
  return {std::move(gradient)};
}

void Positions::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                                 const Tensor& factors, std::span<Tensor> sums) const {
  const auto gradient = formed.empty() ? total_lookup_gradient(records) : formed.front();
  add_weighted_sum(gradient, factors,
                   sums[0].view({-1, gradient.size(2)}).narrow(0, first_, gradient.size(1)));
}

Tensor ClassToken::forward(const Tensor& input) const {
  return at::cat({token_.value.expand({input.size(0), -1, -1}), input}, 1);
}

Tensor ClassToken::input_gradient(const ActivationRecord& record) const {
  return record.output_gradient.narrow(1, 1, record.output_gradient.size(1) - 1);
}

Tensors ClassToken::add_squared_norms(std::span<const ActivationRecord> records,
                                      SquaredNorms& squared_norms) const {
  // A copy: the gradient of the whole sequence is let go.
  auto gradient = total_first_gradient(records).clone();
  squared_norms.add_(squared_sample_norms(gradient));
  return {std::move(gradient)};
}

void ClassToken::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                                  const Tensor& factors, std::span<Tensor> sums) const {
  const auto gradient = formed.empty() ? total_first_gradient(records) : formed.front();
  add_weighted_sum(gradient, factors, sums[0].view({width_}));
}

}  // namespace hyfreedp::models
