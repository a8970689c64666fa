#include "harness/models/embedding.h"

#include "harness/base/result.h"
#include "harness/models/samples.h"
#include "harness/models/sequence_norms.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

bool is_lookup(const Use& use) { return !use.input().is_floating_point(); }

// What adds the same values wherever it stands has the sum of its uses' gradients.
template <class Part>
Tensor total_of(std::span<const Use> uses, const Part& part) {
  Tensor total = part(uses.front());
  for (const auto& use : uses.subspan(1)) total = total + part(use);
  return total;
}

Tensor total_output_gradient(std::span<const Use> uses) {
  return total_of(uses, [](const Use& use) { return use.output_gradient; });
}

Tensor total_first_gradient(std::span<const Use> uses) {
  return total_of(uses, [](const Use& use) { return use.output_gradient.select(1, 0); });
}

}  // namespace

Tensor Embedding::forward(const Tensor& input) const {
  if (!input.is_floating_point()) return at::embedding(weight_.value, input);
  HYFREEDP_CHECK(input.dim() == 3 && input.size(2) == width_, "an output projection takes [B, T, D]");
  return at::mm(input.reshape({-1, width_}), weight_.value.t()).view({input.size(0), input.size(1), rows_});
}

Tensor Embedding::input_gradient(const Use& use) const {
  if (is_lookup(use)) return {};
  return at::mm(use.output_gradient.reshape({-1, rows_}), weight_.value).view(use.input().sizes());
}

Tensor Embedding::lookup_gradient(const Use& use) const {
  if (!padding_index_) return use.output_gradient;
  return use.output_gradient.masked_fill((use.input() == *padding_index_).unsqueeze(2), 0);
}

void Embedding::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  auto estimates = torch::zeros_like(squared_norms);
  auto reach = torch::zeros_like(squared_norms);
  const auto add = [&](const Tensor& left, const Tensor& right, double factor) {  // [B, S, T] each
    estimates.add_((left * right).sum({1, 2}, false, torch::kFloat64), factor);
  };
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const bool by_kernel = uses[k].output_gradient.is_cuda();
    if (by_kernel) {
      const auto norms = norms_by_kernel(uses[k]);
      estimates.add_(norms.estimates);
      reach.add_(norms.reaches);
    } else {
      reach.add_(reach_of(uses[k]));
    }
    for (std::size_t l = 0; l <= k; ++l) {
      if (l == k && by_kernel) continue;
      const double factor = k == l ? 1 : 2;
      const auto& one = is_lookup(uses[k]) ? uses[k] : uses[l];
      const auto& other = is_lookup(uses[k]) ? uses[l] : uses[k];
      if (is_lookup(other)) {
        const auto same = one.input().unsqueeze(2) == other.input().unsqueeze(1);
        const auto products = at::bmm(lookup_gradient(one), lookup_gradient(other).transpose(1, 2));
        add(same.to(products.scalar_type()), products, factor);
      } else if (is_lookup(one)) {
        const auto products = at::bmm(lookup_gradient(one), other.input().transpose(1, 2));  // <b_s, h_t>
        const auto rows = one.input().unsqueeze(1).expand({-1, other.input().size(1), -1});
        add(other.output_gradient.gather(2, rows).transpose(1, 2), products, factor);
      } else {
        add(at::bmm(one.input(), other.input().transpose(1, 2)),
            at::bmm(one.output_gradient, other.output_gradient.transpose(1, 2)), factor);
      }
    }
  }
  squared_norms.add_(beyond_rounding(estimates, reach.square_(), uses.front().output_gradient.scalar_type()));
}

// Of one use alone, without its cross terms.
SequenceNorms Embedding::norms_by_kernel(const Use& use) const {
  if (is_lookup(use)) return lookup_norms(use.input(), use.output_gradient, padding_index_);
  return product_norms(use.input(), use.output_gradient);
}

// [B]: sum over the positions of ||a_t|| ||b_t||; a looked-up row's a is a unit vector.
Tensor Embedding::reach_of(const Use& use) const {
  if (is_lookup(use)) return reach_lengths(lookup_gradient(use)).sum(1);
  return (reach_lengths(use.input()) * reach_lengths(use.output_gradient)).sum(1);
}

void Embedding::add_clipped_sums(std::span<const Use> uses, const Tensor& factors,
                                 std::span<Tensor> sums) const {
  for (const auto& use : uses) {
    if (is_lookup(use)) {
      const auto gradient = scaled_samples(lookup_gradient(use), factors).reshape({-1, width_});
      sums[0].index_add_(0, use.input().reshape({-1}), gradient);
    } else {
      // The factors go into the smaller operand.
      const auto input = scaled_samples(use.input(), factors).reshape({-1, width_});
      sums[0].addmm_(use.output_gradient.reshape({-1, rows_}).t(), input);
    }
  }
}

Tensor Positions::forward(const Tensor& input) const {
  const auto table = weight_.value.view({-1, weight_.value.size(-1)});
  HYFREEDP_CHECK(input.size(1) <= table.size(0), "a sequence is longer than the table of positions");
  return input + table.narrow(0, 0, input.size(1));
}

void Positions::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  auto gradient = total_output_gradient(uses);
  squared_norms.add_(squared_sample_norms(gradient));
  uses.front().instantiated = {std::move(gradient)};
}

void Positions::add_clipped_sums(std::span<const Use> uses, const Tensor& factors,
                                 std::span<Tensor> sums) const {
  const auto& formed = uses.front().instantiated;
  const auto gradient = formed.empty() ? total_output_gradient(uses) : formed.front();
  add_weighted_sum(gradient, factors, sums[0].view({-1, gradient.size(2)}).narrow(0, 0, gradient.size(1)));
}

Tensor ClassToken::forward(const Tensor& input) const {
  return at::cat({token_.value.expand({input.size(0), -1, -1}), input}, 1);
}

Tensor ClassToken::input_gradient(const Use& use) const {
  return use.output_gradient.narrow(1, 1, use.output_gradient.size(1) - 1);
}

void ClassToken::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  // A copy: the gradient of the whole sequence is let go.
  auto gradient = total_first_gradient(uses).clone();
  squared_norms.add_(squared_sample_norms(gradient));
  uses.front().instantiated = {std::move(gradient)};
}

void ClassToken::add_clipped_sums(std::span<const Use> uses, const Tensor& factors,
                                  std::span<Tensor> sums) const {
  const auto& formed = uses.front().instantiated;
  const auto gradient = formed.empty() ? total_first_gradient(uses) : formed.front();
  add_weighted_sum(gradient, factors, sums[0].view({width_}));
}

}  // namespace hyfreedp::models
