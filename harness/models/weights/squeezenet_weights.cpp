#include "harness/models/weights/squeezenet_weights.h"

#include <array>

#include "harness/models/facts/imagenet.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

// A value for each of red, green and blue, [1, 3, 1, 1].
Tensor three(const std::array<double, 3>& colours) {
  return torch::tensor(at::ArrayRef<double>(colours), torch::kFloat64).view({1, 3, 1, 1});
}

// W * y of the file for y = 255 (deviation x + mean) - subtracted, the channels of W reversed.
void take_normalised_images(Tensor& weight, Tensor& bias) {
  const auto mean = three(kImageNetMean), deviation = three(kImageNetDeviation);
  const auto subtracted = three({123, 117, 104});
  weight = weight.flip({1});
  bias = bias + (weight * (255 * mean - subtracted)).sum({1, 2, 3});
  weight = weight * (255 * deviation);
}

}  // namespace

Result<NamedTensors> squeezenet_from_caffe(const CaffeNetwork& network, const NamedTensors& file,
                                           bool with_head) {
  if (auto fits = check_published(network, shapes_of(file), with_head); !fits) return fits.error();

  NamedTensors weights;
  for (const auto& one : network.convolutions) {
    if (!with_head && &one == &network.convolutions.back()) continue;
    auto weight = file.at(one.file + ".0").to(torch::kFloat64).permute({3, 2, 0, 1}).contiguous();
    auto bias = file.at(one.file + ".1").to(torch::kFloat64);
    if (&one == &network.convolutions.front()) take_normalised_images(weight, bias);
    weights[one.name + ".weight"] = weight;
    weights[one.name + ".bias"] = bias;
  }
  return weights;
}

}  // namespace hyfreedp::models
