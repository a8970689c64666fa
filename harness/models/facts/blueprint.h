// A model before it is built, without LibTorch: the graph of its network, its tensors with their
// initial values, and which of them are trainable. The checks of a spec use it, and so does the
// number of parameters, which is public, stored with every row, and does not enter any price.
// make_model (model.h) builds the network from the same graph.
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

#include <optional>
#include <string>
#include <vector>

#include "harness/models/graph/graph.h"
#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct Blueprint {
  Description description;
  std::optional<Lora> lora;
  graph::Graph graph;
  std::vector<Parameter> parameters;  // the graph's
  std::vector<bool> trainable;        // one entry for each of `parameters`

  bool trains(const std::string& name) const;
  std::int64_t trainable_count() const;
};

// The blueprint of a registered model. `options` were resolved against its facts. Errors name the
// option that does not fit the data.
Result<Blueprint> blueprint(const std::string& name, const json::object& options, const ModelInput& input);

}  // namespace hyfreedp::models
