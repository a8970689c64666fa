#include "datasets/cifar.h"

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> Cifar10::load(const Facts& facts, const json::object& options, const std::string& device) {
  return load_published_images(facts, all(), read, options, device);
}

Result<Dataset> Cifar100::load(const Facts& facts, const json::object& options, const std::string& device) {
  return load_published_images(facts, all(), read, options, device);
}

}  // namespace hyfreedp::datasets
