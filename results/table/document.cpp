#include "results/table/document.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "results/table/cell_text.h"

namespace hyfreedp::results {
namespace {

using spec::TableColumn;

DocumentCell cell_of(const CellModel& model, const TableLook& look) {
  const auto text = text_of(model, look);
  DocumentCell cell;
  cell.main = text.main;
  cell.details = text.details;
  cell.confidential = text.confidential;
  cell.tone = model.kind == CellModel::Kind::failed  ? DocumentCell::Tone::failed
              : model.kind == CellModel::Kind::value ? DocumentCell::Tone::plain
                                                     : DocumentCell::Tone::absent;
  cell.best = model.best;
  cell.notes = model.notes;
  return cell;
}

constexpr const char* kEndToEnd = "end-to-end DP";

int number_of_footnote(const std::string& text, Document& document) {
  auto& all = document.footnotes;
  const auto found = std::ranges::find(all, text);
  if (found != all.end()) return static_cast<int>(found - all.begin()) + 1;
  all.push_back(text);
  return static_cast<int>(all.size());
}

// The columns that the look asks for, as far as there is something in them.
std::vector<TableColumn> columns_of(const PanelModel& model) {
  std::vector<TableColumn> columns;
  for (const auto column : model.look.columns) {
    if (column != TableColumn::label && (column != TableColumn::memory || model.shows_memory()))
      columns.push_back(column);
  }
  return columns;
}

DocumentPanel panel_of(const TableModel& table, const PanelModel& model, Document& document) {
  const bool has_labels = std::ranges::count(model.look.columns, TableColumn::label) > 0;
  const auto aside = columns_of(model);
  DocumentPanel panel{.title = model.title,
                      .settings = model.settings,
                      .notes = model.notes,
                      .heads = {"Method"},
                      .label_title = has_labels ? "Label, flags" : ""};
  for (const auto& epsilon : model.columns) {
    panel.columns.push_back({column_title(model, epsilon)});
    for (const auto& beside : model.also) panel.columns.push_back({column_title(beside, epsilon)});
  }
  if (model.table.ranks) panel.columns.push_back({"Mean rank", true});
  for (const auto column : aside)
    panel.columns.push_back({column == TableColumn::time ? "Time" : "Memory", true});
  // What is the same in each column of an epsilon is said in the first.
  const auto beside_look = [&](const CellModel& first, const CellModel& cell) {
    auto look = model.look;
    look.epsilon = look.epsilon && cell.epsilon != first.epsilon;
    look.n = look.n && cell.n != first.n;
    return look;
  };
  for (const auto& row : model.rows) {
    const auto at = panel.rows.size();
    DocumentRow made{.heads = {row.title}, .label = {}, .notes = row.notes};
    const auto label = label_text(table, row);
    if (has_labels) made.label = label;
    if (!has_labels && label != kEndToEnd && !label.empty()) {
      made.notes.push_back(number_of_footnote("Label: " + label + ".", document));
    }
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      made.cells.push_back(cell_of(row.cells[i], model.look));
      for (const auto& beside : model.also) {
        const auto& cell = beside.rows[at].cells[i];
        made.cells.push_back(cell_of(cell, beside_look(row.cells[i], cell)));
      }
    }
    if (model.table.ranks)
      made.cells.push_back({.main = row.mean_rank ? short_number(*row.mean_rank, 3) : "-"});
    for (const auto column : aside) {
      const auto time = row.seconds ? human_duration(*row.seconds) : "-";
      made.cells.push_back({.main = column == TableColumn::time ? time : memory_text(row.memory)});
    }
    panel.rows.push_back(std::move(made));
  }
  return panel;
}

// Removes the notes that the spec does not want. Text above the table stays.
void leave_out_notes(spec::TableNotes shown, Document& document) {
  if (shown == spec::TableNotes::all) return;
  document.notes.clear();
  if (shown == spec::TableNotes::footnotes) return;
  document.footnotes.clear();
  for (auto& panel : document.panels) {
    panel.notes.clear();
    for (auto& row : panel.rows) {
      row.notes.clear();
      for (auto& cell : row.cells) cell.notes.clear();
    }
  }
}

DocumentCell cell_of(const ValueCell& value, bool some_are_ours, const std::string& word) {
  const auto text = text_of(value, word);
  DocumentCell cell;
  cell.main = text.main;
  cell.details = text.details;
  cell.tone = value.in_band() == false ? DocumentCell::Tone::failed
              : text.main == kNoValue  ? DocumentCell::Tone::absent
                                       : DocumentCell::Tone::plain;
  // A cell that is the paper's alone must not be taken for one of ours.
  if (some_are_ours && value.paper && !value.ours) cell.details.insert(cell.details.begin(), word);
  cell.notes = value.notes;
  return cell;
}

bool has_ours(const ValueTable& table) {
  for (const auto& row : table.rows) {
    for (const auto& cell : row.cells) {
      if (cell.ours) return true;
    }
  }
  return false;
}

// Returns the notes on how to read the table, which depend on what its cells hold.
std::vector<std::string> reading_notes(const ValueTable& table) {
  bool ours = false, paper = false, both = false, verdict = false;
  for (const auto& row : table.rows) {
    for (const auto& cell : row.cells) {
      ours = ours || cell.ours;
      paper = paper || cell.paper;
      both = both || (cell.ours && cell.paper);
      verdict = verdict || cell.in_band();
    }
  }
  std::vector<std::string> notes;
  if (paper && !ours)
    notes.emplace_back("These are the paper's own values; nothing was computed or run here.");
  if (both && table.source == ValueTable::Source::formula) {
    notes.emplace_back(
        "Above our value, beneath it what the paper's formula gives, which the paper does not print, and the "
        "difference, ours less the formula's.");
  } else if (both) {
    notes.emplace_back("Above our value, beneath it the paper's and the difference, ours less the paper's.");
  }
  if (verdict) {
    notes.emplace_back(
        "In band: the difference is within the tolerance of the cell, for example the last printed digit.");
  }
  return notes;
}

// A footnote to which no cell refers is said of the whole table, as a note.
void notes_from_unused_footnotes(ValueTable& table) {
  std::set<int> used;
  for (const auto& row : table.rows) {
    for (const auto& cell : row.cells) used.insert(cell.notes.begin(), cell.notes.end());
  }
  std::map<int, int> number;  // of a footnote that stays, by its number before
  std::vector<std::string> footnotes, notes;
  for (int old = 1; old <= static_cast<int>(table.footnotes.size()); ++old) {
    auto& text = table.footnotes[static_cast<std::size_t>(old) - 1];
    (used.contains(old) ? footnotes : notes).push_back(std::move(text));
    number[old] = static_cast<int>(footnotes.size());
  }
  for (auto& row : table.rows) {
    for (auto& cell : row.cells) {
      for (int& note : cell.notes) note = number.at(note);
    }
  }
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  table.footnotes = std::move(footnotes);
  table.notes = std::move(notes);
}

}  // namespace

Document document_of(const TableModel& table) {
  Document document{.title = table.title,
                    .description = table.description,
                    .confidential = table.confidential,
                    .banners = table.banners,
                    .footnotes = table.footnotes,
                    .notes = table.notes};
  for (const auto& panel : table.panels) document.panels.push_back(panel_of(table, panel, document));
  leave_out_notes(table.shown_notes, document);
  return document;
}

Document document_of(const ValueTable& given) {
  auto table = given;
  notes_from_unused_footnotes(table);
  Document document{.title = table.title,
                    .description = table.description,
                    .footnotes = table.footnotes,
                    .notes = table.notes};
  const auto reading = reading_notes(table);
  document.notes.insert(document.notes.end(), reading.begin(), reading.end());
  DocumentPanel panel{.heads = table.row_fields};
  if (!table.unit.empty()) panel.settings = "Values: " + table.unit;
  for (const auto& column : table.columns) panel.columns.push_back({column});
  for (const auto& row : table.rows) {
    DocumentRow made{.heads = row.labels};
    for (const auto& cell : row.cells)
      made.cells.push_back(cell_of(cell, has_ours(table), table.source_word()));
    panel.rows.push_back(std::move(made));
  }
  document.panels.push_back(std::move(panel));
  return document;
}

}  // namespace hyfreedp::results
