#include "harness/models/layers/conv2d.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>

#include "harness/base/result.h"
#include "harness/models/layers/depthwise.h"
#include "harness/models/layers/device_conv2d.h"
#include "harness/models/layers/patch_products.h"
#include "harness/models/layers/samples.h"

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

// The image and the output gradient of every group, for each sample of one application.
template <class T>
struct Samples {
  Samples(const Conv2dShape& conv, const ActivationRecord& record)
      : shape(conv),
        g(geometry(conv, record.input(), record.output_gradient)),
        input(record.input().contiguous()),
        gradient(record.output_gradient.contiguous()),
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

// norms [B] += ||dW_i||^2 of a single application, by the places' inner products.
template <class T>
void add_ghost_norms(const Samples<T>& samples, SquaredNorms& norms) {
  const auto& g = samples.g;
  const auto places = g.places();
  const auto size = static_cast<std::size_t>(places);
  const auto type = samples.input.scalar_type();
  const double lost_input = lost_length(g.patch, type), lost_gradient = lost_length(g.outputs, type);
  double* out = norms.estimates.mutable_data_ptr<double>();
  double* slack = norms.slack.mutable_data_ptr<double>();
  at::parallel_for(0, samples.count, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> patches(static_cast<std::size_t>(g.patch * places));
    std::vector<T> inputs(static_cast<std::size_t>(places * places));
    std::vector<T> gradients(static_cast<std::size_t>(places * places));
    for (auto i = begin; i < end; ++i) {
      for (std::int64_t group = 0; group < samples.shape.groups; ++group) {
        double sum = 0, reach = 0;
        const T* output_gradient = samples.output_gradient(i, group);
        unfold(samples.shape, g, samples.image(i, group), patches.data());
        product(patches.data(), patches.data(), g.patch, places, places, inputs.data());
        product(output_gradient, output_gradient, g.outputs, places, places, gradients.data());
        for (std::size_t k = 0; k < inputs.size(); ++k) {
          sum += static_cast<double>(inputs[k]) * static_cast<double>(gradients[k]);
        }
        for (std::size_t k = 0; k < inputs.size(); k += size + 1) {
          reach += (std::sqrt(static_cast<double>(inputs[k])) + lost_input) *
                   (std::sqrt(static_cast<double>(gradients[k])) + lost_gradient);
        }
        out[i] += beyond_rounding(sum, reach * reach, type);
        slack[i] += rounding_slack(sum, reach * reach, type);
      }
    }
  });
}

// to [columns, lines] = factor * from [lines, columns] transposed.
template <class T>
void transpose(const T* from, std::int64_t lines, std::int64_t columns, T factor, T* to) {
  for (std::int64_t i = 0; i < lines; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) to[j * lines + i] = factor * from[i * columns + j];
  }
}

// Writes the patches of one group of one sample as lines, [places, patch].
template <class T>
class PatchLines {
 public:
  PatchLines(const Conv2dShape& shape, const Geometry& g)
      : shape_(shape),
        g_(g),
        height_(g.height + 2 * shape.padding[0]),
        width_(g.width + 2 * shape.padding[1]),
        taps_(shape.dilation[1] == 1 ? shape.kernel[1] : 1),
        padded_(static_cast<std::size_t>(g.channels * height_ * width_ + kAtOnce)) {
    for (std::int64_t c = 0; c < g.channels; ++c) {
      for (std::int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
        for (std::int64_t kx = 0; kx < shape.kernel[1]; kx += taps_) {
          offsets_.push_back((c * height_ + ky * shape.dilation[0]) * width_ + kx * shape.dilation[1]);
        }
      }
    }
  }

  void write(const T* image, T* to) {
    for (std::int64_t c = 0; c < g_.channels; ++c) {
      for (std::int64_t y = 0; y < g_.height; ++y, image += g_.width) {
        std::copy_n(image, g_.width,
                    padded_.data() + (c * height_ + y + shape_.padding[0]) * width_ + shape_.padding[1]);
      }
    }
    for (std::int64_t place = 0; place < g_.places(); ++place, to += g_.patch) {
      const T* corner = padded_.data() + place / g_.columns * shape_.stride[0] * width_ +
                        place % g_.columns * shape_.stride[1];
      place + 1 < g_.places() ? write_line<kAtOnce>(corner, to) : write_line<1>(corner, to);
    }
  }

 private:
  static constexpr std::int64_t kAtOnce = 4;

  // Copies each row of neighbouring taps kPiece numbers at a time. Up to kPiece - 1 are too many;
  // the next row or line is written over them.
  template <std::int64_t kPiece>
  void write_line(const T* corner, T* to) const {
    for (const auto offset : offsets_) {
      for (std::int64_t k = 0; k < taps_; k += kPiece) {
        std::array<T, kPiece> piece;
        std::copy_n(corner + offset + k, kPiece, piece.data());
        std::copy_n(piece.data(), kPiece, to + k);
      }
      to += taps_;
    }
  }

  const Conv2dShape& shape_;
  const Geometry& g_;
  std::int64_t height_, width_;        // of the padded image
  std::int64_t taps_;                  // neighbours in a row of the kernel
  std::vector<T> padded_;              // what surrounds the image stays zero
  std::vector<std::int64_t> offsets_;  // of each such row, into the padded image
};

// total [groups, outputs, patch] += sum_i factors[i] dW_i, as products of the places' patches and
// output gradients, whose rounding is bounded (add_product). So many samples at a time that their
// patches have kPatchesAtOnce entries at most, or one.
template <class T>
void add_products_of_places(const Samples<T>& samples, const T* factors, Tensor& total) {
  constexpr std::int64_t kPatchesAtOnce = 1 << 20;
  const auto& g = samples.g;
  const auto places = g.places(), size = places * g.patch;
  const auto at_once = std::max<std::int64_t>(1, kPatchesAtOnce / std::max<std::int64_t>(1, size));
  auto patches = torch::empty({at_once * places, g.patch}, samples.input.options());
  auto gradients = torch::empty({at_once * places, g.outputs}, samples.input.options());
  T* to_patches = patches.template mutable_data_ptr<T>();
  T* to_gradients = gradients.template mutable_data_ptr<T>();
  for (std::int64_t group = 0; group < samples.shape.groups; ++group) {
    for (std::int64_t first = 0; first < samples.count; first += at_once) {
      const auto count = std::min(at_once, samples.count - first);
      at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
        PatchLines<T> lines(samples.shape, g);
        for (auto i = begin; i < end; ++i) {
          lines.write(samples.image(first + i, group), to_patches + i * size);
          transpose(samples.output_gradient(first + i, group), g.outputs, places, factors[first + i],
                    to_gradients + i * places * g.outputs);
        }
      });
      add_product(gradients.narrow(0, 0, count * places), patches.narrow(0, 0, count * places), total[group]);
    }
  }
}

Tensor bias_gradients(std::span<const ActivationRecord> records) {  // [B, out]
  Tensor total;
  for (const auto& record : records) {
    const auto part = record.output_gradient.sum({2, 3});
    total = total.defined() ? total + part : part;
  }
  return total;
}

// Sums of as many float32 numbers of one sign are off by 1e-5 at most (measured: 784).
constexpr double kPlacesOfOneError = 500;

bool same_sizes(std::span<const ActivationRecord> records) {
  return std::all_of(records.begin(), records.end(), [&](const ActivationRecord& record) {
    return record.input().sizes() == records.front().input().sizes();
  });
}

// The sum over the applications, and its squared norms added to `norms`;
// [B, groups, patch, outputs].
Tensor formed_gradients(const Conv2dShape& shape, std::span<const ActivationRecord> records, Tensor& norms) {
  const auto& first = records.front();
  const auto g = geometry(shape, first.input(), first.output_gradient);
  const bool on_cpu = first.input().is_cpu();
  auto each =
      torch::empty({first.input().size(0), shape.groups, g.patch, g.outputs}, first.input().options());
  const bool by_taps = on_cpu && is_depthwise(shape), by_patches = on_cpu && !by_taps;
  if (by_patches && same_sizes(records)) {
    add_patch_norms(shape, records, norms, &each);
    return each;
  }
  each.zero_();
  auto one = by_patches ? torch::empty_like(each) : Tensor();
  auto unused = torch::zeros_like(norms);
  for (const auto& record : records) {
    if (by_taps) {
      add_depthwise_gradients(shape, record, each);
      continue;
    }
    if (by_patches) add_patch_norms(shape, {&record, 1}, unused, &one);
    each.add_(by_patches ? one : device_weight_gradients(shape, record));
  }
  norms.add_(squared_sample_norms(each));
  return each;
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

Tensor Conv2d::input_gradient(const ActivationRecord& record) const {
  return std::get<0>(at::convolution_backward(
      record.output_gradient, record.input(), weight_.value, at::OptionalIntArrayRef(), shape_.stride,
      shape_.padding, shape_.dilation, false, {0, 0}, shape_.groups, {true, false, false}));
}

// sum_i factors[i] dW_i by products whose rounding is bounded. Without factors no bound is claimed,
// and the sum is that of a plain backward pass.
Tensor Conv2d::summed_anew(std::span<const ActivationRecord> records, const Tensor& factors,
                           const Tensor& weight) const {
  auto total = torch::zeros({shape_.groups, shape_.outputs / shape_.groups, weight.numel() / shape_.outputs},
                            weight.options().dtype(torch::kFloat64));
  for (const auto& record : records) {
    if (!factors.defined()) {
      total.add_(std::get<1>(at::convolution_backward(record.output_gradient, record.input(), weight,
                                                      at::OptionalIntArrayRef(), shape_.stride,
                                                      shape_.padding, shape_.dilation, false, {0, 0},
                                                      shape_.groups, {false, true, false}))
                     .reshape(total.sizes()));
    } else if (record.input().is_cpu()) {
      const auto by = factors.contiguous();
      by_type(record.input(), [&](auto zero) {
        using T = decltype(zero);
        add_products_of_places(Samples<T>(shape_, record), by.template const_data_ptr<T>(), total);
      });
    } else {
      add_device_sum(shape_, record, factors, total);
    }
  }
  return total.view(weight.sizes());
}

Tensors Conv2d::add_squared_norms(std::span<const ActivationRecord> records,
                                  SquaredNorms& squared_norms) const {
  Tensors formed(shape_.with_bias ? 2 : 1);
  if (trains_bias()) {
    formed[1] = bias_gradients(records);
    squared_norms.add_(squared_sample_norms(formed[1]));
  }
  if (weight_.trainable) formed[0] = add_weight_norms(records, squared_norms);
  return formed;
}

Tensor Conv2d::sample_gradients(std::span<const ActivationRecord> records) const {
  auto norms = torch::zeros({records.front().input().size(0)},
                            records.front().input().options().dtype(torch::kFloat64));
  const auto each = formed_gradients(shape_, records, norms);
  return each.transpose(2, 3).reshape({each.size(0), shape_.outputs, each.size(2)});
}

// ||X_i||^2 is at most ||x_i||^2 times the patches that may hold one place. Of more places than
// some hundreds, which the kernel adds up one after another, the rounding grows with their number.
Tensor Conv2d::gradient_reaches(std::span<const ActivationRecord> records) const {
  double patches = 1, places = 0;
  for (std::size_t d = 0; d < 2; ++d) {
    const auto step = shape_.dilation[d] == 1 ? shape_.stride[d] : 1;
    patches *= static_cast<double>((shape_.kernel[d] - 1) / step + 1);
  }
  for (const auto& record : records) {
    places += static_cast<double>(record.output_gradient.size(2) * record.output_gradient.size(3));
  }
  patches *= std::pow(std::max(1.0, places / kPlacesOfOneError), 2);
  Tensor reaches;
  for (const auto& record : records) {
    const auto lengths = [](const Tensor& values) {
      return squared_sample_norms(values).sqrt_().add_(
          lost_length(values.numel() / std::max<std::int64_t>(1, values.size(0)), values.scalar_type()));
    };
    const auto reach = lengths(record.input()) * lengths(record.output_gradient);
    reaches = reaches.defined() ? reaches + reach : reach;
  }
  return reaches.square().mul_(patches);
}

// The per-sample gradients [B, groups, patch, outputs] where they are kept.
Tensor Conv2d::add_weight_norms(std::span<const ActivationRecord> records,
                                SquaredNorms& squared_norms) const {
  const auto& first = records.front();
  const auto g = geometry(shape_, first.input(), first.output_gradient);
  const bool by_places = records.size() == 1 && 2 * g.places() * (g.patch + g.outputs) < g.patch * g.outputs;
  if (!first.input().is_cpu()) {
    if (!by_places) return formed_gradients(shape_, records, squared_norms.estimates);
    const auto norms = device_place_norms(shape_, first);
    squared_norms.estimates.add_(norms.estimates);
    squared_norms.slack.add_(norms.slack);
    return {};
  }
  if (by_places) {
    by_type(first.input(), [&](auto zero) {
      add_ghost_norms<decltype(zero)>(Samples<decltype(zero)>(shape_, first), squared_norms);
    });
    return {};
  }
  std::int64_t recorded = 0;
  for (const auto& record : records) recorded += record.input().numel() + record.output_gradient.numel();
  const auto size = first.input().size(0) * weight_.value.numel();
  if (size <= recorded || !same_sizes(records) || is_depthwise(shape_)) {
    return formed_gradients(shape_, records, squared_norms.estimates);
  }
  auto own = torch::zeros_like(squared_norms.estimates);
  add_patch_norms(shape_, records, own);
  add_beyond_forming(own, gradient_reaches(records), first.input().scalar_type(), squared_norms);
  return {};
}

void Conv2d::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                              const Tensor& factors, std::span<Tensor> sums) const {
  if (trains_bias()) {
    add_weighted_sum(formed.empty() ? bias_gradients(records) : formed[1], factors, sums[1]);
  }
  if (!weight_.trainable) return;
  if (!formed.empty() && formed[0].defined()) {
    sums[0].add_(weighted_sum(formed[0], factors).transpose(1, 2).reshape(sums[0].sizes()));
    return;
  }
  sums[0].add_(summed_anew(records, factors, sums[0]));
}

}  // namespace hyfreedp::models
