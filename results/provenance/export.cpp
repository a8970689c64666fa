#include "results/provenance/export.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "results/store/records.h"
#include "results/table/cell_place.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {
namespace {

// Writes the reported run, on which the row rests.
Result<json::object> reported_json(const Store& store, const std::string& id, const ExportOptions& options) {
  auto trial = store.trial(id);
  if (!trial) return trial.error();
  auto metrics = store.metrics(id, options.confidential);
  if (!metrics) return metrics.error();
  auto steps = store.steps(id);
  if (!steps) return steps.error();
  json::object object;
  if (*trial) {
    object = to_json(**trial);
    if (!options.times) {
      for (const char* key :
           {"seconds", "peak_bytes", "device_peak_bytes", "attempts", "fingerprint", "builds"})
        object.erase(key);
    }
  }
  json::array list;
  for (const auto& metric : *metrics) list.push_back(as_json(metric));
  object["metrics"] = std::move(list);
  object["last_step_hash"] = steps->empty() ? "" : steps->back().hash;
  return object;
}

Result<json::object> study_json(const Store& store, const StudyRecord& study, const ExportOptions& options) {
  auto object = as_json(study);
  if (!options.times) object.erase("seconds");
  if (!study.composition.shows_run_count() && !options.confidential) {
    object.erase("trials");
    object.erase("seconds");
    object["composition"].as_object().erase("trials");
    object["composition"].as_object().erase("unlisted");
  }
  if (options.confidential) object["watermark"] = kWatermark;
  if (study.reported_trial.empty()) return object;
  auto reported = reported_json(store, study.reported_trial, options);
  if (!reported) return reported.error();
  object["reported"] = std::move(*reported);
  return object;
}

// True if a row says that this run may be told of. A run of which no row tells (its study is open,
// lost, or replaced) may be one of a private selection.
Result<bool> is_releasable(const Store& store, const std::string& trial) {
  auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (const auto& study : *studies) {
    if (study.reported_trial == trial) return true;
    const bool listed = std::find(study.trials.begin(), study.trials.end(), trial) != study.trials.end();
    if (listed && study.composition.shows_run_count()) return true;
  }
  return false;
}

// Names a near one only where it may be told of: the id of a losing run is confidential.
Error unknown_trial(const Store& store, const std::string& trial) {
  std::vector<std::string> known;
  if (const auto studies = store.all_studies()) {
    for (const auto& study : *studies) {
      if (!study.reported_trial.empty()) known.push_back(study.reported_trial);
      if (study.composition.shows_run_count())
        known.insert(known.end(), study.trials.begin(), study.trials.end());
    }
  }
  return error(fmt::format(
      "the database holds no trial '{}'.{} `hyfreedp trace SPEC ROW COLUMN` lists those of a cell.", trial,
      did_you_mean(trial, known)));
}

}  // namespace

Result<std::string> export_rows(const Store& store, const std::string& spec, const ExportOptions& options) {
  const auto record = find_spec(store, spec);
  if (!record) return record.error();
  auto studies = store.studies(spec);
  if (!studies) return studies.error();
  std::string lines = canonical_json(json::object{{"type", "spec"},
                                                  {"name", spec},
                                                  {"hash", record->hash},
                                                  {"comparability", kComparabilityVersion}}) +
                      "\n";
  for (const auto& study : *studies) {
    auto object = study_json(store, study, options);
    if (!object) return object.error();
    (*object)["type"] = "study";
    lines += canonical_json(*object) + "\n";
  }
  return lines;
}

Result<void> check_releasable(const Store& store, const std::string& trial) {
  auto releasable = is_releasable(store, trial);
  if (!releasable) return releasable.error();
  if (*releasable) return {};
  return error(
      "trial " + trial +
      " is reported by no row and may be a losing run of a private selection, whose epsilon holds only as "
      "long as losing runs stay secret. `hyfreedp export events --confidential` gives its events "
      "nevertheless.");
}

Result<json::value> export_events(const Store& store, const std::string& trial, bool confidential) {
  auto record = store.trial(trial);
  if (!record) return record.error();
  if (!*record) return unknown_trial(store, trial);
  if (!confidential) {
    if (auto checked = check_releasable(store, trial); !checked) return checked.error();
  }
  return accounting::events_to_json({.events = (**record).events});
}

}  // namespace hyfreedp::results
