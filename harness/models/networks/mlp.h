// A fully connected network: features -> hidden... -> classes. Its layers are "fc1", "fc2", ..., or
// "fc" if there is one only.
//
// Input: features [B, features], or what a saved program gives of a sample. Output: logits
// [B, classes]. Initial values: He normal; the last layer is zero by default.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/models/networks/description.h"
#include "harness/models/networks/options.h"

namespace hyfreedp::models {

enum class MlpActivation { tanh, relu };
BOOST_DESCRIBE_ENUM(MlpActivation, tanh, relu)

// The options of both models: `linear` has no hidden layers and no activation.
struct MlpOptions {
  std::vector<std::int64_t> hidden = {};
  MlpActivation activation = MlpActivation::tanh;
  bool bias = true;
  SharedOptions shared = {};
  static constexpr std::array kInlined = {"shared"};
};
BOOST_DESCRIBE_STRUCT(MlpOptions, (), (hidden, activation, bias, shared))

struct MlpShape {
  std::int64_t features = 0;
  std::vector<std::int64_t> hidden;
  std::int64_t classes = 0;
  bool relu = false;  // else tanh
  bool bias = true;   // of the last layer
  // A saved program (harness/models/layers/program.h) that gives the features of a sample; empty:
  // the samples are the features. Its checksum, and the sizes of what it reads.
  std::string program = {};
  std::string program_sha256 = {};
  std::array<std::int64_t, 3> image = {};  // channels, rows, columns; of vectors 0
  std::int64_t inputs = 0;                 // numbers of a sample
};

Result<graph::Graph> graph_of(const MlpShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const MlpShape& shape);

Facts linear_facts();  // a single layer
Facts mlp_facts();

}  // namespace hyfreedp::models
