// Pretrained weights that `hyfreedp data fetch NAME` brings, each with its licence and what to
// cite. A spec names them by `weights: NAME` (weights_source.h).
#pragma once

#include <string>
#include <vector>

#include "harness/base/supply.h"

namespace hyfreedp::models {

struct PretrainedWeights {
  std::string name;
  std::string title;
  std::string licence;
  std::string source;  // citation
  // The network's name in its config.json. A spec is planned by it if the weights are not here yet.
  std::string architecture;
  // The scale of the pixels that it was trained on, as the option `normalise` of image datasets
  // names it.
  std::string normalise;
  // The collection of images that it was trained on, all its parts (1k, 21k, 22k) under one name.
  std::string trained_on = "ImageNet";
  Supply supply;
  std::string how_to_get = {};  // where the supply is empty
};

const std::vector<PretrainedWeights>& pretrained_catalogue();
// Null where there is none of that name.
const PretrainedWeights* find_pretrained(const std::string& name);

}  // namespace hyfreedp::models
