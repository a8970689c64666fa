#include "plots/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "plots/report_figure.h"
#include "plots/report_style.h"
#include "results/provenance/ledger.h"
#include "results/table/cell_text.h"
#include "results/table/html_writer.h"

namespace hyfreedp::plots {
namespace {

using results::html_escaped;
using results::TableModel;

std::string paragraph(const char* kind, const std::string& text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", kind, html_escaped(text));
}

// A place of the page: ids and headings of one spec's part. With one spec alone, its sections are
// the page's.
class Place {
 public:
  Place(const ReportPart& part, bool alone) : prefix_(alone ? "" : part.id + "-"), level_(alone ? 2 : 3) {}
  const std::string& prefix() const { return prefix_; }
  std::string section(const char* id, const char* title, const std::string& body) const {
    return fmt::format("<section id=\"{0}{1}\">\n<h{2}>{3}</h{2}>\n{4}</section>\n", prefix_, id, level_,
                       title, body);
  }

 private:
  std::string prefix_;
  int level_;
};

constexpr const char* kReading =
    "<p>Each cell is one method at one privacy target: the test accuracy, or what its column's head says "
    "instead, and beneath it the ε that was "
    "really spent to get "
    "it, tuning included. Compare rows of the same label only: an <em>oracle</em> row tuned on private data "
    "for free, a "
    "<em>simulated</em> row pretends to have tuned, and only an <em>end-to-end DP</em> row tells what a user "
    "would get.</p>\n"
    "<p>A difference that is smaller than the standard deviations around it says nothing. Numbers in raised "
    "type lead to the "
    "footnotes.</p>\n";

// Says how to read tables that no run gave.
constexpr const char* kReadingValues =
    "<p>Nothing was trained for a table of plain values. Each cell is a value that was computed here, with "
    "what "
    "the paper prints beneath it where it prints one, or that printed value alone. Numbers in raised type "
    "lead "
    "to the footnotes.</p>\n";

std::string reading(const std::vector<ReportPart>& parts) {
  const auto has_runs = [](const ReportPart& part) { return part.table.has_value(); };
  std::string text;
  if (std::any_of(parts.begin(), parts.end(), has_runs)) text += kReading;
  if (!std::all_of(parts.begin(), parts.end(), has_runs)) text += kReadingValues;
  return text;
}

// True unless the spec trains nothing and there is nothing to show.
bool has_figures(const ReportPart& part) {
  return part.table || !part.figures.drawn.empty() || !part.figures.left_out.empty() ||
         !part.figures.missing.empty();
}

Result<std::string> pictures(const ReportFigures& figures, const std::string& prefix) {
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
    out += "<figure>\n" + report_figure(drawn.figure, *svg, prefix) + "<figcaption><strong>" +
           html_escaped(drawn.figure.title) + ".</strong> " + html_escaped(drawn.figure.caption) +
           "</figcaption>\n</figure>\n";
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
                               html_escaped(results::arm_title(panel, model.epsilon_target)), seed.seed,
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

constexpr std::pair<const char*, const char*> kSections[] = {{"tables", "Tables"},
                                                             {"figures", "Figures"},
                                                             {"ledger", "What was spent"},
                                                             {"failures", "Failures"},
                                                             {"provenance", "Provenance"}};

std::string contents(const std::vector<ReportPart>& parts) {
  std::string items = "<li><a href=\"#reading\">How to read this</a></li>\n";
  for (const auto& part : parts) {
    if (parts.size() > 1) {
      items += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", part.id, html_escaped(part.document.title));
      continue;
    }
    for (const auto& [id, title] : kSections) {
      const std::string_view section(id);
      const bool of_runs = section == "ledger" || section == "failures";
      const bool is_there = section == "figures" ? has_figures(part) : part.table || !of_runs;
      if (is_there) items += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, title);
    }
  }
  return "<nav aria-label=\"Contents\">\n<ul>\n" + items + "</ul>\n</nav>\n";
}

std::string introduction(const results::Document& document) {
  std::string out;
  if (!document.description.empty()) out += "<p>" + html_escaped(document.description) + "</p>\n";
  for (const auto& banner : document.banners) out += paragraph("banner", banner);
  return out;
}

Result<std::string> part_html(const results::Store* store, const ReportPart& part, bool alone) {
  const Place place(part, alone);
  auto drawn = pictures(part.figures, place.prefix());
  if (!drawn) return drawn.error();
  std::string out = alone ? "" : introduction(part.document);
  out += place.section("tables", "Tables", results::html_tables(part.document, place.prefix()));
  if (has_figures(part)) out += place.section("figures", "Figures", *drawn);
  if (!part.table) {
    return out +
           place.section(
               "provenance", "Provenance",
               "<p>Nothing was trained for this.</p>\n<details><summary>The spec as read</summary>\n<pre>" +
                   html_escaped(part.text) + "</pre></details>\n");
  }
  auto lines = results::ledger_lines(*store, *part.table);
  if (!lines) return lines.error();
  auto origin = provenance(*store, *part.table);
  if (!origin) return origin.error();
  out += place.section("ledger", "What was spent", ledger(*lines));
  out += place.section("failures", "Failures", failures(*part.table));
  return out + place.section("provenance", "Provenance", *origin);
}

}  // namespace

ReportPart report_part(const TableModel& table, ReportFigures figures) {
  ReportPart part{.id = table.spec, .document = results::document_of(table), .figures = std::move(figures)};
  part.table = table;
  return part;
}

Result<std::string> report_html(const results::Store* store, const std::vector<ReportPart>& parts) {
  HYFREEDP_CHECK(!parts.empty(), "a report is of one spec or more");
  const bool alone = parts.size() == 1;
  const auto title = alone ? parts.front().document.title : fmt::format("Report of {} specs", parts.size());
  const bool confidential =
      std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.document.confidential; });
  const auto watermark = confidential ? paragraph("watermark", results::kWatermark) : std::string();
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>";
  out += html_escaped(title) + "</title>\n<style>" + kReportStyle + "</style>\n</head>\n<body>\n" +
         watermark + "<h1>" + html_escaped(title) + "</h1>\n";
  if (alone) out += introduction(parts.front().document);
  out += contents(parts);
  out += fmt::format("<section id=\"reading\">\n<h2>How to read this</h2>\n{}</section>\n", reading(parts));
  for (const auto& part : parts) {
    auto html = part_html(store, part, alone);
    if (!html) return html.error();
    out += alone ? *html
                 : fmt::format("<article id=\"{}\">\n<h2>{}</h2>\n{}</article>\n", part.id,
                               html_escaped(part.document.title), *html);
  }
  return out + watermark + "</body>\n</html>\n";
}

}  // namespace hyfreedp::plots
