// Random copies of images, drawn anew at each step (De et al., arXiv:2204.13650, "augmentation multiplicity"): a copy is moved
// by up to `shift` pixels each way, what comes into view being mirrored at the border or zero, and mirrored left to right with
// probability 1/2.
//
// A sample's gradient and loss are the means over its copies, before clipping; so are a probe's losses, over the same copies
// as the step's own batch has, since a probe asks how that very function changes along the direction.
// Copy m of row i at a step is word i M + m of the stream at (step, purpose augmentation, attempt): a function of neither
// microbatches nor the rest of the batch. Of the word: bit 0 mirrors; two pieces of 24 bits give the shifts as
// floor(piece (2 shift + 1) / 2^24) - shift, uniform to 1e-4 relative for shifts up to 1024.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <torch/types.h>

#include "harness/random/stream.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::training {

class Augmentation {
 public:
  // `image`: channels, rows, columns of a feature vector.
  Augmentation(const trial::Augmentations& options, const std::array<std::int64_t, 3>& image)
      : options_(options), image_(image) {}

  // Copies from here on are those of this address.
  void draw_from(const random::Key& key, const random::Address& address) {
    key_ = key;
    address_ = address;
  }
  std::int64_t copies() const { return options_.copies; }
  // features [n, ...] of the named rows -> [M n, ...]: copy 0 of all rows, then copy 1, ...
  torch::Tensor operator()(const torch::Tensor& features, std::span<const std::int64_t> rows) const;

 private:
  trial::Augmentations options_;
  std::array<std::int64_t, 3> image_;
  random::Key key_;
  random::Address address_;
};

}  // namespace hyfreedp::training
