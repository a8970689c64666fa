// SqueezeNet 1.1: Iandola et al., arXiv:1602.07360, in the version 1.1 of their repository, whose
// layers have torchvision's names.
//
//   features.0           3x3, stride 2, no padding; ReLU
//   features.N           eight fire modules [1x1 that squeezes; two branches of its output, 1x1 and
//                        3x3, whose channels are put one after another], ReLU after every
//                        convolution. Before the first, third and fifth module a max pool of 3x3,
//                        stride 2, whose last windows may reach beyond the image
//   classifier.1         by its Head
// The authors' dropout before the classifier is left out: its coin would be part of each private
// step, and frozen features have no use for it. Every convolution has a bias; there is no
// normalisation layer. With the published weights images are expected as normalise: imagenet of a
// dataset gives them (weights/squeezenet_weights.h).
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits [B,
// classes]. Initial values: He normal (torchvision's is uniform with the same deviation), biases
// and a linear head zero. A head that is a convolution comes from a file only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct SqueezeNetShape {
  static constexpr std::size_t kModules = 8;
  static constexpr std::int64_t kChannels = 3;
  // The least that leaves a place to every layer.
  static constexpr std::int64_t kLeastSide = 17;
  static constexpr std::int64_t kStemKernel = 3;
  static constexpr std::int64_t kStemStride = 2;
  // "model_type" in the config.json of a folder that this program kept.
  static constexpr const char* kOwnType = "hyfreedp-squeezenet";

  // mean_then_linear   the mean over the places, then a linear layer: a 1x1 convolution and the
  //                    mean of what it gives, in the cheaper order. The head of new classes
  // convolution        the authors': 1x1 convolution, ReLU, mean over the places. At zero its ReLU
  //                    has no gradient, so that a new head could never leave zero
  enum class Head { mean_then_linear, convolution };

  std::int64_t side = 224;  // of the images, in pixels
  std::int64_t classes = 1000;
  std::int64_t stem = 64;  // channels after features.0
  // Channels of each module after its squeeze layer, and of each of its two branches.
  std::array<std::int64_t, kModules> squeezes{16, 16, 32, 32, 48, 48, 64, 64};
  std::array<std::int64_t, kModules> branches{64, 64, 128, 128, 192, 192, 256, 256};
  Head head = Head::mean_then_linear;

  struct Module {
    std::string name;  // "features.N"
    // "features.N" of the max pool before it; empty: none.
    std::string pool;
    std::int64_t side = 0;    // of its image, after the pool
    std::int64_t inputs = 0;  // channels
    std::int64_t squeeze = 0;
    std::int64_t branch = 0;
    std::int64_t outputs() const { return 2 * branch; }
    std::string squeezing() const { return name + ".squeeze"; }
    std::string small() const { return name + ".expand1x1"; }
    std::string large() const { return name + ".expand3x3"; }
  };
  std::vector<Module> list_modules() const;
  std::int64_t stem_side() const { return (side - kStemKernel) / kStemStride + 1; }
  std::int64_t features() const { return 2 * branches.back(); }

  // Sizes by name, "squeezenet1.1". An error that begins with `where` for another name.
  static Result<SqueezeNetShape> named(const std::string& name, const std::string& where);
  // Sizes and head from a weights folder's config.json: {"architecture": "squeezenet1_1"}, whose
  // head is a convolution, or what model_config() writes. The image is no part of either.
  static Result<SqueezeNetShape> from_json(const json::object& config, const std::string& where);
  // Sets `stem` and `branches` from nine numbers, or `squeezes` from eight.
  Result<void> set_widths(const json::array& numbers, const std::string& where);
  Result<void> set_squeezes(const json::array& numbers, const std::string& where);
};

Result<graph::Graph> graph_of(const SqueezeNetShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const SqueezeNetShape& shape);
// The names of its authors' files.
CaffeNetwork caffe_network(const SqueezeNetShape& shape);

Facts squeezenet_facts();

}  // namespace hyfreedp::models
