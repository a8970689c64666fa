// A loaded dataset: features and labels of each typed split, as tensors on the CPU.
//
// Features are functions of one example that do not depend on other data
// (nothing is fitted on private data). They are computed once and stored in
// cache_folder()/features, under a name made of the checksums of the source files and the options.
// The cache is memory-mapped, so workers share it; its own checksum is verified when it is opened.
// Images stay bytes there and in memory; they become numbers a batch at a time.
#pragma once

#include <optional>
#include <string>
#include <torch/types.h>

#include "datasets/facts.h"
#include "datasets/pixels.h"

namespace hyfreedp::datasets {

// The examples of one split. Vectors and images have one label a row, a class or a real number
// (labels.h). For sequences the features are ids, and the labels are the same ids with kNotScored
// where a token is not to be predicted; a model is scored on predicting each label from the tokens
// before it.
struct SplitData {
  torch::Tensor features;  // [n, p] float32, or uint8 with `scale`; sequences [n, T] int64
  torch::Tensor labels;    // [n] int64, float32 where real; sequences [n, T]
  // Images that are kept as bytes have it: what the bytes stand for.
  std::optional<PixelScale> scale = std::nullopt;
  // M: a row of features has those of M random copies of its example, one after the other: they are
  // [n, M p].
  std::int64_t copies = 1;
  // Sequences with a class each have it: the id of padding, which stands at the end of shorter ones
  // and changes no output of a model. Absent where every position is read.
  std::optional<std::int64_t> padding = std::nullopt;

  // Rows first .. first + count of the features as the numbers that they stand for, in `type`.
  torch::Tensor values(std::int64_t first, std::int64_t count, torch::ScalarType type) const;
};

struct Dataset {
  SplitData private_train;
  SplitData private_validation;
  SplitData test;

  // The tables of one split. Asking for a split that the dataset lacks is an invariant violation
  // (it throws).
  const SplitData& split(Split which) const;
};

// Loads a dataset. `options` were resolved against its facts and completed (facts.h). `device` (as
// LibTorch names it) is where a frozen network computes features that are not cached yet; the
// tensors are on the CPU. Errors: a missing dataset, with the package or command that provides it,
// and a file with the wrong checksum.
Result<Dataset> load_dataset(const std::string& name, const json::object& options,
                             const std::string& device = "cpu");

}  // namespace hyfreedp::datasets
