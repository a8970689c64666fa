#include "datasets/synthetic_tokens.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

enum Lane : std::uint8_t { kSuccessors = 0, kCoins = 1, kTokens = 2, kClasses = 3, kLengths = 4 };

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
std::vector<std::int64_t> order_of(std::span<const double> values) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order;
}

std::vector<std::int64_t> successors(std::int64_t vocabulary) {
  return order_of(uniforms(Split::public_data, kSuccessors, vocabulary));
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

// Examples with a class each. Token 0 is padding.
SplitData draw_classes(Split split, std::int64_t rows, const Sizes& sizes, double noise) {
  const auto others = sizes.vocabulary - 1;
  const auto orders = uniforms(Split::public_data, kSuccessors, sizes.classes * others);
  std::vector<std::vector<std::int64_t>> next;
  for (std::int64_t k = 0; k < sizes.classes; ++k)
    next.push_back(order_of(
        std::span(orders).subspan(static_cast<std::size_t>(k * others), static_cast<std::size_t>(others))));
  const auto classes = uniforms(split, kClasses, rows), lengths = uniforms(split, kLengths, rows);
  const auto coins = uniforms(split, kCoins, rows * sizes.length);
  const auto drawn = uniforms(split, kTokens, rows * sizes.length);
  SplitData data{.features = at::zeros({rows, sizes.length}, at::kLong),
                 .labels = at::empty({rows}, at::kLong)};
  auto* ids = data.features.mutable_data_ptr<std::int64_t>();
  auto* labels = data.labels.mutable_data_ptr<std::int64_t>();
  const auto below = [](double uniform, std::int64_t count) {
    return static_cast<std::int64_t>(uniform * static_cast<double>(count));
  };
  for (std::size_t i = 0, at = 0; i < classes.size(); ++i, at += static_cast<std::size_t>(sizes.length)) {
    labels[i] = below(classes[i], sizes.classes);
    const auto& order = next[static_cast<std::size_t>(labels[i])];
    const auto half = (sizes.length + 1) / 2;
    const auto length = static_cast<std::size_t>(half + below(lengths[i], sizes.length - half + 1));
    for (auto t = at; t < at + length; ++t) {
      ids[t] = 1 + (t == at || coins[t] < noise ? below(drawn[t], others)
                                                : order[static_cast<std::size_t>(ids[t - 1] - 1)]);
    }
  }
  data.padding = 0;
  return data;
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
  const double noise = read_options<SyntheticTokensOptions>(options).noise;
  if (n.labels == LabelKind::classes) {
    return Dataset{
        .private_train = draw_classes(Split::private_train, n.private_train, n, noise),
        .private_validation = draw_classes(Split::private_validation, n.private_validation, n, noise),
        .test = draw_classes(Split::test, n.test, n, noise)};
  }
  const auto next = successors(n.vocabulary);
  return Dataset{.private_train = draw(Split::private_train, n.private_train, n, noise, next),
                 .private_validation = draw(Split::private_validation, n.private_validation, n, noise, next),
                 .test = draw(Split::test, n.test, n, noise, next)};
}

}  // namespace hyfreedp::datasets
