#include "results/table/table_model.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "harness/base/text.h"
#include "harness/spec/paper.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/best.h"
#include "results/table/cell_metric.h"
#include "results/table/cell_values.h"
#include "results/table/footnotes.h"
#include "results/table/groups.h"
#include "results/table/panel_text.h"
#include "results/table/sequential_seeds.h"
#include "results/table/statistics.h"
#include "results/table/table_extras.h"
#include "results/table/table_notes.h"

namespace hyfreedp::results {
namespace {

using CellKey = std::tuple<std::string, std::string, std::optional<double>>;  // panel, row, epsilon

SeedResult seed_only(std::int64_t seed) {
  SeedResult result;
  result.seed = seed;
  return result;
}

// The values of the reported trial that a study does not have.
struct Reported {
  std::optional<double> accuracy;    // percent
  std::optional<double> value;       // of the panel's metric
  int short_of_checkpoints = 0;      // evaluations there were, where fewer than asked for
  std::optional<double> validation;  // percent, un-noised
  std::vector<std::string> outcomes;
  std::map<std::string, double> ood_test;  // percent
  std::string sampler;
  double seconds = 0;
};

// A sum of one run selects nothing.
std::string rule_of(const StudyRecord& study) {
  using Rule = trial::Composition::Rule;
  const auto rule = study.composition.rule;
  if (!rule) return "";
  return name_of(rule == Rule::sum && study.trials.size() < 2 ? Rule::trial : *rule);
}

// The accuracy on one set, over the seeds that have a value of the cell.
OodValue over_seeds(const std::string& id, const std::vector<SeedResult>& seeds) {
  std::vector<double> values;
  for (const auto& result : seeds) {
    const auto found = result.ood_test.find(id);
    if (result.value && found != result.ood_test.end()) values.push_back(found->second);
  }
  OodValue value{.id = id, .n = static_cast<int>(values.size())};
  if (values.empty()) return value;
  value.mean = mean(values);
  value.sd = sample_sd(values);
  return value;
}

PaperValue paper_value(const spec::PaperCell& cell) {
  return {.value = *cell.number(), .sd = cell.sd, .unit = cell.unit};
}

class Builder {
 public:
  Builder(const Store& store, const TableOptions& options) : store_(store), options_(options) {}

  Result<TableModel> build(const std::string& name) {
    auto record = store_.spec(name);
    if (!record) return record.error();
    if (!*record) return unknown_spec(name);
    auto studies = store_.studies(name);
    if (!studies) return studies.error();
    for (auto& study : *studies) {
      by_cell_[{study.panel, study.row, study.epsilon_target}][study.seed] = std::move(study);
    }
    auto spec = spec_of(**record);
    if (!spec) return spec.error();
    spec::apply_labels(*spec);
    table_.spec = name;
    table_.title = spec->title;
    table_.description = spec->description;
    table_.hash = (**record).hash;
    table_.version = (**record).version;
    table_.preset = spec->preset;
    table_.confidential = options_.confidential;
    seeded_noise_ = spec->noise_seed.has_value();
    if (spec->table && !options_.plain)
      table_.shown_notes = spec->table->notes.value_or(spec::TableNotes::all);
    for (const auto& panel : spec->panels) {
      const auto where = fmt::format("the table of panel {}", panel.id);
      const auto given = given_of(*spec, panel);
      auto settings = table_settings(given, where);
      if (!settings) return settings.error();
      settings_ = *settings;
      auto look = table_look(given, where);
      if (!look) return look.error();
      look_ = std::move(*look);
      auto built = build_panel(panel);
      if (!built) return built.error();
      for (const auto metric : settings->also) {
        settings_.metric = metric;
        settings_.also.clear();
        auto beside = build_panel(panel);
        if (!beside) return beside.error();
        keep_metric_alone(*beside);
        built->also.push_back(std::move(*beside));
      }
      table_.panels.push_back(std::move(*built));
    }
    number_flags();
    table_.footnotes = footnotes_.take();
    table_.notes = general_notes(table_, facts_);
    return std::move(table_);
  }

 private:
  Error unknown_spec(const std::string& name) const {
    std::vector<std::string> names;
    if (auto specs = store_.specs()) {
      for (const auto& spec : *specs) names.push_back(spec.name);
    }
    if (names.empty()) return error("the database holds no spec yet. `hyfreedp run SPEC.yaml` fills it.");
    return error("the database holds no spec named '" + name + "' (it has: " + join(names, ", ") + ")." +
                 did_you_mean(name, names));
  }

  spec::Table given_of(const spec::Spec& spec, const spec::Panel& panel) const {
    spec::Table given;
    if (!options_.plain) {
      given = laid_over(panel.table.value_or(spec::Table{}), spec.table.value_or(spec::Table{}));
      if (spec.reproduces && !given.paper) given.paper = true;
    }
    return laid_over(options_.overrides, given);
  }

  Result<PanelModel> build_panel(const spec::Panel& view) {
    PanelModel panel;
    panel.id = view.id;
    panel.title = view.title;
    panel.delta = view.delta;
    panel.table = settings_;
    panel.look = look_;
    panel.is_the_papers_task = table_.preset.empty() || table_.preset == "paper";
    add_once(facts_.splits[split_of(view)], view.title);
    facts_.has_own_test = facts_.has_own_test || has_own_test(view);
    ood_splits_.clear();
    for (const auto& shifted : view.ood_test) {
      ood_splits_.push_back(shifted.split());
      panel.ood_test.push_back(shifted.id);
      add_once(facts_.ood_tests, ood_test_text(shifted));
      facts_.has_own_test = facts_.has_own_test || has_own_records(shifted);
    }
    for (auto& note : overlap_notes(view)) facts_.overlaps.insert(std::move(note));
    panel.columns = columns_of(view);
    for (const auto& row : view.rows) {
      for (std::size_t i = 0; i < std::min(row.epsilons.size(), view.noise_multipliers.size()); ++i) {
        panel.noise_multipliers[row.epsilons[i]].insert(view.noise_multipliers[i]);
      }
    }
    for (const auto& note : view.footnotes) panel.notes.push_back(footnotes_.number_of(note));
    panel.has_sequential_seeds = view.sequential.has_value();
    if (view.sequential) {
      const auto notes = sequential_notes(store_, view, studies_of(view.id));
      if (!notes) return notes.error();
      for (const auto& note : *notes) panel.notes.push_back(footnotes_.number_of(note));
    }
    std::vector<std::pair<std::string, std::string>> optimizers;  // titles and names
    for (const auto& row : view.rows) {
      auto built = build_row(view, row, panel.columns);
      if (!built) return built.error();
      optimizers.emplace_back(row.group.empty() ? row.title : row.group, row_optimizers_.empty()
                                                                             ? optimizer_of(view, row).name
                                                                             : join(row_optimizers_, ", "));
      panel.rows.push_back(std::move(*built));
    }
    const auto optimizer = optimizers_text(view.train.optimizer.name, optimizers);
    panel.settings = settings_line(view);
    if (!optimizer.empty()) panel.settings += (panel.settings.empty() ? "" : ", ") + optimizer;
    if (auto folded = fold_groups(panel, footnotes_); !folded) return folded.error();
    mark_best(panel);
    add_extras(panel, footnotes_);
    facts_.has_memory = facts_.has_memory || panel.shows_memory();
    for (const auto& row : panel.rows) {
      if (!row.group.empty() && settings_.groups == TableSettings::Groups::all)
        facts_.groups.insert(row.group);
      for (const auto& cell : row.cells) {
        facts_.best = facts_.best || cell.best;
        facts_.missing_seeds =
            facts_.missing_seeds || (cell.kind == CellModel::Kind::value && !missing_seeds(cell).empty());
      }
    }
    return panel;
  }

  // Drops what the first metric's cells show already, and the paper's values, which are of that
  // metric.
  static void keep_metric_alone(PanelModel& beside) {
    for (auto& row : beside.rows) {
      for (auto& cell : row.cells) {
        cell.paper.reset();
        cell.ood_test.clear();
        cell.validation.reset();
        cell.runs.reset();
      }
    }
  }

  std::vector<const StudyRecord*> studies_of(const std::string& panel) const {
    std::vector<const StudyRecord*> studies;
    for (const auto& [cell, by_seed] : by_cell_) {
      for (const auto& [seed, study] : by_seed) {
        if (study.panel == panel) studies.push_back(&study);
      }
    }
    return studies;
  }

  // The panel's epsilons and those that only a row has, ascending, the non-private arm last.
  static std::vector<std::optional<double>> columns_of(const spec::Panel& panel) {
    std::set<double> targets;
    bool non_private = false;
    const auto add = [&](const std::vector<double>& epsilons) {
      for (const auto& epsilon : spec::targets_of(epsilons)) {
        epsilon ? void(targets.insert(*epsilon)) : void(non_private = true);
      }
    };
    add(panel.epsilons);
    for (const auto& row : panel.rows) add(row.epsilons);
    std::vector<std::optional<double>> columns(targets.begin(), targets.end());
    if (non_private) columns.emplace_back();
    return columns;
  }

  Result<RowModel> build_row(const spec::Panel& panel, const spec::Row& view,
                             const std::vector<std::optional<double>>& columns) {
    RowModel row;
    row.id = view.id;
    row.method = view.method;
    row.title = view.title;
    row.group = view.group;
    row_title_ = view.title;
    row_optimizers_.clear();
    row_builds_.clear();
    for (const auto& note : view.footnotes) row.notes.push_back(footnotes_.number_of(note));
    std::vector<std::string> labels;
    std::vector<double> seconds;
    const auto printed = spec::printed_cells(view.paper);
    std::map<std::string, std::map<std::optional<double>, spec::PaperCell>> printed_ood;
    for (const auto& [id, cells] : view.paper_ood_test) printed_ood[id] = spec::printed_cells(cells);
    for (const auto& epsilon : columns) {
      auto cell = build_cell(panel, view, epsilon);
      if (!cell) return cell.error();
      if (const auto paper = printed.find(epsilon); paper != printed.end()) {
        cell->paper = paper_value(paper->second);
      }
      for (const auto& shifted : panel.ood_test) {
        auto value = over_seeds(shifted.id, cell->seeds);
        const auto& cells = printed_ood[shifted.id];
        if (const auto paper = cells.find(epsilon); paper != cells.end())
          value.paper = paper_value(paper->second);
        if (value.n > 0 || value.paper) cell->ood_test.push_back(std::move(value));
      }
      for (const auto& flag : cell->flags) add_once(row.flags, flag);
      if (cell->epsilon_target && !cell->label.empty()) add_once(labels, cell->label);
      if (cell->epsilon && panel.noise_multipliers.empty())
        facts_.noise_accountants[cell->noise_accountant].insert(view.title);
      if (cell->seconds) seconds.push_back(*cell->seconds);
      row.memory.raise_to(cell->memory);
      row.cells.push_back(std::move(*cell));
    }
    row.label = labels.empty() ? view.label : join(labels, " / ");
    if (!seconds.empty()) row.seconds = mean(seconds);
    for (const auto& build : row_builds_) facts_.builds[build.text()].insert(view.title);
    if (row_builds_.size() > 1) row.notes.push_back(footnotes_.number_of(mixed_builds_note(row_builds_)));
    return row;
  }

  Result<CellModel> build_cell(const spec::Panel& panel, const spec::Row& row,
                               const std::optional<double>& epsilon) {
    CellModel cell;
    cell.epsilon_target = epsilon;
    cell.decimals = metric_facts(settings_.metric).decimals;
    const auto found = by_cell_.find({panel.id, row.id, epsilon});
    const auto targets = spec::targets_of(row.epsilons);
    const bool planned = std::find(targets.begin(), targets.end(), epsilon) != targets.end();
    if (found == by_cell_.end()) {
      cell.kind = planned ? CellModel::Kind::open : CellModel::Kind::not_planned;
      facts_.not_planned = facts_.not_planned || !planned;
      if (planned) {
        for (const auto seed : row.seeds) cell.seeds.push_back(seed_only(seed));
      }
      return cell;
    }
    std::vector<double> seconds, validations, runs;
    for (const auto seed : row.seeds) {
      auto result = seed_only(seed);
      if (const auto study = found->second.find(seed); study != found->second.end()) {
        if (is_not_needed(study->second)) continue;
        auto reported = add_study(study->second, result, cell);
        if (!reported) return reported.error();
        if (result.value) seconds.push_back(reported->seconds);
        if (reported->validation) validations.push_back(*reported->validation);
        runs.push_back(static_cast<double>(study->second.trials.size()));
      }
      cell.seeds.push_back(std::move(result));
    }
    if (!seconds.empty()) cell.seconds = mean(seconds);
    if (options_.confidential && !validations.empty()) cell.validation = mean(validations);
    if (options_.confidential && !runs.empty()) cell.runs = mean(runs);
    conclude(cell);
    return cell;
  }

  // Fills `result` and what the cell collects over seeds.
  Result<Reported> add_study(const StudyRecord& study, SeedResult& result, CellModel& cell) {
    result.study = study.id;
    result.trial = study.reported_trial;
    result.state = study.state;
    result.failure_kind = study.failure_kind;
    result.failure_message = study.failure_message;
    if (study.state == StudyState::open) return Reported{};
    const auto memory = look_at_runs(study);
    if (!memory) return memory.error();
    for (const auto& flag : study.flags) add_once(cell.flags, flag);
    if (seeded_noise_ && study.epsilon_target) add_once(cell.flags, kReproducibleNoise);
    for (const auto& note : study.footnotes) add_once(cell.notes, footnotes_.number_of(note));
    if (cell.label.empty()) cell.label = study.label;
    if (study.state == StudyState::failed) return Reported{};

    auto reported = read_reported(study);
    if (!reported) return reported.error();
    result.accuracy = reported->accuracy;
    result.value = reported->value;
    result.outcomes = reported->outcomes;
    result.ood_test = reported->ood_test;
    if (!result.value) {
      result.accuracy.reset();
      result.state = StudyState::failed;
      result.failure_kind =
          settings_.metric == spec::Metric::accuracy ? "no-test-accuracy" : "no-" + name_of(settings_.metric);
      result.failure_message = "the reported run holds no " + metric_facts(settings_.metric).title;
      if (const auto what = asked_of_evaluate(settings_.metric); !what.empty())
        result.failure_message += fmt::format(", which `evaluate: {{{}}}` records", what);
      return reported;
    }
    cell.memory.raise_to(*memory);
    if (reported->short_of_checkpoints > 0) {
      add_once(cell.notes,
               footnotes_.number_of(fmt::format("Fewer evaluations than the {} that the mean is over: {}.",
                                                settings_.last_checkpoints, reported->short_of_checkpoints)));
    }
    if (study.epsilon_target) {
      facts_.has_private = true;
      if (!reported->sampler.empty()) facts_.samplers.insert(reported->sampler);
    }
    if (study.total) {
      result.epsilon = study.total->epsilon;
      cell.accountant = study.total->accountant;
      cell.noise_accountant = study.total->noise_accountant;
      facts_.accountants.insert(study.total->accountant);
      cell.epsilon = std::max(cell.epsilon.value_or(*result.epsilon), *result.epsilon);
      cell.epsilon_least = std::min(cell.epsilon_least.value_or(*result.epsilon), *result.epsilon);
    }
    if (study.claimed_epsilon) cell.claimed_epsilon = study.claimed_epsilon;
    if (!study.composition.shows_run_count()) {
      facts_.hidden_run_count = true;
      cell.is_private_selection = true;
    }
    if (study.epsilon_target) facts_.rules[study.label][rule_of(study)].insert(row_title_);
    return reported;
  }

  // Notes the builds that made them, and returns the largest memory that one took. For a private
  // selection it looks at the reported run alone: the others, and how many there were, are
  // confidential.
  Result<Memory> look_at_runs(const StudyRecord& study) {
    Memory memory;
    auto ids = study.composition.shows_run_count() ? study.trials : std::vector<std::string>{};
    add_once(ids, study.reported_trial);
    for (const auto& id : ids) {
      const auto trial = store_.trial(id);
      if (!trial) return trial.error();
      if (!*trial) continue;
      for (const auto& build : builds_of(**trial)) row_builds_.insert(build);
      memory.raise_to(memory_of(**trial));
    }
    return memory;
  }

  Result<Reported> read_reported(const StudyRecord& study) {
    Reported reported;
    auto trial = store_.trial(study.reported_trial);
    if (!trial) return trial.error();
    if (*trial) {
      const auto* privacy = (**trial).config.if_contains("privacy");
      if (privacy != nullptr && privacy->is_object()) {
        reported.sampler = string_or(privacy->get_object(), "sampler", "");
      }
      const auto* optimizer = (**trial).config.if_contains("optimizer");
      if (optimizer != nullptr && optimizer->is_object()) {
        const auto name = string_or(optimizer->get_object(), "name", "");
        if (!name.empty()) add_once(row_optimizers_, name);
      }
      reported.seconds = (**trial).seconds;
      reported.outcomes = (**trial).notes;
    }
    if (study.composition.shows_run_count() || options_.confidential) reported.seconds = study.seconds;
    auto metrics = shown_metrics(study.reported_trial);
    if (!metrics) return metrics.error();
    reported.accuracy = last_accuracy(*metrics, "test");
    reported.validation = last_accuracy(*metrics, "private_validation");
    for (const auto& metric : *metrics) {
      if (!metric.split.starts_with(trial::OodTest::kSplits)) continue;
      const auto accuracy = last_accuracy(*metrics, metric.split);
      if (accuracy) reported.ood_test[metric.split.substr(trial::OodTest::kSplits.size())] = *accuracy;
    }
    const auto checkpoints = last_checkpoints(*metrics, settings_);
    reported.value = settings_.metric == spec::Metric::seconds && *trial ? std::optional((**trial).seconds)
                                                                         : checkpoints.mean;
    if (checkpoints.n < settings_.last_checkpoints) reported.short_of_checkpoints = checkpoints.n;
    return reported;
  }

  // Returns those of a run's metrics that a cell is made of: the last evaluations.
  Result<std::vector<trial::MetricRecord>> shown_metrics(const std::string& trial) const {
    std::vector<trial::MetricRecord> shown;
    Result<void> outcome;
    const auto add = [&](const std::string& split, const std::string& name, std::int64_t count) {
      if (!outcome) return;
      auto last = store_.last_metrics(trial, split, name, count, options_.confidential);
      if (!last) {
        outcome = last.error();
        return;
      }
      std::ranges::move(*last, std::back_inserter(shown));
    };
    add("test", "accuracy", settings_.last_checkpoints);
    if (const auto& recorded = metric_facts(settings_.metric).recorded;
        !recorded.empty() && recorded != "accuracy") {
      add("test", recorded, settings_.last_checkpoints);
    }
    if (options_.confidential) add("private_validation", "accuracy", 1);
    for (const auto& split : ood_splits_) add(split, "accuracy", 1);
    if (!outcome) return outcome.error();
    return shown;
  }

  void conclude(CellModel& cell) {
    std::vector<double> values;
    // sentence or outcome -> seeds
    std::map<std::string, std::vector<std::string>> failures, outcomes;
    std::vector<std::string> kinds, waiting;
    for (const auto& result : cell.seeds) {
      const auto seed = std::to_string(result.seed);
      if (result.value) {
        values.push_back(*result.value);
        for (const auto& outcome : result.outcomes) outcomes[outcome].push_back(seed);
      } else if (result.state == StudyState::failed) {
        add_once(kinds, result.failure_kind);
        failures[result.failure_kind + ": " + result.failure_message].push_back(seed);
      } else {
        waiting.push_back(seed);
      }
    }
    cell.n = static_cast<int>(values.size());
    for (const auto& [sentence, seeds] : failures) {
      add_once(cell.notes, footnotes_.number_of("Seed " + join(seeds, ", ") + " failed: " + sentence));
    }
    for (const auto& [outcome, seeds] : outcomes) {
      add_once(cell.notes,
               footnotes_.number_of(fmt::format("Seed {}: {}", join(seeds, ", "), explain_outcome(outcome))));
    }
    if (cell.n > 0) {
      cell.kind = CellModel::Kind::value;
      cell.mean = mean(values);
      cell.sd = sample_sd(values);
      facts_.single_seed = facts_.single_seed || cell.n == 1;
      if (!waiting.empty()) {
        add_once(cell.notes, footnotes_.number_of("Seed " + join(waiting, ", ") + " is not finished yet."));
      }
    } else if (!waiting.empty() || kinds.empty()) {
      cell.kind = CellModel::Kind::open;
    } else {
      cell.kind = CellModel::Kind::failed;
      cell.failure = join(kinds, ", ");
    }
  }

  // A flag that every private cell has is a banner; any other that needs words is a footnote of its
  // rows.
  void number_flags() {
    std::map<std::string, int> count;
    std::vector<std::string> order;
    int private_cells = 0;
    for_each_cell([&](RowModel&, CellModel& cell) {
      if (!cell.epsilon_target ||
          (cell.kind != CellModel::Kind::value && cell.kind != CellModel::Kind::failed))
        return;
      ++private_cells;
      for (const auto& flag : cell.flags) {
        add_once(order, flag);
        ++count[flag];
      }
    });
    for (const auto& flag : order) {
      if (count[flag] == private_cells) table_.banners.push_back(explain_flag(flag));
    }
    for_each_cell([&](RowModel& row, CellModel& cell) {
      for (const auto& flag : cell.flags) {
        if (count[flag] == private_cells || !has_explanation(flag)) continue;
        add_once(row.notes, footnotes_.number_of(explain_flag(flag)));
      }
    });
  }

  template <class Visit>
  void for_each_cell(Visit visit) {
    for (auto& panel : table_.panels) {
      for (auto& row : panel.rows) {
        for (auto& cell : row.cells) visit(row, cell);
      }
    }
  }

  const Store& store_;
  TableOptions options_;
  TableSettings settings_;                   // of the panel that is being built
  TableLook look_;                           // the same
  std::string row_title_;                    // of the row that is being built
  std::vector<std::string> row_optimizers_;  // of its reported runs, each once
  std::set<trial::Build> row_builds_;        // of its runs
  std::vector<std::string> ood_splits_;      // of the panel that is being built
  TableModel table_;
  Footnotes footnotes_;
  NoteFacts facts_;
  bool seeded_noise_ = false;
  std::map<CellKey, std::map<std::int64_t, StudyRecord>> by_cell_;
};

}  // namespace

bool PanelModel::shows_memory() const {
  return std::ranges::any_of(rows, [](const auto& row) { return row.memory.host > 0; });
}

Result<TableModel> build_table(const Store& store, const std::string& spec, const TableOptions& options) {
  return Builder(store, options).build(spec);
}

}  // namespace hyfreedp::results
