// The content of a table, independent of any format; the terminal, Markdown, LaTeX and HTML writers
// print it.
//
// document_of makes it from a comparison (table_model.h) or from a table of plain values
// (value_table.h), so that formats cannot disagree and both kinds of table look alike. All text is
// plain UTF-8, which each writer escapes for its format. Notes are numbers into
// Document::footnotes, from 1. CSV is not made from it: it is the long form of the models, with
// every field in full.
#pragma once

#include <string>
#include <vector>

#include "results/table/table_model.h"
#include "results/table/value_table.h"

namespace hyfreedp::results {

struct DocumentCell {
  enum class Tone { plain, failed, absent };

  std::string main;                  // never empty
  std::vector<std::string> details;  // lines beneath it, in smaller type
  std::string confidential;          // one more, marked as such; only when asked for
  Tone tone = Tone::plain;
  bool best = false;
  std::vector<int> notes;
};

struct DocumentRow {
  std::vector<std::string> heads;  // one a head of the panel
  // The row's label; empty if the panel has no label column.
  std::string label;
  std::vector<int> notes;
  std::vector<DocumentCell> cells;  // one a column
};

struct DocumentColumn {
  std::string title;
  bool aside = false;  // of the row, not of its result (time): set back
};

struct DocumentPanel {
  std::string title;     // empty where the document's own says it all
  std::string settings;  // one line; may be empty
  std::vector<int> notes;
  std::vector<std::string> heads;  // titles of the columns that name a row: "Method"
  std::string label_title;         // "Label, flags"; empty: rows have no label
  std::vector<DocumentColumn> columns;
  std::vector<DocumentRow> rows;
};

struct Document {
  std::string title;
  std::string description;
  bool confidential = false;  // every writer prints kWatermark
  std::vector<std::string> banners;
  std::vector<DocumentPanel> panels;
  std::vector<std::string> footnotes;
  std::vector<std::string> notes;
};

Document document_of(const TableModel& table);
Document document_of(const ValueTable& table);

}  // namespace hyfreedp::results
