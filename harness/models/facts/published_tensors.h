// The tensors of published files whose names and shapes are not the network's own: those with
// BatchNorms (batch_norm_folding.h multiplies these into the convolutions), and SqueezeNet's of
// Caffe.
#pragma once

#include <string>
#include <vector>

#include "harness/models/facts/misfits.h"
#include "harness/models/networks/efficientnet_lite.h"
#include "harness/models/networks/resnet_imagenet.h"
#include "harness/models/networks/squeezenet.h"

namespace hyfreedp::models {

// A convolution without bias, and the BatchNorm that reads what it gives.
struct NormedConvolution {
  std::string name;                 // of the convolution in the network
  std::string file;                 // and in the file
  std::string norm;                 // the file's BatchNorm
  std::vector<std::int64_t> shape;  // of the convolution's weight, [outputs, inputs / groups, k, k]
};

// A network of such convolutions and a linear head.
struct NormedNetwork {
  double eps = 0;  // of every BatchNorm
  std::vector<NormedConvolution> convolutions;
  std::string head;                      // its name in the network
  std::string head_file;                 // and in the file
  std::vector<std::int64_t> head_shape;  // of its weight, [classes, features]
};

// The names of the Python package efficientnet-lite-pytorch (_conv_stem, _blocks.N._expand_conv,
// ._depthwise_conv, ._project_conv, _conv_head, _fc), or timm's.
NormedNetwork normed(const EfficientNetLiteShape& shape);
// torchvision's names, which are timm's too: conv1, bn1, layer1.0.conv1, layer1.0.bn1, ...,
// layer2.0.downsample.0 and .1 (a convolution and its BatchNorm), fc.
NormedNetwork normed(const ResnetImagenetShape& shape);

// A convolution of SqueezeNet's in an array file with the names of Caffe: NAME.0 is the kernel,
// [k, k, inputs, outputs], NAME.1 the bias.
struct CaffeConvolution {
  std::string name;  // in the network
  std::string file;
  std::int64_t kernel = 1, inputs = 0, outputs = 0;
};
inline constexpr const char* kCaffeFirst = "conv1";
inline constexpr const char* kCaffeHead = "conv10";
std::vector<CaffeConvolution> caffe_convolutions(const SqueezeNetShape& shape, bool with_head);

// Whether a file of these names has BatchNorms, or Caffe's names. Files that this program kept have
// neither.
bool has_batch_norms(const TensorShapes& file);
bool has_caffe_names(const TensorShapes& file);

// An error that lists all missing, unexpected and misshaped tensors of a file by its names.
// `with_head`: the file's head too; without it nothing of the head is looked at.
Result<void> check_normed(const NormedNetwork& network, const TensorShapes& file, bool with_head);
Result<void> check_caffe(const SqueezeNetShape& shape, const TensorShapes& file, bool with_head);

}  // namespace hyfreedp::models
