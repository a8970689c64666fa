#include "harness/runner/execute/cell_export.h"

#include <fmt/format.h>

#include "baselines/baseline.h"
#include "harness/base/version.h"
#include "harness/runner/odometer/charge.h"
#include "harness/trial/event_tally.h"
#include "results/provenance/cell_file.h"
#include "results/store/records.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

using accounting::Event;

json::value folded(const std::vector<Event>& events) {
  return accounting::events_to_json({.events = trial::EventTally(events).events()});
}

class CellExport {
 public:
  CellExport(const results::Store& store, std::string metric) : store_(store), metric_(std::move(metric)) {}

  Result<json::object> seed(const results::SeedResult& result) {
    auto found = store_.study(result.study);
    if (!found) return found.error();
    if (!*found) return error("study " + result.study + " of the table is not in the database.");
    const auto& study = **found;
    json::object object{
        {"seed", result.seed},
        {"study", study.id},
        {"state", study.state == results::StudyState::failed ? "failed" : "concluded"},
        {"failure", study.failure_kind.empty() ? "" : study.failure_kind + ": " + study.failure_message},
        {"label", study.label},
        {"flags", as_json(study.flags)},
        {"footnotes", as_json(study.footnotes)},
        {"claimed_epsilon", as_json(study.claimed_epsilon)}};
    if (!result.value) return object;
    object["value"] = number(*result.value);
    if (auto added = add_run(study, object); !added) return added.error();
    if (auto added = add_cost(study, object); !added) return added.error();
    return object;
  }

 private:
  Result<std::vector<Event>> executed(const std::string& id) const {
    auto trial = store_.trial(id);
    if (!trial) return trial.error();
    if (!*trial) return error("the database holds no trial '" + id + "'.");
    return charged_events(**trial);
  }

  Result<void> add_run(const results::StudyRecord& study, json::object& object) const {
    auto trial = store_.trial(study.reported_trial);
    if (!trial) return trial.error();
    if (!*trial) return error("the database holds no trial '" + study.reported_trial + "'.");
    const auto metrics = store_.metrics(study.reported_trial);
    if (!metrics) return metrics.error();
    json::array measured;
    for (const auto& metric : *metrics) {
      if (metric.split == "test" && metric.name == metric_) {
        measured.push_back(json::array{metric.step, number(metric.value)});
      }
    }
    object["trial"] = study.reported_trial;
    object["config"] = (**trial).config;
    object["fingerprint"] = (**trial).fingerprint;
    object["test"] = std::move(measured);
    object["training_events"] = folded((**trial).events);
    return {};
  }

  Result<void> add_cost(const results::StudyRecord& study, json::object& object) const {
    const auto events = trial::compose(
        study.composition, [&](const std::string& id) { return executed(id); }, study.trials);
    if (!events) return events.error();
    auto composition = study.composition.to_json();
    if (!study.composition.shows_run_count()) {
      composition.erase("trials");
      composition.erase("unlisted");
    }
    object["composition"] = std::move(composition);
    object["events"] = folded(events->events);
    object["total"] = as_json(study.total);
    object["training"] = as_json(study.training);
    return {};
  }

  const results::Store& store_;
  std::string metric_;
};

Result<void> check_finished(const results::CellPlace& place, const std::string& spec) {
  const auto name = fmt::format("{} / {} / {} / {}", spec, place.panel->id, place.row->id,
                                results::column_name(place.cell->epsilon_target));
  for (const auto& seed : place.cell->seeds) {
    if (seed.study.empty() || seed.state == results::StudyState::open) {
      return error(fmt::format("{}: seed {} is not finished yet; `hyfreedp run` goes on.", name, seed.seed));
    }
  }
  if (place.cell->n > 0) return {};
  return error(fmt::format("{} has no value ({}), so there is nothing to export; hyfreedp trace tells more.",
                           name, place.cell->failure));
}

}  // namespace

Result<json::object> export_cell(const results::Store& store, const std::string& spec,
                                 const results::CellRequest& request) {
  const auto record = results::find_spec(store, spec);
  if (!record) return record.error();
  const auto table = results::table_of_rows(store, spec);
  if (!table) return table.error();
  const auto place = results::find_cell(*table, request);
  if (!place) return place.error();
  if (auto finished = check_finished(*place, spec); !finished) return finished.error();
  const auto content = results::spec_of(*record);
  if (!content) return content.error();
  const auto* panel = find_panel(*content, place->panel->id);
  const auto* row = panel != nullptr ? find_row(*panel, place->row->id) : nullptr;
  if (row == nullptr) return error("the resolved spec of " + spec + " has no row " + place->row->id + ".");
  const auto& settings = place->panel->table;
  const auto& facts = results::metric_facts(settings.metric);
  if (facts.recorded.empty()) {
    return error(fmt::format("the cells of {} show {}, which follows from nothing that a file could hold.",
                             spec, name_of(settings.metric)));
  }
  auto alone = as_json(*panel);
  alone.erase("rows");
  const auto& cell = *place->cell;
  json::object file{{"format", results::kCellFormat},
                    {"format_version", results::kCellFormatVersion},
                    {"program", program_version()},
                    {"comparability", kComparabilityVersion},
                    {"ran_by", record->version},
                    {"spec", {{"name", spec}, {"title", table->title}, {"hash", record->hash}}},
                    {"panel", std::move(alone)},
                    {"row", as_json(*row)},
                    {"column", cell.epsilon_target ? number(*cell.epsilon_target) : json::value("inf")},
                    {"metric",
                     {{"name", name_of(settings.metric)},
                      {"split", "test"},
                      {"unit", facts.unit == "%" ? "percent" : facts.unit},
                      {"checkpoints", settings.last_checkpoints}}},
                    {"neighbouring", "add-remove"},
                    {"delta", number(place->panel->delta)},
                    {"cell",
                     {{"mean", number(cell.mean)},
                      {"sd", as_json(cell.sd)},
                      {"n", cell.n},
                      {"epsilon", as_json(cell.epsilon)},
                      {"epsilon_least", as_json(cell.epsilon_least)}}}};
  json::array seeds;
  CellExport exporter(store, name_of(settings.metric));
  for (const auto& result : cell.seeds) {
    auto seed = exporter.seed(result);
    if (!seed) return seed.error();
    seeds.push_back(std::move(*seed));
  }
  file["seeds"] = std::move(seeds);
  results::seal_cell(file);
  return file;
}

}  // namespace hyfreedp::runner
