#include "harness/training/whole_split.h"

#include <algorithm>
#include <stdexcept>

#include "harness/models/layers/samples.h"
#include "harness/trial/sum_rounding.h"

namespace hyfreedp::training {
namespace {

// A double copy of the whole split would be twice its size.
constexpr std::int64_t kRowsAtOnce = 4096;

// The part of R that is left to rounding: of one row's norm and factor in float64, and of the sum
// of all rows.
double rounding_of(std::int64_t rows) {
  return models::norm_rounding(torch::kFloat64) + trial::sum_rounding(static_cast<double>(rows), true);
}

// A row that is not finite adds nothing.
torch::Tensor clipped_sum(const datasets::SplitData& split, std::int64_t length, double norm) {
  auto sum = torch::zeros({length}, torch::kFloat64);
  const auto size = split.features.size(0);
  for (std::int64_t first = 0; first < size; first += kRowsAtOnce) {
    const auto rows = split.values(first, std::min(kRowsAtOnce, size - first), torch::kFloat64);
    const auto norms = rows.norm(2, 1);
    // 1 where the norm is 0.
    const auto factors = at::where(at::isfinite(norms), (norm / norms).clamp_max(1.0), 0.0);
    sum += at::mv(at::nan_to_num(rows, 0.0, 0.0, 0.0).t(), factors);
  }
  return sum;
}

}  // namespace

torch::Tensor whole_split_sum(const std::string& purpose, const trial::PrivacyPlan& plan,
                              const datasets::Sizes& sizes, const datasets::SplitData& train) {
  if (const auto& mean = plan.asked.feature_mean; mean && purpose == trial::FeatureMean::kPurpose) {
    return clipped_sum(train, sizes.features, mean->norm * (1 - rounding_of(sizes.private_train)));
  }
  throw std::logic_error("the plan asks for no '" + purpose + "' of the whole split");
}

}  // namespace hyfreedp::training
