#include "datasets/scores/classes.h"

#include <cmath>
#include <map>

#include "harness/base/result.h"

namespace hyfreedp::scores {
namespace {

void check_lengths(std::span<const std::int64_t> predicted, std::span<const std::int64_t> classes) {
  HYFREEDP_CHECK(!classes.empty() && predicted.size() == classes.size(), "each class needs its prediction");
}

}  // namespace

double binary_f1(std::span<const std::int64_t> predicted, std::span<const std::int64_t> classes) {
  check_lengths(predicted, classes);
  double both = 0, either = 0;  // sums of the two counts: 2 tp, 2 tp + fp + fn
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (predicted[i] == 1 && classes[i] == 1) both += 2;
    either += (predicted[i] == 1 ? 1 : 0) + (classes[i] == 1 ? 1 : 0);
  }
  return either == 0 ? 0 : both / either;
}

double matthews_correlation(std::span<const std::int64_t> predicted, std::span<const std::int64_t> classes) {
  check_lengths(predicted, classes);
  const auto count = static_cast<double>(classes.size());
  double right = 0;
  std::map<std::int64_t, std::pair<double, double>> times;  // predicted, there
  for (std::size_t i = 0; i < classes.size(); ++i) {
    right += predicted[i] == classes[i] ? 1 : 0;
    ++times[predicted[i]].first;
    ++times[classes[i]].second;
  }
  double products = 0, predictions = 0, truths = 0;
  for (const auto& [one, of] : times) {
    products += of.first * of.second;
    predictions += of.first * of.first;
    truths += of.second * of.second;
  }
  const double variances = (count * count - predictions) * (count * count - truths);
  const double covariance = right * count - products;
  return variances == 0 ? 0 : covariance / std::sqrt(variances);
}

}  // namespace hyfreedp::scores
