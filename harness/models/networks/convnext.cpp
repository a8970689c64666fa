#include "harness/models/networks/convnext.h"

#include <fmt/format.h>

#include "harness/models/layers/activation.h"
#include "harness/models/layers/bare.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/normalisation.h"
#include "harness/models/layers/shape.h"

namespace hyfreedp::models {
namespace {

constexpr double kConvnextNormEps = 1e-6;

class ConvnextParts {
 public:
  explicit ConvnextParts(Builder& builder) : builder_(builder) {}

  int norm(const std::string& name, std::int64_t width, int from) {
    return builder_.add(name, std::make_shared<LayerNorm>(width, kConvnextNormEps), {from});
  }
  // A convolution of an image, whose result is tokens.
  int convolution(const std::string& name, const Conv2dShape& shape, int from) {
    from = builder_.add(name, std::make_shared<Conv2d>(shape), {from});
    return builder_.add("", std::make_shared<PlacesToTokens>(), {from});
  }
  int as_image(std::int64_t side, int from) {
    return builder_.add("", std::make_shared<TokensToPlaces>(side), {from});
  }
  // Convolutions whose windows lie side by side.
  int patches(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
              int from) {
    return convolution(
        name, {.inputs = inputs, .outputs = outputs, .kernel = {kernel, kernel}, .stride = {kernel, kernel}},
        from);
  }
  int block(const std::string& name, std::int64_t width, std::int64_t side, int from) {
    constexpr auto kKernel = ConvnextShape::kBlockKernel;
    int x = convolution(name + ".conv_dw",
                        {.inputs = width,
                         .outputs = width,
                         .kernel = {kKernel, kKernel},
                         .padding = {kKernel / 2, kKernel / 2},
                         .groups = width},
                        as_image(side, from));
    const auto hidden = ConvnextShape::kWidening * width;
    x = builder_.linear(name + ".mlp.fc1", {width, hidden}, norm(name + ".norm", width, x));
    x = builder_.add(name + ".mlp.act", std::make_shared<Gelu>(Gelu::Form::exact), {x});
    x = builder_.linear(name + ".mlp.fc2", {hidden, width}, x);
    x = builder_.add("", std::make_shared<BareScale>(name + ".gamma", width), {x});
    return builder_.add(name + ".add", std::make_shared<Add>(), {from, x});
  }

 private:
  Builder& builder_;
};

}  // namespace

Result<Network> make_convnext(const ConvnextShape& shape, const std::optional<Lora>& lora,
                              const torch::TensorOptions& options, const Network::Trainable& trainable) {
  using Shape = ConvnextShape;
  Builder builder(lora);
  ConvnextParts parts(builder);
  int x = builder.add("image", std::make_shared<Unflatten>(
                                   std::vector<std::int64_t>{Shape::kChannels, shape.side, shape.side}));
  x = parts.patches("stem.0", Shape::kChannels, shape.widths[0], Shape::kStemKernel, x);
  x = parts.norm("stem.1", shape.widths[0], x);
  for (std::size_t s = 0; s < Shape::kStages; ++s) {
    const auto stage = fmt::format("stages.{}", s);
    if (s > 0) {
      x = parts.norm(stage + ".downsample.0", shape.widths[s - 1], x);
      x = parts.patches(stage + ".downsample.1", shape.widths[s - 1], shape.widths[s],
                        Shape::kDownsampleKernel, parts.as_image(shape.stage_side(s - 1), x));
    }
    for (std::int64_t b = 0; b < shape.blocks[s]; ++b)
      x = parts.block(fmt::format("{}.blocks.{}", stage, b), shape.widths[s], shape.stage_side(s), x);
  }
  x = builder.add("pool", std::make_shared<MeanTokens>(0), {x});
  builder.linear("head.fc", {shape.features(), shape.classes}, parts.norm("head.norm", shape.features(), x));
  return builder.build(options, trainable);
}

}  // namespace hyfreedp::models
