#include "harness/kernels/cpu_reference.h"

#include <ATen/Dispatch.h>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::kernels::cpu_reference {
namespace {

using torch::Tensor;

template <class T>
std::span<T> elements(Tensor& values) {
  return {values.data_ptr<T>(), static_cast<std::size_t>(values.numel())};
}

// [B, ...] float64
Tensor wide_rows(const Tensor& values) { return values.to(torch::kFloat64).flatten(1); }

template <class T>
struct AdamReference {
  const AdamNumbers& with;
  T operator()(T gradient, T weight, T* first, T* second, T* largest) const {
    const T g = with.coupled == 0 ? gradient : gradient + T(with.coupled) * weight;
    *first = T(with.beta1) * *first + T(with.rest1) * g;
    *second = T(with.beta2) * *second + T(with.rest2) * (g * g);
    if (largest != nullptr && !(*largest >= *second)) *largest = *second;
    const T root = std::sqrt(largest == nullptr ? *second : *largest);
    const T step = *first * T(with.unbias1) / (root * T(with.unbias2) + T(with.eps));
    return with.decoupled == 0 ? step : step + T(with.decoupled) * weight;
  }
};

template <class T>
struct SgdReference {
  const SgdNumbers& with;
  T operator()(T gradient, T weight, T* buffer, T*, T*) const {
    const T g = with.decay == 0 ? gradient : gradient + T(with.decay) * weight;
    if (buffer == nullptr) return g;
    *buffer = with.first ? g : T(with.momentum) * *buffer + T(with.intake) * g;
    return with.nesterov ? g + T(with.momentum) * *buffer : *buffer;
  }
};

template <class T, class Rule>
void step_all(const Rule& rule, StepVectors& vectors) {
  const auto at = [](Tensor& values) { return values.defined() ? values.data_ptr<T>() : nullptr; };
  const T *gradient = at(vectors.gradient), *weights = at(vectors.weights);
  T *first = at(vectors.first), *second = at(vectors.second), *largest = at(vectors.largest);
  const auto beside = [](T* pointer, std::int64_t i) { return pointer == nullptr ? nullptr : pointer + i; };
  for (std::int64_t i = 0; i < vectors.gradient.numel(); ++i) {
    at(vectors.direction)[i] =
        rule(gradient[i], weights[i], beside(first, i), beside(second, i), beside(largest, i));
  }
}

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace

void add_row_norms(const Tensor& values, Tensor& squared_norms) {
  squared_norms.add_(wide_rows(values).square().sum(1));
}

void add_embedding_norms(const Tensor& ids, const Tensor& gradients, std::optional<std::int64_t> padding,
                         Tensor& squared_norms) {
  const auto wide = gradients.to(torch::kFloat64);
  for (std::int64_t i = 0; i < ids.size(0); ++i) {
    std::map<std::int64_t, Tensor> rows;
    for (std::int64_t t = 0; t < ids.size(1); ++t) {
      const auto id = ids[i][t].item<std::int64_t>();
      if (padding && id == *padding) continue;
      auto& row = rows[id];
      row = row.defined() ? row + wide[i][t] : wide[i][t];
    }
    for (const auto& [id, row] : rows) squared_norms[i].add_(row.square().sum());
  }
}

void release_mean(const PrivateMean& mean, Tensor& sum) {
  AT_DISPATCH_FLOATING_TYPES(sum.scalar_type(), "release_mean", [&] {
    const auto values = elements<scalar_t>(sum);
    for (auto& value : values) value = scalar_t(mean.clip) * value;
    if (mean.scale != 0) {
      random::add_normals(mean.noise.key, mean.noise.address, mean.noise.first, mean.scale, values);
    }
    for (auto& value : values) value = value / scalar_t(mean.divisor);
  });
}

void adam_step(const AdamNumbers& with, StepVectors& vectors) {
  AT_DISPATCH_FLOATING_TYPES(vectors.gradient.scalar_type(), "adam_step",
                             [&] { step_all<scalar_t>(AdamReference<scalar_t>{with}, vectors); });
}

void sgd_step(const SgdNumbers& with, StepVectors& vectors) {
  AT_DISPATCH_FLOATING_TYPES(vectors.gradient.scalar_type(), "sgd_step",
                             [&] { step_all<scalar_t>(SgdReference<scalar_t>{with}, vectors); });
}

bool subtract_scaled(const Tensor& weights, const Tensor& direction, double x, Tensor& out) {
  bool finite = true;
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "subtract_scaled", [&] {
    const auto* w = weights.const_data_ptr<scalar_t>();
    const auto* u = direction.const_data_ptr<scalar_t>();
    auto* result = out.data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < weights.numel(); ++i) {
      result[i] = scalar_t(double(w[i]) - x * double(u[i]));
      finite = finite && std::isfinite(result[i]);
    }
  });
  return finite;
}

std::array<std::uint64_t, 2> digest(const Tensor& values) {
  const auto* words = static_cast<const std::uint32_t*>(values.const_data_ptr());
  std::array<std::uint64_t, 2> sums{};
  for (std::uint64_t i = 0; i < values.nbytes() / 4; ++i) {
    const auto place = mixed(i + 0x9e3779b97f4a7c15U);
    const auto mark = mixed(place ^ words[i]);
    sums[0] += mark;
    sums[1] += mixed(mark + place);
  }
  return sums;
}

}  // namespace hyfreedp::kernels::cpu_reference
