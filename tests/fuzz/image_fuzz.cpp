// libFuzzer's target for the decoder of images (datasets/image/decode.h: JPEG, PNG, PPM) and the
// resizing behind it. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/image_fuzz.cpp
//     datasets/image/{decode,jpeg,png,ppm,resize}.cpp -lfmt -ljpeg -lpng -o build/image_fuzz
//   build/image_fuzz -rss_limit_mb=1024 -max_len=16384 CORPUS
// A corpus: the images of tests/data/images/decode.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "datasets/image/decode.h"
#include "datasets/image/resize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyfreedp::datasets;
  constexpr ImageLimits kLimits = {.side = 1 << 14, .pixels = 1 << 20};
  const auto image = decode_image({reinterpret_cast<const char*>(data), size}, "image", kLimits);
  if (!image) {
    if (image.error().message.rfind("image", 0) != 0) std::abort();
    return 0;
  }
  if (!fits(image->height, image->width, kLimits) ||
      image->pixels.size() != bytes_of(image->height, image->width)) {
    std::abort();
  }
  const auto small = resize_shorter(*image, 8, Interpolation::bicubic, kLimits);
  if (small && !centre_crop(*small, 8)) std::abort();
  return 0;
}
