// A loaded dataset: features and labels of each typed split, as tensors on the CPU.
//
// Features are functions of one example that do not depend on other data
// (nothing is fitted on private data). They are computed once and stored in
// cache_folder()/features, under a name made of the checksums of the source files and the options.
// The cache is memory-mapped, so workers share it; its own checksum is verified when it is opened.
#pragma once

#include <string>
#include <torch/types.h>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// The examples of one split. Vectors and images have one label a row, a class or a real number
// (labels.h). For sequences the features are ids, and the labels are the same ids with kNotScored
// where a token is not to be predicted; a model is scored on predicting each label from the tokens
// before it.
struct SplitData {
  torch::Tensor features;  // [n, p] float32; sequences [n, T] int64
  torch::Tensor labels;    // [n] int64, float32 where real; sequences [n, T]
};

struct Dataset {
  SplitData private_train;
  SplitData private_validation;
  SplitData test;

  // The tables of one split. Asking for a split that the dataset lacks is an invariant violation
  // (it throws).
  const SplitData& split(Split which) const;
};

// Loads a dataset. `options` were resolved against its facts. Errors: a missing dataset, with the
// package or command that provides it, and a file with the wrong checksum.
Result<Dataset> load_dataset(const std::string& name, const json::object& options);

}  // namespace hyfreedp::datasets
