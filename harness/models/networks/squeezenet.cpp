#include "harness/models/networks/squeezenet.h"

#include "harness/models/layers/activation.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/shape.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {
namespace {

class FireNetwork {
 public:
  explicit FireNetwork(Builder& builder) : builder_(builder) {}

  int convolution(const std::string& name, const Conv2dShape& shape, int from) {
    return builder_.add(name, std::make_shared<Conv2d>(shape), {from});
  }
  int relu(const std::string& name, int from) {
    return builder_.add(name + ".act", std::make_shared<Relu>(), {from});
  }
  int pool(const std::string& name, int from) {
    using Sides = std::array<std::int64_t, 2>;
    return builder_.add(
        name, std::make_shared<MaxPool2d>(Sides{3, 3}, Sides{2, 2}, MaxPool2d::Remainder::pooled), {from});
  }
  int module(const SqueezeNetShape::Module& module, int from) {
    if (!module.pool.empty()) from = pool(module.pool, from);
    const auto squeezed =
        relu(module.squeezing(),
             convolution(module.squeezing(), {.inputs = module.inputs, .outputs = module.squeeze}, from));
    const auto small =
        convolution(module.small(), {.inputs = module.squeeze, .outputs = module.branch}, squeezed);
    const auto large = convolution(
        module.large(),
        {.inputs = module.squeeze, .outputs = module.branch, .kernel = {3, 3}, .padding = {1, 1}}, squeezed);
    // One ReLU over both branches is a ReLU over each.
    return relu(module.name,
                builder_.add(module.name + ".both", std::make_shared<Concatenate>(), {small, large}));
  }

 private:
  Builder& builder_;
};

}  // namespace

Result<Network> make_squeezenet(const SqueezeNetShape& shape, const torch::TensorOptions& options,
                                const Network::Trainable& trainable) {
  Builder builder;
  FireNetwork parts(builder);
  constexpr auto kChannels = SqueezeNetShape::kChannels, kKernel = SqueezeNetShape::kStemKernel,
                 kStride = SqueezeNetShape::kStemStride;
  int x = builder.add(
      "image", std::make_shared<Unflatten>(std::vector<std::int64_t>{kChannels, shape.side, shape.side}));
  x = parts.convolution("features.0",
                        {.inputs = kChannels,
                         .outputs = shape.stem,
                         .kernel = {kKernel, kKernel},
                         .stride = {kStride, kStride}},
                        x);
  x = parts.relu("features.0", x);
  for (const auto& module : shape.list_modules()) x = parts.module(module, x);
  const std::string head = "classifier.1";
  if (shape.head == SqueezeNetShape::Head::convolution) {
    x = parts.relu(head, parts.convolution(head, {.inputs = shape.features(), .outputs = shape.classes}, x));
    builder.add("pool", std::make_shared<MeanPlaces>(), {x});
  } else {
    x = builder.add("pool", std::make_shared<MeanPlaces>(), {x});
    builder.linear(head, {shape.features(), shape.classes}, x);
  }
  return builder.build(options, trainable);
}

}  // namespace hyfreedp::models
