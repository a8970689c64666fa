// Random copies of images, drawn anew at each step (De et al., arXiv:2204.13650, "augmentation
// multiplicity"). A copy is moved by up to `shift` pixels in each direction, where the border is
// mirrored or zero, and mirrored left to right with probability 1/2.
//
// A sample's gradient and loss are the means over its copies, before clipping. The losses of a
// probe are means over the same copies as in the step's own batch, because a probe measures how
// exactly that function changes along the direction. Copy m of row i at a step is word i M + m of
// the stream at (step, purpose augmentation, attempt): it depends neither on microbatches nor on
// the rest of the batch. What a word means is in datasets/moved_copies.h.
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
  // `image`: channels, rows and columns of a feature vector.
  Augmentation(const trial::Augmentations& options, const std::array<std::int64_t, 3>& image)
      : options_(options), image_(image) {}

  // Sets the address from which the following copies are drawn.
  void draw_from(const random::Key& key, const random::Address& address) {
    key_ = key;
    address_ = address;
  }
  std::int64_t copies() const { return options_.copies; }
  // [n, ...] features of the given rows -> [M n, ...]: copy 0 of all rows, then copy 1, ...
  torch::Tensor operator()(const torch::Tensor& features, std::span<const std::int64_t> rows) const;

 private:
  trial::Augmentations options_;
  std::array<std::int64_t, 3> image_;
  random::Key key_;
  random::Address address_;
};

}  // namespace hyfreedp::training
