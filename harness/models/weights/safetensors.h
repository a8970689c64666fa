// Safetensors files (harness/base/safetensors_file.h) as LibTorch's tensors: views of the mapped
// file, which keep it alive.
#pragma once

#include <map>
#include <string>
#include <torch/types.h>

#include "harness/base/result.h"

namespace hyfreedp::models {

// The tensors by name. A tensor must be copied
// before it is written to; writing to the mapping is a memory fault.
Result<std::map<std::string, torch::Tensor>> read_safetensors(const std::string& path);

}  // namespace hyfreedp::models
