// Fourier transforms of real sequences whose length is a power of two, in double precision.
//
// X_k = sum_j x_j e^{-2 pi i j k / n}, k = 0 .. n/2 (the rest is the conjugate); inverse() undoes it, 1/n included.
// Error: the root mean square over k is below kFftError * log2(n) times that of X (Schatzman 1996, accurate twiddles).
#pragma once

#include <cstddef>
#include <vector>

namespace hyfreedp::accounting {

struct Complex {
  double re = 0;
  double im = 0;
};

inline constexpr double kFftError = 3e-16;

class RealFft {
 public:
  explicit RealFft(std::size_t size);  // a power of two, at least 4
  std::size_t size() const { return size_; }
  void forward(const std::vector<double>& input, std::vector<Complex>& spectrum);
  void inverse(const std::vector<Complex>& spectrum, std::vector<double>& output);

 private:
  void transform();  // work_, in place

  std::size_t size_;
  std::vector<Complex> roots_;  // e^{-2 pi i k / size}, k < size / 2
  std::vector<Complex> work_;
  std::vector<Complex> scratch_;
};

}  // namespace hyfreedp::accounting
