// Convolutions on which kernels and whole-batch rules are compared with what they stand for.
#pragma once

#include <vector>

#include "harness/models/layers/conv2d.h"

namespace hyfreedp::models {

struct ConvolutionCase {
  Conv2dShape conv;
  std::int64_t height, width;
};

// Kernels of one to eleven taps a row, less and more outputs than one and two vectors hold,
// padding, groups, dilation, a filter for each channel.
inline std::vector<ConvolutionCase> convolution_cases() {
  return {
      {{.inputs = 1, .outputs = 1, .kernel = {1, 1}}, 1, 1},
      {{.inputs = 1, .outputs = 16, .kernel = {8, 8}, .stride = {2, 2}, .padding = {3, 3}}, 28, 28},
      {{.inputs = 16, .outputs = 32, .kernel = {4, 4}, .stride = {2, 2}}, 13, 13},
      {{.inputs = 3, .outputs = 17, .kernel = {3, 3}, .padding = {1, 1}}, 7, 9},
      {{.inputs = 5, .outputs = 33, .kernel = {2, 5}, .stride = {1, 3}, .padding = {0, 2}}, 6, 19},
      {{.inputs = 2, .outputs = 40, .kernel = {3, 7}}, 9, 40},
      {{.inputs = 2, .outputs = 3, .kernel = {1, 11}}, 2, 30},
      {{.inputs = 4,
        .outputs = 6,
        .kernel = {2, 3},
        .stride = {1, 2},
        .padding = {2, 1},
        .dilation = {2, 1},
        .groups = 2},
       5,
       7},
      {{.inputs = 6, .outputs = 54, .kernel = {3, 3}, .padding = {2, 2}, .dilation = {1, 2}, .groups = 3},
       6,
       8},
      {{.inputs = 8, .outputs = 8, .kernel = {1, 1}}, 4, 4},
      {{.inputs = 6, .outputs = 6, .kernel = {3, 3}, .padding = {1, 1}, .groups = 6}, 20, 21},
      {{.inputs = 5, .outputs = 5, .kernel = {5, 5}, .stride = {2, 2}, .groups = 5}, 12, 9},
      {{.inputs = 4,
        .outputs = 4,
        .kernel = {2, 4},
        .stride = {1, 3},
        .padding = {2, 1},
        .dilation = {2, 2},
        .groups = 4},
       5,
       12},
      {{.inputs = 40, .outputs = 40, .kernel = {5, 5}, .padding = {2, 2}, .groups = 40}, 1, 1},
  };
}

}  // namespace hyfreedp::models
