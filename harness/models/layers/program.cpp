#include "harness/models/layers/program.h"

#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

namespace hyfreedp::models {
namespace {

using torch::Tensor;

constexpr std::int64_t kSamples = 5;
constexpr double kRounding = 1e-4;  // of the largest number of the features
constexpr std::uint64_t kSeed = 17;

// LibTorch appends where it was thrown.
std::string first_line(const std::exception& caught) {
  const std::string text = caught.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace

struct Program::Module {
  torch::jit::Module script;
};

Program::Program(std::unique_ptr<Module> module, const ProgramSizes& sizes)
    : module_(std::move(module)), sizes_(sizes) {}
Program::~Program() = default;

Result<std::shared_ptr<Program>> Program::load(const std::string& path, const ProgramSizes& sizes,
                                               torch::Device device) {
  auto module = std::make_unique<Module>();
  try {
    module->script = torch::jit::load(path, device);
  } catch (const std::exception& caught) {
    return error(fmt::format("{}: this is no file of torch.jit.save: {}", path, first_line(caught)));
  }
  module->script.eval();
  module->script.to(torch::kFloat32);
  std::shared_ptr<Program> program(new Program(std::move(module), sizes));
  try {
    if (auto checked = program->check(device); !checked) return in_context(path, checked.error());
  } catch (const std::exception& caught) {
    return error(fmt::format("{}: the program does not run on samples of the dataset's sizes: {}", path,
                             first_line(caught)));
  }
  return program;
}

Tensor Program::run(const Tensor& samples) const {
  const torch::NoGradGuard no_gradients;
  // The result of an optimised graph depends on how often it has run.
  const torch::jit::GraphOptimizerEnabledGuard as_written(false);
  auto values = samples.to(torch::kFloat32);
  const auto& image = sizes_.image;
  values = image[0] > 0 ? values.reshape({samples.size(0), image[0], image[1], image[2]}) : values.flatten(1);
  return module_->script.forward({values}).toTensor();
}

Tensor Program::forward(const Tensor& input) const {
  return run(input).reshape({input.size(0), sizes_.outputs}).to(input.scalar_type());
}

Result<void> Program::check(torch::Device device) const {
  auto generator = at::detail::createCPUGenerator(kSeed);
  for (const double scale : {1.0, 20.0}) {
    const auto samples = (at::randn({kSamples, sizes_.inputs}, generator) * scale).to(device);
    const auto together = run(samples);
    const auto width = together.dim() < 2 ? 0 : together.numel() / kSamples;
    if (together.dim() < 2 || together.size(0) != kSamples || together.size(1) != width ||
        width != sizes_.outputs) {
      return error(
          fmt::format("of {} samples the program gives numbers of the shape {}, where [{}, {}] is needed: "
                      "'program_features' is {}.",
                      kSamples, c10::str(together.sizes()), kSamples, sizes_.outputs, sizes_.outputs));
    }
    if (!at::isfinite(together).all().item<bool>())
      return error("of random samples the program gives numbers that are infinite or not numbers.");
    const auto tolerance = kRounding * together.abs().max().item<double>();
    for (std::int64_t i = 0; i < kSamples; ++i) {
      const auto alone = run(samples.narrow(0, i, 1));
      if ((alone[0] - together[i]).abs().max().item<double>() <= tolerance) continue;
      return error(
          "the program gives a sample other features in a batch than alone, so it mixes samples, or is "
          "random. Private training needs features of each sample by itself: save network.eval(), with "
          "GroupNorm or LayerNorm in place of what reads the batch.");
    }
  }
  return {};
}

}  // namespace hyfreedp::models
