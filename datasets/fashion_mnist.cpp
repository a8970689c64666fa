#include "datasets/fashion_mnist.h"

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> FashionMnist::load(const Facts& facts, const json::object& options,
                                   const std::string& device) {
  return load_idx_images(facts, options, device);
}

}  // namespace hyfreedp::datasets
