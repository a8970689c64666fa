#include "results/table/cell_metric.h"

#include <map>

#include "results/table/statistics.h"

namespace hyfreedp::results {
namespace {

constexpr double kPercent = 100;

std::map<std::int64_t, double> by_step(std::span<const trial::MetricRecord> metrics, const std::string& split,
                                       const std::string& name) {
  std::map<std::int64_t, double> values;
  for (const auto& metric : metrics) {
    if (metric.name == name && metric.split == split) values[metric.step] = metric.value;
  }
  return values;
}

}  // namespace

std::optional<double> last_accuracy(std::span<const trial::MetricRecord> metrics, const std::string& split) {
  const auto values = by_step(metrics, split, "accuracy");
  if (values.empty()) return std::nullopt;
  return kPercent * values.rbegin()->second;
}

Checkpoints last_checkpoints(std::span<const trial::MetricRecord> metrics, const TableSettings& settings) {
  const auto& facts = metric_facts(settings.metric);
  if (facts.recorded.empty()) return {};
  const auto values = by_step(metrics, "test", facts.recorded);
  std::vector<double> last;
  for (auto value = values.rbegin();
       value != values.rend() && last.size() < static_cast<std::size_t>(settings.last_checkpoints); ++value) {
    last.push_back(shown_value(facts, value->second));
  }
  if (last.empty()) return {};
  return {.mean = mean(last), .n = static_cast<int>(last.size())};
}

}  // namespace hyfreedp::results
