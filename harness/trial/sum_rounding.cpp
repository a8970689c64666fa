#include "harness/trial/sum_rounding.h"

#include <algorithm>
#include <cmath>

namespace hyfreedp::trial {
namespace {

constexpr double kNarrowErrors = 64;
constexpr double kWideErrors = 4096;  // beside one a sample

}  // namespace

double largest_batch(double batch_size, double population) {
  return std::min(population, batch_size + 8 * std::sqrt(batch_size) + 32);
}

double sum_rounding(double samples, bool wide) {
  return 2 * samples * (wide ? (kWideErrors + samples) * 0x1p-53 : kNarrowErrors * 0x1p-24);
}

}  // namespace hyfreedp::trial
