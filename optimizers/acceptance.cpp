#include "optimizers/acceptance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimizers/facts.h"
#include "optimizers/option_values.h"
#include "optimizers/quadratic_fit.h"

namespace hyfreedp::optimizers {

AcceptanceRule acceptance_of(const json::object& options) {
  AcceptanceRule rule{.policy = Acceptance::gen,
                      .smoothing = real(options, "smoothing"),
                      .linear_scale = text(options, "gen_scale") == "linear"};
  if (options.contains("acceptance")) {
    const auto name = text(options, "acceptance");
    rule.policy = name == "raw" ? Acceptance::raw : name == "clamp" ? Acceptance::clamp : Acceptance::gen;
  }
  return rule;
}

double next_rate(const AcceptanceRule& rule, const std::string& decision, double eta, double eta_star,
                 double progress) {
  if (decision == "nonfinite_loss" && rule.policy == Acceptance::gen) return eta / 2;
  if (decision != "accepted") return eta;
  if (rule.policy == Acceptance::raw) return eta_star;
  const double near = std::clamp(eta_star, eta / 2, 2 * eta);
  if (rule.policy == Acceptance::clamp) return near;
  const double scale = rule.linear_scale ? 1 - progress : 1;
  return (1 - rule.smoothing) * eta + rule.smoothing * scale * near;
}

LossBoundRule loss_bound_of(const json::object& options) {
  return {.center = options.contains("R_l_mode") && text(options, "R_l_mode") == "center",
          .floor = real(options, "R_l_floor"),
          .change = real(options, "R_l_change")};
}

double difference_share_of(const json::object& options) {
  return string_or(options, "release", "separate") == "paired"
             ? double_or(options, "difference_share", kDifferenceShare)
             : 0;
}

double next_loss_bound(const LossBoundRule& rule, double bound, const std::vector<double>& abscissas,
                       const std::vector<double>& losses) {
  double next =
      rule.center ? center_loss(abscissas, losses) : std::accumulate(losses.begin(), losses.end(), 0.0);
  if (!std::isfinite(next)) next = bound;
  next = std::clamp(next, bound / rule.change, bound * rule.change);
  return std::max(next, rule.floor);
}

}  // namespace hyfreedp::optimizers
