// The report: one self-contained HTML5 page of one or several specs, with contents, how to read it,
// tables, figures (SVG inline), what each row spent, failures and provenance. It has no script and
// sends no request; it can be read on a narrow screen and in dark mode.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plots/figures.h"
#include "results/store/store.h"
#include "results/table/document.h"
#include "results/table/table_model.h"

namespace hyfreedp::plots {

struct ReportFigures {
  std::vector<DrawnFigure> drawn;  // may be empty, if there is no gnuplot; `missing` then says so
  std::vector<LeftOut> left_out;
  std::string missing;
};

// The part of one spec.
struct ReportPart {
  std::string id;              // the spec's name, unique in the report
  results::Document document;  // its tables
  ReportFigures figures;
  // The table of a spec with runs, from the store that report_html is given. Absent for a spec that
  // trains nothing (computed values, or the paper's values alone): it spent nothing, and `text` is
  // shown instead.
  std::optional<results::TableModel> table = {};
  std::string text = {};  // the spec as it was read, for a part without a table
};
ReportPart report_part(const results::TableModel& table, ReportFigures figures);

// The page. `store` may be null if no part has a table.
Result<std::string> report_html(const results::Store* store, const std::vector<ReportPart>& parts);

}  // namespace hyfreedp::plots
