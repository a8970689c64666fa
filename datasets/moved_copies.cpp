#include "datasets/moved_copies.h"

#include <ATen/ATen.h>

#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

using torch::Tensor;

std::int64_t moved_by(std::uint64_t piece, std::int64_t shift) {
  const auto choices = static_cast<std::uint64_t>(2 * shift + 1);
  return static_cast<std::int64_t>(((piece & 0xffffff) * choices) >> 24) - shift;
}

// Where in the padded image each row or column of a copy comes from, for all copies of a batch.
struct Sources {
  Tensor rows;     // [M n, H]
  Tensor columns;  // [M n, W]
};

Sources sources_of(std::span<const std::uint64_t> words, std::int64_t samples,
                   const trial::Augmentations& options, std::int64_t height, std::int64_t width) {
  const auto total = static_cast<std::int64_t>(words.size());
  Sources sources{torch::empty({total, height}, torch::kInt64), torch::empty({total, width}, torch::kInt64)};
  auto* rows = sources.rows.mutable_data_ptr<std::int64_t>();
  auto* columns = sources.columns.mutable_data_ptr<std::int64_t>();
  for (std::int64_t m = 0; m < options.copies; ++m) {
    for (std::int64_t i = 0; i < samples; ++i) {
      const auto word = words[static_cast<std::size_t>(i * options.copies + m)];
      const auto down = moved_by(word >> 8, options.shift) + options.shift;
      const auto right = moved_by(word >> 32, options.shift) + options.shift;
      const bool flipped = options.flip && (word & 1) != 0;
      for (std::int64_t y = 0; y < height; ++y) *rows++ = y + down;
      for (std::int64_t x = 0; x < width; ++x) *columns++ = (flipped ? width - 1 - x : x) + right;
    }
  }
  return sources;
}

}  // namespace

Tensor moved_copies(const Tensor& images, std::span<const std::uint64_t> words,
                    const trial::Augmentations& moves, const std::array<std::int64_t, 3>& image) {
  const auto [channels, height, width] = image;
  const auto samples = images.size(0);
  const auto copies = moves.copies;
  const auto sources = sources_of(words, samples, moves, height, width);
  const auto planes = images.reshape({samples, channels, height, width});
  const auto margin = moves.shift;
  const auto padded = margin == 0 ? planes
                      : moves.padding == trial::Padding::zero
                          ? at::constant_pad_nd(planes, {margin, margin, margin, margin})
                          : at::reflection_pad2d(planes, {margin, margin, margin, margin});
  const auto padded_width = width + 2 * margin;
  const auto down = sources.rows.to(images.device());
  const auto right = sources.columns.to(images.device());
  auto copied = torch::empty({copies * samples, channels, height, width}, images.options());
  for (std::int64_t m = 0; m < copies; ++m) {
    const auto from = [&](const Tensor& all) { return all.narrow(0, m * samples, samples); };
    const auto lines =
        padded.gather(2, from(down).view({samples, 1, height, 1}).expand({-1, channels, -1, padded_width}));
    auto target = copied.narrow(0, m * samples, samples);
    at::gather_out(target, lines, 3,
                   from(right).view({samples, 1, 1, width}).expand({-1, channels, height, -1}));
  }
  std::vector<std::int64_t> sizes = images.sizes().vec();
  sizes[0] = copies * samples;
  return copied.view(sizes);
}

void words_of_copies(std::span<const std::uint8_t> image, std::span<std::uint64_t> words) {
  const auto key = random::key_from_seed({reinterpret_cast<const char*>(image.data()), image.size()});
  random::fill_bits(key, {.purpose = random::Purpose::augmentation}, 0, words);
}

}  // namespace hyfreedp::datasets
