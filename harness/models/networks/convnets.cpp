#include "harness/models/networks/convnets.h"

#include <fmt/format.h>

#include "harness/models/layers/activation.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"
#include "harness/models/layers/standardised_conv2d.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {
namespace {

constexpr double kGroupNormEps = 1e-5;

class Residual {
 public:
  Residual(const ResnetShape& shape, Builder& builder) : shape_(shape), builder_(builder) {}

  struct Window {
    std::int64_t kernel = 3;
    std::int64_t stride = 1;
  };
  int convolution(const std::string& name, std::int64_t inputs, std::int64_t outputs, const Window& window,
                  int from) {
    Conv2dShape conv{.inputs = inputs, .outputs = outputs, .with_bias = false};
    conv.kernel = {window.kernel, window.kernel};
    conv.stride = {window.stride, window.stride};
    conv.padding = {window.kernel / 2, window.kernel / 2};
    if (shape_.wide) return builder_.add(name, std::make_shared<StandardisedConv2d>(conv), {from});
    return builder_.add(name, std::make_shared<Conv2d>(conv), {from});
  }
  int norm(const std::string& name, std::int64_t channels, int from) {
    return builder_.add(name, std::make_shared<GroupNorm>(shape_.groups, channels, kGroupNormEps), {from});
  }
  int relu(const std::string& name, int from) { return builder_.add(name, std::make_shared<Relu>(), {from}); }
  int sum(const std::string& name, int one, int other) {
    return builder_.add(name, std::make_shared<Add>(), {one, other});
  }

  int plain_block(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
                  int from) {
    int x = convolution(name + ".conv1", inputs, outputs, {.stride = stride}, from);
    x = relu(name + ".relu1", norm(name + ".norm1", outputs, x));
    x = norm(name + ".norm2", outputs, convolution(name + ".conv2", outputs, outputs, {}, x));
    if (stride != 1 || inputs != outputs) {
      from = convolution(name + ".shortcut", inputs, outputs, {.kernel = 1, .stride = stride}, from);
      from = norm(name + ".shortcut_norm", outputs, from);
    }
    return relu(name + ".relu2", sum(name + ".add", from, x));
  }
  int wide_block(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
                 int from) {
    const int active = relu(name + ".relu1", norm(name + ".norm1", inputs, from));
    int x = convolution(name + ".conv1", inputs, outputs, {.stride = stride}, active);
    x = relu(name + ".relu2", norm(name + ".norm2", outputs, x));
    x = convolution(name + ".conv2", outputs, outputs, {}, x);
    if (stride != 1 || inputs != outputs) {
      from = convolution(name + ".shortcut", inputs, outputs, {.kernel = 1, .stride = stride}, active);
    }
    return sum(name + ".add", from, x);
  }

 private:
  const ResnetShape& shape_;
  Builder& builder_;
};

}  // namespace

Result<Network> make_resnet(const ResnetShape& shape, const torch::TensorOptions& options,
                            const Network::Trainable& trainable) {
  Builder builder;
  Residual residual(shape, builder);
  int x = builder.add("image", std::make_shared<Unflatten>(
                                   std::vector<std::int64_t>{shape.channels, shape.side, shape.side}));
  x = residual.convolution("conv1", shape.channels, shape.stem, {}, x);
  if (!shape.wide) x = residual.relu("relu1", residual.norm("norm1", shape.stem, x));
  auto width = shape.stem;
  for (std::size_t stage = 0; stage < shape.widths.size(); ++stage) {
    for (std::int64_t i = 0; i < shape.blocks; ++i) {
      const auto name = fmt::format("stage{}.{}", stage + 1, i);
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = shape.wide ? residual.wide_block(name, width, shape.widths[stage], stride, x)
                     : residual.plain_block(name, width, shape.widths[stage], stride, x);
      width = shape.widths[stage];
    }
  }
  if (shape.wide) x = residual.relu("relu", residual.norm("norm", width, x));
  x = builder.add("pool", std::make_shared<MeanPlaces>(), {x});
  builder.linear("fc", {width, shape.classes}, x);
  return builder.build(options, trainable);
}

Result<Network> make_cnn(const CnnShape& shape, const torch::TensorOptions& options,
                         const Network::Trainable& trainable) {
  const auto pool = [] {
    return std::make_shared<MaxPool2d>(std::array<std::int64_t, 2>{2, 2}, std::array<std::int64_t, 2>{1, 1});
  };
  const Conv2dShape first{.inputs = shape.channels,
                          .outputs = shape.filters1,
                          .kernel = {8, 8},
                          .stride = {2, 2},
                          .padding = {3, 3}};
  const Conv2dShape second{
      .inputs = shape.filters1, .outputs = shape.filters2, .kernel = {4, 4}, .stride = {2, 2}};
  const std::vector<std::int64_t> image{shape.channels, shape.side, shape.side};
  return Network::make({{"image", std::make_shared<Unflatten>(image)},
                        {"conv1", std::make_shared<Conv2d>(first)},
                        {"tanh1", std::make_shared<Tanh>()},
                        {"pool1", pool()},
                        {"conv2", std::make_shared<Conv2d>(second)},
                        {"tanh2", std::make_shared<Tanh>()},
                        {"pool2", pool()},
                        {"flatten", std::make_shared<Flatten>()},
                        {"fc1", std::make_shared<Linear>(shape.flat, shape.hidden)},
                        {"tanh3", std::make_shared<Tanh>()},
                        {"fc2", std::make_shared<Linear>(shape.hidden, shape.classes)}},
                       options, trainable);
}

}  // namespace hyfreedp::models
