// The tensors of a model before it is built, without LibTorch: names, shapes and initial values in
// the network's order, and which of them are trainable. The checks of a spec use it, and so does
// the number of parameters, which is public, stored with every row, and does not enter any price.
// make_model (model.h) builds the network from the same blueprint and refuses any difference.
//
// The option `trainable` names one of these sets. The layers below the lowest trainable one cost no
// backward pass.
//   full               everything
//   head               the last linear layer (a tied output projection is not a layer of its own)
//   last-block         the last block and all layers after it
//   first-last-block   last-block and the first block; embeddings stay frozen
//   bitfit             every bias (Ben Zaken et al., arXiv:2106.10199); bitfit-head adds the head
//   lora               the adapters alone, as peft trains them; lora-head adds the head
//   trainable_pattern  with full or lora: the parameters whose name matches the regular expression
//                      (ECMAScript, anywhere in it)
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/models/facts/convnet_shape.h"
#include "harness/models/facts/convnext_shape.h"
#include "harness/models/facts/efficientnet_lite_shape.h"
#include "harness/models/facts/gpt2_shape.h"
#include "harness/models/facts/llama_shape.h"
#include "harness/models/facts/lora.h"
#include "harness/models/facts/resnet_imagenet_shape.h"
#include "harness/models/facts/squeezenet_shape.h"
#include "harness/models/facts/vit_shape.h"

namespace hyfreedp::models {

// The initial distribution of a tensor. `scale` is the constant, the standard deviation, or the
// bound of a uniform distribution. `truncated` is a normal that is redrawn beyond two standard
// deviations (of the untruncated normal, as in timm).
struct Initial {
  enum class Kind { constant, normal, truncated, uniform };
  Kind kind = Kind::constant;
  double scale = 0;
};

struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
  Initial initial;
  // Of a convolution, and of a linear layer between convolutions: the places of the image at which
  // it is used.
  std::int64_t places = 1;

  std::int64_t size() const;
};

// A fully connected network: features -> hidden... -> classes. Its layers are "fc1", "fc2", ..., or
// "fc" if there is one only.
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

struct Blueprint {
  using Shape = std::variant<MlpShape, CnnShape, ResnetShape, EfficientNetLiteShape, SqueezeNetShape,
                             ResnetImagenetShape, ConvnextShape, VitShape, Gpt2Shape, LlamaShape>;
  Shape shape;
  std::optional<Lora> lora;
  std::vector<ParameterShape> parameters;
  std::vector<std::string> blocks;  // prefixes of parameter names, from the input on
  std::string head;                 // prefix of the head's names; empty: no head of its own
  std::vector<bool> trainable;      // one entry for each of `parameters`

  bool trains(const std::string& name) const;
  std::int64_t trainable_count() const;
};

// The blueprint of a registered model. `options` were resolved against facts.h. Errors name the
// option that does not fit the data.
Result<Blueprint> blueprint(const std::string& name, const json::object& options, const ModelInput& input);

}  // namespace hyfreedp::models
