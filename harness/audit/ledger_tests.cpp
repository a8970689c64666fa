#include "harness/audit/ledger_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "harness/accounting/mechanism.h"
#include "harness/audit/simulation.h"
#include "harness/audit/tail.h"

namespace hyfreedp::audit {
namespace {

using Mechanisms = std::vector<accounting::Mechanism>;

constexpr const char* kGroup = "ledger";
constexpr const char* kOnlyGaussian =
    "The ledger audit simulates Gaussian releases on Poisson or full batches only.";
constexpr std::array<double, 3> kLooks = {1.0 / 16, 1.0 / 4, 1.0};
constexpr double kDirections = 2;
constexpr double kShareOfAdd = 0.25;

// The booked releases, counted as a run's releases are.
struct Booked {
  std::int64_t gradients = 0;
  std::int64_t probes_shared = 0;
  std::int64_t probes_separate = 0;
};

std::int64_t releases_for(const accounting::Batch& batch, std::string_view purpose) {
  std::int64_t count = 0;
  for (const auto& release : batch.releases) {
    if (release.purpose == purpose) count += release.count;
  }
  return count;
}

void count_booked(const std::vector<accounting::Event>& events, std::int64_t times, std::int64_t losses,
                  Booked& booked) {
  for (const auto& event : events) {
    if (const auto* repeat = std::get_if<accounting::Repeat>(&event.what)) {
      count_booked(repeat->base, times * repeat->count, losses, booked);
    }
    const auto* batch = std::get_if<accounting::Batch>(&event.what);
    if (batch == nullptr) continue;
    const std::int64_t count = batch->count * times;
    const std::int64_t gradients = releases_for(*batch, "gradient") + releases_for(*batch, "loss-change");
    const bool has_probe = losses > 0 && releases_for(*batch, "probe") >= losses;
    booked.gradients += gradients * count;
    if (has_probe) (gradients > 0 ? booked.probes_shared : booked.probes_separate) += count;
  }
}

// The lower bound from the values seen so far, each in [0, bound].
struct Running {
  double sum = 0;
  std::int64_t count = 0;
  double estimate() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  double lower(double bound, double rate) const {
    return bound * hoeffding_lower_bound(std::min(1.0, estimate() / bound), count, rate);
  }
};

// One direction of one split's events.
class Simulation {
 public:
  Simulation(const Mechanisms& mechanisms, double epsilon, bool remove, const std::string& seed)
      : mechanisms_(mechanisms),
        epsilon_(epsilon),
        remove_(remove),
        tilt_(remove ? best_tilt(mechanisms, epsilon) : untilted(mechanisms)),
        bound_(1),
        key_(random::key_from_seed("hyfreedp audit, simulated delta: " + seed)) {
    if (!remove) return;
    // If tilting does not bound X below 1, P itself is the better choice.
    if (tilt_.log_bound >= 0) tilt_ = untilted(mechanisms);
    if (tilt_.order > 1) bound_ = std::exp(tilt_.log_bound);
  }

  void go_on_until(std::int64_t runs) {
    const std::int64_t count = runs - seen_.count;
    if (count <= 0) return;
    const auto losses = remove_ ? draw_tilted(tilt_, key_, seen_.count, count)
                                : draw_added(mechanisms_, key_, seen_.count, count);
    for (const double loss : losses) seen_.sum += value(loss);
    seen_.count = runs;
  }
  double lower(double rate) const { return seen_.lower(bound_, rate); }
  double estimate() const { return seen_.estimate(); }
  std::int64_t runs() const { return seen_.count; }

 private:
  double value(double loss) const {
    if (loss <= epsilon_) return 0;
    const double excess = -std::expm1(epsilon_ - loss);
    const double theta = remove_ ? tilt_.order - 1.0 : 0.0;
    return theta > 0 ? std::exp(tilt_.log_normaliser - theta * loss) * excess : excess;
  }

  const Mechanisms& mechanisms_;
  double epsilon_;
  bool remove_;
  Tilt tilt_;
  double bound_;
  random::Key key_;
  Running seen_;
};

Result<std::vector<accounting::SplitContent>> gaussian_contents(
    const std::vector<accounting::Event>& executed) {
  auto contents = accounting::split_contents({accounting::Neighbouring::add_remove, executed});
  if (!contents) return in_context("Ledger audit", contents.error());
  for (const auto& content : *contents) {
    const bool gaussian =
        content.selections.empty() &&
        std::all_of(content.mechanisms.begin(), content.mechanisms.end(),
                    [](const auto& one) { return one.noise == accounting::Noise::gaussian; });
    if (!gaussian) return error(kOnlyGaussian);
  }
  return contents;
}

// The larger of both directions; `rate` is for both.
SimulatedDelta simulate_split(const Mechanisms& mechanisms, double epsilon, double delta, double rate,
                              const SimulationBudget& budget) {
  double steps = 0;
  for (const auto& mechanism : mechanisms) steps += static_cast<double>(mechanism.count);
  const auto affordable = static_cast<std::int64_t>(budget.draws / steps);
  const std::int64_t most = std::clamp<std::int64_t>(affordable, 64, std::max<std::int64_t>(64, budget.most));
  const double rate_a_look = rate / (kDirections * static_cast<double>(kLooks.size()));
  SimulatedDelta found;
  std::array<Simulation, 2> directions = {Simulation(mechanisms, epsilon, true, budget.seed),
                                          Simulation(mechanisms, epsilon, false, budget.seed)};
  for (const double look : kLooks) {
    found.runs = 0;
    found.lower = -1;
    for (auto& direction : directions) {
      const bool remove = &direction == directions.data();
      direction.go_on_until(
          static_cast<std::int64_t>(look * static_cast<double>(most) * (remove ? 1 : kShareOfAdd)));
      found.runs += direction.runs();
      const double lower = direction.lower(rate_a_look);
      if (lower <= found.lower) continue;
      found.lower = lower;
      found.estimate = direction.estimate();
      found.direction = remove ? "remove" : "add";
    }
    found.refuted = found.lower > delta;
    if (found.refuted) break;
  }
  return found;
}

Finding completeness(const std::vector<RunReleases>& runs) {
  Finding finding;
  std::int64_t gradients = 0;
  std::int64_t probes = 0;
  for (const auto& run : runs) {
    gradients += run.gradients;
    probes += run.probes_shared + run.probes_separate;
    const std::string missing = missing_from_ledger(run);
    if (missing.empty() || finding.refuted) continue;
    finding.refuted = true;
    finding.text = fmt::format("run {}: {}", run.run, missing);
  }
  if (!finding.refuted) {
    finding.text =
        fmt::format("all {} vectors and {} probes of {} runs are booked on the batch they were computed on",
                    gradients, probes, runs.size());
  }
  finding.numbers = {{"gradients", gradients}, {"probes", probes}, {"runs", runs.size()}};
  return finding;
}

bool has_laplace(const std::vector<accounting::Event>& events) {
  return std::any_of(events.begin(), events.end(), [](const accounting::Event& event) {
    const auto* batch = std::get_if<accounting::Batch>(&event.what);
    return batch != nullptr &&
           std::any_of(batch->releases.begin(), batch->releases.end(),
                       [](const auto& one) { return one.noise == accounting::Noise::laplace; });
  });
}

Result<Finding> simulated_finding(const std::vector<accounting::Event>& executed, const Claim& claim,
                                  double rate) {
  if (has_laplace(executed)) {
    Finding finding;
    finding.text = "not simulated: some releases have Laplace noise. " + std::string(kOnlyGaussian);
    return finding;
  }
  const auto found = simulate_delta(executed, claim.epsilon, claim.delta, rate);
  if (!found) return found.error();
  Finding finding;
  finding.refuted = found->refuted;
  finding.text = fmt::format(
      "delta at epsilon {:.6g} is {:.3g} and at least {:.3g} in {} simulated runs ({:.3g} is "
      "claimed, {} direction)",
      claim.epsilon, found->estimate, found->lower, found->runs, claim.delta, found->direction);
  finding.numbers = {{"delta", number(found->estimate)},
                     {"delta_lower", number(found->lower)},
                     {"claimed_delta", number(claim.delta)},
                     {"runs", found->runs},
                     {"direction", found->direction}};
  return finding;
}

// Runs by the text of their events; most audits have one kind.
std::map<std::string, std::vector<std::int64_t>> kinds_of(const std::vector<RunReleases>& runs) {
  std::map<std::string, std::vector<std::int64_t>> kinds;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    json::array events;
    for (const auto& event : runs[i].executed) events.push_back(accounting::event_to_json(event));
    kinds[canonical_json(events)].push_back(static_cast<std::int64_t>(i));
  }
  return kinds;
}

}  // namespace

Result<SimulatedDelta> simulate_delta(const std::vector<accounting::Event>& executed, double epsilon,
                                      double delta, double rate, const SimulationBudget& budget) {
  const auto contents = gaussian_contents(executed);
  if (!contents) return contents.error();
  SimulatedDelta worst;
  const auto splits = static_cast<double>(contents->size());
  for (const auto& content : *contents) {
    const auto found = simulate_split(content.mechanisms, epsilon, delta, rate / splits, budget);
    if (worst.direction.empty() || found.lower > worst.lower) worst = found;
  }
  return worst;
}

std::string missing_from_ledger(const RunReleases& run) {
  Booked booked;
  count_booked(run.executed, 1, run.losses_per_probe, booked);
  if (run.gradients != run.steps) {
    return fmt::format(
        "{} steps handed out {} vectors; a step without one shows that its batch was empty, one with "
        "more is not priced",
        run.steps, run.gradients);
  }
  if (booked.gradients < run.gradients) {
    return fmt::format("{} vectors were released, {} are booked", run.gradients, booked.gradients);
  }
  if (booked.probes_shared < run.probes_shared) {
    return fmt::format("{} probes were computed on the gradient's batch, {} are booked as releases of it",
                       run.probes_shared, booked.probes_shared);
  }
  if (booked.probes_separate < run.probes_separate) {
    return fmt::format("{} probes were computed on a batch of their own, {} are booked so",
                       run.probes_separate, booked.probes_separate);
  }
  return "";
}

void plan_ledger_tests(const std::vector<RunReleases>& runs, const Claim& claim, Plan& plan) {
  if (runs.empty()) return;
  plan.push_back(
      {kGroup, "completeness", 0, [&runs](double) -> Result<Finding> { return completeness(runs); }});
  const auto kinds = kinds_of(runs);
  for (const auto& [text, members] : kinds) {
    const auto& executed = runs[static_cast<std::size_t>(members.front())].executed;
    if (executed.empty()) continue;
    const std::string name = kinds.size() == 1
                                 ? "simulated delta"
                                 : fmt::format("simulated delta, {} runs like run {}", members.size(),
                                               runs[static_cast<std::size_t>(members.front())].run);
    plan.push_back({kGroup, name, 1,
                    [&executed, &claim](double rate) { return simulated_finding(executed, claim, rate); }});
  }
}

}  // namespace hyfreedp::audit
