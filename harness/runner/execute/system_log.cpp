#include "harness/runner/execute/system_log.h"

#include <algorithm>

namespace hyfreedp::runner {

SystemLog::Point SystemLog::point_of(const Update& update) {
  return {update.seconds, update.cpu_seconds, update.resident_bytes, update.device_bytes};
}

void SystemLog::add(const Update& use) {
  if (++seen_ % every_ != 0) return;
  points_.push_back(point_of(use));
  if (points_.size() < kMost) return;
  every_ *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
}

void SystemLog::end(const Update& over) {
  if (over.resident_bytes > 0) points_.push_back(point_of(over));
}

std::vector<results::SystemSample> SystemLog::samples() const {
  std::vector<results::SystemSample> samples;
  Point before;
  for (const auto& point : points_) {
    const double passed = point.seconds - before.seconds;
    const double used = std::max(0.0, point.cpu_seconds - before.cpu_seconds);
    samples.push_back({.seconds = point.seconds,
                       .cpu_share = passed > 0 ? used / passed : 0,
                       .resident_bytes = static_cast<std::int64_t>(point.resident_bytes),
                       .device_bytes = static_cast<std::int64_t>(point.device_bytes)});
    before = point;
  }
  return samples;
}

}  // namespace hyfreedp::runner
