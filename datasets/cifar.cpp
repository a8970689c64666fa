#include "datasets/cifar.h"

#include "datasets/dataset.h"
#include "datasets/formats/cifar.h"

namespace hyfreedp::datasets {

Result<Dataset> Cifar10::load(const Facts& facts, const json::object& options, const std::string& device) {
  const auto read = [](const std::string& path) { return read_cifar(path, CifarLabels::cifar10); };
  return load_published_images(facts, all(), read, options, device);
}

Result<Dataset> Cifar100::load(const Facts& facts, const json::object& options, const std::string& device) {
  const auto read = [](const std::string& path) { return read_cifar(path, CifarLabels::cifar100_fine); };
  return load_published_images(facts, all(), read, options, device);
}

}  // namespace hyfreedp::datasets
