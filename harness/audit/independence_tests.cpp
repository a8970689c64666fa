#include "harness/audit/independence_tests.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "harness/accounting/fft.h"
#include "harness/audit/tail.h"

namespace hyfreedp::audit {
namespace {

using Residuals = std::vector<StepResiduals>;
using Steps = std::vector<const StepResiduals*>;

constexpr const char* kGroup = "residuals";
constexpr double kMostProducts = 1.5e9;  // multiplications a test: about a second
constexpr std::size_t kFewestCoordinates = 128;
constexpr std::size_t kMostSteps = 4000;  // of all runs together, in tests of all pairs
constexpr std::size_t kLags = 8;

// Steps of each run in order.
std::map<std::int64_t, Steps> by_run(const Residuals& residuals) {
  std::map<std::int64_t, Steps> runs;
  for (const auto& one : residuals) runs[one.run].push_back(&one);
  for (auto& [run, steps] : runs) {
    std::sort(steps.begin(), steps.end(),
              [](const StepResiduals* a, const StepResiduals* b) { return a->step < b->step; });
  }
  return runs;
}

// The first steps of every run, at most kMostSteps in all: the same steps of each.
std::vector<Steps> first_steps(const Residuals& residuals) {
  const auto runs = by_run(residuals);
  const std::size_t each = std::max<std::size_t>(1, kMostSteps / runs.size());
  std::vector<Steps> chosen;
  for (const auto& [run, steps] : runs) {
    if (chosen.size() == kMostSteps) break;
    chosen.emplace_back(steps.begin(),
                        steps.begin() + static_cast<std::ptrdiff_t>(std::min(each, steps.size())));
  }
  return chosen;
}

// Single precision is plenty for a statistic that is compared at 5 deviations or more; the lanes
// let it vectorise.
double dot(const float* a, const float* b, std::size_t n) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += a[i + k] * b[i + k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

// Rows of floats of one length, in one block, with their norms.
class Rows {
 public:
  Rows(std::size_t rows, std::size_t columns) : columns_(columns), values_(rows * columns), norms_(rows) {}
  float& at(std::size_t i, std::size_t j) { return values_[i * columns_ + j]; }
  void measure() {
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      norms_[i] = std::sqrt(dot(row(i), row(i), columns_));
    }
  }
  // <row i, row j> / |row j|: N(0, 1) given row j.
  double product(std::size_t i, std::size_t j) const {
    return norms_[j] > 0 ? dot(row(i), row(j), columns_) / norms_[j] : 0;
  }
  std::size_t size() const { return norms_.size(); }

 private:
  const float* row(std::size_t i) const { return &values_[i * columns_]; }
  std::size_t columns_;
  std::vector<float> values_;
  std::vector<double> norms_;
};

struct Largest {
  double z = 0;
  std::size_t first = 0;
  std::size_t second = 0;
  double pairs = 0;

  void see(double value, std::size_t i, std::size_t j) {
    ++pairs;
    if (std::abs(value) <= z) return;
    z = std::abs(value);
    first = i;
    second = j;
  }
  double p() const { return pairs > 0 ? of_several(normal_two_sided(z), pairs) : 1; }
};

std::size_t affordable_coordinates(std::size_t dimension, double pairs) {
  const double most = kMostProducts / std::max(pairs, 1.0);
  const std::size_t wanted =
      most >= static_cast<double>(dimension) ? dimension : static_cast<std::size_t>(most);
  return std::min(dimension, std::max(wanted, kFewestCoordinates));
}

// The inner product at lags 1 .. 8 of the steps, summed over each run, the worst of the lags.
struct WorstLag {
  double p = 1;
  std::size_t lag = 0;
  double correlation = 0;
  double lags = 0;

  void see(double products, double count, std::size_t at) {
    if (count == 0) return;
    ++lags;
    const double here = autocorrelation_two_sided(products, count);
    if (here >= p) return;
    p = here;
    lag = at;
    correlation = products / count;
  }
  double of_all() const { return of_several(p, lags); }
};

WorstLag worst_step_lag(const std::map<std::int64_t, Steps>& runs) {
  WorstLag worst;
  for (std::size_t lag = 1; lag <= kLags; ++lag) {
    double sum = 0;
    double count = 0;
    for (const auto& [run, steps] : runs) {
      for (std::size_t t = lag; t < steps.size(); ++t) {
        const auto& now = steps[t]->gradient;
        sum += dot(now.data(), steps[t - lag]->gradient.data(), now.size());
        count += static_cast<double>(now.size());
      }
    }
    worst.see(sum, count, lag);
  }
  return worst;
}

struct LabelledRows {
  Rows rows;
  Steps labels;
  std::vector<std::size_t> run;  // which run a row is of
};

LabelledRows gather(const std::vector<Steps>& runs, std::size_t coordinates) {
  std::size_t total = 0;
  for (const auto& steps : runs) total += steps.size();
  LabelledRows gathered{Rows(total, coordinates), {}, {}};
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const auto* step : runs[r]) {
      const std::size_t i = gathered.labels.size();
      const std::size_t dimension = step->gradient.size();
      for (std::size_t j = 0; j < coordinates; ++j) {
        gathered.rows.at(i, j) = step->gradient[j * dimension / coordinates];
      }
      gathered.labels.push_back(step);
      gathered.run.push_back(r);
    }
  }
  gathered.rows.measure();
  return gathered;
}

// The largest inner product over pairs of one run (`same`) or of different runs.
PValue largest_product(const Residuals& residuals, bool same) {
  const auto runs = first_steps(residuals);
  double total = 0;
  double within = 0;
  for (const auto& steps : runs) {
    const auto n = static_cast<double>(steps.size());
    total += n;
    within += n * (n - 1) / 2;
  }
  const double pairs = same ? within : total * (total - 1) / 2 - within;
  const std::size_t coordinates = affordable_coordinates(residuals.front().gradient.size(), pairs);
  const auto gathered = gather(runs, coordinates);
  Largest largest;
  for (std::size_t i = 0; i < gathered.labels.size(); ++i) {
    for (std::size_t j = i + 1; j < gathered.labels.size(); ++j) {
      if ((gathered.run[i] == gathered.run[j]) == same) largest.see(gathered.rows.product(i, j), i, j);
    }
  }
  const auto* first = gathered.labels[largest.first];
  const auto* second = gathered.labels[largest.second];
  PValue found{largest.p(),
               fmt::format("the largest inner product of {:.0f} pairs of steps is {:.1f} deviations (run {}, "
                           "step {} with run {}, step {})",
                           largest.pairs, largest.z, first->run, first->step, second->run, second->step),
               {{"largest", number(largest.z)},
                {"pairs", largest.pairs},
                {"coordinates", coordinates},
                {"runs", json::array{first->run, second->run}},
                {"steps", json::array{first->step, second->step}}}};
  return found;
}

PValue across_steps(const Residuals& residuals) {
  PValue found = largest_product(residuals, true);
  const auto lags = worst_step_lag(by_run(residuals));
  found.p = of_several(std::min(found.p, lags.of_all()), 2);
  found.text += fmt::format("; successive steps correlate by {:.2g} at lag {}", lags.correlation, lags.lag);
  found.numbers["lag"] = lags.lag;
  found.numbers["correlation"] = number(lags.correlation);
  return found;
}

PValue across_runs(const Residuals& residuals) { return largest_product(residuals, false); }

// sum over steps and j of r_j r_{j + lag}, for every lag, by Wiener and Khinchin.
std::vector<double> autocorrelations(const std::vector<Steps>& runs, std::size_t dimension) {
  accounting::RealFft transform(std::max<std::size_t>(4, std::bit_ceil(2 * dimension)));
  std::vector<double> padded(transform.size());
  accounting::Spectrum spectrum;
  accounting::Spectrum power;
  power.resize(transform.size() / 2 + 1);
  for (const auto& steps : runs) {
    for (const auto* step : steps) {
      std::fill(padded.begin(), padded.end(), 0.0);
      std::copy(step->gradient.begin(), step->gradient.end(), padded.begin());
      transform.forward(padded, spectrum);
      for (std::size_t k = 0; k < power.re.size(); ++k) {
        power.re[k] += spectrum.re[k] * spectrum.re[k] + spectrum.im[k] * spectrum.im[k];
      }
    }
  }
  transform.inverse(power, padded);
  padded.resize(dimension);
  return padded;
}

// Any two of evenly spaced coordinates over the steps.
Largest largest_pair_of_coordinates(const std::vector<Steps>& runs, std::size_t dimension, double steps) {
  const auto affordable = static_cast<std::size_t>(std::sqrt(2 * kMostProducts / steps));
  const std::size_t coordinates = std::min(dimension, std::max<std::size_t>(affordable, 2));
  Rows rows(coordinates, static_cast<std::size_t>(steps));
  std::size_t t = 0;
  for (const auto& run : runs) {
    for (const auto* step : run) {
      for (std::size_t j = 0; j < coordinates; ++j) {
        rows.at(j, t) = step->gradient[j * dimension / coordinates];
      }
      ++t;
    }
  }
  rows.measure();
  Largest largest;
  for (std::size_t i = 0; i < coordinates; ++i) {
    for (std::size_t j = i + 1; j < coordinates; ++j) largest.see(rows.product(i, j), i, j);
  }
  largest.first = largest.first * dimension / coordinates;
  largest.second = largest.second * dimension / coordinates;
  return largest;
}

PValue across_coordinates(const Residuals& residuals) {
  const auto runs = first_steps(residuals);
  const std::size_t dimension = residuals.front().gradient.size();
  double steps = 0;
  for (const auto& run : runs) steps += static_cast<double>(run.size());
  const auto sums = autocorrelations(runs, dimension);
  WorstLag worst;
  for (std::size_t lag = 1; lag < dimension; ++lag) {
    worst.see(sums[lag], steps * static_cast<double>(dimension - lag), lag);
  }
  const Largest largest = largest_pair_of_coordinates(runs, dimension, steps);
  return {of_several(std::min(worst.of_all(), largest.p()), 2),
          fmt::format("coordinates correlate by {:.2g} at lag {}; the largest correlation of {:.0f} pairs of "
                      "coordinates is {:.1f} deviations ({} with {})",
                      worst.correlation, worst.lag, largest.pairs, largest.z, largest.first, largest.second),
          {{"lag", worst.lag},
           {"correlation", number(worst.correlation)},
           {"largest", number(largest.z)},
           {"pairs", largest.pairs}}};
}

// Steps with losses, a run at a time.
std::vector<Steps> probes_of(const Residuals& residuals) {
  std::vector<Steps> probes;
  for (const auto& [run, steps] : by_run(residuals)) {
    Steps with_losses;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(with_losses),
                 [](const StepResiduals* step) { return !step->losses.empty(); });
    if (!with_losses.empty()) probes.push_back(std::move(with_losses));
  }
  return probes;
}

// Loss k of every probe of all runs, one row a k.
Rows losses_by_point(const std::vector<Steps>& probes, std::size_t points) {
  std::size_t total = 0;
  for (const auto& run : probes) total += run.size();
  Rows rows(points, total);
  std::size_t t = 0;
  for (const auto& run : probes) {
    for (const auto* step : run) {
      for (std::size_t k = 0; k < points; ++k) rows.at(k, t) = static_cast<float>(step->losses[k]);
      ++t;
    }
  }
  rows.measure();
  return rows;
}

Largest among_a_probe(const std::vector<Steps>& probes, std::size_t points) {
  const Rows rows = losses_by_point(probes, points);
  Largest largest;
  for (std::size_t k = 0; k < points; ++k) {
    for (std::size_t l = k + 1; l < points; ++l) largest.see(rows.product(k, l), k, l);
  }
  return largest;
}

// The losses of a probe against those of the probe `lag` later: each pair of places, and equal
// places together.
WorstLag among_successive_probes(const std::vector<Steps>& probes, std::size_t points) {
  WorstLag worst;
  for (std::size_t lag = 1; lag <= kLags; ++lag) {
    double equal_places = 0;
    double count = 0;
    for (std::size_t k = 0; k < points * points; ++k) {
      const std::size_t later = k / points;
      const std::size_t earlier = k % points;
      double sum = 0;
      count = 0;
      for (const auto& run : probes) {
        for (std::size_t t = lag; t < run.size(); ++t) {
          sum += run[t]->losses[later] * run[t - lag]->losses[earlier];
          ++count;
        }
      }
      worst.see(sum, count, lag);
      if (later == earlier) equal_places += sum;
    }
    worst.see(equal_places, count * static_cast<double>(points), lag);
  }
  return worst;
}

// All losses of one run against those of another, probe by probe.
Largest among_runs(const std::vector<Steps>& probes, std::size_t points) {
  std::size_t shortest = probes.front().size();
  for (const auto& run : probes) shortest = std::min(shortest, run.size());
  Rows rows(probes.size(), shortest * points);
  for (std::size_t r = 0; r < probes.size(); ++r) {
    for (std::size_t t = 0; t < shortest; ++t) {
      for (std::size_t k = 0; k < points; ++k) {
        rows.at(r, t * points + k) = static_cast<float>(probes[r][t]->losses[k]);
      }
    }
  }
  rows.measure();
  Largest largest;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    for (std::size_t j = i + 1; j < probes.size(); ++j) largest.see(rows.product(i, j), i, j);
  }
  return largest;
}

PValue among_losses(const Residuals& residuals) {
  const auto probes = probes_of(residuals);
  const std::size_t points = probes.front().front()->losses.size();
  const Largest in_probe = among_a_probe(probes, points);
  const WorstLag successive = among_successive_probes(probes, points);
  const Largest runs = among_runs(probes, points);
  return {
      of_several(std::min({in_probe.p(), successive.of_all(), runs.p()}), 3),
      fmt::format("losses of one probe correlate by {:.1f} deviations at most, those of successive probes "
                  "by {:.2g} at lag {}, those of two runs by {:.1f} deviations at most",
                  in_probe.z, successive.correlation, successive.lag, runs.z),
      {{"in_a_probe", number(in_probe.z)},
       {"successive", number(successive.correlation)},
       {"runs", number(runs.z)}}};
}

PValue losses_against_gradients(const Residuals& residuals) {
  const auto probes = probes_of(residuals);
  const std::size_t points = probes.front().front()->losses.size();
  const std::size_t dimension = residuals.front().gradient.size();
  std::vector<double> norms(points, 0.0);
  std::vector<double> sums(points * dimension, 0.0);
  for (const auto& run : probes) {
    for (const auto* step : run) {
      for (std::size_t k = 0; k < points; ++k) {
        const double loss = step->losses[k];
        norms[k] += loss * loss;
        double* row = &sums[k * dimension];
        for (std::size_t j = 0; j < dimension; ++j) row[j] += loss * static_cast<double>(step->gradient[j]);
      }
    }
  }
  Largest largest;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double norm = std::sqrt(norms[i / dimension]);
    largest.see(norm > 0 ? sums[i] / norm : 0, i / dimension, i % dimension);
  }
  return {largest.p(),
          fmt::format("the largest correlation of a loss's noise with a coordinate's is {:.1f} deviations "
                      "(loss {}, coordinate {}, {:.0f} pairs)",
                      largest.z, largest.first, largest.second, largest.pairs),
          {{"largest", number(largest.z)}, {"pairs", largest.pairs}}};
}

}  // namespace

void plan_independence_tests(const Residuals& residuals, Plan& plan) {
  if (residuals.empty()) return;
  const auto add = [&](const char* name, PValue (*test)(const Residuals&)) {
    plan.push_back(p_value_test(kGroup, name, [&residuals, test] { return test(residuals); }));
  };
  const auto runs = by_run(residuals);
  const bool has_gradients = !residuals.front().gradient.empty();
  const bool has_pairs =
      std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.second.size() > 1; });
  if (has_gradients && has_pairs) add("independence across steps", across_steps);
  if (has_gradients && runs.size() > 1) add("independence across runs", across_runs);
  if (residuals.front().gradient.size() > 1) add("independence across coordinates", across_coordinates);
  if (probes_of(residuals).empty()) return;
  add("independence of the losses", among_losses);
  if (has_gradients) add("losses against gradients", losses_against_gradients);
}

}  // namespace hyfreedp::audit
