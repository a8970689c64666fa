// The tanh network for small images (Papernot et al., arXiv:2007.14191, table 1, and later papers
// on DP-SGD): convolution 8x8 with stride 2 and padding 3; pool 2x2 with stride 1; convolution 4x4
// with stride 2; pool 2x2 with stride 1; two linear layers.
//
// Input: images [B, channels, side, side], or the same numbers as [B, channels * side * side].
// Output: logits [B, classes]. Initial values: He normal; the last layer is zero by default.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct CnnShape {
  std::int64_t channels = 0;
  std::int64_t side = 0;
  std::int64_t filters1 = 0;
  std::int64_t filters2 = 0;
  std::int64_t flat = 0;  // number of values after the second pool
  std::int64_t hidden = 0;
  std::int64_t classes = 0;
};
Result<graph::Graph> graph_of(const CnnShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const CnnShape& shape);

Facts cnn_facts();

}  // namespace hyfreedp::models
