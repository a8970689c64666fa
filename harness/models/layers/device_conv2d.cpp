#include "harness/models/layers/device_conv2d.h"

#include "harness/models/layers/samples.h"
#include "harness/models/layers/sequence_norms.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

// [B, groups, patch, places]. A view with a stride for each index, copied once: LibTorch's unfold
// would launch a kernel a sample.
Tensor patches_of(const Conv2dShape& shape, const Tensor& input, std::int64_t rows, std::int64_t columns) {
  const auto& [down, right] = shape.padding;
  const auto padded = at::constant_pad_nd(input, {right, right, down, down}).contiguous();
  const auto width = padded.size(3), plane = padded.size(2) * width;
  const auto view =
      padded.as_strided({padded.size(0), shape.inputs, shape.kernel[0], shape.kernel[1], rows, columns},
                        {shape.inputs * plane, plane, shape.dilation[0] * width, shape.dilation[1],
                         shape.stride[0] * width, shape.stride[1]});
  const auto patch = shape.inputs / shape.groups * shape.kernel[0] * shape.kernel[1];
  return view.reshape({padded.size(0), shape.groups, patch, rows * columns});
}

Tensor patches_of(const Conv2dShape& shape, const ActivationRecord& record) {
  return patches_of(shape, record.input(), record.output_gradient.size(2), record.output_gradient.size(3));
}

// [B, groups, out / groups, places]
Tensor by_group(const Conv2dShape& shape, const Tensor& gradient) {
  return gradient.reshape(
      {gradient.size(0), shape.groups, shape.outputs / shape.groups, gradient.size(2) * gradient.size(3)});
}

}  // namespace

Tensor device_weight_gradients(const Conv2dShape& shape, const ActivationRecord& record) {
  return at::matmul(patches_of(shape, record), by_group(shape, record.output_gradient).transpose(2, 3));
}

SquaredNorms device_place_norms(const Conv2dShape& shape, const ActivationRecord& record) {
  // [B, G, L, patch]
  const auto patches = patches_of(shape, record).transpose(2, 3);
  const auto gradients = by_group(shape, record.output_gradient).transpose(2, 3);  // [B, G, L, out]
  auto norms = product_norms(patches.flatten(0, 1), gradients.flatten(0, 1));      // [B G]
  const auto reaches = norms.reaches.square_();
  const auto type = record.output_gradient.scalar_type();
  const auto by_sample = [&](const Tensor& each) {
    return each.view({patches.size(0), shape.groups}).sum(1);
  };
  return {by_sample(beyond_rounding(norms.estimates, reaches, type)),
          by_sample(rounding_slack(norms.estimates, reaches, type))};
}

void add_device_sum(const Conv2dShape& shape, const ActivationRecord& record, const Tensor& factors,
                    Tensor& total) {
  const auto rows = record.output_gradient.size(2), columns = record.output_gradient.size(3);
  const auto samples = record.input().size(0);
  // Entries of one sample's patches.
  const auto patches = shape.inputs * shape.kernel[0] * shape.kernel[1] * rows * columns;
  for_pieces(samples, std::max(patches, shape.outputs * rows * columns), [&](auto first, auto count) {
    const auto wide = [&](const Tensor& all) { return all.narrow(0, first, count).to(torch::kFloat64); };
    // [groups, patch or out / groups, samples' places]
    const auto lines = [](const Tensor& all) { return all.permute({1, 2, 0, 3}).flatten(2); };
    const auto scaled = scaled_samples(wide(record.output_gradient), wide(factors));
    total.baddbmm_(lines(by_group(shape, scaled)),
                   lines(patches_of(shape, wide(record.input()), rows, columns)).transpose(1, 2));
  });
}

}  // namespace hyfreedp::models
