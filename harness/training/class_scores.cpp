#include "harness/training/class_scores.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <limits>
#include <numeric>

#include "datasets/scores/classes.h"

namespace hyfreedp::training {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return kNone;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<std::int64_t> numbers_of(const std::vector<at::Tensor>& parts) {
  const auto all = at::cat(parts).contiguous();
  return {all.data_ptr<std::int64_t>(), all.data_ptr<std::int64_t>() + all.numel()};
}

}  // namespace

double area_under_curve(const std::vector<double>& scores, const std::vector<bool>& is_of_class) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return scores[i]; });
  // The Mann-Whitney statistic: pairs in which the class's sample has the larger score.
  double below = 0, pairs = 0, members = 0;
  for (std::size_t i = 0; i < order.size();) {
    double others = 0, own = 0;
    const double score = scores[order[i]];
    for (; i < order.size() && scores[order[i]] == score; ++i) (is_of_class[order[i]] ? own : others) += 1;
    pairs += own * (below + others / 2);
    below += others;
    members += own;
  }
  return pairs / (members * below);
}

void ClassScores::add(const at::Tensor& logits, const at::Tensor& labels) {
  // A diverged network's outputs are ordered last.
  probabilities_.push_back(at::nan_to_num(logits.to(at::kDouble).softmax(-1), -1).cpu());
  labels_.push_back(labels.to(at::kLong).cpu());
  predicted_.push_back(logits.argmax(-1).to(at::kLong).cpu());
}

double ClassScores::macro_accuracy() const {
  if (labels_.empty()) return kNone;
  const auto labels = at::cat(labels_), right = (at::cat(predicted_) == labels).to(at::kLong);
  const auto classes = probabilities_.front().size(1);
  const auto counts = at::bincount(labels, {}, classes), hits = at::bincount(labels, right, classes);
  std::vector<double> accuracies;
  for (std::int64_t c = 0; c < classes; ++c) {
    const auto count = counts[c].item<double>();
    if (count > 0) accuracies.push_back(hits[c].item<double>() / count);
  }
  return mean_of(accuracies);
}

double ClassScores::auc() const {
  if (labels_.empty()) return kNone;
  const auto labels = at::cat(labels_), probabilities = at::cat(probabilities_);
  const auto classes = probabilities.size(1);
  std::vector<double> areas;
  for (std::int64_t c = classes == 2 ? 1 : 0; c < classes; ++c) {
    const auto own = (labels == c).contiguous(), scores = probabilities.select(1, c).contiguous();
    const std::vector<bool> is_of_class(own.data_ptr<bool>(), own.data_ptr<bool>() + own.numel());
    const auto members = std::ranges::count(is_of_class, true);
    if (members == 0 || members == own.numel()) continue;
    areas.push_back(area_under_curve({scores.data_ptr<double>(), scores.data_ptr<double>() + scores.numel()},
                                     is_of_class));
  }
  return mean_of(areas);
}

double ClassScores::matthews() const {
  if (labels_.empty()) return kNone;
  return scores::matthews_correlation(numbers_of(predicted_), numbers_of(labels_));
}

double ClassScores::f1() const {
  if (labels_.empty() || probabilities_.front().size(1) != 2) return kNone;
  return scores::binary_f1(numbers_of(predicted_), numbers_of(labels_));
}

}  // namespace hyfreedp::training
