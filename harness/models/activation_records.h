// What a recorded pass holds of a layer, cut or converted before the layer's rules see it, so that
// no rule needs to know of copies of samples or of narrow types.
#pragma once

#include "harness/models/layer.h"

namespace hyfreedp::models {

// A pass over `copies` versions of B samples, version by version ([copies * B, ...], row m B + i is
// version m of sample i), as `copies` applications to B samples each: a layer's rules then add up
// the versions of a sample, cross terms included. Views.
std::vector<ActivationRecord> by_copies(const std::vector<ActivationRecord>& records, std::int64_t copies);

// Tensors of floating types in type `type`; ids and undefined tensors as they are.
Tensors in_type(const Tensors& tensors, torch::ScalarType type);
// Inputs, saved values and output gradients in floating type `type`; `output`, which rules do not
// read, as it is.
std::vector<ActivationRecord> in_type(std::span<const ActivationRecord> records, torch::ScalarType type);

}  // namespace hyfreedp::models
