#include "datasets/synthetic_tokens.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "datasets/dataset.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

enum Lane : std::uint8_t { kSuccessors = 0, kCoins = 1, kTokens = 2 };

constexpr double kMaxNumbers = 2.5e8;  // 4 GB of ids and labels

random::Key key() { return random::key_from_seed("dataset synthetic-tokens, version 1"); }

random::Address address(Split split, Lane lane) {
  return {
      .step = static_cast<std::uint32_t>(split), .purpose = random::Purpose::synthetic_data, .lane = lane};
}

std::vector<double> uniforms(Split split, Lane lane, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  random::fill_uniforms(key(), address(split, lane), 0, values);
  return values;
}

// The order of random numbers is a random permutation.
std::vector<std::int64_t> successors(std::int64_t vocabulary) {
  const auto values = uniforms(Split::public_data, kSuccessors, vocabulary);
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order;
}

SplitData draw(Split split, std::int64_t rows, const Sizes& sizes, double noise,
               const std::vector<std::int64_t>& next) {
  auto tokens = at::empty({rows, sizes.length}, at::kLong);
  auto* ids = tokens.data_ptr<std::int64_t>();
  const auto coins = uniforms(split, kCoins, rows * sizes.length);
  const auto drawn = uniforms(split, kTokens, rows * sizes.length);
  for (std::size_t i = 0; i < coins.size(); ++i) {
    const bool first = i % static_cast<std::size_t>(sizes.length) == 0;
    ids[i] = first || coins[i] < noise
                 ? static_cast<std::int64_t>(drawn[i] * static_cast<double>(sizes.vocabulary))
                 : next[static_cast<std::size_t>(ids[i - 1])];
  }
  return {.features = tokens, .labels = tokens.clone()};
}

}  // namespace

Result<Dataset> SyntheticTokens::load(const Facts& /*facts*/, const json::object& options) {
  const Sizes n = sizes(options);
  const double rows = static_cast<double>(n.private_train + n.private_validation + n.test);
  if (rows * static_cast<double>(n.length) > kMaxNumbers) {
    return error(
        "dataset synthetic-tokens: more than 2.5e8 tokens were asked for. Lower train, validation, test or "
        "length.");
  }
  const double noise = double_or(options, "noise", 0.2);
  const auto next = successors(n.vocabulary);
  return Dataset{.private_train = draw(Split::private_train, n.private_train, n, noise, next),
                 .private_validation = draw(Split::private_validation, n.private_validation, n, noise, next),
                 .test = draw(Split::test, n.test, n, noise, next)};
}

}  // namespace hyfreedp::datasets
