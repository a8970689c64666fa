#include "harness/models/model.h"

#include "harness/models/activation.h"
#include "harness/models/conv2d.h"
#include "harness/models/facts.h"
#include "harness/models/initialise.h"
#include "harness/models/linear.h"
#include "harness/models/shape.h"

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

// "full", "head" (the parameters of layer `head`) or "bitfit" (all biases).
Network::Trainable trainable_part(const std::string& part, const std::string& head) {
  if (part == "head") return [head](const std::string& name) { return name.starts_with(head + "."); };
  if (part == "bitfit") return [](const std::string& name) { return name.ends_with(".bias"); };
  return {};
}

Result<Network> make_cnn(const json::object& options, const ModelInput& input, const random::Key& key,
                         const torch::TensorOptions& tensor_options) {
  const auto shape = cnn_shape(options, input.features);
  if (!shape) return shape.error();
  const auto pool = [] {
    return std::make_shared<MaxPool2d>(std::array<std::int64_t, 2>{2, 2}, std::array<std::int64_t, 2>{1, 1});
  };
  const Conv2dShape first{.inputs = shape->channels,
                          .outputs = shape->filters1,
                          .kernel = {8, 8},
                          .stride = {2, 2},
                          .padding = {3, 3}};
  const Conv2dShape second{
      .inputs = shape->filters1, .outputs = shape->filters2, .kernel = {4, 4}, .stride = {2, 2}};
  const std::vector<std::int64_t> image{shape->channels, shape->side, shape->side};
  auto network =
      Network::make({{"image", std::make_shared<Unflatten>(image)},
                     {"conv1", std::make_shared<Conv2d>(first)},
                     {"tanh1", std::make_shared<Tanh>()},
                     {"pool1", pool()},
                     {"conv2", std::make_shared<Conv2d>(second)},
                     {"tanh2", std::make_shared<Tanh>()},
                     {"pool2", pool()},
                     {"flatten", std::make_shared<Flatten>()},
                     {"fc1", std::make_shared<Linear>(shape->flat, shape->hidden)},
                     {"tanh3", std::make_shared<Tanh>()},
                     {"fc2", std::make_shared<Linear>(shape->hidden, input.classes)}},
                    tensor_options, trainable_part(string_or(options, "trainable", "full"), "fc2"));
  if (!network) return network;
  // The last layer starts at zero, as a perceptron's does.
  for (const char* layer : {"conv1", "conv2", "fc1"}) fill_he(*network, layer, key);
  return network;
}

}  // namespace

Result<Network> make_model(const std::string& name, const json::object& options, const ModelInput& input,
                           const random::Key& key, const torch::TensorOptions& tensor_options) {
  if (auto found = find_model(name); !found) return found.error();
  auto network = name == "linear" ? make_linear(options, input, key, tensor_options)
                 : name == "mlp"  ? make_mlp(options, input, key, tensor_options)
                                  : make_cnn(options, input, key, tensor_options);
  if (!network) return network;
  const auto expected = parameter_count(name, options, input.features, input.classes);
  HYFREEDP_CHECK(expected && *expected == network->dimension(),
                 "the public parameter count of '" + name + "' is wrong");
  return network;
}

}  // namespace hyfreedp::models
