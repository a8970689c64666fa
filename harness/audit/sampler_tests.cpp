#include "harness/audit/sampler_tests.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "harness/audit/binomial.h"
#include "harness/audit/tail.h"

namespace hyfreedp::audit {
namespace {

constexpr const char* kGroup = "sampler";
constexpr double kFewestInBin = 5;

using Counts = std::vector<std::int64_t>;

std::int64_t total(const Counts& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// The smallest of several p-values, and what it is of.
class Worst {
 public:
  void see(double p, const std::string& what) {
    ++tests_;
    if (p >= p_) return;
    p_ = p;
    what_ = what;
  }
  double p() const { return of_several(p_, tests_); }
  const std::string& what() const { return what_; }

 private:
  double p_ = 2;
  double tests_ = 0;
  std::string what_;
};

std::string range(std::int64_t from, std::int64_t to) {
  return from == to ? fmt::format("equal to {}", from) : fmt::format("from {} to {}", from, to);
}

// Values in [from, to] and at or below `to`: both counts are binomial.
void see_bin(const Counts& sorted, std::int64_t n, double p, std::int64_t from, std::int64_t to,
             Worst& worst) {
  const auto size = static_cast<std::int64_t>(sorted.size());
  const auto at_most = [&](std::int64_t k) {
    return std::upper_bound(sorted.begin(), sorted.end(), k) - sorted.begin();
  };
  const double below = binomial_at_most(from - 1, n, p);
  const double up_to = binomial_at_most(to, n, p);
  const std::int64_t inside = at_most(to) - at_most(from - 1);
  const double chance = std::max(0.0, up_to - below);
  const auto expected = [&](double of) { return of * static_cast<double>(size); };
  worst.see(binomial_two_sided(inside, size, chance),
            fmt::format("{} of {} are {} where {:.1f} are expected", inside, size, range(from, to),
                        expected(chance)));
  worst.see(binomial_two_sided(at_most(to), size, up_to),
            fmt::format("{} of {} are at most {} where {:.1f} are expected", at_most(to), size, to,
                        expected(up_to)));
}

// Consecutive bins of n-trial counts, each expected to hold at least kFewestInBin of `size` values.
void see_bins(const Counts& sorted, std::int64_t n, double p, Worst& worst) {
  const auto size = static_cast<double>(sorted.size());
  const double mean = static_cast<double>(n) * p;
  const double deviation = std::sqrt(mean * (1 - p));
  const auto last = std::min(n, static_cast<std::int64_t>(mean + 8 * deviation + 8));
  std::int64_t from = 0;
  double before = 0;
  for (std::int64_t to = std::max<std::int64_t>(0, static_cast<std::int64_t>(mean - 8 * deviation - 8));
       to <= last; ++to) {
    const double up_to = binomial_at_most(to, n, p);
    if (size * (up_to - before) < kFewestInBin || size * (1 - up_to) < kFewestInBin) continue;
    see_bin(sorted, n, p, from, to, worst);
    from = to + 1;
    before = up_to;
  }
}

void see_extremes(const Counts& sorted, std::int64_t n, double p, Worst& worst) {
  const auto size = static_cast<double>(sorted.size());
  worst.see(of_several(binomial_at_most(sorted.front(), n, p), size),
            fmt::format("the smallest is {}", sorted.front()));
  worst.see(of_several(binomial_at_least(sorted.back(), n, p), size),
            fmt::format("the largest is {}", sorted.back()));
}

// Are `values` independent draws of Bin(n, p)?
Worst judge_binomial(Counts values, std::int64_t n, double p) {
  Worst worst;
  if (values.empty()) return worst;
  const auto size = static_cast<std::int64_t>(values.size());
  worst.see(binomial_two_sided(total(values), size * n, p),
            fmt::format("they average {:.5g} where {:.5g} is expected",
                        static_cast<double>(total(values)) / static_cast<double>(size),
                        static_cast<double>(n) * p));
  std::sort(values.begin(), values.end());
  see_extremes(values, n, p, worst);
  see_bins(values, n, p, worst);
  return worst;
}

// Variance over that of Bin(n, p).
double dispersion(const Counts& values, double n, double p) {
  double squares = 0;
  for (const auto value : values) {
    const double off = static_cast<double>(value) - n * p;
    squares += off * off;
  }
  return squares / (static_cast<double>(values.size()) * n * p * (1 - p));
}

PValue describe(const Counts& values, std::int64_t n, double p, const Worst& worst, const std::string& what) {
  const double spread = dispersion(values, static_cast<double>(n), p);
  return {
      worst.p(),
      fmt::format("{} {} against Bin({}, {:.4g}): variance {:.3f} times the expected one; least likely: {}",
                  values.size(), what, n, p, spread, worst.what()),
      {{"dispersion", number(spread)}, {"values", values.size()}}};
}

PValue batch_sizes(const SamplerCounts& counts) {
  return describe(counts.sizes, counts.population, counts.sample_rate,
                  judge_binomial(counts.sizes, counts.population, counts.sample_rate), "batch sizes");
}

PValue inclusions(const SamplerCounts& counts) {
  const auto batches = static_cast<std::int64_t>(counts.sizes.size());
  return describe(counts.inclusions, batches, counts.sample_rate,
                  judge_binomial(counts.inclusions, batches, counts.sample_rate), "inclusion counts");
}

// Pairs that share a record are not independent, so every other pair is judged at a time.
PValue pairs(const SamplerCounts& counts) {
  const auto batches = static_cast<std::int64_t>(counts.sizes.size());
  const double rate = counts.sample_rate * counts.sample_rate;
  Worst worst;
  for (std::size_t start = 0; start < 2; ++start) {
    Counts every_other;
    for (std::size_t i = start; i < counts.pair_together.size(); i += 2) {
      every_other.push_back(counts.pair_together[i]);
    }
    if (every_other.empty()) continue;
    const Worst half = judge_binomial(std::move(every_other), batches, rate);
    worst.see(half.p(), half.what());
  }
  return describe(counts.pair_together, batches, rate, worst, "counts of neighbours together");
}

}  // namespace

Result<void> check_samplers(const std::vector<SamplerCounts>& samplers) {
  for (const auto& counts : samplers) {
    const auto population = static_cast<std::size_t>(counts.population);
    const std::string where = "The sampler counts of '" + counts.batch + "'";
    if (!(counts.sample_rate > 0 && counts.sample_rate < 1) || counts.population < 1) {
      return error(where + " need a population of at least 1 and a sampling rate inside (0, 1).");
    }
    if (counts.inclusions.size() != population || counts.pair_together.size() + 1 != population) {
      return error(
          fmt::format("{} must have one inclusion count a record ({}) and one a pair of neighbours; "
                      "they have {} and {}.",
                      where, population, counts.inclusions.size(), counts.pair_together.size()));
    }
    if (counts.sizes.empty()) return error(where + " contain no batch.");
    if (total(counts.sizes) != total(counts.inclusions)) {
      return error(
          fmt::format("{} contradict each other: the batch sizes add up to {}, the inclusions to {}.", where,
                      total(counts.sizes), total(counts.inclusions)));
    }
  }
  return {};
}

void plan_sampler_tests(const std::vector<SamplerCounts>& samplers, Plan& plan) {
  for (const auto& counts : samplers) {
    const auto add = [&](const char* name, PValue (*test)(const SamplerCounts&)) {
      plan.push_back(p_value_test(kGroup, fmt::format("{}, {}", name, counts.batch),
                                  [&counts, test] { return test(counts); }));
    };
    add("batch sizes", batch_sizes);
    add("inclusions", inclusions);
    if (!counts.pair_together.empty()) add("pairs", pairs);
  }
}

}  // namespace hyfreedp::audit
