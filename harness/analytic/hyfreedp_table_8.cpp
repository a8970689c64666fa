#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/hyfreedp_noises.h"
#include "harness/analytic/items.h"
#include "harness/mechanism/probe_split.h"

namespace hyfreedp::analytic {
namespace {

using accounting::Events;
using accounting::Noise;

Events gradients(const NoiseSetting& setting, double sigma) {
  return {accounting::Neighbouring::add_remove,
          {accounting::poisson_gaussian(setting.sample_rate(), sigma, setting.steps)}};
}

// 100 (1 - part / whole).
double share(double part, double whole) { return 100 * (1 - part / whole); }

struct Shares {
  double claimed = 0;  // of epsilon, as published: RDP, every release on a sample of its own
  double sound = 0;    // of the published noises' real epsilon, PLD
  double squared = 0;  // of mu^2, equation 9
};

Result<Shares> shares_of(const NoiseSetting& setting) {
  const auto noises = paper_noises(setting, "rdp", Noise::gaussian);
  if (!noises) return noises.error();
  const auto by_rdp = accounting::epsilon_rdp(gradients(setting, noises->sigma_g), setting.delta());
  if (!by_rdp) return by_rdp.error();
  const auto by_pld = accounting::epsilon_pld(gradients(setting, noises->sigma_g), setting.delta());
  if (!by_pld) return by_pld.error();
  mechanism::ProbeSplitRequest request;
  request.plan = mechanism::probing_plan(setting.sample_rate(), setting.interval, setting.points);
  request.steps = setting.steps;
  const auto whole = accounting::epsilon_pld(
      mechanism::probe_events(request, noises->sigma_g, noises->sigma_l), setting.delta());
  if (!whole) return whole.error();
  const auto gdp = paper_noises(setting, "gdp", Noise::gaussian);
  const auto mu = accounting::gdp_mu(setting.epsilon, setting.delta());
  if (!gdp) return gdp.error();
  if (!mu) return mu.error();
  const double kept = clt_mu_squared(setting.sample_rate(), static_cast<double>(setting.steps),
                                     Noise::gaussian, gdp->sigma_g);
  return Shares{share(by_rdp->epsilon, setting.epsilon), share(by_pld->epsilon, whole->epsilon),
                share(kept, *mu * *mu)};
}

// The bound of "<1"; empty where values.json has no such cell.
std::optional<double> printed_bound(const PaperValues& paper) {
  const auto text = paper.text("8", {"HyFreeDP"}, {"budget share"});
  if (!text || text->empty() || text->front() != '<') return std::nullopt;
  return std::stod(text->substr(1));
}

results::ValueCell share_cell(double ours, std::optional<double> bound, results::ValueTable& table) {
  auto cell = ours_alone(ours, 2);
  if (bound && ours >= *bound) {
    footnote(table, cell, fmt::format("Not below the {} % that the paper prints.", *bound));
  }
  return cell;
}

Result<Analytic> compute_table(const json::object& resolved, const PaperValues& paper) {
  const auto base = read_options<NoiseSetting>(resolved);
  const auto bound = printed_bound(paper);
  Analytic done;
  auto& table = done.table;
  table.name = "hyfreedp-table-8";
  table.title = "Share of the budget that HyFreeDP's probes take";
  table.unit = std::string("%");
  table.description =
      "100 (1 - epsilon of the gradients alone / epsilon of all) with the published noises. " +
      describe(base) + " unless a row says otherwise.";
  table.row_fields = {"epsilon", "gamma"};
  table.columns = {"of epsilon, as claimed (RDP)", "of epsilon really spent (PLD)", "of mu^2 (equation 9)",
                   "the paper"};
  table.footnotes = assumed_notes(base);
  for (const double epsilon : {1.0, 3.0, 8.0}) {
    for (const double gamma : {1.001, base.gamma}) {
      auto setting = base;
      setting.epsilon = epsilon;
      setting.gamma = gamma;
      const auto shares = shares_of(setting);
      if (!shares) return shares.error();
      results::ValueRow row{{fmt::format("{}", epsilon), fmt::format("{}", gamma)}, {}};
      for (const double ours : {shares->claimed, shares->sound, shares->squared})
        row.cells.push_back(share_cell(ours, bound, table));
      row.cells.push_back(words(bound ? fmt::format("<{}", *bound) : "-"));
      table.rows.push_back(std::move(row));
    }
  }
  if (bound) {
    table.footnotes.push_back(
        "One per cent more gradient noise (gamma = 1.01) is more than one per cent of the budget: epsilon "
        "falls faster than the "
        "noise grows.");
    table.footnotes.push_back(
        "The paper's table gives DP-hyper about 20 % of the budget for the search; its section 5 leaves 85 % "
        "for training.");
  }
  return done;
}

}  // namespace

Item hyfreedp_table_8() {
  return {"hyfreedp-table-8",
          "Share of the budget that HyFreeDP's probes take",
          "Liu & Bu 2025 (HyFreeDP), table 8, section 4.2",
          "hyfreedp",
          noise_options(),
          compute_table};
}

}  // namespace hyfreedp::analytic
