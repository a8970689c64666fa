// Switches of arithmetic that hold for a while and are put back (trial::TrainingOptions says what they are for).
#pragma once

#include <ATen/Context.h>

#include "harness/models/network.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::training {

// A network computes in another type meanwhile; float32 stands for the type of its parameters.
class ComputeType {
 public:
  ComputeType(models::Network& network, trial::Precision precision)
      : network_(network), before_(network.compute_type()) {
    const bool narrow = precision == trial::Precision::bf16;
    network_.set_compute_type(narrow ? torch::kBFloat16 : network_.parameters().scalar_type());
  }
  ComputeType(const ComputeType&) = delete;
  ComputeType& operator=(const ComputeType&) = delete;
  ~ComputeType() { network_.set_compute_type(before_); }

 private:
  models::Network& network_;
  torch::ScalarType before_;
};

// CUDA's matrix products and convolutions in float32 may round their factors to TF32 (10 bits of mantissa), or must not.
class Tf32 {
 public:
  explicit Tf32(bool allowed)
      : products_(at::globalContext().allowTF32CuBLAS()),
        convolutions_(at::globalContext().allowTF32CuDNN()) {
    set(allowed, allowed);
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

}  // namespace hyfreedp::training
