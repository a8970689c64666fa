#include "harness/models/generation/nucleus.h"

namespace hyfreedp::models {

std::vector<std::int64_t> draw_tokens(const torch::Tensor& logits, double top_p, double temperature,
                                      std::span<const double> uniforms) {
  const auto all = at::softmax(logits.cpu().to(torch::kFloat64) / temperature, 1);
  auto [probabilities, tokens] = all.sort(/*stable=*/true, /*dim=*/1, /*descending=*/true);
  probabilities = probabilities.contiguous();
  tokens = tokens.contiguous();
  const auto width = all.size(1);
  std::vector<std::int64_t> drawn;
  for (std::size_t row = 0; row < uniforms.size(); ++row) {
    const auto begin = static_cast<std::int64_t>(row) * width;
    const double* const p = probabilities.const_data_ptr<double>() + begin;
    std::int64_t count = 0;
    double sum = 0;
    while (count < width && sum < top_p) sum += p[count++];
    std::int64_t place = 0;
    for (double below = p[0]; place + 1 < count && below <= uniforms[row] * sum; below += p[place]) ++place;
    drawn.push_back(tokens.const_data_ptr<std::int64_t>()[begin + place]);
  }
  return drawn;
}

}  // namespace hyfreedp::models
