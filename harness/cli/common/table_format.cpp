#include "harness/cli/common/table_format.h"

#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "plots/report_style.h"
#include "results/table/csv_writer.h"
#include "results/table/html_writer.h"
#include "results/table/latex_writer.h"
#include "results/table/markdown_writer.h"

namespace hyfreedp::cli {
namespace {

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
