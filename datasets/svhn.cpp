#include "datasets/svhn.h"

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> Svhn::load(const Facts& facts, const json::object& options, const std::string& device) {
  return load_published_images(facts, all(), read_svhn_folder, options, device);
}

}  // namespace hyfreedp::datasets
