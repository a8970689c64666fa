#include "results/table/markdown_writer.h"

#include <fmt/format.h>
#include <vector>

#include "harness/base/text.h"
#include "results/table/cell_text.h"

namespace hyfreedp::results {
namespace {

// Escapes what Markdown or a table row would read as markup.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '|':
      case '*':
      case '_':
      case '`':
      case '\\':
      case '[':
      case ']':
        out += '\\', out += c;
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\n':
        out += ' ';
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string markdown_superscript(const std::vector<int>& notes) {
  const auto text = marker(notes);
  return text.empty() ? "" : " <sup>" + text.substr(1, text.size() - 2) + "</sup>";
}

std::string cell(const DocumentCell& cell) {
  std::string out = escaped(cell.main);
  if (cell.best) out = "**" + out + "**";
  out += markdown_superscript(cell.notes);
  for (const auto& detail : cell.details) out += "<br>" + escaped(detail);
  if (!cell.confidential.empty()) out += "<br>" + escaped(cell.confidential);
  return out;
}

std::string line(const std::vector<std::string>& cells) { return "| " + join(cells, " | ") + " |\n"; }

std::string row_line(const DocumentPanel& panel, const DocumentRow& row) {
  std::vector<std::string> cells;
  for (const auto& head : row.heads) cells.push_back(escaped(head));
  if (!cells.empty()) cells.front() += markdown_superscript(row.notes);
  if (!panel.label_title.empty()) cells.push_back(escaped(row.label));
  for (const auto& one : row.cells) cells.push_back(cell(one));
  return line(cells);
}

std::string panel_text(const DocumentPanel& panel) {
  std::string out;
  if (!panel.title.empty()) out += "## " + escaped(panel.title) + markdown_superscript(panel.notes) + "\n\n";
  if (!panel.settings.empty()) out += escaped(panel.settings) + "\n\n";
  std::vector<std::string> header;
  for (const auto& head : panel.heads) header.push_back(escaped(head));
  if (!panel.label_title.empty()) header.push_back(escaped(panel.label_title));
  std::vector<std::string> rule(header.size(), "---");
  for (const auto& column : panel.columns) header.push_back(escaped(column.title));
  rule.resize(header.size(), "---:");
  out += line(header) + line(rule);
  for (const auto& row : panel.rows) out += row_line(panel, row);
  return out + "\n";
}

}  // namespace

std::string markdown_text(const Document& document) {
  std::string out;
  const auto watermark = document.confidential ? "**" + std::string(kWatermark) + "**\n\n" : std::string();
  out += watermark;
  out += "# " + escaped(document.title) + "\n\n";
  if (!document.description.empty()) out += escaped(document.description) + "\n\n";
  for (const auto& banner : document.banners) out += "> " + escaped(banner) + "\n\n";
  for (const auto& panel : document.panels) out += panel_text(panel);
  for (std::size_t i = 0; i < document.footnotes.size(); ++i) {
    out += fmt::format("<sup>{}</sup> {}\n\n", i + 1, escaped(document.footnotes[i]));
  }
  for (const auto& note : document.notes) out += "- " + escaped(note) + "\n";
  return out + (watermark.empty() ? "" : "\n" + watermark);
}

}  // namespace hyfreedp::results
