// The `table` of a spec or panel: what is given, and nothing else.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/describe.h"

namespace hyfreedp::spec {

enum class Metric {
  accuracy,
  loss,
  seconds,
  macro_accuracy,
  auc,
  // These score written texts (datasets/scores/scores.h).
  bleu_mteval13a,
  nist_mteval13a,
  meteor_nltk_exact_and_stem_13a,
  rouge_l_coco_13a,
  cider_coco_13a,
  squad_exact_match,
  squad_f1,
  perplexity,
  mcc,
  f1
};
// Whether runs record the metric always (perplexity: those of language models), or where `evaluate`
// says `by_class: true` or `written: {}`. Scores of written texts are recorded once, at the end.
enum class RecordedBy { always, by_class, written };
RecordedBy recorded_by(Metric metric);
enum class FoldedGroups { all, median, max };
enum class IntervalKind { none, t, bootstrap };
// The columns beside the results: the label with its flags, the time, the memory.
enum class TableColumn { label, time, memory };
// The parts of a cell: one of mean and median; then what stands with it.
enum class CellPart { mean, median, sd, range, epsilon, n };
enum class TableNotes { all, footnotes, none };
BOOST_DESCRIBE_ENUM(Metric, accuracy, loss, seconds, macro_accuracy, auc, bleu_mteval13a, nist_mteval13a,
                    meteor_nltk_exact_and_stem_13a, rouge_l_coco_13a, cider_coco_13a, squad_exact_match,
                    squad_f1, perplexity, mcc, f1)
BOOST_DESCRIBE_ENUM(FoldedGroups, all, median, max)
BOOST_DESCRIBE_ENUM(IntervalKind, none, t, bootstrap)
BOOST_DESCRIBE_ENUM(TableColumn, label, time, memory)
BOOST_DESCRIBE_ENUM(CellPart, mean, median, sd, range, epsilon, n)
BOOST_DESCRIBE_ENUM(TableNotes, all, footnotes, none)

// Ids of the rows that are 0 % and 100 %.
struct Rerr {
  std::string random;
  std::string oracle;
};
BOOST_DESCRIBE_STRUCT(Rerr, (), (random, oracle))

// The members' meaning is in the help texts of results/table/table_options.cpp.
struct Table {
  std::optional<Metric> metric;
  std::optional<std::vector<Metric>> also;
  std::optional<std::string> relative_to;
  std::optional<FoldedGroups> groups;
  std::optional<std::int64_t> last_checkpoints;
  std::optional<IntervalKind> interval;
  std::optional<bool> ranks;
  std::optional<bool> mdd;
  std::optional<bool> oracle_beaten;
  std::optional<bool> paper;
  std::optional<double> paper_tolerance;
  std::optional<Rerr> rerr;
  // The table's look; CSV files have all of it.
  std::optional<std::vector<TableColumn>> columns;  // in this order; none: all
  std::optional<std::vector<CellPart>> cells;       // none: mean, sd, epsilon, n
  std::optional<TableNotes> notes;
  std::optional<std::map<std::string, std::string>> labels;  // titles by the ids of rows and panels

  static constexpr bool kLeftOut = true;
};
BOOST_DESCRIBE_STRUCT(Table, (),
                      (metric, also, relative_to, groups, last_checkpoints, interval, ranks, mdd,
                       oracle_beaten, paper, paper_tolerance, rerr, columns, cells, notes, labels))

// Returns `above`, completed by `below` where it says nothing.
Table laid_over(Table above, const Table& below);

}  // namespace hyfreedp::spec
