#include "harness/cli/outputs.h"

#include "harness/base/files.h"
#include "harness/cli/table_format.h"
#include "plots/figures.h"
#include "plots/gnuplot.h"
#include "plots/report.h"
#include "results/terminal_writer.h"

namespace hyfreedp::cli {
namespace {

std::vector<std::string> paths_of(const std::vector<plots::DrawnFigure>& figures) {
  std::vector<std::string> paths;
  for (const auto& drawn : figures) paths.insert(paths.end(), {drawn.svg, drawn.png, drawn.script});
  return paths;
}

Result<std::vector<plots::DrawnFigure>> draw_all(const results::Store& store,
                                                 const results::TableModel& table,
                                                 const std::string& folder) {
  auto figures = plots::figures_of(store, table);
  if (!figures) return figures.error();
  return plots::draw(*figures, folder + "/plots");
}

}  // namespace

Result<std::vector<std::string>> write_tables(const results::TableModel& table, const std::string& folder) {
  return write_table_files(table, folder, "table");
}

Result<std::vector<std::string>> write_plots(const results::Store& store, const std::string& spec_name,
                                             const std::string& folder) {
  auto table = results::build_table(store, spec_name);
  if (!table) return table.error();
  auto drawn = draw_all(store, *table, folder);
  if (!drawn) return drawn.error();
  return paths_of(*drawn);
}

Result<std::vector<std::string>> write_report(const results::Store& store, const std::string& spec_name,
                                              const std::string& folder,
                                              const results::TableOptions& options) {
  auto table = results::build_table(store, spec_name, options);
  if (!table) return table.error();
  std::vector<plots::DrawnFigure> drawn;
  std::string missing;
  if (plots::find_program("gnuplot")) {
    auto figures = draw_all(store, *table, folder);
    if (!figures) return figures.error();
    drawn = std::move(*figures);
  } else {
    missing = plots::kNoGnuplot;
  }
  auto html = plots::report_html(store, *table, drawn, missing);
  if (!html) return html.error();
  std::vector<std::string> paths{folder +
                                 (options.confidential ? "/report.confidential.html" : "/report.html")};
  if (auto written = write_file_atomically(paths.front(), *html); !written) return written.error();
  const auto pictures = paths_of(drawn);
  paths.insert(paths.end(), pictures.begin(), pictures.end());
  return paths;
}

Result<void> write_outputs(const results::Store& store, const std::string& spec_name,
                           const std::string& folder, std::ostream& terminal) {
  auto table = results::build_table(store, spec_name);
  if (!table) return table.error();
  if (auto written = write_tables(*table, folder); !written) return written.error();
  if (auto written = write_report(store, spec_name, folder, {}); !written) return written.error();
  terminal << results::terminal_table(*table, results::style_of_standard_output());
  terminal << "\nWritten: " << folder << "/{table.{md,csv,tex,html}, report.html}";
  if (plots::find_program("gnuplot"))
    terminal << " and " << folder << "/plots/*.{svg,png}\n";
  else
    terminal << ". " << plots::kNoGnuplot << '\n';
  return {};
}

}  // namespace hyfreedp::cli
