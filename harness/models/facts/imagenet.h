// Mean and standard deviation of the colours of the images that networks were trained on, as
// torchvision and timm have them: red, green, blue, from 0 to 1. CLIP's are of its image towers and
// of EVA-02.
#pragma once

#include <array>

namespace hyfreedp::models {

inline constexpr std::array kImageNetMean = {0.485, 0.456, 0.406};
inline constexpr std::array kImageNetDeviation = {0.229, 0.224, 0.225};
inline constexpr std::array kClipMean = {0.48145466, 0.4578275, 0.40821073};
inline constexpr std::array kClipDeviation = {0.26862954, 0.26130258, 0.27577711};

}  // namespace hyfreedp::models
