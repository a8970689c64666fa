#include "harness/cli/run/probe_forecast.h"

#include "optimizers/options.h"
#include "optimizers/quadratic_fit.h"

namespace hyfreedp::cli {

std::optional<ProbeForecast> foresee_probes(const trial::TrialConfig& config) {
  const auto& probe = config.privacy.probe;
  if (config.controller.name != "hyfreedp" || !config.privacy.is_private || !probe || !(probe->noise > 0)) {
    return std::nullopt;
  }
  const auto options = read_options<optimizers::HyFreeDpOptions>(config.controller.options);
  const double rate = options.eta0;
  const double share = options.losses.share();
  const double bound = share > 0 ? share : 1;  // over R_l
  const auto abscissas = optimizers::symmetric_abscissas(rate, (probe->points - 1) / 2);
  const auto sd = optimizers::noise_of_fit(abscissas, probe->noise * bound / probe->batch_size, share > 0);
  return ProbeForecast{.first_rate = rate, .largest_visible = 1 / sd.slope};
}

}  // namespace hyfreedp::cli
