// A model's tensors before it is built, without LibTorch: names, shapes and initial values in the network's order, and which of
// them train. From it follow the public number of parameters, which prices nothing but is stored with every row, and the checks of
// a spec. make_model (model.h) builds the network from the same blueprint and refuses any difference.
//
// Parts that `trainable` may name; the body below the lowest trainable layer costs no backward pass:
//   full               everything
//   head               the last linear layer (a tied output projection is no layer of its own)
//   last-block         the last block and all that comes after it
//   first-last-block   that and the first block; embeddings stay frozen
//   bitfit             every bias (Ben Zaken et al., arXiv:2106.10199); bitfit-head: and the head
//   lora               the adapters alone, as peft trains them; lora-head: and the head
//   trainable_pattern  with full or lora: the parameters in whose name the regular expression (ECMAScript) is found
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/models/convnet_shape.h"
#include "harness/models/gpt2_shape.h"
#include "harness/models/llama_shape.h"
#include "harness/models/lora.h"
#include "harness/models/vit_shape.h"

namespace hyfreedp::models {

// How a tensor begins; `scale` is the standard deviation, or the bound of a uniform.
//   truncated   normal, redrawn beyond two standard deviations (of the untruncated normal, as timm's)
struct Initial {
  enum class Kind { zero, one, normal, truncated, uniform };
  Kind kind = Kind::zero;
  double scale = 0;
};

struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
  Initial initial;

  std::int64_t size() const;
};

// Fully connected: features -> hidden... -> classes. Layers "fc1", "fc2", ...; "fc" where there is one alone.
struct MlpShape {
  std::int64_t features = 0;
  std::vector<std::int64_t> hidden;
  std::int64_t classes = 0;
  bool relu = false;  // else tanh
  bool bias = true;   // of the last layer
};

struct Blueprint {
  using Shape = std::variant<MlpShape, CnnShape, ResnetShape, VitShape, Gpt2Shape, LlamaShape>;
  Shape shape;
  std::optional<Lora> lora;
  std::vector<ParameterShape> parameters;
  std::vector<std::string> blocks;  // prefixes of names, from the input on
  std::string head;                 // prefix; empty: none of its own
  std::vector<bool> trainable;      // as parameters

  bool trains(const std::string& name) const;
  std::int64_t trainable_count() const;
};

// `options` resolved against facts.h.
Result<Blueprint> blueprint(const std::string& name, const json::object& options, const ModelInput& input);

}  // namespace hyfreedp::models
