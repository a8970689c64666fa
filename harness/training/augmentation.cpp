#include "harness/training/augmentation.h"

#include <vector>

#include "datasets/moved_copies.h"

namespace hyfreedp::training {

torch::Tensor Augmentation::operator()(const torch::Tensor& features,
                                       std::span<const std::int64_t> rows) const {
  const auto copies = static_cast<std::size_t>(options_.copies);
  std::vector<std::uint64_t> words(rows.size() * copies);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto of_row = std::span(words).subspan(i * copies, copies);
    random::fill_bits(key_, address_, static_cast<std::uint64_t>(rows[i] * options_.copies), of_row);
  }
  return datasets::moved_copies(features, words, options_, image_);
}

}  // namespace hyfreedp::training
