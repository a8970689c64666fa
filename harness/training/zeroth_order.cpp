#include "harness/training/zeroth_order.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "harness/kernels/kernels.h"
#include "harness/training/displaced_weights.h"
#include "harness/training/gradient.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

// Elements that a thread takes at once, and of which a norm is summed at once: ATen sums so few by
// one thread.
constexpr std::int64_t kPiece = 16384;

double norm_of(const Tensor& vector) {
  double squares = 0;
  for (std::int64_t begin = 0; begin < vector.numel(); begin += kPiece) {
    const auto piece = vector.narrow(0, begin, std::min(kPiece, vector.numel() - begin));
    squares += piece.to(torch::kFloat64).square().sum().item<double>();
  }
  return std::sqrt(squares);
}

}  // namespace

random::Key direction_key(const trial::TrialConfig& config) {
  return random::key_from_seed(fmt::format("directions/{}/{}", config.seed, config.repetition));
}

RandomDirection::RandomDirection(optimizers::Direction law, const random::Key& key, std::int64_t step,
                                 Tensor& scratch)
    : key_(key), address_(mechanism::address_of(random::Purpose::direction, step, 0)) {
  if (law == optimizers::Direction::gaussian) return;
  scratch.zero_();
  add_to(scratch, 1);
  length_ = std::sqrt(static_cast<double>(scratch.numel())) / norm_of(scratch);
}

void RandomDirection::add_to(Tensor& out, double x) const {
  const double factor = x * length_;
  if (!out.is_cpu()) {
    // The kernel's scale has no sign, and a number that changes its sign twice is as it was.
    if (factor < 0) out.neg_();
    kernels::release_mean({.noise = {key_, address_, 0}, .scale = std::abs(factor)}, out);
    if (factor < 0) out.neg_();
    return;
  }
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "random_direction", [&] {
    auto* const values = out.data_ptr<scalar_t>();
    at::parallel_for(0, out.numel(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      random::add_normals(key_, address_, static_cast<std::uint64_t>(begin), factor,
                          std::span<scalar_t>(values + begin, static_cast<std::size_t>(end - begin)));
    });
  });
}

SideLosses losses_beside(models::Network& network, models::Loss loss, const RandomDirection& direction,
                         double scale, BatchReader& reader, const mechanism::Rows& rows, Tensor& kept) {
  const auto at = [&](double x) {
    DisplacedWeights displaced(network.parameters(), kept);
    direction.add_to(network.parameters(), x);
    return losses_at_weights(network, loss, reader, rows);
  };
  SideLosses losses{.ahead = at(scale), .behind = {}};
  if (reader.was_stopped()) return {};
  losses.behind = at(-scale);
  return reader.was_stopped() ? SideLosses() : losses;
}

}  // namespace hyfreedp::training
