// A scoped switch of CUDA's arithmetic.
#pragma once

#include <ATen/Context.h>

namespace hyfreedp::models {

// Allows or forbids, until it is destroyed, that CUDA's matrix products and convolutions in float32
// round their factors to TF32 (10 bits of mantissa). Then it restores the earlier setting. Objects
// may be nested. LibTorch has one switch for the whole process, so runs may share a process's
// threads only where all of them forbid TF32: then nothing is ever written. A run that allows it
// turns it off and on again around each layer's rule.
class Tf32 {
 public:
  explicit Tf32(bool allowed)
      : products_(at::globalContext().allowTF32CuBLAS()),
        convolutions_(at::globalContext().allowTF32CuDNN()) {
    if (products_ == allowed && convolutions_ == allowed) return;
    changed_ = true;
    set(allowed, allowed);
  }
  Tf32(const Tf32&) = delete;
  Tf32& operator=(const Tf32&) = delete;
  ~Tf32() {
    if (changed_) set(products_, convolutions_);
  }

 private:
  static void set(bool products, bool convolutions) {
    at::globalContext().setAllowTF32CuBLAS(products);
    at::globalContext().setAllowTF32CuDNN(convolutions);
  }

  bool products_;
  bool convolutions_;
  bool changed_ = false;
};

}  // namespace hyfreedp::models
