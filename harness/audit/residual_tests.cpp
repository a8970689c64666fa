#include "harness/audit/residual_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <span>

#include "harness/accounting/normal.h"
#include "harness/audit/binomial.h"
#include "harness/audit/tail.h"

namespace hyfreedp::audit {
namespace {

using Residuals = std::vector<StepResiduals>;

constexpr const char* kGroup = "residuals";
// Sorting more entries than this takes longer than what they would add.
constexpr std::size_t kMostSorted = 4'000'000;

double cdf(double x) { return x > 0 ? 1 - accounting::normal_tail(x) : accounting::normal_tail(-x); }

bool any_gradient(const Residuals& residuals) {
  return std::any_of(residuals.begin(), residuals.end(),
                     [](const StepResiduals& one) { return !one.gradient.empty(); });
}

bool any_loss(const Residuals& residuals) {
  return std::any_of(residuals.begin(), residuals.end(),
                     [](const StepResiduals& one) { return !one.losses.empty(); });
}

double sum_of_squares(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

PValue scale_of(double squares, double n, const char* what) {
  return {chi_square_two_sided(squares, n),
          fmt::format("{} has {:.5f} times the claimed standard deviation (+-{:.5f}, {:.0f} values)", what,
                      std::sqrt(squares / n), 1 / std::sqrt(2 * n), n),
          {{"scale", number(std::sqrt(squares / n))}, {"values", n}}};
}

PValue gradient_scale(const Residuals& residuals) {
  double squares = 0;
  double n = 0;
  for (const auto& one : residuals) {
    squares += sum_of_squares(one.gradient);
    n += static_cast<double>(one.gradient.size());
  }
  return scale_of(squares, n, "gradient noise");
}

// Three views of the mean over `rows` of rows of one length: grand, per column together, the
// largest column.
class ColumnMeans {
 public:
  explicit ColumnMeans(std::size_t columns) : sums_(columns, 0.0) {}

  template <class T>
  void add(std::span<const T> row) {
    for (std::size_t j = 0; j < row.size(); ++j) sums_[j] += static_cast<double>(row[j]);
    ++rows_;
  }

  PValue judge(const char* what) const {
    const auto columns = static_cast<double>(sums_.size());
    const double root = std::sqrt(static_cast<double>(rows_));
    double total = 0;
    double squares = 0;
    double largest = 0;
    for (const double sum : sums_) {
      const double z = sum / root;
      total += z;
      squares += z * z;
      if (!(std::abs(z) <= largest)) largest = std::abs(z);
    }
    const double p =
        std::min({normal_two_sided(total / std::sqrt(columns)), chi_square_two_sided(squares, columns),
                  of_several(normal_two_sided(largest), columns)});
    return {of_several(p, 3),
            fmt::format("{} averages {:.2g} noise deviations over {} steps; the {:.0f} means per coordinate "
                        "vary {:.3f} times what chance gives, the largest lies {:.1f} deviations out",
                        what, total / (columns * root), rows_, columns, squares / columns, largest),
            {{"mean", number(total / (columns * root))},
             {"variance_of_means", number(squares / columns)},
             {"largest", number(largest)}}};
  }

 private:
  std::vector<double> sums_;
  std::int64_t rows_ = 0;
};

PValue gradient_mean(const Residuals& residuals) {
  ColumnMeans means(residuals.front().gradient.size());
  for (const auto& one : residuals) means.add(std::span<const float>(one.gradient));
  return means.judge("gradient noise");
}

// Distance from N(0, 1) of a sample, and the counts beyond 3, 4 and 5 of all `n` values.
PValue shape_of(std::vector<float> sample, const std::array<std::int64_t, 3>& beyond, std::int64_t n,
                const char* what) {
  std::sort(sample.begin(), sample.end());
  const auto size = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double here = cdf(static_cast<double>(sample[i]));
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, here - rank / size, (rank + 1) / size - here});
  }
  double p = kolmogorov_tail(distance, static_cast<std::int64_t>(sample.size()));
  for (std::size_t k = 0; k < beyond.size(); ++k) {
    p = std::min(p,
                 binomial_two_sided(beyond[k], n, 2 * accounting::normal_tail(3.0 + static_cast<double>(k))));
  }
  return {of_several(p, 4),
          fmt::format("{}: its distribution is at most {:.2g} away from N(0, 1); {} values beyond 4 where "
                      "{:.1f} are expected",
                      what, distance, beyond[1], static_cast<double>(n) * 2 * accounting::normal_tail(4)),
          {{"distance", number(distance)}, {"beyond_4", beyond[1]}}};
}

// Counts what lies beyond 3, 4 and 5 and keeps every stride-th value.
class ShapeSample {
 public:
  explicit ShapeSample(std::size_t total) : stride_(std::max<std::size_t>(1, total / kMostSorted)) {}

  void add(double value) {
    for (std::size_t k = 0; k < beyond_.size(); ++k) {
      if (std::abs(value) > 3.0 + static_cast<double>(k)) ++beyond_[k];
    }
    if (seen_++ % stride_ == 0) kept_.push_back(static_cast<float>(value));
  }
  PValue judge(const char* what) && {
    return shape_of(std::move(kept_), beyond_, static_cast<std::int64_t>(seen_), what);
  }

 private:
  std::size_t stride_;
  std::size_t seen_ = 0;
  std::array<std::int64_t, 3> beyond_{};
  std::vector<float> kept_;
};

PValue gradient_shape(const Residuals& residuals) {
  ShapeSample sample(residuals.size() * residuals.front().gradient.size());
  for (const auto& one : residuals) {
    for (const float value : one.gradient) sample.add(static_cast<double>(value));
  }
  return std::move(sample).judge("gradient noise");
}

PValue along_sum(const Residuals& residuals) {
  double squares = 0;
  double sum = 0;
  double n = 0;
  for (const auto& one : residuals) {
    if (std::isnan(one.along_sum)) continue;
    squares += one.along_sum * one.along_sum;
    sum += one.along_sum;
    ++n;
  }
  const double p = std::min(chi_square_two_sided(squares, n), normal_two_sided(sum / std::sqrt(n)));
  return {of_several(p, 2),
          fmt::format("along the clipped sum the residual has {:.4f} times the noise's deviation and mean "
                      "{:.2g} over {:.0f} steps",
                      std::sqrt(squares / n), sum / n, n),
          {{"scale", number(std::sqrt(squares / n))}, {"mean", number(sum / n)}, {"steps", n}}};
}

PValue scale_against_size(const Residuals& residuals) {
  double mean = 0;
  for (const auto& one : residuals) mean += static_cast<double>(one.batch_size);
  mean /= static_cast<double>(residuals.size());
  double form = 0;
  double squares = 0;
  double largest = 0;
  for (const auto& one : residuals) {
    const auto dimension = static_cast<double>(one.gradient.size());
    const double weight = static_cast<double>(one.batch_size) - mean;
    form += weight * (sum_of_squares(one.gradient) - dimension);
    squares += weight * weight * dimension;
    largest = std::max(largest, std::abs(weight));
  }
  const double slope = squares > 0 ? form / squares * mean : 0;
  const double p = squares > 0 ? quadratic_form_two_sided(form, squares, largest) : 1;
  return {
      p,
      fmt::format("the noise's variance goes with the realised batch size to the power {:.3f} (0 when the "
                  "divisor is fixed, -2 when it is the batch size)",
                  slope),
      {{"slope", number(slope)}}};
}

PValue loss_scale(const Residuals& residuals) {
  double squares = 0;
  double n = 0;
  for (const auto& one : residuals) {
    for (const double loss : one.losses) squares += loss * loss;
    n += static_cast<double>(one.losses.size());
  }
  return scale_of(squares, n, "loss noise");
}

PValue loss_mean(const Residuals& residuals) {
  const auto first = std::find_if(residuals.begin(), residuals.end(),
                                  [](const StepResiduals& one) { return !one.losses.empty(); });
  ColumnMeans means(first->losses.size());
  for (const auto& one : residuals) {
    if (!one.losses.empty()) means.add(std::span<const double>(one.losses));
  }
  return means.judge("loss noise");
}

PValue loss_shape(const Residuals& residuals) {
  std::size_t total = 0;
  for (const auto& one : residuals) total += one.losses.size();
  ShapeSample sample(total);
  for (const auto& one : residuals) {
    for (const double loss : one.losses) sample.add(loss);
  }
  return std::move(sample).judge("loss noise");
}

}  // namespace

Result<void> check_residuals(const Residuals& residuals) {
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  std::size_t losses = 0;
  for (const auto& one : residuals) {
    if (one.gradient.size() != residuals.front().gradient.size()) {
      return error(
          fmt::format("The residuals of run {}, step {} have {} coordinates, others {}; an audit "
                      "compares vectors of one length.",
                      one.run, one.step, one.gradient.size(), residuals.front().gradient.size()));
    }
    if (!one.losses.empty() && losses != 0 && one.losses.size() != losses) {
      return error(
          fmt::format("The probe of run {}, step {} has {} losses, others {}; an audit compares "
                      "probes of one size.",
                      one.run, one.step, one.losses.size(), losses));
    }
    if (!one.losses.empty()) losses = one.losses.size();
    if (!seen.insert({one.run, one.step}).second) {
      return error(fmt::format("The residuals of run {}, step {} were given twice.", one.run, one.step));
    }
  }
  return {};
}

bool plan_finiteness_test(const Residuals& residuals, Plan& plan) {
  for (const auto& one : residuals) {
    const auto finite = [](double value) { return std::isfinite(value); };
    if (!std::isinf(one.along_sum) && std::all_of(one.gradient.begin(), one.gradient.end(), finite) &&
        std::all_of(one.losses.begin(), one.losses.end(), finite)) {
      continue;
    }
    plan.push_back(
        {kGroup, "finite values", 0, [&one](double) -> Result<Finding> {
           Finding finding;
           finding.refuted = true;
           finding.text = fmt::format(
               "what run {} released at step {} is not a finite number; no other test of residuals "
               "was made",
               one.run, one.step);
           return finding;
         }});
    return false;
  }
  return true;
}

void plan_residual_tests(const Residuals& residuals, Plan& plan) {
  const auto add = [&](const char* name, PValue (*test)(const Residuals&)) {
    plan.push_back(p_value_test(kGroup, name, [&residuals, test] { return test(residuals); }));
  };
  if (any_gradient(residuals)) {
    add("noise scale", gradient_scale);
    add("noise mean", gradient_mean);
    add("noise shape", gradient_shape);
    add("scale against batch size", scale_against_size);
  }
  if (std::any_of(residuals.begin(), residuals.end(),
                  [](const StepResiduals& one) { return !std::isnan(one.along_sum); })) {
    add("along the clipped sum", along_sum);
  }
  if (any_loss(residuals)) {
    add("loss noise scale", loss_scale);
    add("loss noise mean", loss_mean);
    add("loss noise shape", loss_shape);
  }
}

}  // namespace hyfreedp::audit
