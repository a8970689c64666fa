#include "harness/accounting/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "harness/base/result.h"
#include "harness/base/wide.h"

namespace hyfreedp::accounting {
namespace {

struct Input {
  const double* re;
  const double* im;
};
struct Output {
  double* re;
  double* im;
};

// The first radix-4 pass, whose butterflies are single numbers: vectors run over butterflies.
HYFREEDP_WIDE void first_pass(Input from, Output to, Input roots, std::size_t root_step,
                              std::size_t quarter) {
  const double* __restrict in_re = from.re;
  const double* __restrict in_im = from.im;
  double* __restrict out_re = to.re;
  double* __restrict out_im = to.im;
  for (std::size_t p = 0; p < quarter; ++p) {
    const double w1r = roots.re[p * root_step];
    const double w1i = roots.im[p * root_step];
    const double w2r = w1r * w1r - w1i * w1i;
    const double w2i = 2 * w1r * w1i;
    const double w3r = w1r * w2r - w1i * w2i;
    const double w3i = w1r * w2i + w1i * w2r;
    const double ar = in_re[p], ai = in_im[p];
    const double br = in_re[p + quarter], bi = in_im[p + quarter];
    const double cr = in_re[p + 2 * quarter], ci = in_im[p + 2 * quarter];
    const double dr = in_re[p + 3 * quarter], di = in_im[p + 3 * quarter];
    const double acr = ar + cr, aci = ai + ci, bdr = br + dr, bdi = bi + di;
    const double rr = ar - cr, ri = ai - ci;
    const double tr = -(bi - di), ti = br - dr;  // i (b - d)
    const double xr = rr - tr, xi = ri - ti, yr = acr - bdr, yi = aci - bdi, zr = rr + tr, zi = ri + ti;
    out_re[4 * p] = acr + bdr;
    out_im[4 * p] = aci + bdi;
    out_re[4 * p + 1] = w1r * xr - w1i * xi;
    out_im[4 * p + 1] = w1r * xi + w1i * xr;
    out_re[4 * p + 2] = w2r * yr - w2i * yi;
    out_im[4 * p + 2] = w2r * yi + w2i * yr;
    out_re[4 * p + 3] = w3r * zr - w3i * zi;
    out_im[4 * p + 3] = w3r * zi + w3i * zr;
  }
}

// A later radix-4 pass: vectors run over the `stride` numbers of a butterfly.
HYFREEDP_WIDE void later_pass(Input from, Output to, Input roots, std::size_t root_step, std::size_t quarter,
                              std::size_t stride) {
  for (std::size_t p = 0; p < quarter; ++p) {
    const double w1r = roots.re[p * root_step];
    const double w1i = roots.im[p * root_step];
    const double w2r = w1r * w1r - w1i * w1i;
    const double w2i = 2 * w1r * w1i;
    const double w3r = w1r * w2r - w1i * w2i;
    const double w3i = w1r * w2i + w1i * w2r;
    const double* __restrict in_re = from.re + stride * p;
    const double* __restrict in_im = from.im + stride * p;
    double* __restrict out_re = to.re + stride * 4 * p;
    double* __restrict out_im = to.im + stride * 4 * p;
    const std::size_t second = stride * quarter;
    for (std::size_t q = 0; q < stride; ++q) {
      const double ar = in_re[q], ai = in_im[q];
      const double br = in_re[q + second], bi = in_im[q + second];
      const double cr = in_re[q + 2 * second], ci = in_im[q + 2 * second];
      const double dr = in_re[q + 3 * second], di = in_im[q + 3 * second];
      const double acr = ar + cr, aci = ai + ci, bdr = br + dr, bdi = bi + di;
      const double rr = ar - cr, ri = ai - ci;
      const double tr = -(bi - di), ti = br - dr;
      const double xr = rr - tr, xi = ri - ti, yr = acr - bdr, yi = aci - bdi, zr = rr + tr, zi = ri + ti;
      out_re[q] = acr + bdr;
      out_im[q] = aci + bdi;
      out_re[q + stride] = w1r * xr - w1i * xi;
      out_im[q + stride] = w1r * xi + w1i * xr;
      out_re[q + 2 * stride] = w2r * yr - w2i * yi;
      out_im[q + 2 * stride] = w2r * yi + w2i * yr;
      out_re[q + 3 * stride] = w3r * zr - w3i * zi;
      out_im[q + 3 * stride] = w3r * zi + w3i * zr;
    }
  }
}

HYFREEDP_WIDE void last_pair_pass(Input from, Output to, std::size_t stride) {
  for (std::size_t q = 0; q < stride; ++q) {
    to.re[q] = from.re[q] + from.re[q + stride];
    to.im[q] = from.im[q] + from.im[q + stride];
    to.re[q + stride] = from.re[q] - from.re[q + stride];
    to.im[q + stride] = from.im[q] - from.im[q + stride];
  }
}

// Turns the transform of even + i odd samples into that of the real sequence, and back (conjugated,
// so that the forward transform inverts it).
HYFREEDP_WIDE void unpack(Input work, Input roots, Output to, std::size_t half) {
  for (std::size_t k = 1; k < half; ++k) {
    const double even_re = work.re[k] + work.re[half - k];
    const double even_im = work.im[k] - work.im[half - k];
    const double diff_re = work.re[k] - work.re[half - k];
    const double diff_im = work.im[k] + work.im[half - k];
    const double odd_re = roots.re[k] * diff_re - roots.im[k] * diff_im;
    const double odd_im = roots.re[k] * diff_im + roots.im[k] * diff_re;
    to.re[k] = 0.5 * (even_re + odd_im);
    to.im[k] = 0.5 * (even_im - odd_re);
  }
}

HYFREEDP_WIDE void pack(Input from, Input roots, Output work, std::size_t half) {
  for (std::size_t k = 0; k < half; ++k) {
    const double even_re = from.re[k] + from.re[half - k];
    const double even_im = from.im[k] - from.im[half - k];
    const double diff_re = from.re[k] - from.re[half - k];
    const double diff_im = from.im[k] + from.im[half - k];
    const double odd_re = roots.re[k] * diff_re + roots.im[k] * diff_im;
    const double odd_im = roots.re[k] * diff_im - roots.im[k] * diff_re;
    work.re[k] = even_re - odd_im;
    work.im[k] = -(even_im + odd_re);
  }
}

Input in(const Spectrum& spectrum) { return {spectrum.re.data(), spectrum.im.data()}; }
Output out(Spectrum& spectrum) { return {spectrum.re.data(), spectrum.im.data()}; }

}  // namespace

RealFft::RealFft(std::size_t size) : size_(size) {
  HYFREEDP_CHECK(std::has_single_bit(size) && size >= 4, "FFT length");
  const std::size_t half = size / 2;
  roots_.resize(half);
  work_.resize(half);
  scratch_.resize(half);
  // Only the first eighth is computed; the rest follows by symmetry, so that every root is
  // correctly rounded or nearly.
  const auto place = [&](std::size_t k, double cosine, double sine) {
    roots_.re[k] = cosine;
    roots_.im[k] = -sine;
    if (k > 0) {
      roots_.re[half - k] = -cosine;
      roots_.im[half - k] = -sine;
    }
  };
  for (std::size_t k = 0; k <= size / 8; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    if (k < size / 4) place(k, cosine, sine);
    if (size % 4 == 0 && size / 4 > k) place(size / 4 - k, sine, cosine);
  }
}

// Stockham's autosort algorithm, radix 4 with one radix-2 pass where the logarithm is odd.
void RealFft::transform() {
  std::size_t length = size_ / 2;
  std::size_t stride = 1;
  while (length > 1) {
    if (length % 4 == 0) {
      if (stride == 1) {
        first_pass(in(work_), out(scratch_), in(roots_), size_ / length, length / 4);
      } else {
        later_pass(in(work_), out(scratch_), in(roots_), size_ / length, length / 4, stride);
      }
      length /= 4;
      stride *= 4;
    } else {
      last_pair_pass(in(work_), out(scratch_), stride);
      length /= 2;
      stride *= 2;
    }
    std::swap(work_.re, scratch_.re);
    std::swap(work_.im, scratch_.im);
  }
}

void RealFft::forward(const std::vector<double>& input, Spectrum& spectrum) {
  const std::size_t half = size_ / 2;
  for (std::size_t j = 0; j < half; ++j) {
    work_.re[j] = input[2 * j];
    work_.im[j] = input[2 * j + 1];
  }
  transform();
  spectrum.resize(half + 1);
  spectrum.re[0] = work_.re[0] + work_.im[0];
  spectrum.im[0] = 0;
  spectrum.re[half] = work_.re[0] - work_.im[0];
  spectrum.im[half] = 0;
  unpack(in(work_), in(roots_), out(spectrum), half);
}

void RealFft::inverse(const Spectrum& spectrum, std::vector<double>& output) {
  const std::size_t half = size_ / 2;
  pack(in(spectrum), in(roots_), out(work_), half);
  transform();
  output.resize(size_);
  const double scale = 0.5 / static_cast<double>(half);
  for (std::size_t j = 0; j < half; ++j) {
    output[2 * j] = scale * work_.re[j];
    output[2 * j + 1] = -scale * work_.im[j];
  }
}

}  // namespace hyfreedp::accounting
