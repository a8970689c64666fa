#include "harness/models/layers/depthwise.h"

#include <ATen/Parallel.h>
#include <algorithm>

#include "harness/base/wide.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

// A channel's image as the taps read it: lines padded with zeros, and each line's columns sorted by
// their remainder after division by the stride, so that what a tap reads along an output's line is
// contiguous.
struct Layout {
  Layout(const Conv2dShape& shape, const Tensor& input)
      : height(input.size(2)),
        width(input.size(3)),
        stride(shape.stride[1]),
        top(shape.padding[0]),
        left(shape.padding[1]),
        phase((width + 2 * left + stride - 1) / stride),
        line(phase * stride) {
    for (std::int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
      for (std::int64_t kx = 0; kx < shape.kernel[1]; ++kx)
        taps.push_back(ky * shape.dilation[0] * line + column(kx * shape.dilation[1]));
    }
  }
  std::int64_t column(std::int64_t x) const { return x % stride * phase + x / stride; }
  std::int64_t size() const { return (height + 2 * top) * line; }

  template <class T>
  void write(const T* image, T* to) const {
    to += top * line;
    for (std::int64_t y = 0; y < height; ++y, to += line, image += width) {
      if (stride == 1) {
        std::copy_n(image, width, to + left);
      } else {
        for (std::int64_t x = 0; x < width; ++x) to[column(x + left)] = image[x];
      }
    }
  }

  std::int64_t height, width, stride, top, left;
  std::int64_t phase;              // numbers of one remainder in a line
  std::int64_t line;               // numbers in a line
  std::vector<std::int64_t> taps;  // what each tap reads for the first output
};

// Output gradient of one channel.
template <class T>
struct Lines {
  const T* values;
  std::int64_t lines, columns;
  std::int64_t step;  // from one line to the next, in the image
};

// result[t] += sum over the places of image[taps[t] + place] values[place]. `sums` has room for a
// line.
template <class T>
HYFREEDP_WIDE void add_taps(const T* image, const std::int64_t* taps, std::int64_t count,
                            const Lines<T>& gradient, T* __restrict sums, T* result) {
  for (std::int64_t t = 0; t < count; ++t) {
    const T* from = image + taps[t];
    const T* values = gradient.values;
    for (std::int64_t x = 0; x < gradient.columns; ++x) sums[x] = from[x] * values[x];
    for (std::int64_t y = 1; y < gradient.lines; ++y) {
      from += gradient.step;
      values += gradient.columns;
      for (std::int64_t x = 0; x < gradient.columns; ++x) sums[x] += from[x] * values[x];
    }
    double total = 0;
    for (std::int64_t x = 0; x < gradient.columns; ++x) total += static_cast<double>(sums[x]);
    result[t] += static_cast<T>(total);
  }
}

template <class T>
void add_gradients(const Conv2dShape& shape, const Tensor& input, const Tensor& gradient, Tensor& each) {
  const Layout layout(shape, input);
  const auto lines = gradient.size(2), columns = gradient.size(3);
  const T* images = input.const_data_ptr<T>();
  const T* gradients = gradient.const_data_ptr<T>();
  T* out = each.mutable_data_ptr<T>();
  const auto taps = static_cast<std::int64_t>(layout.taps.size());
  at::parallel_for(0, input.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> image(static_cast<std::size_t>(layout.size()), T(0));
    std::vector<T> sums(static_cast<std::size_t>(columns));
    for (auto at = begin * shape.inputs; at < end * shape.inputs; ++at) {
      layout.write(images + at * layout.height * layout.width, image.data());
      const Lines<T> b{gradients + at * lines * columns, lines, columns, shape.stride[0] * layout.line};
      add_taps(image.data(), layout.taps.data(), taps, b, sums.data(), out + at * taps);
    }
  });
}

}  // namespace

void add_depthwise_gradients(const Conv2dShape& shape, const ActivationRecord& record, Tensor& each) {
  HYFREEDP_CHECK(is_depthwise(shape) && each.is_contiguous(),
                 "gradients of a depthwise convolution are written in order");
  by_type(record.input(), [&](auto zero) {
    add_gradients<decltype(zero)>(shape, record.input().contiguous(), record.output_gradient.contiguous(),
                                  each);
  });
}

}  // namespace hyfreedp::models
