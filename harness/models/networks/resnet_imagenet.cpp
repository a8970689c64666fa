#include "harness/models/networks/resnet_imagenet.h"

#include "harness/models/layers/activation.h"
#include "harness/models/layers/conv2d.h"
#include "harness/models/layers/shape.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {
namespace {

class ResnetBlocks {
 public:
  explicit ResnetBlocks(Builder& builder) : builder_(builder) {}

  int convolution(const ResnetImagenetShape::Convolution& one, int from) {
    const Conv2dShape shape{.inputs = one.inputs,
                            .outputs = one.outputs,
                            .kernel = {one.kernel, one.kernel},
                            .stride = {one.stride, one.stride},
                            .padding = {one.kernel / 2, one.kernel / 2}};
    return builder_.add(one.name, std::make_shared<Conv2d>(shape), {from});
  }
  int relu(const std::string& name, int from) {
    return builder_.add(name + ".act", std::make_shared<Relu>(), {from});
  }
  // Its padding is zeros, where LibTorch's is minus infinity. After a ReLU both give the same
  // values, and the same gradients: a window that has no number above zero gives none back.
  int pool(int from) {
    using Sides = std::array<std::int64_t, 2>;
    constexpr auto kKernel = ResnetImagenetShape::kPoolKernel, kStride = ResnetImagenetShape::kPoolStride,
                   kPadding = kKernel / 2;
    from = builder_.add("maxpool.pad",
                        std::make_shared<ZeroPad2d>(ZeroPad2d::Sides{kPadding, kPadding, kPadding, kPadding}),
                        {from});
    return builder_.add(
        "maxpool", std::make_shared<MaxPool2d>(Sides{kKernel, kKernel}, Sides{kStride, kStride}), {from});
  }
  int block(const ResnetImagenetShape::Block& block, int from) {
    int x = from;
    for (const auto& one : block.convolutions) {
      x = convolution(one, x);
      if (&one != &block.convolutions.back()) x = relu(one.name, x);
    }
    if (block.shortcut) from = convolution(*block.shortcut, from);
    return relu(block.name, builder_.add(block.name + ".add", std::make_shared<Add>(), {from, x}));
  }

 private:
  Builder& builder_;
};

}  // namespace

Result<Network> make_resnet_imagenet(const ResnetImagenetShape& shape, const torch::TensorOptions& options,
                                     const Network::Trainable& trainable) {
  Builder builder;
  ResnetBlocks parts(builder);
  int x = builder.add("image", std::make_shared<Unflatten>(std::vector<std::int64_t>{
                                   ResnetImagenetShape::kChannels, shape.side, shape.side}));
  const auto stem = shape.stem_convolution();
  x = parts.relu(stem.name, parts.convolution(stem, x));
  if (!shape.for_cifar) x = parts.pool(x);
  for (const auto& block : shape.list_blocks()) x = parts.block(block, x);
  x = builder.add("avgpool", std::make_shared<MeanPlaces>(), {x});
  builder.linear("fc", {shape.features(), shape.classes}, x);
  return builder.build(options, trainable);
}

}  // namespace hyfreedp::models
