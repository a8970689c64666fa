#include "harness/models/initialise.h"

#include <cmath>

namespace hyfreedp::models {

void fill_he(Network& network, const std::string& layer, const random::Key& key) {
  auto layout = network.layout();
  layout.insert(layout.end(), network.frozen_layout().begin(), network.frozen_layout().end());
  for (std::size_t index = 0; index < layout.size(); ++index) {
    const auto& slice = layout[index];
    if (slice.name != layer + ".weight") continue;
    std::vector<double> normals(static_cast<std::size_t>(slice.size));
    const random::Address address{.tensor = static_cast<std::uint16_t>(index),
                                  .purpose = random::Purpose::initialisation};
    random::fill_normals(key, address, 0, normals);
    const double scale = std::sqrt(2.0 / static_cast<double>(slice.size / slice.shape.at(0)));
    const auto values = torch::from_blob(normals.data(), slice.shape, torch::kFloat64) * scale;
    network.tensor(slice.name).copy_(values);
  }
}

}  // namespace hyfreedp::models
