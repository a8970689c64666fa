// One self-contained HTML5 page of one or several specs: contents, how to read it, tables, figures (SVG inline), what each row
// spent, failures, provenance. No script, no request to anywhere; readable on a narrow screen and in dark mode.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plots/figures.h"
#include "results/document.h"
#include "results/store.h"
#include "results/table_model.h"

namespace hyfreedp::plots {

struct ReportFigures {
  std::vector<DrawnFigure> drawn;  // may be empty: no gnuplot, `missing` then says so
  std::vector<LeftOut> left_out;
  std::string missing;
};

// One spec.
struct ReportPart {
  std::string id;              // its name, of no other part
  results::Document document;  // its tables
  ReportFigures figures;
  // Of a spec with runs, from the store that the report is given; none: a spec that trains nothing (computed, or the paper's
  // values alone), which spent nothing and of which `text` is all there is to say.
  std::optional<results::TableModel> table = {};
  std::string text = {};  // the spec as read, of a part without a table
};
ReportPart report_part(const results::TableModel& table, ReportFigures figures);

// `store` may be null where no part has a table.
Result<std::string> report_html(const results::Store* store, const std::vector<ReportPart>& parts);

}  // namespace hyfreedp::plots
