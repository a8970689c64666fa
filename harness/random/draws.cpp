#include "harness/random/draws.h"

#include <limits>
#include <numeric>
#include <utility>

#include "harness/random/box_muller.h"

namespace hyfreedp::random {

std::uint64_t Draws::bits() {
  const std::uint64_t at = next_ % buffer_.size();
  if (at == 0) fill_bits(key_, address_, next_, buffer_);
  ++next_;
  return buffer_[at];
}

double Draws::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

std::uint64_t Draws::below(std::uint64_t n) {
  HYFREEDP_CHECK(n >= 1, "no integer lies below 0");
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t excess = (kMax % n + 1) % n;  // 2^64 mod n
  for (;;) {
    const std::uint64_t word = bits();
    if (word <= kMax - excess) return word % n;
  }
}

double Draws::normal() {
  const std::uint64_t radius = bits();
  return box_muller(radius, bits()).first;
}

double Draws::laplace(double scale) {
  const std::uint64_t word = bits();
  const double u = (static_cast<double>(word >> 1) + 1.0) * 0x1p-63;  // (0, 1]
  const double magnitude = -scale * log_of_unit(u);
  return (word & 1) != 0 ? magnitude : -magnitude;
}

std::vector<std::int64_t> permutation(const Key& key, const Address& address, std::int64_t n) {
  HYFREEDP_CHECK(n >= 0, "a length cannot be negative");
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  Draws draws(key, address);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  return order;
}

}  // namespace hyfreedp::random
