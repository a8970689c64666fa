#include "harness/accounting/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "harness/base/result.h"

namespace hyfreedp::accounting {
namespace {

inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline Complex conj(Complex a) { return {a.re, -a.im}; }
inline Complex times_i(Complex a) { return {-a.im, a.re}; }

}  // namespace

RealFft::RealFft(std::size_t size) : size_(size), roots_(size / 2), work_(size / 2), scratch_(size / 2) {
  HYFREEDP_CHECK(std::has_single_bit(size) && size >= 4, "FFT length");
  // Only the first eighth is computed; the rest follows by symmetry, so that every root is correctly rounded or nearly.
  for (std::size_t k = 0; k < size / 2; ++k) {
    const std::size_t folded = k <= size / 4 ? k : size / 2 - k;
    const bool swapped = folded > size / 8;
    const double angle = 2 * std::numbers::pi * static_cast<double>(swapped ? size / 4 - folded : folded) /
                         static_cast<double>(size);
    double cosine = std::cos(angle);
    double sine = std::sin(angle);
    if (swapped) std::swap(cosine, sine);
    roots_[k] = {k <= size / 4 ? cosine : -cosine, -sine};
  }
}

// Stockham's autosort algorithm, radix 4 with one radix-2 pass where the logarithm is odd.
void RealFft::transform() {
  std::size_t length = work_.size();
  std::size_t stride = 1;
  while (length > 1) {
    const Complex* from = work_.data();
    Complex* to = scratch_.data();
    const std::size_t root_step = size_ / length;
    if (length % 4 == 0) {
      const std::size_t quarter = length / 4;
      for (std::size_t p = 0; p < quarter; ++p) {
        const Complex w1 = roots_[p * root_step];
        const Complex w2 = w1 * w1;
        const Complex w3 = w1 * w2;
        const Complex* in = from + stride * p;
        Complex* out = to + stride * 4 * p;
        for (std::size_t q = 0; q < stride; ++q) {
          const Complex a = in[q];
          const Complex b = in[q + stride * quarter];
          const Complex c = in[q + stride * 2 * quarter];
          const Complex d = in[q + stride * 3 * quarter];
          const Complex ac = a + c;
          const Complex bd = b + d;
          const Complex rest = a - c;
          const Complex turned = times_i(b - d);
          out[q] = ac + bd;
          out[q + stride] = w1 * (rest - turned);
          out[q + 2 * stride] = w2 * (ac - bd);
          out[q + 3 * stride] = w3 * (rest + turned);
        }
      }
      length /= 4;
      stride *= 4;
    } else {
      for (std::size_t q = 0; q < stride; ++q) {
        const Complex a = from[q];
        const Complex b = from[q + stride];
        to[q] = a + b;
        to[q + stride] = a - b;
      }
      length /= 2;
      stride *= 2;
    }
    std::swap(work_, scratch_);
  }
}

void RealFft::forward(const std::vector<double>& input, std::vector<Complex>& spectrum) {
  const std::size_t half = size_ / 2;
  for (std::size_t j = 0; j < half; ++j) work_[j] = {input[2 * j], input[2 * j + 1]};
  transform();
  spectrum.resize(half + 1);
  spectrum[0] = {work_[0].re + work_[0].im, 0};
  spectrum[half] = {work_[0].re - work_[0].im, 0};
  for (std::size_t k = 1; k < half; ++k) {
    const Complex even = work_[k] + conj(work_[half - k]);
    const Complex odd = roots_[k] * (work_[k] - conj(work_[half - k]));
    spectrum[k] = {0.5 * (even.re + odd.im), 0.5 * (even.im - odd.re)};
  }
}

void RealFft::inverse(const std::vector<Complex>& spectrum, std::vector<double>& output) {
  const std::size_t half = size_ / 2;
  // The packed sequence's transform, conjugated so that the forward transform inverts it.
  for (std::size_t k = 0; k < half; ++k) {
    const Complex even = spectrum[k] + conj(spectrum[half - k]);
    const Complex odd = conj(roots_[k]) * (spectrum[k] - conj(spectrum[half - k]));
    work_[k] = conj(even + times_i(odd));
  }
  transform();
  output.resize(size_);
  const double scale = 0.5 / static_cast<double>(half);
  for (std::size_t j = 0; j < half; ++j) {
    output[2 * j] = scale * work_[j].re;
    output[2 * j + 1] = -scale * work_[j].im;
  }
}

}  // namespace hyfreedp::accounting
