// Resizing as PIL does it: Pillow's Image.resize with BICUBIC or BILINEAR, byte for byte up to
// Pillow 12. Pillow 13 takes the columns first where an image is tall, which rounds and clips at
// another place: up to 18 of 255 where a narrow image is made much smaller, 2 in smooth ones.
//
// An output pixel at x, of W from w, weighs input pixels around c = (x + 1/2) w / W with
//   k((i + 1/2 - c) / s),  s = max(w / W, 1),
// normalised to sum 1: making smaller averages over more pixels (antialiasing). k is the triangle
// 1 - |t| on [-1, 1], or the cubic of Keys with a = -1/2 on [-2, 2]. First along rows, then along
// columns; after each the value is rounded and clipped to 0..255. Weights are fixed-point numbers
// with 22 bits after the point, so that no machine gives another result.
#pragma once

#include <boost/describe.hpp>

#include "datasets/image/image.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

enum class Interpolation { bilinear, bicubic };
BOOST_DESCRIBE_ENUM(Interpolation, bicubic, bilinear)

// The image with other sides. Errors: a side beyond the limits.
Result<Image> resize(const Image& image, std::int64_t height, std::int64_t width, Interpolation interpolation,
                     const ImageLimits& limits = {});

// The shorter side becomes `size`, the longer one floor(size * longer / shorter), as torchvision's
// Resize(size) does. Errors as above: a narrow strip becomes long.
Result<Image> resize_shorter(const Image& image, std::int64_t size, Interpolation interpolation,
                             const ImageLimits& limits = {});

// The middle [size, size]; where an odd number of rows or columns goes, the first to go are
// torchvision's CenterCrop's. An error if a side is shorter than `size` (torchvision pads with
// black).
Result<Image> centre_crop(const Image& image, std::int64_t size);

}  // namespace hyfreedp::datasets
