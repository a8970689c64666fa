#include "harness/models/layers/patch_products.h"

#include <ATen/Parallel.h>
#include <algorithm>

#include "harness/base/result.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::models {

namespace {

using torch::Tensor;

// Sizes of all applications of one layer: images of different applications may differ in size.
struct Sizes {
  std::int64_t channels, patch, outputs;  // of one group
  std::int64_t height, width;             // of the image
  std::int64_t padded_height, padded_width;
  std::int64_t lines, columns;  // of the output
  std::int64_t places() const { return lines * columns; }
  std::int64_t image() const { return channels * height * width; }
  std::int64_t padded() const { return channels * padded_height * padded_width; }
};

Sizes sizes_of(const Conv2dShape& shape, const ActivationRecord& record) {
  Sizes s{};
  s.channels = shape.inputs / shape.groups;
  s.patch = s.channels * shape.kernel[0] * shape.kernel[1];
  s.outputs = shape.outputs / shape.groups;
  s.height = record.input().size(2);
  s.width = record.input().size(3);
  s.padded_height = s.height + 2 * shape.padding[0];
  s.padded_width = s.width + 2 * shape.padding[1];
  s.lines = record.output_gradient.size(2);
  s.columns = record.output_gradient.size(3);
  return s;
}

// The taps of one group, in rows of neighbours, by the number of taps of a row.
std::array<std::vector<TapRow>, 5> tap_rows(const Conv2dShape& shape, const Sizes& s, std::int64_t most) {
  std::array<std::vector<TapRow>, 5> rows;
  if (shape.dilation[1] != 1) most = 1;
  for (std::int64_t c = 0; c < s.channels; ++c) {
    for (std::int64_t ky = 0; ky < shape.kernel[0]; ++ky) {
      for (std::int64_t kx = 0; kx < shape.kernel[1];) {
        const auto taps = std::min(most, shape.kernel[1] - kx);
        const auto line = c * s.padded_height + ky * shape.dilation[0];
        rows[static_cast<std::size_t>(taps)].push_back({line * s.padded_width + kx * shape.dilation[1],
                                                        (c * shape.kernel[0] + ky) * shape.kernel[1] + kx});
        kx += taps;
      }
    }
  }
  return rows;
}

template <class T>
void pad(const Sizes& s, const Conv2dShape& shape, const T* image, T* padded) {
  for (std::int64_t c = 0; c < s.channels; ++c) {
    for (std::int64_t y = 0; y < s.height; ++y, image += s.width) {
      std::copy_n(image, s.width,
                  padded + (c * s.padded_height + y + shape.padding[0]) * s.padded_width + shape.padding[1]);
    }
  }
}

// Applications of one size.
template <class T>
class Products {
 public:
  Products(const PatchKernel<T>& kernel, const Conv2dShape& shape, std::span<const ActivationRecord> records)
      : kernel_(kernel), shape_(shape), sizes_(sizes_of(shape, records.front())) {
    for (const auto& record : records) {
      inputs_.push_back(record.input().contiguous());
      gradients_.push_back(record.output_gradient.contiguous());
    }
    rows_ = tap_rows(shape, sizes_, kernel.taps);
    for (std::size_t taps = 1; taps < rows_.size(); ++taps) {
      task_.rows[taps] = rows_[taps].data();
      task_.row_counts[taps] = static_cast<std::int64_t>(rows_[taps].size());
    }
    task_.lines = sizes_.lines;
    task_.columns = sizes_.columns;
    task_.line_step = shape.stride[0] * sizes_.padded_width;
    task_.column_step = shape.stride[1];
    task_.outputs = sizes_.outputs;
    const auto block = kernel.block(sizes_.outputs);
    packed_ = (sizes_.outputs + block - 1) / block * block * sizes_.places();
  }

  void run(double* norms, T* each) const {
    at::parallel_for(0, inputs_.front().size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      Buffers buffers = make_buffers();
      for (auto i = begin; i < end; ++i) {
        for (std::int64_t group = 0; group < shape_.groups; ++group) {
          const auto at = i * shape_.groups + group;
          norms[i] += one(at, buffers, each == nullptr ? nullptr : each + at * sizes_.patch * sizes_.outputs);
        }
      }
    });
  }

 private:
  // The buffers of one thread, for one group of one sample; the padding of the images stays zero.
  struct Buffers {
    std::vector<T> images, gradients;
    std::vector<PatchSource<T>> sources;
  };

  bool pads() const { return shape_.padding[0] != 0 || shape_.padding[1] != 0; }

  Buffers make_buffers() const {
    const auto count = inputs_.size();
    Buffers buffers;
    buffers.images.assign(pads() ? count * static_cast<std::size_t>(sizes_.padded()) : 0, T(0));
    buffers.gradients.resize(count * static_cast<std::size_t>(packed_));
    buffers.sources.resize(count);
    return buffers;
  }

  double one(std::int64_t at, Buffers& buffers, T* out) const {
    for (std::size_t record = 0; record < inputs_.size(); ++record) {
      const T* image = inputs_[record].template const_data_ptr<T>() + at * sizes_.image();
      if (pads()) {
        T* padded = buffers.images.data() + static_cast<std::int64_t>(record) * sizes_.padded();
        pad(sizes_, shape_, image, padded);
        image = padded;
      }
      T* packed = buffers.gradients.data() + static_cast<std::int64_t>(record) * packed_;
      kernel_.pack(gradients_[record].template const_data_ptr<T>() + at * sizes_.outputs * sizes_.places(),
                   sizes_.outputs, sizes_.places(), packed);
      buffers.sources[record] = {image, packed};
    }
    auto task = task_;
    task.sources = buffers.sources.data();
    task.source_count = static_cast<std::int64_t>(buffers.sources.size());
    return kernel_.run(task, out, sizes_.outputs);
  }

  const PatchKernel<T>& kernel_;
  const Conv2dShape& shape_;
  Sizes sizes_;
  std::vector<Tensor> inputs_, gradients_;
  std::array<std::vector<TapRow>, 5> rows_;
  PatchTask<T> task_;
  std::int64_t packed_ = 0;  // numbers of one application's packed gradients
};

}  // namespace

template <class T>
void add_patch_norms_by(const PatchKernel<T>& kernel, const Conv2dShape& shape,
                        std::span<const ActivationRecord> records, Tensor& norms, Tensor* gradients) {
  HYFREEDP_CHECK(gradients == nullptr || gradients->is_contiguous(),
                 "per-sample gradients are written in order");
  Products<T>(kernel, shape, records)
      .run(norms.mutable_data_ptr<double>(),
           gradients == nullptr ? nullptr : gradients->mutable_data_ptr<T>());
}

template void add_patch_norms_by<float>(const PatchKernel<float>&, const Conv2dShape&,
                                        std::span<const ActivationRecord>, Tensor&, Tensor*);
template void add_patch_norms_by<double>(const PatchKernel<double>&, const Conv2dShape&,
                                         std::span<const ActivationRecord>, Tensor&, Tensor*);

void add_patch_norms(const Conv2dShape& shape, std::span<const ActivationRecord> records, Tensor& norms,
                     Tensor* gradients) {
  by_type(records.front().input(), [&](auto zero) {
    using T = decltype(zero);
    const auto all = patch_kernels<T>();
    add_patch_norms_by(*all.kernels[all.count - 1], shape, records, norms, gradients);
  });
}

}  // namespace hyfreedp::models
