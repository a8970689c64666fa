// A saved program (TorchScript, torch.jit.save) as a frozen layer: a network of one's own that
// gives the features of each sample. It is run in evaluation mode (BatchNorm has its fixed
// statistics, Dropout does nothing), in float32, without gradients; nothing of it trains.
//
// The guarantee of private training needs that a sample's features depend on this sample alone,
// which cannot be read off a program. load() runs it on random samples, alone and in batches, and
// refuses it where a sample's features differ beyond rounding. These are no examples of the data:
// a refusal that depended on those would be a release of its own. A program that mixes samples only
// for other inputs, or remembers them, is not noticed and breaks the guarantee.
//
// A program is executed. Load only what you trust.
#pragma once

#include <array>
#include <memory>

#include "harness/base/result.h"
#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

struct ProgramSizes {
  std::array<std::int64_t, 3> image = {};  // channels, rows, columns that it reads; 0: vectors
  std::int64_t inputs = 0;                 // numbers of a sample
  std::int64_t outputs = 0;                // features that it gives
};

class Program : public Layer {
 public:
  // Errors name the file: it is no program, does not run on such samples, gives other shapes than
  // [B, outputs] (further dimensions of length 1 are dropped), or mixes samples.
  static Result<std::shared_ptr<Program>> load(const std::string& path, const ProgramSizes& sizes,
                                               torch::Device device);
  ~Program() override;
  torch::Tensor forward(const torch::Tensor& input) const override;

 private:
  struct Module;
  Program(std::unique_ptr<Module> module, const ProgramSizes& sizes);
  torch::Tensor run(const torch::Tensor& samples) const;
  Result<void> check(torch::Device device) const;

  std::unique_ptr<Module> module_;
  ProgramSizes sizes_;
};

}  // namespace hyfreedp::models
