// A loaded dataset: features and labels of each typed split, as tensors on the CPU.
//
// Features are data-independent functions of one example (nothing is fitted on private data). They are
// computed once and cached in cache_folder()/features under a name made of the files' checksums and the
// options; the cache is memory-mapped so that workers share it, and its own checksum is verified when it is
// opened.
#pragma once

#include <string>
#include <torch/types.h>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// Vectors and images: a class for each row, or a real number (Sizes::real_labels). Sequences: ids, and the same ids again as labels, with -100 where a token is not to be
// predicted (padding, a prompt); a model is scored on predicting each label from the tokens before it.
struct SplitData {
  torch::Tensor features;  // [n, p] float32; sequences [n, T] int64
  torch::Tensor labels;    // [n] int64, float32 where real; sequences [n, T]
};

struct Dataset {
  SplitData private_train;
  SplitData private_validation;
  SplitData test;

  // The tables of one split; asking for one that the dataset lacks is a broken invariant.
  const SplitData& split(Split which) const;
};

// `options` resolved against the facts. A missing dataset names the package or command that brings it; a file
// with the wrong checksum is refused.
Result<Dataset> load_dataset(const std::string& name, const json::object& options);

}  // namespace hyfreedp::datasets
