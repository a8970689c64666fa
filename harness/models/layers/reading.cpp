#include "harness/models/layers/reading.h"

namespace hyfreedp::models {

Reading Reading::begin(std::int64_t batch, std::int64_t capacity, torch::Device device) {
  const auto options = torch::TensorOptions().dtype(torch::kInt64).device(device);
  return {.capacity = capacity, .lengths = torch::zeros({batch}, options)};
}

void Reading::select(const torch::Tensor& rows) {
  lengths = lengths.index_select(0, rows);
  for (auto& [keys, values] : past) {
    if (!keys.defined()) continue;
    keys = keys.index_select(0, rows);
    values = values.index_select(0, rows);
  }
}

}  // namespace hyfreedp::models
