#include "optimizers/acceptance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimizers/quadratic_fit.h"

namespace hyfreedp::optimizers {

double next_rate(const AcceptanceOptions& options, const std::string& decision, double eta, double eta_star,
                 double progress) {
  if (decision == "nonfinite_loss" && options.acceptance == Acceptance::gen) return eta / 2;
  if (decision != "accepted") return eta;
  if (options.acceptance == Acceptance::raw) return eta_star;
  const double near = std::clamp(eta_star, eta / 2, 2 * eta);
  if (options.acceptance == Acceptance::clamp) return near;
  const double scale = options.gen_scale == GenScale::linear ? 1 - progress : 1;
  return (1 - options.smoothing) * eta + options.smoothing * scale * near;
}

double next_loss_bound(const LossBoundOptions& options, double bound, const std::vector<double>& abscissas,
                       const std::vector<double>& losses) {
  const bool center = options.mode == LossBoundMode::center;
  double next = center ? center_loss(abscissas, losses) : std::accumulate(losses.begin(), losses.end(), 0.0);
  if (!std::isfinite(next)) next = bound;
  next = std::clamp(next, bound / options.change, bound * options.change);
  return std::max(next, options.floor);
}

}  // namespace hyfreedp::optimizers
