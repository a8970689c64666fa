#include "harness/models/conv2d.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>

#include "harness/base/result.h"
#include "harness/models/samples.h"

// Fortran BLAS, as LibTorch's CPU library exports it.
extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
            const int*, const float*, const int*, const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
}

namespace hyfreedp::models {
namespace {

using torch::Tensor;

// Sizes of one application.
struct Geometry {
  std::int64_t channels, height, width;  // of one group's input
  std::int64_t rows, columns;            // of the output
  std::int64_t patch;                    // channels kh kw
  std::int64_t outputs;                  // of one group
  std::int64_t places() const { return rows * columns; }
};

Geometry geometry(const Conv2dShape& shape, const Tensor& input, const Tensor& output) {
  Geometry g{};
  g.channels = shape.inputs / shape.groups;
  g.height = input.size(2);
  g.width = input.size(3);
  g.rows = output.size(2);
  g.columns = output.size(3);
  g.patch = g.channels * shape.kernel[0] * shape.kernel[1];
  g.outputs = shape.outputs / shape.groups;
  return g;
}

// The outputs o with 0 <= o stride + offset < size, as [first, last).
std::pair<std::int64_t, std::int64_t> inside(std::int64_t offset, std::int64_t stride, std::int64_t size,
                                             std::int64_t count) {
  const auto first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const auto last = offset >= size ? 0 : (size - 1 - offset) / stride + 1;
  return {std::min(first, count), std::clamp(last, std::min(first, count), count)};
}

// patches [patch, places] of one group of one sample.
template <class T>
void unfold(const Conv2dShape& shape, const Geometry& g, const T* image, T* patches) {
  for (std::int64_t c = 0; c < g.channels; ++c) {
    const T* plane = image + c * g.height * g.width;
    for (std::int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
      for (std::int64_t kx = 0; kx < shape.kernel[1]; ++kx, patches += g.places()) {
        const auto left = kx * shape.dilation[1] - shape.padding[1];
        const auto [from, to] = inside(left, shape.stride[1], g.width, g.columns);
        for (std::int64_t y = 0; y < g.rows; ++y) {
          T* line = patches + y * g.columns;
          const auto row = y * shape.stride[0] + ky * shape.dilation[0] - shape.padding[0];
          if (row < 0 || row >= g.height) {
            std::fill_n(line, g.columns, T(0));
            continue;
          }
          const T* source = plane + row * g.width + left;
          std::fill_n(line, from, T(0));
          if (shape.stride[1] == 1) {
            std::copy(source + from, source + to, line + from);
          } else {
            for (auto x = from; x < to; ++x) line[x] = source[x * shape.stride[1]];
          }
          std::fill(line + to, line + g.columns, T(0));
        }
      }
    }
  }
}

// Column-major c [m, n] = scale op(a) op(b) + keep c; op transposes where asked.
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T scale,
          const T* a, const T* b, T keep, T* c) {
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  const int rows = size(m), columns = size(n), inner = size(k);
  const int lda = transpose_a ? inner : rows;
  const int ldb = transpose_b ? columns : inner;
  const char* const op_a = transpose_a ? "T" : "N";
  const char* const op_b = transpose_b ? "T" : "N";
  if constexpr (std::is_same_v<T, float>) {
    sgemm_(op_a, op_b, &rows, &columns, &inner, &scale, a, &lda, b, &ldb, &keep, c, &rows);
  } else {
    dgemm_(op_a, op_b, &rows, &columns, &inner, &scale, a, &lda, b, &ldb, &keep, c, &rows);
  }
}

// Row-major out [m, n] = scale a [m, k] b [n, k]^T + keep out.
template <class T>
void product(std::int64_t m, std::int64_t n, std::int64_t k, T scale, const T* a, const T* b, T keep,
             T* out) {
  gemm(true, false, n, m, k, scale, b, a, keep, out);
}

// Row-major out [n, n] = a^T a for a [m, n].
template <class T>
void inner_products(std::int64_t m, std::int64_t n, const T* a, T* out) {
  gemm(false, true, n, n, m, T(1), a, a, T(0), out);
}

// For each sample of one application: image and output gradient of every group.
template <class T>
struct Samples {
  Samples(const Conv2dShape& conv, const Use& use)
      : shape(conv),
        g(geometry(conv, use.input(), use.output_gradient)),
        input(use.input().contiguous()),
        gradient(use.output_gradient.contiguous()),
        count(input.size(0)) {}

  const T* image(std::int64_t i, std::int64_t group) const {
    return input.const_data_ptr<T>() + (i * shape.groups + group) * g.channels * g.height * g.width;
  }
  const T* output_gradient(std::int64_t i, std::int64_t group) const {
    return gradient.const_data_ptr<T>() + (i * shape.groups + group) * g.outputs * g.places();
  }

  const Conv2dShape& shape;
  Geometry g;
  Tensor input;     // [B, in, H, W]
  Tensor gradient;  // [B, out, rows, columns]
  std::int64_t count;
};

// each [B, out, patch] = keep each + dW_i of one application.
template <class T>
void add_each(const Samples<T>& samples, T keep, Tensor& each) {
  const auto& g = samples.g;
  const auto groups = samples.shape.groups;
  T* out = each.mutable_data_ptr<T>();
  at::parallel_for(0, samples.count, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> patches(static_cast<std::size_t>(g.patch * g.places()));
    for (auto i = begin; i < end; ++i) {
      for (std::int64_t group = 0; group < groups; ++group) {
        unfold(samples.shape, g, samples.image(i, group), patches.data());
        product<T>(g.outputs, g.patch, g.places(), 1, samples.output_gradient(i, group), patches.data(), keep,
                   out + (i * groups + group) * g.outputs * g.patch);
      }
    }
  });
}

// norms [B] += ||dW_i||^2 of a single application, by the places' inner products.
template <class T>
void add_ghost_norms(const Samples<T>& samples, Tensor& norms) {
  const auto& g = samples.g;
  const auto places = g.places();
  const auto size = static_cast<std::size_t>(places);
  const auto type = samples.input.scalar_type();
  double* out = norms.mutable_data_ptr<double>();
  at::parallel_for(0, samples.count, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> patches(static_cast<std::size_t>(g.patch * places));
    std::vector<T> inputs(static_cast<std::size_t>(places * places));
    std::vector<T> gradients(static_cast<std::size_t>(places * places));
    for (auto i = begin; i < end; ++i) {
      for (std::int64_t group = 0; group < samples.shape.groups; ++group) {
        double sum = 0, reach = 0;
        unfold(samples.shape, g, samples.image(i, group), patches.data());
        inner_products(g.patch, places, patches.data(), inputs.data());
        inner_products(g.outputs, places, samples.output_gradient(i, group), gradients.data());
        for (std::size_t k = 0; k < inputs.size(); ++k) {
          sum += static_cast<double>(inputs[k]) * static_cast<double>(gradients[k]);
        }
        for (std::size_t k = 0; k < inputs.size(); k += size + 1) {
          reach += std::sqrt(static_cast<double>(inputs[k]) * static_cast<double>(gradients[k]));
        }
        out[i] += beyond_rounding(sum, reach * reach, type);
      }
    }
  });
}

// sum [out, patch] += sum_i c_i dW_i, each thread's samples in a part of their own, added in the order of the samples.
template <class T>
void add_sum(const Samples<T>& samples, const Tensor& factors, Tensor& sum) {
  const auto& g = samples.g;
  const auto groups = samples.shape.groups;
  const auto scale = factors.defined() ? factors.to(sum.scalar_type()).contiguous() : Tensor();
  const auto chunk =
      std::max<std::int64_t>(1, (samples.count + at::get_num_threads() - 1) / at::get_num_threads());
  const auto chunks = (samples.count + chunk - 1) / chunk;
  auto parts = torch::zeros({chunks, sum.numel()}, sum.options());
  T* out = parts.template mutable_data_ptr<T>();
  at::parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> patches(static_cast<std::size_t>(g.patch * g.places()));
    for (auto part = begin; part < end; ++part) {
      for (auto i = part * chunk; i < std::min(samples.count, (part + 1) * chunk); ++i) {
        const T factor = scale.defined() ? scale.template const_data_ptr<T>()[i] : T(1);
        if (factor == 0) continue;
        for (std::int64_t group = 0; group < groups; ++group) {
          unfold(samples.shape, g, samples.image(i, group), patches.data());
          product<T>(g.outputs, g.patch, g.places(), factor, samples.output_gradient(i, group),
                     patches.data(), 1, out + part * sum.numel() + group * g.outputs * g.patch);
        }
      }
    }
  });
  for (std::int64_t part = 0; part < chunks; ++part) sum.add_(parts[part].view(sum.sizes()));
}

// Calls `function` with a zero of the tensor's type.
template <class F>
void by_type(const Tensor& tensor, const F& function) {
  if (tensor.scalar_type() == torch::kFloat32) {
    function(0.0F);
  } else {
    HYFREEDP_CHECK(tensor.scalar_type() == torch::kFloat64, "a convolution's rules take float32 or float64");
    function(0.0);
  }
}

Tensor bias_gradients(std::span<const Use> uses) {  // [B, out]
  Tensor total;
  for (const auto& use : uses) {
    const auto part = use.output_gradient.sum({2, 3});
    total = total.defined() ? total + part : part;
  }
  return total;
}

// Without CPU memory to walk through: ATen's unfold, group by group.
Tensor patches_of(const Conv2dShape& shape, const Use& use) {  // [B, groups, patch, places]
  const auto columns = at::im2col(use.input(), shape.kernel, shape.dilation, shape.padding, shape.stride);
  return columns.view({columns.size(0), shape.groups, -1, columns.size(2)});
}

Tensor each_by_aten(const Conv2dShape& shape, const Use& use) {  // [B, out, patch]
  const auto patches = patches_of(shape, use);
  const auto gradient = use.output_gradient.reshape({patches.size(0), shape.groups, -1, patches.size(3)});
  return at::matmul(gradient, patches.transpose(2, 3)).reshape({patches.size(0), shape.outputs, -1});
}

}  // namespace

std::vector<ParameterSpec> Conv2d::parameters() const {
  std::vector<ParameterSpec> specs{
      {"weight", {shape_.outputs, shape_.inputs / shape_.groups, shape_.kernel[0], shape_.kernel[1]}}};
  if (shape_.with_bias) specs.push_back({"bias", {shape_.outputs}});
  return specs;
}

void Conv2d::bind(std::vector<BoundParameter> parameters) {
  weight_ = std::move(parameters.at(0));
  if (shape_.with_bias) bias_ = std::move(parameters.at(1));
}

std::vector<std::string> Conv2d::ruled_parameters() const {
  return shape_.with_bias ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"};
}

Tensor Conv2d::forward(const Tensor& input) const {
  HYFREEDP_CHECK(input.dim() == 4 && input.size(1) == shape_.inputs, "a convolution takes [B, in, H, W]");
  return at::conv2d(input, weight_.value, bias_.value, shape_.stride, shape_.padding, shape_.dilation,
                    shape_.groups);
}

Tensor Conv2d::input_gradient(const Use& use) const {
  return std::get<0>(at::convolution_backward(
      use.output_gradient, use.input(), weight_.value, at::OptionalIntArrayRef(), shape_.stride,
      shape_.padding, shape_.dilation, false, {0, 0}, shape_.groups, {true, false, false}));
}

void Conv2d::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  for (const auto& use : uses) use.instantiated.clear();
  Tensors formed(shape_.with_bias ? 2 : 1);
  if (trains_bias()) {
    formed[1] = bias_gradients(uses);
    squared_norms.add_(squared_sample_norms(formed[1]));
  }
  if (weight_.trainable) formed[0] = add_weight_norms(uses, squared_norms);
  uses.front().instantiated = std::move(formed);
}

// The per-sample gradients, or undefined by the ghost norm.
Tensor Conv2d::add_weight_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  const auto& first = uses.front();
  const auto g = geometry(shape_, first.input(), first.output_gradient);
  if (first.input().is_cpu() && uses.size() == 1 &&
      2 * g.places() * (g.patch + g.outputs) < g.patch * g.outputs) {
    by_type(first.input(), [&](auto zero) {
      add_ghost_norms<decltype(zero)>(Samples<decltype(zero)>(shape_, first), squared_norms);
    });
    return {};
  }
  auto each = torch::empty({first.input().size(0), shape_.outputs, g.patch}, first.input().options());
  for (const auto& use : uses) {
    const bool is_first = &use == &first;
    if (!each.is_cpu()) {
      is_first ? each.copy_(each_by_aten(shape_, use)) : each.add_(each_by_aten(shape_, use));
      continue;
    }
    by_type(each, [&](auto zero) {
      using T = decltype(zero);
      add_each<T>(Samples<T>(shape_, use), is_first ? T(0) : T(1), each);
    });
  }
  squared_norms.add_(squared_sample_norms(each));
  return each;
}

void Conv2d::add_clipped_sums(std::span<const Use> uses, const Tensor& factors,
                              std::span<Tensor> sums) const {
  const auto& formed = uses.front().instantiated;
  if (trains_bias()) {
    add_weighted_sum(formed.empty() ? bias_gradients(uses) : formed[1], factors, sums[1]);
  }
  if (!weight_.trainable) return;
  if (!formed.empty() && formed[0].defined()) {
    add_weighted_sum(formed[0], factors, sums[0]);
    return;
  }
  auto sum = sums[0].view({shape_.outputs, -1});
  for (const auto& use : uses) {
    if (!use.input().is_cpu()) {
      sum.add_(weighted_sum(each_by_aten(shape_, use), factors));
      continue;
    }
    by_type(sum,
            [&](auto zero) { add_sum<decltype(zero)>(Samples<decltype(zero)>(shape_, use), factors, sum); });
  }
}

}  // namespace hyfreedp::models
