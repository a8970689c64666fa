#include "harness/accounting/turning_sum.h"

#include "harness/base/wide.h"

namespace hyfreedp::accounting {
namespace {

HYFREEDP_WIDE void wide_sum_and_turn(double* __restrict re, double* __restrict im,
                                     const double* __restrict turn_re, const double* __restrict turn_im,
                                     std::size_t size, double* __restrict sum) {
  double sum_re[4] = {0, 0, 0, 0};
  double sum_im[4] = {0, 0, 0, 0};
  std::size_t n = 0;
  for (; n + 4 <= size; n += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      sum_re[k] += re[n + k];
      sum_im[k] += im[n + k];
    }
  }
  for (; n < size; ++n) {
    sum_re[0] += re[n];
    sum_im[0] += im[n];
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double turned = re[i] * turn_re[i] - im[i] * turn_im[i];
    im[i] = re[i] * turn_im[i] + im[i] * turn_re[i];
    re[i] = turned;
  }
  sum[0] = (sum_re[0] + sum_re[1]) + (sum_re[2] + sum_re[3]);
  sum[1] = (sum_im[0] + sum_im[1]) + (sum_im[2] + sum_im[3]);
}

}  // namespace

std::complex<double> sum_and_turn(double* re, double* im, const double* turn_re, const double* turn_im,
                                  std::size_t size) {
  double sum[2];
  wide_sum_and_turn(re, im, turn_re, turn_im, size, sum);
  return {sum[0], sum[1]};
}

}  // namespace hyfreedp::accounting
