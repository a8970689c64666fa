// Mean and standard deviation of the colours of ImageNet's training images, as torchvision and timm
// have them: red, green, blue, from 0 to 1.
#pragma once

#include <array>

namespace hyfreedp::models {

inline constexpr std::array kImageNetMean = {0.485, 0.456, 0.406};
inline constexpr std::array kImageNetDeviation = {0.229, 0.224, 0.225};

}  // namespace hyfreedp::models
