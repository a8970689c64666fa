// The position embedding of a vision transformer (networks/vit.h) for images of another size.
#pragma once

#include <torch/types.h>

namespace hyfreedp::models {

// Resamples a position embedding [1, 1 + n^2, D] to another number of patches, [1, 1 + m^2, D]: the
// class token's row is kept, the others are resampled bicubically with antialiasing, as timm does.
torch::Tensor resized_positions(const torch::Tensor& positions, std::int64_t patches);

}  // namespace hyfreedp::models
