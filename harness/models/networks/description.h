// The two things that a network's file pair declares: its facts, which the registry lists
// (registry.h), and the description of one network of the sizes that a model's options give.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/base/options.h"
#include "harness/models/graph/builder.h"

namespace hyfreedp::models {

// A convolution without bias, and the BatchNorm that reads what it gives.
struct NormedConvolution {
  std::string name;                 // of the convolution in the network
  std::string file;                 // and in the file
  std::string norm;                 // the file's BatchNorm
  std::vector<std::int64_t> shape;  // of the convolution's weight, [outputs, inputs / groups, k, k]
};

// Published files of such convolutions and a linear head, whose BatchNorms are multiplied into the
// convolutions (weights/batch_norm_folding.h).
struct NormedNetwork {
  double eps = 0;  // of every BatchNorm
  std::vector<NormedConvolution> convolutions;
  std::string head;                      // its name in the network
  std::string head_file;                 // and in the file
  std::vector<std::int64_t> head_shape;  // of its weight, [classes, features]
  // A tensor by which files are known that are not read, and why not; empty: there is none.
  std::string refused = {};
  std::string refusal = {};
};

// Published arrays with the names of Caffe: of each convolution NAME.0 is the kernel, [k, k,
// inputs, outputs], NAME.1 the bias (weights/squeezenet_weights.h).
struct CaffeConvolution {
  std::string name;  // in the network
  std::string file;
  std::int64_t kernel = 1, inputs = 0, outputs = 0;
};
struct CaffeNetwork {
  std::vector<CaffeConvolution> convolutions;  // from the first, which reads the image, to the head
};

using PublishedForm = std::variant<std::monostate, NormedNetwork, CaffeNetwork>;

// A network of certain sizes.
struct Description {
  std::function<Result<graph::Graph>(const std::optional<Lora>& lora)> graph;
  // Its config.json: that of timm or Hugging Face, or this program's own, {"model_type":
  // "hyfreedp-KIND", sizes}. Its reader gets the same sizes back, but for the image's side, which a
  // convolutional network takes from the data.
  json::object config;
  // True if a weights folder decides the sizes. Otherwise they are options, and a folder must have
  // exactly these, because names and shapes of tensors alone do not tell tanh from relu.
  bool has_sizes_of_folder = true;
  // Files whose names and shapes are not the network's own.
  PublishedForm published = {};
  // The prefix that a file's names may lack ("transformer." if it has "wte.weight" for
  // "transformer.wte.weight"), and the beginnings of names that it may have in addition.
  std::string prefix = {};
  std::vector<std::string> ignored = {};
};

// The config.json of the folder that the option `weights` names.
struct FolderConfig {
  json::object config;
  std::string where;  // its path, as messages name it
};

// The model, its options and its input, for which a description is made.
struct Request {
  const std::string& model;     // the registered name
  const json::object& options;  // resolved
  const ModelInput& input;
  std::function<Result<FolderConfig>()> folder;

  std::string where() const { return "model " + model; }
};

// What a network reads: vectors and images, sequences of tokens with one class each, or sequences
// of which it predicts each token.
enum class Reads { numbers, classified_sequences, sequences };

struct Facts {
  std::string name;
  std::string title;
  std::string source;
  Reads reads = Reads::numbers;
  std::vector<OptionSpec> options;
  // Default number of samples in memory at once. It keeps the matrix products busy and the recorded
  // pass small.
  std::int64_t microbatch = 2048;
  // A small instance and a dataset that suits it, for tests that run over every registered model.
  struct Example {
    std::string dataset = "synthetic";
    json::object dataset_options = {};
    json::object options = {};
  };
  Example example = {};
  // The layers that have adapters by default, separated by commas; empty: there are no adapters.
  std::string adapter_targets = {};
  // The option `normalise` of image datasets with which the published weights were trained; empty
  // where they differ or there are none.
  std::string normalise = {};
  // Errors name the option that does not fit the data.
  Result<Description> (*describe)(const Request& request) = nullptr;
};

}  // namespace hyfreedp::models
