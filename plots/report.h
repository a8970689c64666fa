// One self-contained HTML5 page of a spec: how to read it, tables, figures (SVG inline), what each row spent, failures,
// provenance. No script, no request to anywhere; readable on a narrow screen and in dark mode.
#pragma once

#include <string>
#include <vector>

#include "plots/figures.h"
#include "results/store.h"
#include "results/table_model.h"

namespace hyfreedp::plots {

struct ReportFigures {
  std::vector<DrawnFigure> drawn;  // may be empty: no gnuplot, `missing` then says so
  std::vector<LeftOut> left_out;
  std::string missing;
};
Result<std::string> report_html(const results::Store& store, const results::TableModel& table,
                                const ReportFigures& figures);

}  // namespace hyfreedp::plots
