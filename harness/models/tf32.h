// A switch of CUDA's arithmetic that holds for a while and is put back.
#pragma once

#include <ATen/Context.h>

namespace hyfreedp::models {

// While one lives, CUDA's matrix products and convolutions in float32 may round their factors to
// TF32 (10 bits of mantissa), or must not. Nests; not thread-safe, since LibTorch has one switch a
// process.
class Tf32 {
 public:
  explicit Tf32(bool allowed)
      : products_(at::globalContext().allowTF32CuBLAS()),
        convolutions_(at::globalContext().allowTF32CuDNN()) {
    if (products_ != allowed || convolutions_ != allowed) set(allowed, allowed);
  }
  Tf32(const Tf32&) = delete;
  Tf32& operator=(const Tf32&) = delete;
  ~Tf32() { set(products_, convolutions_); }

 private:
  static void set(bool products, bool convolutions) {
    at::globalContext().setAllowTF32CuBLAS(products);
    at::globalContext().setAllowTF32CuDNN(convolutions);
  }

  bool products_;
  bool convolutions_;
};

}  // namespace hyfreedp::models
