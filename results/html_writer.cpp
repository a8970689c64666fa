#include "results/html_writer.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/cell_text.h"

namespace hyfreedp::results {
namespace {

std::string superscript(std::vector<int> notes) {
  if (notes.empty()) return "";
  std::sort(notes.begin(), notes.end());
  std::vector<std::string> links;
  for (const int number : notes) links.push_back(fmt::format("<a href=\"#note-{0}\">{0}</a>", number));
  return "<sup>" + join(links, ", ") + "</sup>";
}

std::string data_cell(const CellModel& model) {
  const auto text = text_of(model);
  const char* kind = model.kind == CellModel::Kind::failed  ? "failed"
                     : model.kind == CellModel::Kind::value ? "value"
                                                            : "absent";
  std::string out = fmt::format("<td class=\"{}\" data-column=\"{}\">", kind,
                                html_escaped(column_title(model.epsilon_target)));
  const auto main = html_escaped(text.main);
  out += model.best ? "<strong>" + main + "</strong>" : "<span>" + main + "</span>";
  out += superscript(model.notes);
  if (!text.detail.empty()) out += "<small>" + html_escaped(text.detail) + "</small>";
  if (!text.confidential.empty())
    out += "<small class=\"confidential\">" + html_escaped(text.confidential) + "</small>";
  return out + "</td>";
}

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_panel(const TableModel& table, const PanelModel& panel) {
  std::string out = "<table class=\"results\">\n<caption>" + html_escaped(panel.title) +
                    superscript(panel.notes) + "<small>" + html_escaped(panel.settings) +
                    "</small></caption>\n<thead><tr><th scope=\"col\">Method</th>";
  for (const auto& epsilon : panel.columns)
    out += "<th scope=\"col\">" + html_escaped(column_title(epsilon)) + "</th>";
  out += "<th scope=\"col\">Time</th></tr></thead>\n<tbody>\n";
  for (const auto& row : panel.rows) {
    out += "<tr><th scope=\"row\">" + html_escaped(row.title) + superscript(row.notes) + "<small>" +
           html_escaped(label_text(table, row)) + "</small></th>";
    for (const auto& model : row.cells) out += data_cell(model);
    out += "<td class=\"time\" data-column=\"Time\"><span>" +
           (row.seconds ? human_duration(*row.seconds) : std::string("–")) + "</span></td></tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

std::string html_notes(const TableModel& table) {
  std::string out;
  if (!table.footnotes.empty()) {
    out += "<ol class=\"footnotes\">\n";
    for (std::size_t i = 0; i < table.footnotes.size(); ++i) {
      out += fmt::format("<li id=\"note-{}\">{}</li>\n", i + 1, html_escaped(table.footnotes[i]));
    }
    out += "</ol>\n";
  }
  out += "<ul class=\"notes\">\n";
  for (const auto& note : table.notes) out += "<li>" + html_escaped(note) + "</li>\n";
  return out + "</ul>\n";
}

}  // namespace hyfreedp::results
