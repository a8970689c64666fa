#include "harness/models/weights/safetensors.h"

#include "harness/base/safetensors_file.h"
#include "harness/models/weights/tensor_types.h"

namespace hyfreedp::models {

Result<std::map<std::string, torch::Tensor>> read_safetensors(const std::string& path) {
  const auto stored = read_stored_safetensors(path);
  if (!stored) return stored.error();
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& [name, tensor] : *stored) tensors[name] = view_of(tensor);
  return tensors;
}

}  // namespace hyfreedp::models
