#include "harness/models/model.h"

#include <fmt/format.h>

#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/layers/activation.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/program.h"
#include "harness/models/networks/convnets.h"
#include "harness/models/networks/convnext.h"
#include "harness/models/networks/efficientnet_lite.h"
#include "harness/models/networks/gpt2.h"
#include "harness/models/networks/initialise.h"
#include "harness/models/networks/llama.h"
#include "harness/models/networks/resnet_imagenet.h"
#include "harness/models/networks/squeezenet.h"
#include "harness/models/networks/vit.h"
#include "harness/models/weights/pretrained.h"

namespace hyfreedp::models {
namespace {

std::shared_ptr<Layer> make_activation(bool relu) {
  if (relu) return std::make_shared<Relu>();
  return std::make_shared<Tanh>();
}

Result<Network> make_mlp(const MlpShape& shape, const torch::TensorOptions& tensor_options,
                         const Network::Trainable& trainable) {
  std::vector<Network::Place> places;
  int number_of_layer = 1;
  std::int64_t width = shape.features;
  if (!shape.program.empty()) {
    const auto path = locate_program(shape.program);
    if (!path) return path.error();
    auto program = Program::load(*path, {.image = shape.image, .inputs = shape.inputs, .outputs = width},
                                 tensor_options.device());
    if (!program) return program.error();
    places.push_back({"program", std::move(*program)});
  }
  for (const auto next : shape.hidden) {
    const auto number = std::to_string(number_of_layer++);
    places.push_back({"fc" + number, std::make_shared<Linear>(width, next)});
    places.push_back({"activation" + number, make_activation(shape.relu)});
    width = next;
  }
  const auto last = shape.hidden.empty() ? std::string("fc") : "fc" + std::to_string(shape.hidden.size() + 1);
  places.push_back({last, std::make_shared<Linear>(width, shape.classes, shape.bias)});
  return Network::make(std::move(places), tensor_options, trainable);
}

struct Maker {
  const Blueprint& plan;
  const torch::TensorOptions& options;
  Network::Trainable trainable;

  Result<Network> operator()(const MlpShape& shape) const { return make_mlp(shape, options, trainable); }
  Result<Network> operator()(const CnnShape& shape) const { return make_cnn(shape, options, trainable); }
  Result<Network> operator()(const ResnetShape& shape) const {
    return make_resnet(shape, options, trainable);
  }
  Result<Network> operator()(const EfficientNetLiteShape& shape) const {
    return make_efficientnet_lite(shape, options, trainable);
  }
  Result<Network> operator()(const SqueezeNetShape& shape) const {
    return make_squeezenet(shape, options, trainable);
  }
  Result<Network> operator()(const ResnetImagenetShape& shape) const {
    return make_resnet_imagenet(shape, options, trainable);
  }
  Result<Network> operator()(const ConvnextShape& shape) const {
    return make_convnext(shape, plan.lora, options, trainable);
  }
  Result<Network> operator()(const VitShape& shape) const {
    return make_vit(shape, plan.lora, options, trainable);
  }
  Result<Network> operator()(const Gpt2Shape& shape) const {
    return make_gpt2(shape, plan.lora, options, trainable);
  }
  Result<Network> operator()(const LlamaShape& shape) const {
    return make_llama(shape, plan.lora, options, trainable);
  }
};

// The public count was taken from the blueprint, so the network must be the one it describes.
void check_against(const Blueprint& plan, const Network& network, const std::string& name) {
  std::size_t trainable = 0;
  std::size_t frozen = 0;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    const auto& parameter = plan.parameters[i];
    const auto& layout = plan.trainable[i] ? network.layout() : network.frozen_layout();
    const auto at = plan.trainable[i] ? trainable++ : frozen++;
    HYFREEDP_CHECK(
        at < layout.size() && layout[at].name == parameter.name && layout[at].shape == parameter.shape,
        fmt::format("the blueprint of '{}' and its network differ at {}", name, parameter.name));
  }
  HYFREEDP_CHECK(trainable == network.layout().size() && frozen == network.frozen_layout().size(),
                 fmt::format("the network of '{}' has parameters that its blueprint lacks", name));
}

}  // namespace

Result<Network> make_model(const std::string& name, const json::object& options, const ModelInput& input,
                           const random::Key& key, const torch::TensorOptions& tensor_options) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  const auto trains = [&](const std::string& parameter) { return plan->trains(parameter); };
  auto network = std::visit(Maker{*plan, tensor_options, trains}, plan->shape);
  if (!network) return network;
  check_against(*plan, *network, name);
  // A head that is a convolution reads places and no features (feature_width() in facts.h).
  if (!plan->head.empty() && network->tensor(plan->head + "weight").dim() == 2)
    network->set_head(plan->head.substr(0, plan->head.size() - 1));
  const torch::NoGradGuard no_gradients;
  initialise(*network, *plan, key);
  if (auto loaded = load_pretrained(*network, *plan, options); !loaded) return loaded.error();
  return network;
}

}  // namespace hyfreedp::models
