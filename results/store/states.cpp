#include "results/store/states.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "results/store/records.h"

namespace hyfreedp::results {

bool may_be_tried_again(const std::string& failure_kind) {
  static constexpr std::array<std::string_view, 8> kNotItsOwn = {
      "killed",   "hung",          "over-time", "out-of-memory", "missing-data", "device-unavailable",
      "internal", "invalid-config"};
  return std::find(kNotItsOwn.begin(), kNotItsOwn.end(), failure_kind) != kNotItsOwn.end();
}

bool is_setup_failure(const std::string& failure_kind) {
  return failure_kind == "invalid-config" || failure_kind == "missing-data" ||
         failure_kind == "device-unavailable";
}

bool is_final(const TrialRecord& trial) {
  if (trial.state == trial::TrialState::finished) return true;
  return trial.state == trial::TrialState::failed && !may_be_tried_again(trial.failure_kind);
}

bool is_final(const StudyRecord& study) { return study.state == StudyState::concluded; }

bool is_answered(const StudyRecord& study) {
  return study.state == StudyState::concluded ||
         (study.state == StudyState::failed && !may_be_tried_again(study.failure_kind));
}

bool is_not_needed(const StudyRecord& study) {
  return study.state == StudyState::failed && study.failure_kind == kNotNeeded;
}

bool is_cancelled(const StudyRecord& study) {
  return study.state == StudyState::failed && study.failure_kind == kCancelledStudy;
}

bool is_lost(const StudyRecord& study) {
  return study.state == StudyState::failed && study.failure_kind == kLostStudy;
}

bool same_outcome(const TrialRecord& a, const TrialRecord& b) {
  const auto outcome = [](TrialRecord record) {
    record.seconds = 0;
    record.peak_bytes = record.device_peak_bytes = 0;
    record.builds.clear();  // of a run from before they were recorded, a journal knows the version
    return canonical_json(to_json(record));
  };
  return outcome(a) == outcome(b);
}

bool same_outcome(const StudyRecord& a, const StudyRecord& b) {
  const auto outcome = [](StudyRecord record) {
    record.seconds = 0;
    record.code.clear();
    if (record.total) record.total->noise_accountant.clear();  // older programs did not record it
    return canonical_json(as_json(record));
  };
  return outcome(a) == outcome(b);
}

}  // namespace hyfreedp::results
