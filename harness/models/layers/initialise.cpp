#include "harness/models/layers/initialise.h"

#include <algorithm>
#include <cmath>

#include "harness/models/graph/lora.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;
using Kind = Initial::Kind;

// Numbers drawn at once: a table of tokens has tens of millions, in double precision.
constexpr std::int64_t kChunk = 1 << 20;
constexpr double kTruncation = 2;  // standard deviations

// Elements [first, first + count) of the tensor's stream, float64.
Tensor drawn(const Initial& initial, const random::Key& key, const random::Address& address,
             std::int64_t first, std::int64_t count) {
  auto values = torch::empty({count}, torch::kFloat64);
  const std::span<double> out(values.data_ptr<double>(), static_cast<std::size_t>(count));
  if (initial.kind == Kind::normal) {
    random::fill_normals(key, address, static_cast<std::uint64_t>(first), out);
    return values * initial.scale;
  }
  random::fill_uniforms(key, address, static_cast<std::uint64_t>(first), out);
  values.mul_(2).sub_(1);  // in [-1, 1)
  if (initial.kind == Kind::truncated) {
    // The inverse of the distribution function, restricted to the middle part.
    values.mul_(std::erf(kTruncation / std::sqrt(2.0))).erfinv_().mul_(std::sqrt(2.0));
  }
  return values * initial.scale;
}

}  // namespace

void initialise(Network& network, const std::vector<Parameter>& parameters, const random::Key& key) {
  const auto bases = std::ranges::count_if(parameters, [](const auto& one) { return !is_adapter(one.name); });
  std::size_t base = 0;
  auto adapter = static_cast<std::size_t>(bases);
  for (const auto& parameter : parameters) {
    const auto index = is_adapter(parameter.name) ? adapter++ : base++;
    auto target = network.tensor(parameter.name).view({-1});
    if (parameter.initial.kind == Kind::constant) {
      target.fill_(parameter.initial.scale);
      continue;
    }
    const random::Address address{.tensor = static_cast<std::uint16_t>(index),
                                  .purpose = random::Purpose::initialisation};
    for (std::int64_t first = 0; first < target.numel(); first += kChunk) {
      const auto count = std::min(kChunk, target.numel() - first);
      target.narrow(0, first, count).copy_(drawn(parameter.initial, key, address, first, count));
    }
  }
}

}  // namespace hyfreedp::models
