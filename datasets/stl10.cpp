#include "datasets/stl10.h"

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> Stl10::load(const Facts& facts, const json::object& options, const std::string& device) {
  return load_published_images(facts, all(options), reader(options), options, device);
}

}  // namespace hyfreedp::datasets
