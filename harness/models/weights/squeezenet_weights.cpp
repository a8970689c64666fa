#include "harness/models/weights/squeezenet_weights.h"

#include <array>
#include <fmt/format.h>

#include "harness/models/facts/imagenet.h"
#include "harness/models/weights/misfits.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

struct CaffeConvolution {
  std::string name;  // in the network
  std::string file;  // in the file
  std::int64_t kernel = 1, inputs = 0, outputs = 0;
};

constexpr const char* kFirst = "conv1";
constexpr const char* kHead = "conv10";

std::vector<CaffeConvolution> caffe_convolutions(const SqueezeNetShape& shape, bool with_head) {
  std::vector<CaffeConvolution> list{
      {"features.0", kFirst, SqueezeNetShape::kStemKernel, SqueezeNetShape::kChannels, shape.stem}};
  int number = 2;
  for (const auto& module : shape.list_modules()) {
    const auto file = fmt::format("fire{}/", number++);
    list.push_back({module.squeezing(), file + "squeeze1x1", 1, module.inputs, module.squeeze});
    list.push_back({module.small(), file + "expand1x1", 1, module.squeeze, module.branch});
    list.push_back({module.large(), file + "expand3x3", 3, module.squeeze, module.branch});
  }
  if (with_head) list.push_back({"classifier.1", kHead, 1, shape.features(), shape.classes});
  return list;
}

// Of red, green and blue.
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

bool has_caffe_names(const NamedTensors& file) { return file.contains(std::string(kFirst) + ".0"); }

Result<NamedTensors> squeezenet_from_caffe(const SqueezeNetShape& shape, const NamedTensors& file,
                                           bool with_head) {
  const auto list = caffe_convolutions(shape, with_head);
  std::map<std::string, std::vector<std::int64_t>> wanted;
  for (const auto& one : list) {
    wanted[one.file + ".0"] = {one.kernel, one.kernel, one.inputs, one.outputs};
    wanted[one.file + ".1"] = {one.outputs};
  }
  Misfits misfits;
  misfits.compare(file, wanted, [with_head](const std::string& name) {
    return !with_head && name.starts_with(std::string(kHead) + ".");
  });
  if (auto fits = misfits.result(); !fits) return fits.error();

  NamedTensors weights;
  for (const auto& one : list) {
    auto weight = file.at(one.file + ".0").to(torch::kFloat64).permute({3, 2, 0, 1}).contiguous();
    auto bias = file.at(one.file + ".1").to(torch::kFloat64);
    if (one.file == kFirst) take_normalised_images(weight, bias);
    weights[one.name + ".weight"] = weight;
    weights[one.name + ".bias"] = bias;
  }
  return weights;
}

}  // namespace hyfreedp::models
