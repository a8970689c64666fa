#include "harness/models/model.h"

#include "harness/models/activation.h"
#include "harness/models/facts.h"
#include "harness/models/initialise.h"
#include "harness/models/linear.h"

namespace hyfreedp::models {
namespace {

Result<Network> make_linear(const json::object& options, const ModelInput& input, const random::Key& key,
                            const torch::TensorOptions& tensor_options) {
  auto network =
      Network::make({{"fc", std::make_shared<Linear>(input.features, input.classes)}}, tensor_options);
  if (network && string_or(options, "init", "zero") == "he") fill_he(*network, "fc", key);
  return network;
}

std::shared_ptr<Layer> make_activation(const std::string& name) {
  if (name == "relu") return std::make_shared<Relu>();
  return std::make_shared<Tanh>();
}

Result<Network> make_mlp(const json::object& options, const ModelInput& input, const random::Key& key,
                         const torch::TensorOptions& tensor_options) {
  const auto activation = string_or(options, "activation", "tanh");
  std::vector<Network::Place> places;
  std::vector<std::string> drawn;
  std::int64_t width = input.features;
  for (const auto& hidden : options.at("hidden").as_array()) {
    const auto next = hidden.to_number<std::int64_t>();
    const auto number = std::to_string(drawn.size() + 1);
    drawn.push_back("fc" + number);
    places.push_back({drawn.back(), std::make_shared<Linear>(width, next)});
    places.push_back({activation + number, make_activation(activation)});
    width = next;
  }
  const auto last = "fc" + std::to_string(drawn.size() + 1);
  places.push_back({last, std::make_shared<Linear>(width, input.classes)});
  if (string_or(options, "last_layer", "zero") == "he") drawn.push_back(last);

  auto network = Network::make(std::move(places), tensor_options);
  if (!network) return network;
  for (const auto& layer : drawn) fill_he(*network, layer, key);
  return network;
}

}  // namespace

Result<Network> make_model(const std::string& name, const json::object& options, const ModelInput& input,
                           const random::Key& key, const torch::TensorOptions& tensor_options) {
  if (auto found = find_model(name); !found) return found.error();
  auto network = name == "linear" ? make_linear(options, input, key, tensor_options)
                                  : make_mlp(options, input, key, tensor_options);
  if (!network) return network;
  const auto expected = parameter_count(name, options, input.features, input.classes);
  HYFREEDP_CHECK(expected && *expected == network->dimension(),
                 "the public parameter count of '" + name + "' is wrong");
  return network;
}

}  // namespace hyfreedp::models
