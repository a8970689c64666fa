// Random copies of images: moved by some pixels, and mirrored left to right.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <torch/types.h>

#include "harness/trial/training_options.h"

namespace hyfreedp::datasets {

// `images`: [n, C H W] or [n, C, H, W], of the shape `image` (channels, rows, columns). Returns
// [M n, ...] for M `moves.copies`: copy 0 of all images, then copy 1, ... `words`: M n random
// words, those of image i from i M on. Bit 0 of a word mirrors; two pieces of 24 bits give the
// shifts as floor(piece (2 shift + 1) / 2^24) - shift, which have relative probabilities equal to
// within 1.3e-4 for shifts up to 1024.
torch::Tensor moved_copies(const torch::Tensor& images, std::span<const std::uint64_t> words,
                           const trial::Augmentations& moves, const std::array<std::int64_t, 3>& image);

// The words of an image's copies, a function of its bytes and of public constants alone. There are
// as many copies as `words` has room for; the first ones are the same however many there are.
void words_of_copies(std::span<const std::uint8_t> image, std::span<std::uint64_t> words);

}  // namespace hyfreedp::datasets
