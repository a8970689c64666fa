#include <ATen/Parallel.h>
#include <algorithm>
#include <limits>

#include "harness/base/wide.h"
#include "harness/models/layers/samples.h"
#include "harness/models/layers/shape.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

// A plane's outputs as lines. Where the window moves by one column, all of a plane's lines are one:
// the numbers between them, of windows that would lie across the border, are computed and left out.
struct Window {
  std::int64_t kernel[2], stride[2];
  std::int64_t height, width;   // of the input
  std::int64_t lines, columns;  // of the output

  Window(std::array<std::int64_t, 2> k, std::array<std::int64_t, 2> s, at::IntArrayRef sizes)
      : kernel{k[0], k[1]}, stride{s[0], s[1]}, height(sizes[2]), width(sizes[3]) {
    lines = (height - kernel[0]) / stride[0] + 1;
    columns = (width - kernel[1]) / stride[1] + 1;
  }
  bool as_one() const { return stride[0] == 1 && stride[1] == 1; }
  std::int64_t line_size() const { return as_one() ? (lines - 1) * width + columns : columns; }
  std::int64_t line_step() const { return stride[0] * width; }
  std::int64_t inputs() const { return height * width; }
  std::int64_t outputs() const { return lines * columns; }
};

// Takes the first of equal values and the last NaN of several, as LibTorch does.
template <class T>
[[gnu::always_inline]] inline void take_larger(T value, std::int32_t tap, T& best, std::int32_t& taps) {
  const bool larger = (value > best) | (value != value);
  best = larger ? value : best;
  taps = larger ? tap : taps;
}

// Numbers that are worked on at a time, all taps one after another. The last block of a line
// overlaps the one before, so that every one is whole where the line is long enough: loops of a
// known length become vector code without a rest.
constexpr std::int64_t kBlock = 64;

template <class F>
[[gnu::always_inline]] inline void for_blocks(std::int64_t size, const F& function) {
  for (std::int64_t x = 0; x < size; x += kBlock) {
    const auto first = std::max<std::int64_t>(0, std::min(x, size - kBlock));
    function(first, std::min(kBlock, size));
  }
}

template <class T, bool kNeighbours>
[[gnu::always_inline]] inline void pool_block(const Window& w, const T* from, std::int64_t count, T* to,
                                              std::int32_t* to_taps) {
  T best[kBlock];
  std::int32_t taps[kBlock] = {};
  const auto step = kNeighbours ? 1 : w.stride[1];
  for (std::int64_t x = 0; x < count; ++x) best[x] = from[x * step];
  for (std::int64_t ky = 0; ky < w.kernel[0]; ++ky) {
    for (std::int64_t kx = ky == 0 ? 1 : 0; kx < w.kernel[1]; ++kx) {
      const auto tap = static_cast<std::int32_t>(ky * w.kernel[1] + kx);
      const T* source = from + ky * w.width + kx;
      for (std::int64_t x = 0; x < count; ++x) take_larger(source[x * step], tap, best[x], taps[x]);
    }
  }
  std::copy_n(best, count, to);
  std::copy_n(taps, count, to_taps);
}

template <class T>
HYFREEDP_WIDE void pool_line(const Window& w, const T* from, T* to, std::int32_t* taps) {
  for_blocks(
      w.line_size(), [&](std::int64_t first, std::int64_t count) __attribute__((always_inline)) {
        if (w.stride[1] != 1)
          return pool_block<T, false>(w, from + first * w.stride[1], count, to + first, taps + first);
        if (count == kBlock) return pool_block<T, true>(w, from + first, kBlock, to + first, taps + first);
        pool_block<T, true>(w, from + first, count, to + first, taps + first);
      });
}

template <class T>
void pool_planes(const Window& w, std::int64_t begin, std::int64_t end, const T* input, T* output,
                 std::uint8_t* places) {
  const auto size = w.line_size();
  std::vector<T> best(static_cast<std::size_t>(size));
  std::vector<std::int32_t> taps(best.size());
  for (auto plane = begin; plane < end; ++plane) {
    for (std::int64_t y = 0; y < w.lines; ++y) {
      const T* line = input + plane * w.inputs() + y * w.line_step();
      if (y == 0 || !w.as_one()) pool_line(w, line, best.data(), taps.data());
      const auto from = w.as_one() ? y * w.width : 0;
      const auto to = plane * w.outputs() + y * w.columns;
      std::copy_n(best.data() + from, w.columns, output + to);
      std::copy_n(taps.data() + from, w.columns, places + to);
    }
  }
}

// The gradients of `count` numbers of the input from one line of outputs, added in the order of the
// outputs as in LibTorch. The line has zeros before and behind it, so that every tap may look back.
template <class T>
[[gnu::always_inline]] inline void give_back_block(const Window& w, const T* gradient,
                                                   const std::int32_t* taps, std::int64_t count, T* to) {
  T sums[kBlock] = {};
  for (auto ky = w.kernel[0]; ky-- > 0;) {
    for (auto kx = w.kernel[1]; kx-- > 0;) {
      const auto tap = static_cast<std::int32_t>(ky * w.kernel[1] + kx);
      const auto back = ky * w.width + kx;
      for (std::int64_t x = 0; x < count; ++x) sums[x] += taps[x - back] == tap ? gradient[x - back] : T(0);
    }
  }
  std::copy_n(sums, count, to);
}

template <class T>
HYFREEDP_WIDE void give_back_line(const Window& w, const T* gradient, const std::int32_t* taps, T* to) {
  for_blocks(
      w.inputs(), [&](std::int64_t first, std::int64_t count) __attribute__((always_inline)) {
        if (count == kBlock) return give_back_block(w, gradient + first, taps + first, kBlock, to + first);
        give_back_block(w, gradient + first, taps + first, count, to + first);
      });
}

// A plane in one line.
template <class T>
class LineGiver {
 public:
  explicit LineGiver(const Window& w)
      : w_(w),
        reach_((w.kernel[0] - 1) * w.width + w.kernel[1] - 1),
        line_(static_cast<std::size_t>(w.inputs() + reach_ + kBlock), T(0)),
        taps_(line_.size(), -1) {}  // no tap between the lines

  void plane(const T* gradient, const std::uint8_t* places, T* to) {
    for (std::int64_t y = 0; y < w_.lines; ++y) {
      std::copy_n(gradient + y * w_.columns, w_.columns, line_.data() + reach_ + y * w_.width);
      std::copy_n(places + y * w_.columns, w_.columns, taps_.data() + reach_ + y * w_.width);
    }
    give_back_line(w_, line_.data() + reach_, taps_.data() + reach_, to);
  }

 private:
  const Window& w_;
  std::int64_t reach_;
  std::vector<T> line_;
  std::vector<std::int32_t> taps_;
};

template <class T>
void scatter(const Window& w, const T* gradient, const std::uint8_t* places, T* to) {
  std::fill_n(to, w.inputs(), T(0));
  for (std::int64_t y = 0; y < w.lines; ++y, to += w.line_step()) {
    for (std::int64_t x = 0; x < w.columns; ++x, ++gradient, ++places) {
      to[*places / w.kernel[1] * w.width + *places % w.kernel[1] + x * w.stride[1]] += *gradient;
    }
  }
}

template <class T>
void give_back_planes(const Window& w, std::int64_t begin, std::int64_t end, const T* gradient,
                      const std::uint8_t* places, T* to) {
  LineGiver<T> giver(w);
  for (auto plane = begin; plane < end; ++plane) {
    const T* from = gradient + plane * w.outputs();
    const auto* taps = places + plane * w.outputs();
    T* target = to + plane * w.inputs();
    w.as_one() ? giver.plane(from, taps, target) : scatter(w, from, taps, target);
  }
}

// Autograd follows LibTorch's operations alone.
bool pools_by_lines(const Tensor& input, const std::array<std::int64_t, 2>& kernel) {
  const auto type = input.scalar_type();
  return !input.requires_grad() && input.is_cpu() && (type == torch::kFloat32 || type == torch::kFloat64) &&
         kernel[0] * kernel[1] <= 256 && input.size(2) >= kernel[0] && input.size(3) >= kernel[1];
}

std::int64_t grain(const Window& w) {
  return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, w.inputs()));
}

// The rows and columns by which windows reach beyond the bottom and right edges of the image. As in
// LibTorch, a window must begin within the image.
std::array<std::int64_t, 2> beyond(const std::array<std::int64_t, 2>& kernel,
                                   const std::array<std::int64_t, 2>& stride, at::IntArrayRef sizes) {
  std::array<std::int64_t, 2> lacking{};
  for (std::size_t d = 0; d < 2; ++d) {
    const auto size = sizes[d + 2];
    auto outputs = (size - kernel[d] + stride[d] - 1) / stride[d] + 1;
    if ((outputs - 1) * stride[d] >= size) --outputs;
    lacking[d] = std::max<std::int64_t>(0, (outputs - 1) * stride[d] + kernel[d] - size);
  }
  return lacking;
}

}  // namespace

Tensor MaxPool2d::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  if (!pools_by_lines(inputs.at(0), kernel_)) {
    auto [output, places] =
        at::max_pool2d_with_indices(inputs.at(0), kernel_, stride_, {0, 0}, {1, 1}, ceil_);
    if (saved != nullptr) *saved = {std::move(places)};
    return output;
  }
  auto input = inputs[0].contiguous();
  if (ceil_) {
    // The first number of every window lies in the image, so that -infinity is never taken.
    const auto [rows, columns] = beyond(kernel_, stride_, input.sizes());
    if (rows + columns > 0)
      input = at::constant_pad_nd(input, {0, columns, 0, rows}, -std::numeric_limits<double>::infinity());
  }
  const Window w(kernel_, stride_, input.sizes());
  auto output = torch::empty({input.size(0), input.size(1), w.lines, w.columns}, input.options());
  auto places = torch::empty(output.sizes(), torch::kUInt8);
  by_type(input, [&](auto zero) {
    using T = decltype(zero);
    const T* from = input.const_data_ptr<T>();
    T* to = output.template mutable_data_ptr<T>();
    auto* taps = places.mutable_data_ptr<std::uint8_t>();
    at::parallel_for(0, input.size(0) * input.size(1), grain(w), [&](std::int64_t begin, std::int64_t end) {
      pool_planes(w, begin, end, from, to, taps);
    });
  });
  if (saved != nullptr) *saved = {std::move(places)};
  return output;
}

Tensor MaxPool2d::input_gradient(const ActivationRecord& record) const {
  const auto& places = record.saved.at(0);
  const auto gradient = record.output_gradient.contiguous();
  if (places.scalar_type() != torch::kUInt8) {
    return at::max_pool2d_with_indices_backward(gradient, record.input(), kernel_, stride_, {0, 0}, {1, 1},
                                                ceil_, places);
  }
  auto sizes = record.input().sizes().vec();
  const auto height = sizes[2], width = sizes[3];
  if (ceil_) {
    const auto [rows, columns] = beyond(kernel_, stride_, sizes);
    sizes[2] += rows;
    sizes[3] += columns;
  }
  const Window w(kernel_, stride_, sizes);
  auto result = torch::empty(sizes, gradient.options());
  by_type(gradient, [&](auto zero) {
    using T = decltype(zero);
    const T* from = gradient.const_data_ptr<T>();
    const auto* taps = places.const_data_ptr<std::uint8_t>();
    T* to = result.template mutable_data_ptr<T>();
    at::parallel_for(0, result.size(0) * result.size(1), grain(w), [&](std::int64_t begin, std::int64_t end) {
      give_back_planes(w, begin, end, from, taps, to);
    });
  });
  return ceil_ ? result.narrow(2, 0, height).narrow(3, 0, width).contiguous() : result;
}

}  // namespace hyfreedp::models
