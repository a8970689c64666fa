#include "results/table/csv_writer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "harness/base/text.h"
#include "results/table/footnotes.h"

namespace hyfreedp::results {
namespace {

std::string full(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }

// a - b to 14 digits of the larger: 1.001 - 1 is 0.001, not 0.00099999999999989.
std::string difference(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b));
  if (!(larger > 0) || !std::isfinite(larger)) return csv_number(a - b);
  const double unit = std::pow(10.0, std::floor(std::log10(larger)) - 13);
  return csv_number(std::round((a - b) / unit) * unit);
}

// Writes the bound in full: an upper bound must not be rounded down.
std::string bound(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::string kind_text(CellModel::Kind kind) {
  switch (kind) {
    case CellModel::Kind::not_planned:
      return "not planned";
    case CellModel::Kind::open:
      return "open";
    case CellModel::Kind::failed:
      return "failed";
    case CellModel::Kind::value:
      return "value";
  }
  return "";
}

// Fields of what the settings ask for stand only where they ask for something.
bool has_extras(const TableModel& table) {
  return std::any_of(table.panels.begin(), table.panels.end(),
                     [](const auto& panel) { return panel.table != TableSettings{}; });
}

bool has_memory(const TableModel& table) {
  return std::any_of(table.panels.begin(), table.panels.end(),
                     [](const auto& panel) { return panel.shows_memory(); });
}

bool has_noise_accountants(const TableModel& table) {
  for (const auto& panel : table.panels) {
    for (const auto& row : panel.rows) {
      const auto recorded = [](const CellModel& cell) { return !cell.noise_accountant.empty(); };
      if (std::any_of(row.cells.begin(), row.cells.end(), recorded)) return true;
    }
  }
  return false;
}

// Ids of the panels' sets, each once.
std::vector<std::string> ood_tests(const TableModel& table) {
  std::vector<std::string> ids;
  for (const auto& panel : table.panels) {
    for (const auto& id : panel.ood_test) add_once(ids, id);
  }
  return ids;
}

void add_ood_test(const CellModel& cell, const std::string& id, std::vector<std::string>& fields) {
  const auto found = std::ranges::find(cell.ood_test, id, &OodValue::id);
  const auto* value = found == cell.ood_test.end() ? nullptr : &*found;
  fields.push_back(value != nullptr && value->n > 0 ? full(value->mean) : "");
  fields.push_back(value != nullptr ? full(value->sd) : "");
  fields.push_back(value != nullptr && value->paper ? full(value->paper->value) : "");
}

std::vector<std::string> low_and_high(const std::optional<Interval>& interval) {
  if (!interval) return {"", ""};
  return {full(interval->low), full(interval->high)};
}

void add_extras(const PanelModel& panel, const RowModel& row, const CellModel& cell,
                std::vector<std::string>& fields) {
  const auto add = [&](const std::vector<std::string>& more) {
    fields.insert(fields.end(), more.begin(), more.end());
  };
  std::vector<std::string> values;
  for (const auto& result : cell.seeds) values.push_back(full(result.value));
  const bool has_value = cell.kind == CellModel::Kind::value;
  add({name_of(panel.table.metric), has_value ? full(cell.mean) : "", full(cell.sd), join(values, " "),
       std::to_string(panel.table.last_checkpoints)});
  add(low_and_high(cell.interval));
  add({cell.relation ? panel.table.relative_to : "", full(cell.relation)});
  add(low_and_high(cell.relation_range));
  add({full(cell.detectable), full(cell.rerr), cell.beats_oracle ? "yes" : "no", full(cell.rank),
       full(row.mean_rank)});
  if (!cell.paper) return add({"", "", "", "", "", "", ""});
  add({full(cell.paper->value), full(cell.paper->sd), cell.paper->unit,
       cell.paper->difference ? difference(cell.mean, cell.paper->value) : "",
       !cell.paper->in_band   ? ""
       : *cell.paper->in_band ? "yes"
                              : "no",
       full(cell.paper->our_rank), full(cell.paper->rank)});
}

std::vector<std::string> header(const TableModel& table) {
  std::vector<std::string> fields{
      "spec",          "panel",        "row",   "method", "title",   "epsilon_target", "state",
      "accuracy_mean", "accuracy_sd",  "n",     "seeds",  "epsilon", "epsilon_least",  "claimed_epsilon",
      "delta",         "accountant",   "label", "flags",  "failure", "best",           "seconds",
      "accuracies",    "failed_seeds", "notes"};
  if (has_extras(table)) {
    fields.insert(fields.end(), {"metric",
                                 "value_mean",
                                 "value_sd",
                                 "values",
                                 "last_checkpoints",
                                 "interval_low",
                                 "interval_high",
                                 "relative_to",
                                 "relation",
                                 "relation_low",
                                 "relation_high",
                                 "detectable",
                                 "rerr",
                                 "oracle_beaten",
                                 "rank",
                                 "mean_rank",
                                 "paper",
                                 "paper_sd",
                                 "paper_unit",
                                 "paper_difference",
                                 "in_band",
                                 "rank_beside_paper",
                                 "paper_rank"});
  }
  if (has_memory(table)) fields.insert(fields.end(), {"peak_bytes", "device_peak_bytes"});
  for (const auto& id : ood_tests(table)) {
    for (const char* kind : {"", "_sd", "_paper"}) fields.push_back("ood_test_" + id + kind);
  }
  if (has_noise_accountants(table)) fields.emplace_back("noise_accountant");
  if (table.confidential) fields.insert(fields.end(), {"validation", "runs", "watermark"});
  return fields;
}

std::string notes_text(const TableModel& table, const RowModel& row, const CellModel& cell) {
  std::vector<std::string> texts;
  for (const auto& list : {row.notes, cell.notes}) {
    for (const int number : list) texts.push_back(table.footnotes[static_cast<std::size_t>(number) - 1]);
  }
  return join(texts, " | ");
}

std::vector<std::string> record(const TableModel& table, const PanelModel& panel, const RowModel& row,
                                const CellModel& cell) {
  std::vector<std::string> seeds, accuracies, failed;
  for (const auto& result : cell.seeds) {
    seeds.push_back(std::to_string(result.seed));
    accuracies.push_back(full(result.accuracy));
    if (result.state == StudyState::failed)
      failed.push_back(fmt::format("{}: {}", result.seed, result.failure_kind));
  }
  std::vector<double> known;
  for (const auto& result : cell.seeds) {
    if (result.accuracy) known.push_back(*result.accuracy);
  }
  std::vector<std::string> fields{table.spec,
                                  panel.id,
                                  row.id,
                                  row.method,
                                  row.title,
                                  cell.epsilon_target ? full(cell.epsilon_target) : "inf",
                                  kind_text(cell.kind),
                                  known.empty() ? "" : full(mean(known)),
                                  full(sample_sd(known)),
                                  std::to_string(cell.n),
                                  join(seeds, " "),
                                  bound(cell.epsilon),
                                  bound(cell.epsilon_least),
                                  bound(cell.claimed_epsilon),
                                  bound(panel.delta),
                                  cell.accountant,
                                  cell.label,
                                  join(cell.flags, "; "),
                                  cell.failure,
                                  cell.best ? "yes" : "no",
                                  full(cell.seconds),
                                  join(accuracies, " "),
                                  join(failed, "; "),
                                  notes_text(table, row, cell)};
  if (has_extras(table)) add_extras(panel, row, cell, fields);
  if (has_memory(table)) {
    const auto recorded = [](std::int64_t bytes) { return bytes > 0 ? std::to_string(bytes) : ""; };
    fields.insert(fields.end(), {recorded(cell.memory.host), recorded(cell.memory.device)});
  }
  for (const auto& id : ood_tests(table)) add_ood_test(cell, id, fields);
  if (has_noise_accountants(table)) fields.push_back(cell.noise_accountant);
  if (table.confidential) fields.insert(fields.end(), {full(cell.validation), full(cell.runs), kWatermark});
  return fields;
}

std::vector<std::string> value_record(const ValueTable& table, const ValueRow& row, std::size_t column) {
  const auto& cell = row.cells[column];
  std::vector<std::string> fields{table.name};
  fields.insert(fields.end(), row.labels.begin(), row.labels.end());
  const auto verdict = cell.in_band();
  std::vector<std::string> notes;
  for (const int number : cell.notes) notes.push_back(table.footnotes[static_cast<std::size_t>(number) - 1]);
  fields.insert(fields.end(),
                {table.columns[column], full(cell.ours), full(cell.paper), full(cell.paper_sd),
                 cell.ours && cell.paper ? difference(*cell.ours, *cell.paper) : "", full(cell.tolerance),
                 !verdict   ? ""
                 : *verdict ? "yes"
                            : "no",
                 cell.text, table.unit, join(notes, " | ")});
  return fields;
}

}  // namespace

std::string csv_number(double value) { return short_number(value, std::numeric_limits<double>::digits10); }

std::string csv_record(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  for (const auto& field : fields) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      quoted.push_back(field);
      continue;
    }
    std::string text = "\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    quoted.push_back(text + "\"");
  }
  return join(quoted, ",") + "\r\n";
}

std::string csv_table(const TableModel& table) {
  std::string out = csv_record(header(table));
  const auto add = [&](const PanelModel& panel) {
    for (const auto& row : panel.rows) {
      for (const auto& cell : row.cells) out += csv_record(record(table, panel, row, cell));
    }
  };
  for (const auto& panel : table.panels) {
    add(panel);
    for (const auto& beside : panel.also) add(beside);
  }
  return out;
}

std::string csv_values(const ValueTable& table) {
  std::vector<std::string> fields{"table"};
  fields.insert(fields.end(), table.row_fields.begin(), table.row_fields.end());
  fields.insert(fields.end(), {"column", "ours", table.source_word(), "paper_sd", "difference", "tolerance",
                               "in_band", "text", "unit", "notes"});
  std::string out = csv_record(fields);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) out += csv_record(value_record(table, row, i));
  }
  return out;
}

}  // namespace hyfreedp::results
