#include "datasets/mnist.h"

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> Mnist::load(const Facts& facts, const json::object& options, const std::string& device) {
  return load_idx_images(facts, options, device);
}

}  // namespace hyfreedp::datasets
