#include "results/table/latex_writer.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "results/table/cell_text.h"

namespace hyfreedp::results {
namespace {

// The room for a table, in characters and in lines: a page's width, scaled down a little, and half
// its height, so that the next table finds room on the same page.
constexpr std::size_t kPageWidth = 125;
constexpr std::size_t kPageLines = 30;
constexpr std::size_t kHeadWidth = 34;  // beyond it a row's name is wrapped
constexpr std::size_t kLabelWidth = 24;
constexpr std::size_t kCellWidth = 30;

std::string latex_superscript(std::vector<int> notes) {
  if (notes.empty()) return "";
  std::sort(notes.begin(), notes.end());
  return fmt::format("$^{{{}}}$", fmt::join(notes, ","));
}

// Lines of a cell, ready to print, and how wide the widest is in characters.
struct Stack {
  std::vector<std::string> lines;
  std::size_t width = 0;

  void add(const std::string& text, std::size_t limit, const char* before = "", const char* after = "") {
    for (const auto& line : wrap(text, limit)) {
      lines.push_back(before + latex_escaped(line) + after);
      width = std::max(width, display_width(line));
    }
  }
};

Stack title_stack(const std::string& title, std::size_t limit) {
  Stack stack;
  stack.add(title, limit);
  return stack;
}

Stack head_stack(const DocumentRow& row, std::size_t index) {
  Stack stack;
  stack.add(row.heads[index], kHeadWidth);
  if (index == 0 && !row.notes.empty()) {
    if (stack.lines.empty()) stack.lines.emplace_back();
    stack.lines.back() += latex_superscript(row.notes);
  }
  return stack;
}

Stack cell_stack(const DocumentCell& cell) {
  Stack stack;
  const char* before = cell.best ? "\\textbf{" : cell.tone == DocumentCell::Tone::plain ? "" : "\\textit{";
  stack.add(cell.main, kCellWidth, before, *before == '\0' ? "" : "}");
  if (!stack.lines.empty()) stack.lines.back() += latex_superscript(cell.notes);
  for (const auto& detail : cell.details) stack.add(detail, kCellWidth, "{\\scriptsize ", "}");
  stack.add(cell.confidential, kCellWidth, "{\\scriptsize\\itshape ", "}");
  return stack;
}

struct LatexColumn {
  Stack title;
  char align = 'l';
  std::vector<Stack> rows;
  std::size_t width = 0;
};

void fit(LatexColumn& column) {
  column.width = column.title.width;
  for (const auto& stack : column.rows) column.width = std::max(column.width, stack.width);
}

class LatexTable {
 public:
  explicit LatexTable(const Document& document) : document_(document) {}

  std::string tables() {
    for (const auto& panel : document_.panels) write_panel(panel);
    write_notes();
    return std::move(out_);
  }

 private:
  void write_panel(const DocumentPanel& panel) {
    std::vector<LatexColumn> heads, columns;
    for (std::size_t i = 0; i < panel.heads.size(); ++i) {
      LatexColumn head{.title = title_stack(panel.heads[i], kHeadWidth)};
      for (const auto& row : panel.rows) head.rows.push_back(head_stack(row, i));
      heads.push_back(std::move(head));
    }
    if (!panel.label_title.empty()) {
      LatexColumn label{.title = title_stack(panel.label_title, kLabelWidth)};
      for (const auto& row : panel.rows) {
        label.rows.emplace_back();
        label.rows.back().add(row.label, kLabelWidth, "{\\scriptsize ", "}");
      }
      heads.push_back(std::move(label));
    }
    for (std::size_t i = 0; i < panel.columns.size(); ++i) {
      LatexColumn column{.title = title_stack(panel.columns[i].title, kCellWidth), .align = 'r'};
      for (const auto& row : panel.rows) column.rows.push_back(cell_stack(row.cells[i]));
      columns.push_back(std::move(column));
    }
    for (auto& head : heads) fit(head);
    for (auto& column : columns) fit(column);

    caption_ = caption(panel);
    std::size_t head_width = 0;
    for (const auto& head : heads) head_width += head.width + 2;
    for (std::size_t first = 0; first < columns.size();) {
      std::size_t last = first, used = head_width;
      while (last < columns.size() && (last == first || used + columns[last].width + 2 <= kPageWidth)) {
        used += columns[last].width + 2;
        ++last;
      }
      auto block = heads;
      block.insert(block.end(), columns.begin() + static_cast<std::ptrdiff_t>(first),
                   columns.begin() + static_cast<std::ptrdiff_t>(last));
      write_block(block, panel.rows.size());
      first = last;
    }
  }

  static std::string caption(const DocumentPanel& panel) {
    std::string text;
    if (!panel.title.empty()) {
      text += "\\textbf{" + latex_escaped(panel.title) + "}" + latex_superscript(panel.notes) + "\\\\\n";
    }
    if (!panel.settings.empty()) text += "{\\small " + latex_escaped(panel.settings) + "}\\\\\n";
    return text.empty() ? text : text + "[3pt]\n";
  }

  // All rows, in as many tables as pages ask for.
  void write_block(const std::vector<LatexColumn>& columns, std::size_t rows) {
    for (std::size_t first = 0; first < rows || first == 0;) {
      std::size_t last = first, lines = 0;
      while (last < rows && (last == first || lines + height(columns, last) <= kPageLines)) {
        lines += height(columns, last);
        ++last;
      }
      write_tabular(columns, first, last);
      if (rows == 0) break;
      first = last;
    }
  }

  static std::size_t height(const std::vector<LatexColumn>& columns, std::size_t row) {
    return height(columns, [row](const LatexColumn& column) -> const Stack& { return column.rows[row]; });
  }

  template <class StackOf>
  static std::size_t height(const std::vector<LatexColumn>& columns, const StackOf& stack_of) {
    std::size_t lines = 1;
    for (const auto& column : columns) lines = std::max(lines, stack_of(column).lines.size());
    return lines;
  }

  void write_tabular(const std::vector<LatexColumn>& columns, std::size_t first, std::size_t last) {
    std::string aligns;
    for (const auto& column : columns) aligns += column.align;
    // A caption keeps to its first table.
    out_ += "\\par\\noindent\\begin{minipage}{\\linewidth}\n" + caption_;
    caption_.clear();
    out_ += "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n";
    out_ += "\\begin{tabular}{@{}" + aligns + "@{}}\n\\toprule\n";
    write_lines(columns, [](const LatexColumn& column) -> const Stack& { return column.title; });
    out_ += "\\midrule\n";
    for (auto row = first; row < last; ++row) write_row(columns, row);
    out_ += "\\bottomrule\n\\end{tabular}}\n\\end{minipage}\n\\par\\bigskip\n";
  }

  // One stack of each column, side by side.
  template <class StackOf>
  void write_lines(const std::vector<LatexColumn>& columns, const StackOf& stack_of) {
    const auto lines = height(columns, stack_of);
    for (std::size_t i = 0; i < lines; ++i) {
      std::vector<std::string> cells;
      for (const auto& column : columns) {
        const auto& stack = stack_of(column).lines;
        cells.push_back(i < stack.size() ? stack[i] : "");
      }
      // Braces keep a cell that begins with a bracket from being read as the line's spacing.
      out_ += "{}" + join(cells, " & ") + (i + 1 < lines ? " \\\\*\n" : " \\\\\n");
    }
  }

  void write_row(const std::vector<LatexColumn>& columns, std::size_t row) {
    write_lines(columns, [row](const LatexColumn& column) -> const Stack& { return column.rows[row]; });
    if (height(columns, row) > 1) out_ += "\\addlinespace[2pt]\n";
  }

  void write_notes() {
    if (document_.footnotes.empty() && document_.notes.empty()) return;
    out_ += "{\\footnotesize\n";
    for (std::size_t i = 0; i < document_.footnotes.size(); ++i) {
      out_ += fmt::format("\\par\\noindent$^{{{}}}$ {}\n", i + 1, latex_escaped(document_.footnotes[i]));
    }
    if (!document_.notes.empty()) out_ += "\\par\\medskip\n";
    for (const auto& note : document_.notes) out_ += "\\par\\noindent " + latex_escaped(note) + "\n";
    out_ += "\\par}\n";
  }

  const Document& document_;
  std::string caption_;  // of the next table
  std::string out_;
};

std::string banner(const std::string& text) {
  return "\\par\\noindent\\fbox{\\parbox{\\dimexpr\\linewidth-2\\fboxsep-2\\fboxrule}{" +
         latex_escaped(text) + "}}\\par\\medskip\n";
}

}  // namespace

std::string latex_text(const Document& document, LatexPart part) {
  const auto watermark = document.confidential ? banner(kWatermark) : std::string();
  std::string body = watermark;
  for (const auto& text : document.banners) body += banner(text);
  body += LatexTable(document).tables() + watermark;
  if (part == LatexPart::tables) {
    return "% " + wrap(latex_escaped(document.title), 100000).front() +
           "\n% needs \\usepackage{booktabs,array,graphicx}\n" + body;
  }
  std::string out =
      "\\documentclass[10pt]{article}\n\\usepackage[utf8]{inputenc}\n"
      "\\usepackage[a4paper,margin=18mm]{geometry}\n\\usepackage{booktabs,array,graphicx}\n"
      "\\setlength{\\parindent}{0pt}\n\\begin{document}\n";
  out += "\\section*{" + latex_escaped(document.title) + "}\n";
  if (!document.description.empty()) out += latex_escaped(document.description) + "\n\\par\\medskip\n";
  return out + body + "\\end{document}\n";
}

}  // namespace hyfreedp::results
