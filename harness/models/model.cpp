#include "harness/models/model.h"

#include "harness/models/facts/blueprint.h"
#include "harness/models/layers/initialise.h"
#include "harness/models/layers/make_network.h"
#include "harness/models/weights/pretrained.h"

namespace hyfreedp::models {

Result<Network> make_model(const std::string& name, const json::object& options, const ModelInput& input,
                           const random::Key& key, const torch::TensorOptions& tensor_options,
                           std::optional<torch::ScalarType> compute) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  const auto trains = [&](const std::string& parameter) { return plan->trains(parameter); };
  auto network = make_network(plan->graph, tensor_options, trains, compute);
  if (!network) return network;
  const torch::NoGradGuard no_gradients;
  initialise(*network, plan->parameters, key);
  if (auto loaded = load_pretrained(*network, *plan, options); !loaded) return loaded.error();
  return network;
}

}  // namespace hyfreedp::models
