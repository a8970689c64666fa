// Scoped switches of arithmetic: each changes how the program computes until the object is
// destroyed, and then restores the earlier setting. trial::TrainingOptions describes the options.
#pragma once

#include "harness/models/layers/network.h"
#include "harness/models/layers/tf32.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::training {

// Sets a network's compute type: bfloat16 for Precision::bf16, and the type of its parameters for
// Precision::float32.
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

using models::Tf32;  // allows or forbids TF32 in CUDA's float32 products

}  // namespace hyfreedp::training
