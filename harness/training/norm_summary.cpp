#include "harness/training/norm_summary.h"

#include <array>
#include <utility>

namespace hyfreedp::training {

void add_norm_summary(const SampleClipping& seen, std::map<std::string, double>& scalars) {
  if (seen.norms.numel() == 0) return;
  scalars["clipped_fraction"] = seen.clipped.to(torch::kFloat64).mean().item<double>();
  const auto finite = seen.norms.index({at::isfinite(seen.norms)});
  if (finite.numel() == 0) return;
  static constexpr std::array<std::pair<const char*, double>, 6> kQuantiles = {{{"norm_q05", 0.05},
                                                                                {"norm_q25", 0.25},
                                                                                {"norm_q50", 0.5},
                                                                                {"norm_q75", 0.75},
                                                                                {"norm_q95", 0.95},
                                                                                {"norm_max", 1}}};
  for (const auto& [name, at_quantile] : kQuantiles) {
    scalars[name] = at::quantile(finite, at_quantile).item<double>();
  }
}

}  // namespace hyfreedp::training
