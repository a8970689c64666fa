#include <cstdlib>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/provenance/export.h"
#include "results/store/states.h"
#include "results/table/cell_place.h"
#include "results/table/csv_writer.h"
#include "results/table/released_scalars.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {
namespace {

// One value of a study, under the columns of its row.
class Lines {
 public:
  explicit Lines(const ValueOptions& options) : options_(options) {
    if (options_.format == ValueFormat::jsonl) return;
    std::vector<std::string> fields{"spec", "panel", "row", "epsilon", "seed", "step", "metric", "value"};
    if (options_.confidential) fields.emplace_back("watermark");
    text_ = csv_record(fields);
  }

  void begin(const StudyRecord& study) { study_ = &study; }

  void add(const std::optional<std::int64_t>& step, const std::string& metric, double value) {
    add_text(step, metric, csv_number(value));
  }
  // An upper bound, in full: it must not be rounded down.
  void add_bound(const std::string& metric, double value) { add_text({}, metric, fmt::format("{}", value)); }

  std::string take() { return std::move(text_); }

 private:
  void add_text(const std::optional<std::int64_t>& step, const std::string& metric,
                const std::string& value) {
    if (options_.format == ValueFormat::jsonl) {
      add_object(step, metric, std::strtod(value.c_str(), nullptr));
      return;
    }
    std::vector<std::string> fields{study_->spec,
                                    study_->panel,
                                    study_->row,
                                    study_->epsilon_target ? csv_number(*study_->epsilon_target) : "inf",
                                    std::to_string(study_->seed),
                                    step ? std::to_string(*step) : "",
                                    metric,
                                    value};
    if (options_.confidential) fields.emplace_back(kWatermark);
    text_ += csv_record(fields);
  }

  void add_object(const std::optional<std::int64_t>& step, const std::string& metric, double value) {
    json::object line{{"spec", study_->spec}, {"panel", study_->panel},
                      {"row", study_->row},   {"epsilon", as_json(study_->epsilon_target)},
                      {"seed", study_->seed}, {"step", as_json(step)},
                      {"metric", metric},     {"value", number(value)}};
    if (options_.confidential) line["watermark"] = kWatermark;
    text_ += canonical_json(line) + "\n";
  }

  const ValueOptions& options_;
  const StudyRecord* study_ = nullptr;
  std::string text_;
};

void add_metrics(const std::vector<trial::MetricRecord>& metrics, Lines& lines) {
  constexpr double kPercent = 100;
  for (const auto& metric : metrics) {
    const bool in_percent = metric.is_fraction();
    lines.add(metric.step, metric.split + "_" + metric.name + (in_percent ? "_percent" : ""),
              in_percent ? kPercent * metric.value : metric.value);
  }
}

Result<void> add_steps(const Store& store, const std::string& trial_id, bool confidential, Lines& lines) {
  const auto trial = store.trial(trial_id);
  if (!trial) return trial.error();
  const bool all = confidential || (*trial && scalars_are_released((**trial).config));
  const auto steps = store.steps(trial_id);
  if (!steps) return steps.error();
  for (const auto& step : *steps) {
    for (const auto& [name, value] : step.scalars) {
      if (all || is_step_size(name)) lines.add(step.step, name, value);
    }
  }
  return {};
}

}  // namespace

Result<std::string> export_values(const Store& store, const std::string& spec, const ValueOptions& options) {
  if (const auto record = find_spec(store, spec); !record) return record.error();
  const auto studies = store.studies(spec);
  if (!studies) return studies.error();
  Lines lines(options);
  for (const auto& study : *studies) {
    lines.begin(study);
    if (study.state == StudyState::open) lines.add({}, "open", 1);
    if (is_not_needed(study)) {
      lines.add({}, "not_needed", 1);
      continue;
    }
    if (study.state == StudyState::failed) lines.add({}, "failed." + study.failure_kind, 1);
    if (study.total) lines.add_bound("epsilon_spent", study.total->epsilon);
    if (study.claimed_epsilon) lines.add_bound("epsilon_claimed", *study.claimed_epsilon);
    if (study.state != StudyState::concluded || study.reported_trial.empty()) continue;
    const auto metrics = store.metrics(study.reported_trial, options.confidential);
    if (!metrics) return metrics.error();
    add_metrics(*metrics, lines);
    if (!options.steps) continue;
    if (auto added = add_steps(store, study.reported_trial, options.confidential, lines); !added)
      return added.error();
  }
  return lines.take();
}

}  // namespace hyfreedp::results
