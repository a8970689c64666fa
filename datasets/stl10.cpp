#include "datasets/stl10.h"

#include "datasets/dataset.h"
#include "datasets/formats/stl10.h"

namespace hyfreedp::datasets {

Result<Dataset> Stl10::load(const Facts& facts, const json::object& options, const std::string& device) {
  const auto read = [](const std::string& path) { return read_stl10(path); };
  return load_published_images(facts, all(), read, options, device);
}

}  // namespace hyfreedp::datasets
