// Fourier transforms of real sequences whose length is a power of two, in double precision.
//
// X_k = sum_j x_j e^{-2 pi i j k / n}, k = 0 .. n/2 (the rest is the conjugate); inverse() undoes
// it, 1/n included. Error: |error of X_k| <= kFftError * log2(n) * sum_j |x_j|, and the root mean
// square over k is below kFftError * log2(n) times that of X (Schatzman 1996, accurate twiddles).
#pragma once

#include <cstddef>
#include <vector>

namespace hyfreedp::accounting {

// Complex numbers as two arrays, which vector units prefer.
struct Spectrum {
  std::vector<double> re;
  std::vector<double> im;
  void resize(std::size_t size) {
    re.resize(size);
    im.resize(size);
  }
};

inline constexpr double kFftError = 3e-16;

class RealFft {
 public:
  explicit RealFft(std::size_t size);  // a power of two, at least 4
  std::size_t size() const { return size_; }
  void forward(const std::vector<double>& input, Spectrum& spectrum);
  void inverse(const Spectrum& spectrum, std::vector<double>& output);

 private:
  void transform();  // work_, in place

  std::size_t size_;
  Spectrum roots_;  // e^{-2 pi i k / size}, k < size / 2
  Spectrum work_;
  Spectrum scratch_;
};

}  // namespace hyfreedp::accounting
