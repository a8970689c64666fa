#include "results/table/table_options.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hyfreedp::results {
const MetricFacts& metric_facts(spec::Metric metric) {
  using spec::Metric;
  // What is not the number of the definition's own program says so (datasets/scores/scores.h).
  static const auto kFacts = [] {
    std::map<Metric, MetricFacts> all{
        {Metric::accuracy, {.title = "test accuracy", .unit = "%"}},
        {Metric::loss, {.title = "test loss", .decimals = 3, .larger_is_better = false, .column = "loss"}},
        {Metric::perplexity,
         {.title = "test perplexity, by token",
          .decimals = 2,
          .larger_is_better = false,
          .column = "perplexity"}},
        {Metric::seconds,
         {.title = "training time of the reported run", .unit = "s", .decimals = 2, .column = "s"}},
        {Metric::macro_accuracy, {.title = "test macro accuracy", .unit = "%", .column = "macro accuracy"}},
        {Metric::auc, {.title = "test AUC", .unit = "%", .column = "AUC"}},
        {Metric::mcc, {.title = "test Matthews correlation", .decimals = 3, .column = "MCC"}},
        {Metric::f1, {.title = "test F1 of the second class", .unit = "%", .column = "F1"}},
        {Metric::bleu_mteval13a,
         {.title = "test BLEU (mteval-v13a)", .unit = "%", .decimals = 2, .column = "BLEU"}},
        {Metric::nist_mteval13a, {.title = "test NIST (mteval-v13a)", .decimals = 3, .column = "NIST"}},
        {Metric::meteor_nltk_exact_and_stem_13a,
         {.title = "test METEOR (nltk's definition, exact and stem matches alone, 13a tokens)",
          .unit = "%",
          .decimals = 2,
          .column = "METEOR, exact and stem"}},
        {Metric::rouge_l_coco_13a,
         {.title = "test ROUGE-L (pycocoevalcap's definition, 13a tokens)",
          .unit = "%",
          .decimals = 2,
          .column = "ROUGE-L, 13a"}},
        {Metric::cider_coco_13a,
         {.title = "test CIDEr-D (pycocoevalcap's definition, 13a tokens)",
          .decimals = 3,
          .column = "CIDEr, 13a"}},
        {Metric::squad_exact_match,
         {.title = "test exact match (SQuAD v1.1)", .unit = "%", .decimals = 2, .column = "exact match"}},
        {Metric::squad_f1,
         {.title = "test F1 of words (SQuAD v1.1)", .unit = "%", .decimals = 2, .column = "F1"}},
    };
    for (auto& [one, facts] : all) {
      if (one != Metric::seconds) facts.recorded = name_of(one);
    }
    return all;
  }();
  return kFacts.at(metric);
}

std::string asked_of_evaluate(spec::Metric metric) {
  switch (spec::recorded_by(metric)) {
    case spec::RecordedBy::always:
      return "";
    case spec::RecordedBy::by_class:
      return "by_class: true";
    case spec::RecordedBy::written:
      break;
  }
  return "written: {}";
}

double shown_value(const MetricFacts& facts, double recorded) {
  return (facts.unit == "%" ? 100 : 1) * recorded;
}

const std::vector<OptionSpec>& table_options() {
  static const auto kOptions = [] {
    auto options = options_of<TableSettings>({
        {.name = "metric",
         .help =
             "what a cell shows: test accuracy in percent, test loss, the perplexity of a language model by "
             "token, the training time of the reported run; where `evaluate: {by_class: true}` records "
             "them, the mean accuracy over classes, the area under the ROC curve, or of two classes the F1 "
             "of the second, in percent, or Matthews' correlation; or, where `evaluate: {written: {}}` has "
             "texts written, one of their scores, whose names say by whose definition"},
        {.name = "relative_to",
         .help = "id of a row to compare with: the difference to it with its 95 % interval; of seconds, "
                 "the ratio to it and its range over seeds"},
        {.name = "groups",
         .help = "rows of one group: all of them, or one row with the median, or the best, of each seed's "
                 "values"},
        {.name = "last_checkpoints",
         .help = "a run's value is the mean over so many last evaluations on the test split",
         .min = 1,
         .max = 1000},
        {.name = "interval", .help = "95 % interval of each mean: t, or BCa bootstrap"},
        {.name = "ranks", .help = "a column with each row's mean rank over the columns that all rows have"},
        {.name = "mdd",
         .help =
             "the smallest difference that a paired t-test at 5 % would find with 80 % power, against the "
             "row of relative_to, else the column's leader"},
        {.name = "oracle_beaten",
         .help = "mark rows whose paired difference to the best oracle row has a 95 % interval above 0"},
        {.name = "paper",
         .help =
             "the paper's value; with the difference, and whether it is in band, where the task is the "
             "paper's or a tolerance is given, else with both ranks; not given: where the spec reproduces "
             "a paper's"},
        {.name = "paper_tolerance",
         .help = "half width of the band around the paper's value",
         .unit = "points",
         .min = 0,
         .max = 100},
    });
    const auto notes = options_of<spec::Table>(
        {{.name = "notes",
          .help = "what stands beneath: all; footnotes alone; or none, and no numbers of them in the table. "
                  "A confidential table and one whose noise can be repeated say so all the same"}});
    options.insert(options.end(), notes.begin(), notes.end());
    for (auto& option : options) {
      option.stored_always = false;
      // If it is not given, the spec decides.
      if (option.name == "paper") option.default_value = nullptr;
    }
    return options;
  }();
  return kOptions;
}

const std::vector<OptionSpec>& rerr_options() {
  static const auto kOptions =
      options_of<spec::Rerr>({{.name = "random", .help = "id of the row that is 0 %"},
                              {.name = "oracle", .help = "id of the row that is 100 %"}});
  return kOptions;
}

Result<TableSettings> table_settings(const spec::Table& given, const std::string& where) {
  auto plain = as_json(given);
  for (const char* other : {"also", "rerr", "columns", "cells", "labels"}) plain.erase(other);
  if (auto checked = resolve_options(table_options(), plain, where); !checked) return checked.error();
  TableSettings settings;
  if (given.rerr) {
    settings.rerr_random = given.rerr->random;
    settings.rerr_oracle = given.rerr->oracle;
    if (settings.rerr_random.empty() || settings.rerr_oracle.empty()) {
      return error(where + ".rerr needs 'random' and 'oracle', the ids of two rows.");
    }
  }
  const auto take = [](const auto& one, auto& target) { target = one.value_or(target); };
  take(given.metric, settings.metric);
  take(given.also, settings.also);
  take(given.relative_to, settings.relative_to);
  take(given.groups, settings.groups);
  take(given.last_checkpoints, settings.last_checkpoints);
  take(given.interval, settings.interval);
  take(given.ranks, settings.ranks);
  take(given.mdd, settings.mdd);
  take(given.oracle_beaten, settings.oracle_beaten);
  take(given.paper, settings.paper);
  settings.paper_tolerance = given.paper_tolerance;
  if (std::ranges::count(settings.also, settings.metric) > 0) {
    return error(
        fmt::format("{}.also names {}, which is the metric itself.", where, name_of(settings.metric)));
  }
  auto metrics = settings.also;
  metrics.push_back(settings.metric);
  const auto once = std::ranges::find_if(metrics, [](spec::Metric metric) {
    return metric == spec::Metric::seconds || spec::recorded_by(metric) == spec::RecordedBy::written;
  });
  if (once != metrics.end() && settings.last_checkpoints > 1) {
    return error(
        fmt::format("{}.last_checkpoints is of what a run evaluates several times; {} is recorded once.",
                    where, name_of(*once)));
  }
  return settings;
}

Result<TableLook> table_look(const spec::Table& given, const std::string& where) {
  TableLook look{.notes = given.notes.value_or(spec::TableNotes::all)};
  if (given.columns) look.columns = *given.columns;
  if (!given.cells) return look;
  const auto has = [&](spec::CellPart part) { return std::ranges::count(*given.cells, part) > 0; };
  if (has(spec::CellPart::mean) == has(spec::CellPart::median)) {
    return error(where + ".cells needs either 'mean' or 'median', for example [median, range, n].");
  }
  look.is_median = has(spec::CellPart::median);
  look.sd = has(spec::CellPart::sd);
  look.range = has(spec::CellPart::range);
  look.epsilon = has(spec::CellPart::epsilon);
  look.n = has(spec::CellPart::n);
  if (look.is_median && look.sd) {
    return error(where + ".cells: 'sd' is the deviation from the mean; 'range' goes with the median.");
  }
  return look;
}

}  // namespace hyfreedp::results
