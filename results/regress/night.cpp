#include "results/regress/night.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/trial/released_norms.h"
#include "harness/trial/trial_config.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {
namespace {

using Key = std::tuple<std::string, std::string, std::optional<double>>;

// All that decides the bits, but the program: what may differ there is said by the comparability
// version.
std::string machine_of(json::object fingerprint) {
  for (const char* key : {"version", "commit", "worker", "code"}) fingerprint.erase(key);
  return canonical_json(fingerprint);
}

// Nor the number of the release: a row that was trained anew has the setting and, if it is seeded,
// the noise (mechanism::seeded_key()) of a new folder.
Setting setting_without_seeds(json::object config) {
  config.erase("noise_seed");
  config.erase("seed");
  if (auto* repetition = config.if_contains("repetition"); repetition != nullptr && repetition->is_int64())
    *repetition = repetition->get_int64() % trial::kRepetitionsPerRelease;
  return setting_of(config);
}

void add_metrics(const std::vector<trial::MetricRecord>& metrics, NightRun& run) {
  for (const auto& metric : metrics) {  // in order of steps
    run.metrics[fmt::format("{} {} {}", metric.step, metric.split, metric.name)] = metric.value;
    if (metric.split != "test") continue;
    if (metric.name == "accuracy") run.accuracy = 100 * metric.value;
    if (metric.name == "loss") run.loss = metric.value;
  }
}

void add_steps(const std::vector<trial::StepRecord>& steps, NightRun& run) {
  std::map<std::string, std::pair<double, double>> squares;  // name: sum, count
  NoiseSeen noise;
  for (const auto& step : steps) {
    run.hashes.push_back(step.hash);
    for (const auto& [name, value] : step.scalars) {
      if (name == trial::kGradientNorm || name == trial::kUpdateNorm) {
        auto& [sum, count] = squares[name == trial::kGradientNorm ? "gradient norm" : "update norm"];
        sum += value * value;
        count += 1;
      } else if (name.starts_with(trial::kTensorUpdate)) {
        run.norms["update of " + name.substr(std::string(trial::kTensorUpdate).size())] = value;
      } else if (name == trial::kNoiseResidual) {
        noise.sum += value;
      } else if (name == trial::kNoiseDimension) {
        noise.freedom += value;
      }
    }
  }
  for (const auto& [name, sums] : squares) run.norms[name] = std::sqrt(sums.first / sums.second);
  if (noise.freedom > 0) run.noise = noise;
}

// Adds the settings of a failed study's failed trials. The noise seed is the spec's, so the same in
// all.
Result<void> add_lost(const Store& store, const StudyRecord& study, NightRun& run) {
  for (const auto& id : study.trials) {
    const auto trial = store.trial(id);
    if (!trial) return trial.error();
    if (!*trial || (**trial).state != trial::TrialState::failed) continue;
    run.lost_settings.push_back(setting_without_seeds((**trial).config));
    run.noise_seed = string_or((**trial).config, "noise_seed", "");
    if (!(**trial).fingerprint.empty()) run.machine = machine_of((**trial).fingerprint);
  }
  return {};
}

// Adds nothing under private selection, where the number of trials is confidential.
Result<void> add_asked(const Store& store, const StudyRecord& study, NightRun& run) {
  if (!study.composition.shows_run_count()) return {};
  for (const auto& id : study.trials) {
    const auto trial = store.trial(id);
    if (!trial) return trial.error();
    if (*trial) run.asked.push_back(setting_without_seeds((**trial).config));
  }
  std::sort(run.asked.begin(), run.asked.end());
  return {};
}

Result<NightRun> read_run(const Store& store, const StudyRecord& study) {
  NightRun run;
  run.seed = study.seed;
  if (study.state == StudyState::open || is_cancelled(study)) return run;
  run.failure_kind = study.failure_kind;
  run.state = NightRun::State::failed;
  if (auto added = add_asked(store, study, run); !added) return added.error();
  if (study.state == StudyState::failed || study.reported_trial.empty()) {
    if (auto added = add_lost(store, study, run); !added) return added.error();
    return run;
  }
  auto trial = store.trial(study.reported_trial);
  if (!trial) return trial.error();
  if (!*trial) return run;
  auto metrics = store.metrics(study.reported_trial);
  if (!metrics) return metrics.error();
  auto steps = store.steps(study.reported_trial);
  if (!steps) return steps.error();
  run.setting = setting_without_seeds((**trial).config);
  run.noise_seed = string_or((**trial).config, "noise_seed", "");
  run.machine = machine_of((**trial).fingerprint);
  run.seconds = (**trial).seconds;
  if (study.total) run.epsilon = study.total->epsilon;
  add_metrics(*metrics, run);
  add_steps(*steps, run);
  if (run.accuracy) {
    run.state = NightRun::State::value;
  } else {
    run.failure_kind = "no-test-accuracy";
  }
  return run;
}

// The spec without the numbers of its releases: `run --fresh` and `--retrain` do not change it.
json::object without_releases(json::object resolved) {
  const auto each_of = [](json::object& object, const char* key, const auto& use) {
    auto* list = object.if_contains(key);
    if (list == nullptr || !list->is_array()) return;
    for (auto& element : list->get_array()) {
      if (element.is_object()) use(element.get_object());
    }
  };
  resolved.erase("release");
  each_of(resolved, "panels", [&](json::object& panel) {
    each_of(panel, "rows", [](json::object& row) { row.erase("release"); });
  });
  return resolved;
}

Error unknown_spec(const Store& store, const std::string& name) {
  std::vector<std::string> names;
  if (auto specs = store.specs()) {
    for (const auto& spec : *specs) names.push_back(spec.name);
  }
  return error(fmt::format("the database holds no spec named '{}' (it has: {}).{}", name,
                           names.empty() ? "none" : join(names, ", "), did_you_mean(name, names)));
}

}  // namespace

Result<Night> read_night(const Store& store, const std::string& name) {
  auto record = store.spec(name);
  if (!record) return record.error();
  if (!*record) return unknown_spec(store, name);
  auto studies = store.studies(name);
  if (!studies) return studies.error();
  Night night{.spec = name,
              .version = (**record).version,
              .resolved = without_releases((**record).resolved),
              .cells = {}};
  night.hash = sha256_hex(canonical_json(night.resolved));
  std::map<Key, std::size_t> places;
  const auto content = spec_of(**record);
  if (!content) return content.error();
  for (const auto& panel : content->panels) {
    for (const auto& row : panel.rows) {
      for (const auto& epsilon : spec::targets_of(row.epsilons)) {
        places[{panel.id, row.id, epsilon}] = night.cells.size();
        NightCell cell{.panel = panel.id, .row = row.id, .title = row.title, .epsilon = epsilon, .runs = {}};
        cell.seeds.insert(row.seeds.begin(), row.seeds.end());
        if (panel.test > 0) cell.resolution = 100.0 / static_cast<double>(panel.test);
        night.cells.push_back(std::move(cell));
      }
    }
  }
  for (const auto& study : *studies) {
    const auto place = places.find({study.panel, study.row, study.epsilon_target});
    if (place == places.end()) continue;
    if (is_not_needed(study)) {
      night.cells[place->second].not_needed.insert(study.seed);
      continue;
    }
    auto run = read_run(store, study);
    if (!run) return run.error();
    night.cells[place->second].runs.push_back(std::move(*run));
  }
  return night;
}

}  // namespace hyfreedp::results
