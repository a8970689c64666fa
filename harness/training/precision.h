// Switches of arithmetic that hold for a while and are put back (trial::TrainingOptions says what
// they are for).
#pragma once

#include "harness/models/network.h"
#include "harness/models/tf32.h"
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

using models::Tf32;

}  // namespace hyfreedp::training
