#include "results/table/table_options.h"

#include <algorithm>
#include <fmt/format.h>

namespace hyfreedp::results {
const MetricFacts& metric_facts(spec::Metric metric) {
  static const MetricFacts kAccuracy{"test accuracy", "%", 1, true, "accuracy", ""};
  static const MetricFacts kLoss{"test loss", "", 3, false, "loss", "loss"};
  static const MetricFacts kSeconds{"training time of the reported run", "s", 2, false, "", "s"};
  static const MetricFacts kMacro{"test macro accuracy", "%", 1, true, "macro-accuracy", "macro accuracy"};
  static const MetricFacts kAuc{"test AUC", "%", 1, true, "auc", "AUC"};
  // What is not the number of the definition's own program says so (datasets/scores/scores.h).
  static const MetricFacts kBleu{"test BLEU (mteval-v13a)", "%", 2, true, "bleu-mteval13a", "BLEU"};
  static const MetricFacts kNist{"test NIST (mteval-v13a)", "", 3, true, "nist-mteval13a", "NIST"};
  static const MetricFacts kMeteor{
      "test METEOR (nltk's definition, exact and stem matches alone, 13a tokens)",
      "%",
      2,
      true,
      "meteor-nltk-exact-and-stem-13a",
      "METEOR, exact and stem"};
  static const MetricFacts kRouge{"test ROUGE-L (pycocoevalcap's definition, 13a tokens)",
                                  "%",
                                  2,
                                  true,
                                  "rouge-l-coco-13a",
                                  "ROUGE-L, 13a"};
  static const MetricFacts kCider{
      "test CIDEr-D (pycocoevalcap's definition, 13a tokens)", "", 3, true, "cider-coco-13a", "CIDEr, 13a"};
  static const MetricFacts kExactMatch{
      "test exact match (SQuAD v1.1)", "%", 2, true, "squad-exact-match", "exact match"};
  static const MetricFacts kSquadF1{"test F1 of words (SQuAD v1.1)", "%", 2, true, "squad-f1", "F1"};
  static const MetricFacts kPerplexity{"test perplexity, by token", "", 2, false, "perplexity", "perplexity"};
  static const MetricFacts kMcc{"test Matthews correlation", "", 3, true, "mcc", "MCC"};
  static const MetricFacts kF1{"test F1 of the second class", "%", 1, true, "f1", "F1"};
  switch (metric) {
    case spec::Metric::accuracy:
      return kAccuracy;
    case spec::Metric::loss:
      return kLoss;
    case spec::Metric::macro_accuracy:
      return kMacro;
    case spec::Metric::auc:
      return kAuc;
    case spec::Metric::bleu_mteval13a:
      return kBleu;
    case spec::Metric::nist_mteval13a:
      return kNist;
    case spec::Metric::meteor_nltk_exact_and_stem_13a:
      return kMeteor;
    case spec::Metric::rouge_l_coco_13a:
      return kRouge;
    case spec::Metric::cider_coco_13a:
      return kCider;
    case spec::Metric::squad_exact_match:
      return kExactMatch;
    case spec::Metric::squad_f1:
      return kSquadF1;
    case spec::Metric::perplexity:
      return kPerplexity;
    case spec::Metric::mcc:
      return kMcc;
    case spec::Metric::f1:
      return kF1;
    case spec::Metric::seconds:
      break;
  }
  return kSeconds;
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
  const bool has_seconds = settings.metric == spec::Metric::seconds ||
                           std::ranges::count(settings.also, spec::Metric::seconds) > 0;
  if (has_seconds && settings.last_checkpoints > 1) {
    return error(where + ".last_checkpoints is of accuracy or loss; a run has one time.");
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
