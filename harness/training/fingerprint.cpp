#include "harness/training/fingerprint.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>
#include <fstream>
#include <torch/version.h>

#include "harness/base/files.h"
#include "harness/base/version.h"
#include "harness/kernels/kernels.h"
#include "harness/training/cuda_settings.h"
#include "harness/trial/build.h"

namespace hyfreedp::training {
namespace {

std::string build_id() {
#ifdef NDEBUG
  return std::string("gcc-compatible ") + __VERSION__ + ", release";
#else
  return std::string("gcc-compatible ") + __VERSION__ + ", with assertions";
#endif
}

// The vector library chooses its kernels by the processor itself, not by the capability level
// alone.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

// Values between -1 and 1, the same on every machine, of which products have to be rounded.
at::Tensor fixed_values(at::IntArrayRef shape, const at::TensorOptions& options) {
  const auto count = c10::multiply_integers(shape);
  auto values = at::empty({count}, at::kDouble);
  auto* value = values.data_ptr<double>();
  for (std::int64_t i = 0; i < count; ++i) value[i] = static_cast<double>(i * 7919 % 10007) / 5003.5 - 1;
  return values.view(shape).to(options);
}

// Shapes for which libraries choose different kernels: one row, a tile and more, and long sums.
std::vector<at::Tensor> fixed_results(at::Device device) {
  std::vector<at::Tensor> results;
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const auto options = at::TensorOptions(type).device(device);
    const auto wide = fixed_values({64, 777}, options);
    const auto tall = fixed_values({777, 130}, options);
    results.push_back(at::mm(wide, tall));
    results.push_back(at::mm(wide.narrow(0, 0, 1), tall));
    results.push_back(at::mm(wide.t(), wide).narrow(0, 0, 16));
  }
  const auto images = fixed_values({4, 16, 12, 12}, at::TensorOptions(at::kFloat).device(device));
  const auto filters = fixed_values({24, 16, 3, 3}, images.options());
  results.push_back(at::conv2d(images, filters));
  results.push_back(at::softmax(images, 1));
  results.push_back(at::tanh(images).sum({0, 2, 3}));
  return results;
}

std::string arithmetic(at::Device device) {
  const c10::InferenceMode no_gradients;
  Sha256 hash;
  for (const auto& result : fixed_results(device)) {
    const auto here = result.contiguous().cpu();
    hash.add({static_cast<const char*>(here.data_ptr()), here.nbytes()});
  }
  return hash.hex().substr(0, 16);
}

}  // namespace

json::object fingerprint(const std::string& device) {
  static const std::string worker = trial::program_hash("/proc/self/exe");
  const bool on_gpu = device == "cuda" && at::hasCUDA();
  if (on_gpu) use_deterministic_kernels();
  return {{"version", kVersion},
          {"comparability", kComparabilityVersion},
          {"build", build_id()},
          {"torch", TORCH_VERSION},
          {"cpu", processor_name() + " (" + at::get_cpu_capability() + ")"},
          {"worker", worker},
          {"threads", at::get_num_threads()},
          {"device", on_gpu ? kernels::device_name() : device},
          {"arithmetic", arithmetic(on_gpu ? at::kCUDA : at::kCPU)}};
}

}  // namespace hyfreedp::training
