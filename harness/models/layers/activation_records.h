// Converts recorded activations before a layer's rules (layer.h) read them, so that no rule has to
// handle augmented copies of samples or a compute type such as bfloat16.
#pragma once

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

// Splits each record of a pass over `copies` versions of B samples into `copies` records of B
// samples. Row m B + i of a given record, [copies * B, ...], is version m of sample i. A layer's
// rules then sum the gradient of a sample over its versions, and its norms include the cross terms.
// The results are views.
std::vector<ActivationRecord> by_copies(const std::vector<ActivationRecord>& records, std::int64_t copies);

// Converts floating-point tensors to `type`. Tensors of integers and undefined tensors are returned
// unchanged.
Tensors in_type(const Tensors& tensors, torch::ScalarType type);
// The same for the inputs, saved values and output gradients of records. `output`, which rules do
// not read, is unchanged.
std::vector<ActivationRecord> in_type(std::span<const ActivationRecord> records, torch::ScalarType type);

}  // namespace hyfreedp::models
