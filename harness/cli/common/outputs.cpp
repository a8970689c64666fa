#include "harness/cli/common/outputs.h"

#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/base/text.h"
#include "plots/figures.h"
#include "plots/gnuplot.h"
#include "plots/report.h"
#include "plots/report_style.h"
#include "results/table/csv_writer.h"
#include "results/table/html_writer.h"
#include "results/table/latex_writer.h"
#include "results/table/markdown_writer.h"
#include "results/table/terminal_writer.h"

namespace hyfreedp::cli {
namespace {

std::vector<std::string> paths_of(const std::vector<plots::DrawnFigure>& figures) {
  std::vector<std::string> paths;
  for (const auto& drawn : figures) paths.insert(paths.end(), {drawn.svg, drawn.png, drawn.script});
  return paths;
}

// Pictures with confidential values never stand where those that may be published do.
std::string plots_folder(const std::string& folder, const results::TableModel& table) {
  return folder + (table.confidential ? "/plots.confidential" : "/plots");
}

struct Drawn {
  std::vector<plots::DrawnFigure> figures;
  std::vector<plots::LeftOut> left_out;
};

Result<Drawn> draw_all(const results::Store& store, const results::TableModel& table,
                       const std::string& folder) {
  // Figures show accuracies, whatever the spec says of its table.
  const auto plain =
      results::build_table(store, table.spec, {.confidential = table.confidential, .plain = true});
  if (!plain) return plain.error();
  auto figures = plots::figures_of(store, *plain);
  if (!figures) return figures.error();
  const auto place = plots_folder(folder, table);
  if (table.confidential) {
    if (auto made = make_closed_folder(place); !made) return made.error();
  }
  auto drawn = plots::draw(figures->figures, place);
  if (!drawn) return drawn.error();
  return Drawn{std::move(*drawn), std::move(figures->left_out)};
}

using results::Document;

std::string csv_of(const results::TableModel& table) { return results::csv_table(table); }
std::string csv_of(const results::ValueTable& table) { return results::csv_values(table); }

template <class Table>
std::string formatted_any(const Table& table, TableFormat format, const results::TerminalStyle& style) {
  if (format == TableFormat::csv) return csv_of(table);
  const Document document = results::document_of(table);
  switch (format) {
    case TableFormat::markdown:
      return results::markdown_text(document);
    case TableFormat::latex:
      return results::latex_text(document, results::LatexPart::document);
    case TableFormat::latex_tables:
      return results::latex_text(document, results::LatexPart::tables);
    case TableFormat::html:
      return results::html_page(document, plots::kReportStyle);
    case TableFormat::terminal:
    case TableFormat::csv:
      break;
  }
  return results::terminal_text(document, style);
}

template <class Table>
Result<std::vector<std::string>> write_any(const Table& table, const std::string& folder,
                                           const std::string& name) {
  std::vector<std::string> paths;
  for (const auto& [ending, format] :
       {std::pair{"md", TableFormat::markdown}, std::pair{"csv", TableFormat::csv},
        std::pair{"tex", TableFormat::latex}, std::pair{"html", TableFormat::html}}) {
    paths.push_back(fmt::format("{}/{}.{}", folder, name, ending));
    if (auto written = write_file_atomically(paths.back(), formatted_any(table, format, {})); !written) {
      return written.error();
    }
  }
  return paths;
}

}  // namespace

Result<void> write_output(const std::string& path, const std::string& content, bool owner_only,
                          std::ostream& out) {
  if (auto written = write_named_file(path, content, owner_only); !written) return written;
  if (!is_standard_output(path)) out << "Written: " << path << '\n';
  return {};
}

Result<std::vector<std::string>> write_tables(const results::TableModel& table, const std::string& folder) {
  return write_table_files(table, folder, "table");
}

namespace {

void add(const Drawn& drawn, WrittenPlots& written) {
  const auto pictures = paths_of(drawn.figures);
  written.paths.insert(written.paths.end(), pictures.begin(), pictures.end());
  for (const auto& one : drawn.left_out)
    written.left_out.push_back(fmt::format("Not drawn: {}: {}.", one.name, one.why));
}

}  // namespace

Result<WrittenPlots> write_plots(const results::Store& store, const std::string& spec_name,
                                 const std::string& folder, const PlotOptions& options) {
  auto table = results::build_table(store, spec_name, {.confidential = options.confidential});
  if (!table) return table.error();
  auto drawn = draw_all(store, *table, folder);
  if (!drawn) return drawn.error();
  WrittenPlots written;
  add(*drawn, written);
  if (!options.pdf) return written;
  for (const auto& one : drawn->figures) {
    const auto path = fmt::format("{}/{}.pdf", plots_folder(folder, *table), one.figure.name);
    if (auto ok = plots::draw_file(one.figure, path); !ok) return ok.error();
    written.paths.push_back(path);
  }
  return written;
}

Result<plots::ReportPart> report_part_of(const results::Store& store, const std::string& spec_name,
                                         const std::string& folder, const results::TableOptions& options,
                                         WrittenPlots& written) {
  auto table = results::build_table(store, spec_name, options);
  if (!table) return table.error();
  if (!find_program("gnuplot")) return plots::report_part(*table, {.missing = plots::kNoGnuplot});
  auto drawn = draw_all(store, *table, folder);
  if (!drawn) return drawn.error();
  add(*drawn, written);
  return plots::report_part(*table,
                            {.drawn = std::move(drawn->figures), .left_out = std::move(drawn->left_out)});
}

Result<WrittenPlots> write_report(const results::Store& store, const std::string& spec_name,
                                  const std::string& folder, const results::TableOptions& options) {
  WrittenPlots all{.paths = {folder + (options.confidential ? "/report.confidential.html" : "/report.html")},
                   .left_out = {}};
  auto part = report_part_of(store, spec_name, folder, options, all);
  if (!part) return part.error();
  auto html = plots::report_html(&store, {std::move(*part)});
  if (!html) return html.error();
  if (auto written = write_file_atomically(all.paths.front(), *html); !written) return written.error();
  return all;
}

Result<void> write_outputs(const results::Store& store, const std::string& spec_name,
                           const std::string& folder, std::ostream& terminal) {
  auto table = results::build_table(store, spec_name);
  if (!table) return table.error();
  if (auto written = write_tables(*table, folder); !written) return written.error();
  const auto report = write_report(store, spec_name, folder, {});
  if (!report) return report.error();
  terminal << results::terminal_table(*table, results::style_of_standard_output());
  terminal << "\nWritten: " << folder << "/{table.{md,csv,tex,html}, report.html}";
  if (find_program("gnuplot"))
    terminal << " and " << folder << "/plots/*.{svg,png}\n";
  else
    terminal << ". " << plots::kNoGnuplot << '\n';
  for (const auto& sentence : report->left_out) terminal << sentence << '\n';
  return {};
}

Result<TableFormat> table_format_from(const std::string& name) {
  const std::vector<std::pair<std::string, TableFormat>> known = {
      {"terminal", TableFormat::terminal}, {"md", TableFormat::markdown},
      {"markdown", TableFormat::markdown}, {"csv", TableFormat::csv},
      {"tex", TableFormat::latex},         {"tex-table", TableFormat::latex_tables},
      {"html", TableFormat::html}};
  std::vector<std::string> names;
  for (const auto& [text, format] : known) {
    if (text == name) return format;
    names.push_back(text);
  }
  return error(fmt::format("--format is terminal, md, csv, tex, tex-table or html, not '{}'.{}", name,
                           did_you_mean(name, names)));
}

std::string formatted(const results::TableModel& table, TableFormat format,
                      const results::TerminalStyle& style) {
  return formatted_any(table, format, style);
}

std::string formatted(const results::ValueTable& table, TableFormat format,
                      const results::TerminalStyle& style) {
  return formatted_any(table, format, style);
}

Result<std::vector<std::string>> write_table_files(const results::TableModel& table,
                                                   const std::string& folder, const std::string& name) {
  return write_any(table, folder, name);
}

Result<std::vector<std::string>> write_table_files(const results::ValueTable& table,
                                                   const std::string& folder, const std::string& name) {
  return write_any(table, folder, name);
}

}  // namespace hyfreedp::cli
