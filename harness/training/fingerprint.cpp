#include "harness/training/fingerprint.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fstream>
#include <torch/version.h>

#include "harness/base/version.h"
#include "harness/kernels/kernels.h"
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

}  // namespace

json::object fingerprint(const std::string& device) {
  static const std::string worker = trial::program_hash("/proc/self/exe");
  return {{"version", kVersion},
          {"comparability", kComparabilityVersion},
          {"build", build_id()},
          {"torch", TORCH_VERSION},
          {"cpu", processor_name() + " (" + at::get_cpu_capability() + ")"},
          {"worker", worker},
          {"threads", at::get_num_threads()},
          {"device", device == "cuda" && at::hasCUDA() ? kernels::device_name() : device}};
}

}  // namespace hyfreedp::training
