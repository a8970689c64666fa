// The public sizes of the data that a model must know, without LibTorch.
//
//   vectors     features [n, features]
//   images      the same, where `image` gives the order channel, row, column:
//               features = channels * rows * columns
//   sequences   ids [n, length] below `vocabulary`. Where each token is predicted, classes =
//               vocabulary; else there is one class an example
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace hyfreedp::models {

// The label of an example or position that is not scored: padding, a prompt.
inline constexpr std::int64_t kNotScored = -100;

struct ModelInput {
  std::int64_t features = 0;
  std::int64_t classes = 0;
  std::array<std::int64_t, 3> image{};  // channels, rows, columns; 0: no images
  std::int64_t length = 0;              // of a sequence; 0: no sequences
  std::int64_t vocabulary = 0;
  std::int64_t padding = 0;  // sequences with one class each: the id at the end of shorter ones
  // Pairs of sequences: the id after which the second begins.
  std::optional<std::int64_t> separator = {};

  bool is_image() const { return image[0] > 0; }
  bool is_sequence() const { return length > 0; }
  bool predicts_tokens() const { return is_sequence() && classes == vocabulary; }
};

// `Sizes`: a dataset's public sizes (datasets/facts.h).
template <class Sizes>
ModelInput model_input(const Sizes& sizes) {
  return {.features = sizes.features,
          .classes = sizes.classes,
          .image = sizes.image,
          .length = sizes.length,
          .vocabulary = sizes.vocabulary,
          .padding = sizes.padding,
          .separator = sizes.separator};
}

}  // namespace hyfreedp::models
