#include "plots/report.h"

#include <fmt/format.h>
#include <map>
#include <set>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "plots/report_style.h"
#include "plots/svg_inline.h"
#include "results/cell_text.h"
#include "results/html_writer.h"
#include "results/ledger.h"

namespace hyfreedp::plots {
namespace {

using results::html_escaped;
using results::TableModel;

std::string paragraph(const char* kind, const std::string& text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", kind, html_escaped(text));
}

std::string section(const char* id, const char* title, const std::string& body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, title, body);
}

constexpr const char* kReading =
    "<p>Each cell is one method at one privacy target: the test accuracy, and beneath it the ε that was "
    "really spent to get "
    "it, tuning included. Compare rows of the same label only: an <em>oracle</em> row tuned on private data "
    "for free, a "
    "<em>simulated</em> row pretends to have tuned, and only an <em>end-to-end DP</em> row tells what a user "
    "would get.</p>\n"
    "<p>A difference that is smaller than the standard deviations around it says nothing. Numbers in raised "
    "type lead to the "
    "footnotes.</p>\n";

Result<std::string> pictures(const ReportFigures& figures) {
  std::string out;
  for (const auto& one : figures.left_out) {
    out += paragraph("banner", fmt::format("Not drawn: {}: {}.", one.name, one.why));
  }
  if (figures.drawn.empty() && (out.empty() || !figures.missing.empty())) {
    return paragraph("banner", figures.missing.empty() ? "There is nothing to draw yet." : figures.missing);
  }
  for (const auto& drawn : figures.drawn) {
    auto svg = read_file(drawn.svg);
    if (!svg) return svg.error();
    out += "<figure>\n<div class=\"canvas\">" + inline_svg(*svg, drawn.figure.name, drawn.figure.caption) +
           "</div>\n<figcaption><strong>" + html_escaped(drawn.figure.title) + ".</strong> " +
           html_escaped(drawn.figure.caption) + "</figcaption>\n</figure>\n";
  }
  return out;
}

std::string cell(const char* column, const std::string& text) {
  return fmt::format("<td data-column=\"{}\"><span>{}</span></td>", column, html_escaped(text));
}

std::string optional_epsilon(const std::optional<double>& epsilon) {
  return epsilon ? results::epsilon_text(*epsilon) : "–";
}

std::string ledger(const std::vector<results::LedgerLine>& lines) {
  if (lines.empty()) return "<p>No private row is finished yet.</p>\n";
  std::string out =
      "<p>What the accountants priced, for one seed of each cell (the one that spent most). PLD does not "
      "price private "
      "selection; RDP does.</p>\n<details><summary>All cells</summary>\n<table>\n<thead><tr><th "
      "scope=\"col\">Row</th><th scope=\"col\">Target "
      "ε</th>"
      "<th scope=\"col\">Composition</th><th scope=\"col\">Events</th><th scope=\"col\">ε PLD</th>"
      "<th scope=\"col\">ε RDP</th><th scope=\"col\">ε of the reported run</th><th scope=\"col\">ε "
      "total</th></tr></thead>\n"
      "<tbody>\n";
  for (const auto& line : lines) {
    out += "<tr><th scope=\"row\">" + html_escaped(line.title) + "<small>" + html_escaped(line.panel) +
           "</small></th>" + cell("Target ε", short_number(line.target)) +
           cell("Composition", line.composition) + cell("Events", line.events) +
           cell("ε PLD", optional_epsilon(line.total.pld)) + cell("ε RDP", optional_epsilon(line.total.rdp)) +
           cell("ε of the reported run", optional_epsilon(line.training)) +
           cell("ε total", results::epsilon_text(line.total.epsilon)) + "</tr>\n";
  }
  return out + "</tbody>\n</table>\n</details>\n";
}

std::string failures(const TableModel& table) {
  std::string items;
  for (const auto& panel : table.panels) {
    for (const auto& row : panel.rows) {
      for (const auto& model : row.cells) {
        for (const auto& seed : model.seeds) {
          if (seed.state != results::StudyState::failed) continue;
          items += fmt::format("<li>{}, {}, {}, seed {}: <span class=\"bad\">{}</span>. {}</li>\n",
                               html_escaped(panel.title), html_escaped(row.title),
                               html_escaped(results::column_title(model.epsilon_target)), seed.seed,
                               html_escaped(seed.failure_kind), html_escaped(seed.failure_message));
        }
      }
    }
  }
  return items.empty() ? "<p>None.</p>\n" : "<ul>\n" + items + "</ul>\n";
}

std::string fact(const char* name, const std::string& value) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html_escaped(value));
}

Result<std::string> provenance(const results::Store& store, const TableModel& table) {
  auto spec = store.spec(table.spec);
  if (!spec) return spec.error();
  std::string out =
      "<dl>\n" + fact("Spec", table.spec) + fact("Hash", table.hash) + fact("hyfreedp", table.version);
  auto machines = results::fingerprints(store, table);
  if (!machines) return machines.error();
  for (const auto& machine : *machines) out += fact("Trained on", machine);
  out += "</dl>\n";
  if (*spec) {
    out += "<details><summary>The spec as read</summary>\n<pre>" + html_escaped((**spec).text) +
           "</pre></details>\n";
    out += "<details><summary>The spec with every default filled in</summary>\n<pre>" +
           html_escaped(pretty_json((**spec).resolved)) + "</pre></details>\n";
  }
  return out;
}

}  // namespace

Result<std::string> report_html(const results::Store& store, const TableModel& table,
                                const ReportFigures& figures) {
  auto drawn = pictures(figures);
  if (!drawn) return drawn.error();
  auto lines = results::ledger_lines(store, table);
  if (!lines) return lines.error();
  auto origin = provenance(store, table);
  if (!origin) return origin.error();
  const auto watermark = table.confidential ? paragraph("watermark", results::kWatermark) : std::string();
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>" +
      html_escaped(table.title) + "</title>\n<style>" + kReportStyle + "</style>\n</head>\n<body>\n" +
      watermark + "<h1>" + html_escaped(table.title) + "</h1>\n";
  if (!table.description.empty()) out += "<p>" + html_escaped(table.description) + "</p>\n";
  for (const auto& banner : table.banners) out += paragraph("banner", banner);
  out += section("reading", "How to read this", kReading);
  out += section("tables", "Tables", results::html_tables(results::document_of(table)));
  out += section("figures", "Figures", *drawn);
  out += section("ledger", "What was spent", ledger(*lines));
  out += section("failures", "Failures", failures(table));
  out += section("provenance", "Provenance", *origin);
  return out + watermark + "</body>\n</html>\n";
}

}  // namespace hyfreedp::plots
