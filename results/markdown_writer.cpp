#include "results/markdown_writer.h"

#include <fmt/format.h>
#include <vector>

#include "harness/base/text.h"
#include "results/cell_text.h"

namespace hyfreedp::results {
namespace {

// What Markdown or a table row would read as markup.
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

std::string superscript(const std::vector<int>& notes) {
  const auto text = marker(notes);
  return text.empty() ? "" : " <sup>" + text.substr(1, text.size() - 2) + "</sup>";
}

std::string cell(const CellModel& model) {
  const auto text = text_of(model);
  std::string out = escaped(text.main);
  if (model.best) out = "**" + out + "**";
  out += superscript(model.notes);
  if (!text.detail.empty()) out += "<br>" + escaped(text.detail);
  if (!text.confidential.empty()) out += "<br>" + escaped(text.confidential);
  return out;
}

std::string line(const std::vector<std::string>& cells) { return "| " + join(cells, " | ") + " |\n"; }

std::string panel_text(const TableModel& table, const PanelModel& panel) {
  std::string out =
      "## " + escaped(panel.title) + superscript(panel.notes) + "\n\n" + escaped(panel.settings) + "\n\n";
  std::vector<std::string> header{"Method", "Label, flags"};
  for (const auto& epsilon : panel.columns) header.push_back(column_title(epsilon));
  header.emplace_back("Time");
  out += line(header);
  std::vector<std::string> rule(header.size(), "---:");
  rule[0] = rule[1] = "---";
  out += line(rule);
  for (const auto& row : panel.rows) {
    std::vector<std::string> cells{escaped(row.title) + superscript(row.notes),
                                   escaped(label_text(table, row))};
    for (const auto& model : row.cells) cells.push_back(cell(model));
    cells.push_back(row.seconds ? human_duration(*row.seconds) : "-");
    out += line(cells);
  }
  return out + "\n";
}

}  // namespace

std::string markdown_table(const TableModel& table) {
  std::string out;
  const auto watermark = table.confidential ? "**" + std::string(kWatermark) + "**\n\n" : std::string();
  out += watermark;
  out += "# " + escaped(table.title) + "\n\n";
  if (!table.description.empty()) out += escaped(table.description) + "\n\n";
  for (const auto& banner : table.banners) out += "> " + escaped(banner) + "\n\n";
  for (const auto& panel : table.panels) out += panel_text(table, panel);
  for (std::size_t i = 0; i < table.footnotes.size(); ++i) {
    out += fmt::format("<sup>{}</sup> {}\n\n", i + 1, escaped(table.footnotes[i]));
  }
  for (const auto& note : table.notes) out += "- " + escaped(note) + "\n";
  return out + (watermark.empty() ? "" : "\n" + watermark);
}

}  // namespace hyfreedp::results
