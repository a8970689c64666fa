#include "harness/models/networks/efficientnet_lite.h"

#include "harness/models/layers/activation.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/shape.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {
namespace {

using Block = EfficientNetLiteShape::Block;

class Parts {
 public:
  explicit Parts(Builder& builder) : builder_(builder) {}

  struct Size {
    std::int64_t side = 0;  // of the input
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t groups = 1;
  };
  int convolution(const std::string& name, const Size& size, int from) {
    auto padding = same_padding(size.side, size.kernel, size.stride);
    if (padding.before != padding.after) {
      const ZeroPad2d::Sides sides{padding.before, padding.after, padding.before, padding.after};
      from = builder_.add(name + ".pad", std::make_shared<ZeroPad2d>(sides), {from});
      padding = {};
    }
    const Conv2dShape shape{.inputs = size.inputs,
                            .outputs = size.outputs,
                            .kernel = {size.kernel, size.kernel},
                            .stride = {size.stride, size.stride},
                            .padding = {padding.before, padding.before},
                            .groups = size.groups};
    return builder_.add(name, std::make_shared<Conv2d>(shape), {from});
  }
  int active(const std::string& name, const Size& size, int from) {
    return builder_.add(name + ".act", std::make_shared<Relu6>(), {convolution(name, size, from)});
  }
  int block(const Block& block, int from) {
    int x = from;
    if (block.widens()) {
      x = active(block.expand(), {.side = block.side, .inputs = block.inputs, .outputs = block.hidden}, x);
    }
    x = active(block.depthwise(),
               {.side = block.side,
                .inputs = block.hidden,
                .outputs = block.hidden,
                .kernel = block.kernel,
                .stride = block.stride,
                .groups = block.hidden},
               x);
    x = convolution(block.project(), {.inputs = block.hidden, .outputs = block.outputs}, x);
    return block.skips() ? builder_.add(block.name + ".add", std::make_shared<Add>(), {x, from}) : x;
  }

 private:
  Builder& builder_;
};

}  // namespace

Result<Network> make_efficientnet_lite(const EfficientNetLiteShape& shape,
                                       const torch::TensorOptions& options,
                                       const Network::Trainable& trainable) {
  Builder builder;
  Parts parts(builder);
  const auto channels = EfficientNetLiteShape::kChannels;
  int x = builder.add(
      "image", std::make_shared<Unflatten>(std::vector<std::int64_t>{channels, shape.side, shape.side}));
  x = parts.active("conv_stem",
                   {.side = shape.side,
                    .inputs = channels,
                    .outputs = shape.stem,
                    .kernel = EfficientNetLiteShape::kStemKernel,
                    .stride = EfficientNetLiteShape::kStemStride},
                   x);
  for (const auto& block : shape.list_blocks()) x = parts.block(block, x);
  x = parts.active("conv_head", {.inputs = shape.widths.back(), .outputs = shape.top}, x);
  x = builder.add("pool", std::make_shared<MeanPlaces>(), {x});
  builder.linear("classifier", {shape.top, shape.classes}, x);
  return builder.build(options, trainable);
}

}  // namespace hyfreedp::models
