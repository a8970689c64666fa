// Rebuilds the files that `hyfreedp run` leaves from the database alone: out/NAME/{table.md, .csv,
// .tex, .html, report.html, plots/*.svg, *.png, *.gp}, and the table on the terminal. Also lists
// the formats of a table, for comparisons and for tables of plain values alike.
#pragma once

#include <ostream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "harness/base/result.h"
#include "plots/report.h"
#include "results/store/store.h"
#include "results/table/table_model.h"
#include "results/table/terminal_writer.h"
#include "results/table/value_table.h"

namespace hyfreedp::cli {

// While it lives, files that this process and what it starts write are their owner's alone (0600,
// folders 0700), if they are confidential.
class OwnerOnly {
 public:
  explicit OwnerOnly(bool confidential) : confidential_(confidential) {
    if (confidential_) before_ = ::umask(077);
  }
  ~OwnerOnly() {
    if (confidential_) ::umask(before_);
  }
  OwnerOnly(const OwnerOnly&) = delete;
  OwnerOnly& operator=(const OwnerOnly&) = delete;

 private:
  bool confidential_;
  mode_t before_ = 0;
};

// Writes a file that the user names (write_named_file()), and says so, but not within standard
// output where the file is that.
Result<void> write_output(const std::string& path, const std::string& content, bool owner_only,
                          std::ostream& out);

// Writes everything into `folder` and prints the terminal table. Without gnuplot the plots are left
// out, and the terminal says which package brings it.
Result<void> write_outputs(const results::Store& store, const std::string& spec_name,
                           const std::string& folder, std::ostream& terminal);

// The parts. Each returns the paths that it wrote. A confidential report is a file of its own,
// report.confidential.html: it must never take the place of the one that may be published.
Result<std::vector<std::string>> write_tables(const results::TableModel& table, const std::string& folder);
struct PlotOptions {
  bool confidential = false;  // into plots.confidential, watermarked
  bool pdf = false;           // PDF files beside SVG and PNG
};
struct WrittenPlots {
  std::vector<std::string> paths;
  std::vector<std::string> left_out;  // a sentence each: listed figures that could not be drawn
};
Result<WrittenPlots> write_plots(const results::Store& store, const std::string& spec_name,
                                 const std::string& folder, const PlotOptions& options = {});
// A spec's part of a report, its figures drawn into FOLDER, which `written` gets.
Result<plots::ReportPart> report_part_of(const results::Store& store, const std::string& spec_name,
                                         const std::string& folder, const results::TableOptions& options,
                                         WrittenPlots& written);
Result<WrittenPlots> write_report(const results::Store& store, const std::string& spec_name,
                                  const std::string& folder, const results::TableOptions& options);

enum class TableFormat { terminal, markdown, csv, latex, latex_tables, html };

// "terminal", "md", "markdown", "csv", "tex", "tex-table" (without a document around it), "html".
inline constexpr const char* kTableFormats = "terminal|md|csv|tex|tex-table|html";
Result<TableFormat> table_format_from(const std::string& name);

// `style` is of the terminal format alone.
std::string formatted(const results::TableModel& table, TableFormat format,
                      const results::TerminalStyle& style);
std::string formatted(const results::ValueTable& table, TableFormat format,
                      const results::TerminalStyle& style);

// FOLDER/NAME.{md, csv, tex, html}; returns the paths.
Result<std::vector<std::string>> write_table_files(const results::TableModel& table,
                                                   const std::string& folder, const std::string& name);
Result<std::vector<std::string>> write_table_files(const results::ValueTable& table,
                                                   const std::string& folder, const std::string& name);

}  // namespace hyfreedp::cli
