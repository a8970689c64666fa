#include <cmath>
#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/hyfreedp_noises.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

using accounting::Noise;

Result<results::ValueRow> row_of(const NoiseSetting& setting, results::ValueTable& table) {
  const auto noises = paper_noises(setting, "gdp", Noise::gaussian);
  if (!noises) return noises.error();
  const double sigma = noises->sigma_g / setting.gamma;
  const auto steps = static_cast<double>(setting.steps);
  const auto probes = (setting.steps + setting.interval - 1) / setting.interval * setting.points;
  const double vanilla = clt_mu_squared(setting.sample_rate(), steps, Noise::gaussian, sigma);
  const double ours = vanilla + clt_mu_squared(setting.sample_rate(), static_cast<double>(probes),
                                               Noise::gaussian, noises->sigma_l);
  const auto claimed = accounting::gdp_epsilon(std::sqrt(vanilla), setting.delta());
  if (!claimed) return claimed.error();
  const auto real =
      accounting::epsilon_pld({accounting::Neighbouring::add_remove,
                               {accounting::poisson_gaussian(setting.sample_rate(), sigma, setting.steps)}},
                              setting.delta());
  if (!real) return real.error();
  results::ValueRow row{
      {fmt::format("{}", setting.epsilon)},
      {ours_alone(sigma, 3), ours_alone(std::sqrt(vanilla), 4), ours_alone(std::sqrt(ours), 4),
       ours_alone(*claimed, 3), ours_alone(real->epsilon, 3)}};
  if (real->epsilon > setting.epsilon) {
    footnote(table, row.cells.back(),
             "The central limit theorem understates: with the noise that equation 9 gives for a budget, the "
             "gradients alone "
             "already cost more (PLD).");
  }
  return row;
}

Result<Analytic> compute_theorem(const json::object& resolved, const PaperValues&) {
  const auto base = read_options<NoiseSetting>(resolved);
  Analytic done;
  auto& table = done.table;
  table.name = "hyfreedp-theorem-2";
  table.title = "Theorem 2: mu with and without probes";
  table.description =
      "mu_vanilla^2 = (B/N)^2 T (e^{1/sigma^2} - 1); mu_ours^2 adds (B/N)^2 (3T/K) (e^{1/sigma_l^2} - 1), "
      "here at sigma_g = sigma "
      "(equation 9). sigma is what equation 9 gives for the budget. " +
      describe(base) + ".";
  table.row_fields = {"epsilon"};
  table.columns = {"sigma by equation 9", "mu, vanilla", "mu, with probes", "epsilon by equation 9",
                   "epsilon by PLD"};
  table.footnotes = assumed_notes(base);
  for (const double epsilon : {1.0, 3.0, 8.0}) {
    auto setting = base;
    setting.epsilon = epsilon;
    auto row = row_of(setting, table);
    if (!row) return row.error();
    table.rows.push_back(std::move(*row));
  }
  table.notes = {
      "With the same noise on the gradients the probes cost more (Theorem 2); equation 9 also takes gradient "
      "and losses "
      "of a step for releases on different samples."};
  return done;
}

}  // namespace

Item hyfreedp_theorem_2() {
  return {"hyfreedp-theorem-2",
          "mu of Theorem 2 with and without probes, beside the real epsilon",
          "Liu & Bu 2025 (HyFreeDP), Theorem 2, equation 9",
          "hyfreedp",
          noise_options(),
          compute_theorem};
}

}  // namespace hyfreedp::analytic
