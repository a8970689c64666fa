#include "results/table/html_writer.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::results {
namespace {

std::string superscript(std::vector<int> notes, const std::string& prefix) {
  if (notes.empty()) return "";
  std::sort(notes.begin(), notes.end());
  std::vector<std::string> links;
  for (const int number : notes) {
    links.push_back(fmt::format("<a href=\"#{0}note-{1}\">{1}</a>", prefix, number));
  }
  return "<sup>" + join(links, ", ") + "</sup>";
}

const char* kind_of(const DocumentCell& cell, const DocumentColumn& column) {
  if (column.aside) return "time";
  switch (cell.tone) {
    case DocumentCell::Tone::failed:
      return "failed";
    case DocumentCell::Tone::absent:
      return "absent";
    case DocumentCell::Tone::plain:
      return "value";
  }
  return "";
}

std::string data_cell(const DocumentCell& cell, const DocumentColumn& column, const std::string& prefix) {
  std::string out =
      fmt::format("<td class=\"{}\" data-column=\"{}\">", kind_of(cell, column), html_escaped(column.title));
  // One element, so that no layout tears the footnotes' numbers from their value.
  const auto main = html_escaped(cell.main) + superscript(cell.notes, prefix);
  out += cell.best ? "<strong>" + main + "</strong>" : "<span>" + main + "</span>";
  for (const auto& detail : cell.details) out += "<small>" + html_escaped(detail) + "</small>";
  if (!cell.confidential.empty())
    out += "<small class=\"confidential\">" + html_escaped(cell.confidential) + "</small>";
  return out + "</td>";
}

// The label stands beneath the first head.
std::string head_cells(const DocumentRow& row, const std::string& prefix) {
  std::string out;
  for (std::size_t i = 0; i < row.heads.size(); ++i) {
    out += "<th scope=\"row\">" + html_escaped(row.heads[i]);
    if (i == 0) out += superscript(row.notes, prefix);
    if (i == 0 && !row.label.empty()) out += "<small>" + html_escaped(row.label) + "</small>";
    out += "</th>";
  }
  return out;
}

std::string caption(const DocumentPanel& panel, const std::string& prefix) {
  if (panel.title.empty() && panel.settings.empty()) return "";
  auto out = "<caption>" + html_escaped(panel.title) + superscript(panel.notes, prefix);
  if (!panel.settings.empty()) out += "<small>" + html_escaped(panel.settings) + "</small>";
  return out + "</caption>\n";
}

std::string panel_table(const DocumentPanel& panel, const std::string& prefix) {
  std::string out = "<table class=\"results\">\n" + caption(panel, prefix) + "<thead><tr>";
  for (const auto& head : panel.heads) out += "<th scope=\"col\">" + html_escaped(head) + "</th>";
  for (const auto& column : panel.columns) out += "<th scope=\"col\">" + html_escaped(column.title) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : panel.rows) {
    out += "<tr>" + head_cells(row, prefix);
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      out += data_cell(row.cells[i], panel.columns[i], prefix);
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

std::string paragraph(const char* kind, const std::string& text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", kind, html_escaped(text));
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

std::string html_tables(const Document& document, const std::string& prefix) {
  std::string out;
  for (const auto& panel : document.panels) out += panel_table(panel, prefix);
  return out + html_notes(document, prefix);
}

std::string html_notes(const Document& document, const std::string& prefix) {
  std::string out;
  if (!document.footnotes.empty()) {
    out += "<ol class=\"footnotes\">\n";
    for (std::size_t i = 0; i < document.footnotes.size(); ++i) {
      out +=
          fmt::format("<li id=\"{}note-{}\">{}</li>\n", prefix, i + 1, html_escaped(document.footnotes[i]));
    }
    out += "</ol>\n";
  }
  if (document.notes.empty()) return out;
  out += "<ul class=\"notes\">\n";
  for (const auto& note : document.notes) out += "<li>" + html_escaped(note) + "</li>\n";
  return out + "</ul>\n";
}

std::string html_page(const Document& document, const std::string& style) {
  const auto title = html_escaped(document.title);
  const auto watermark = document.confidential ? paragraph("watermark", kWatermark) : std::string();
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>";
  out += title + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n" + watermark + "<h1>" + title +
         "</h1>\n";
  if (!document.description.empty()) out += "<p>" + html_escaped(document.description) + "</p>\n";
  for (const auto& banner : document.banners) out += paragraph("banner", banner);
  return out + html_tables(document) + watermark + "</body>\n</html>\n";
}

}  // namespace hyfreedp::results
