// The decoders behind decode_image, one per format. Each takes bytes that begin with its format's
// signature, and leaves the file's name out of its errors.
#pragma once

#include <string_view>

#include "datasets/image/image.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

Result<Image> decode_jpeg(std::string_view bytes, const ImageLimits& limits);
Result<Image> decode_png(std::string_view bytes, const ImageLimits& limits);
Result<Image> decode_ppm(std::string_view bytes, const ImageLimits& limits);

// True if a PPM's signature is followed by what looks like its header.
bool begins_ppm(std::string_view head);

// The error of an image that does not fit the limits.
Error too_large(std::int64_t height, std::int64_t width, const ImageLimits& limits);

}  // namespace hyfreedp::datasets
