#include "results/table/terminal_writer.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "results/table/cell_text.h"

namespace hyfreedp::results {
namespace {

constexpr std::size_t kGap = 3;  // columns between columns
constexpr std::size_t kMinHeadWidth = 14;
constexpr std::size_t kMaxHeadWidth = 40;
constexpr std::size_t kMaxCellWidth = 30;  // beyond it a cell's text is wrapped at spaces
constexpr std::size_t kMinWidth = 40;

constexpr const char* kBold = "1";
constexpr const char* kDim = "2";
constexpr const char* kRed = "31";
constexpr const char* kGreen = "1;32";
constexpr const char* kYellow = "33";

struct Line {
  std::string text;
  const char* style = "";
};
using Block = std::vector<Line>;  // the lines of one cell

struct TerminalColumn {
  Block title;
  std::vector<Block> blocks;  // one a row
  std::size_t width = 0;
};

void add_wrapped(Block& block, const std::string& text, std::size_t width, const char* style,
                 const std::string& indent = "") {
  for (const auto& line : wrap(text, width - std::min(width, indent.size()))) {
    block.push_back({indent + line, style});
  }
}

std::size_t width_of(const Block& block) {
  std::size_t width = 0;
  for (const auto& line : block) width = std::max(width, display_width(line.text));
  return width;
}

void fit(TerminalColumn& column) {
  column.width = width_of(column.title);
  for (const auto& block : column.blocks) column.width = std::max(column.width, width_of(block));
}

Block title_block(const std::string& title, std::size_t limit) {
  Block block;
  add_wrapped(block, title, limit, kBold);
  return block;
}

Block cell_block(const DocumentCell& cell, std::size_t limit) {
  const char* style = cell.best ? kGreen : cell.tone == DocumentCell::Tone::failed ? kRed : "";
  auto main = cell.main;
  if (cell.best) main += " *";
  if (!cell.notes.empty()) main += fmt::format(" {}", marker(cell.notes));
  Block block;
  if (display_width(main) <= kMaxCellWidth) {
    block.push_back({main, style});
  } else {
    add_wrapped(block, main, limit, style);
  }
  for (const auto& detail : cell.details) add_wrapped(block, detail, limit, kDim);
  add_wrapped(block, cell.confidential, limit, kYellow);
  return block;
}

// A row's heads in one, where they do not fit side by side.
std::string joined_heads(const DocumentRow& row) { return join(row.heads, " · "); }

std::string label_and_notes(const DocumentRow& row) {
  const auto notes = marker(row.notes);
  return row.label.empty() || notes.empty() ? row.label + notes : fmt::format("{} {}", row.label, notes);
}

class TerminalTable {
 public:
  TerminalTable(const Document& document, const TerminalStyle& style)
      : document_(document), width_(std::max(style.width, kMinWidth)), colour_(style.colour) {}

  std::string write() {
    if (document_.confidential) paragraph(kWatermark, kRed, "");
    paragraph(document_.title, kBold, "");
    paragraph(document_.description, "", "");
    for (const auto& banner : document_.banners) paragraph(banner, kYellow, "! ");
    for (const auto& panel : document_.panels) write_panel(panel);
    out_ += '\n';
    for (std::size_t i = 0; i < document_.footnotes.size(); ++i) {
      paragraph(document_.footnotes[i], "", fmt::format("[{}] ", i + 1));
    }
    for (const auto& note : document_.notes) paragraph(note, kDim, "- ");
    if (document_.confidential) paragraph(kWatermark, kRed, "");
    return std::move(out_);
  }

 private:
  std::string styled(const std::string& text, const char* style) const {
    if (!colour_ || *style == '\0' || text.empty()) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", style, text);
  }

  void paragraph(const std::string& text, const char* style, const std::string& lead) {
    const std::string indent(display_width(lead), ' ');
    bool first = true;
    for (const auto& line : wrap(text, width_ - indent.size())) {
      out_ += (first ? lead : indent) + styled(line, style) + '\n';
      first = false;
    }
  }

  std::vector<TerminalColumn> columns_of(const DocumentPanel& panel) const {
    const std::size_t limit = std::min(kMaxCellWidth, width_ - kMinHeadWidth - kGap);
    std::vector<TerminalColumn> columns;
    for (std::size_t i = 0; i < panel.columns.size(); ++i) {
      TerminalColumn column{.title = title_block(panel.columns[i].title, limit)};
      for (const auto& row : panel.rows) column.blocks.push_back(cell_block(row.cells[i], limit));
      fit(column);
      columns.push_back(std::move(column));
    }
    return columns;
  }

  // Several heads side by side, where they leave room for the widest column.
  std::optional<std::vector<TerminalColumn>> separate_heads(const DocumentPanel& panel,
                                                            std::size_t widest) const {
    std::vector<TerminalColumn> heads;
    std::size_t used = widest;
    for (std::size_t i = 0; i < panel.heads.size(); ++i) {
      TerminalColumn head{.title = title_block(panel.heads[i], kMaxHeadWidth)};
      for (const auto& row : panel.rows) {
        Block block;
        add_wrapped(block, row.heads[i], kMaxHeadWidth, kBold);
        if (i == 0) add_wrapped(block, label_and_notes(row), kMaxHeadWidth, kDim, "  ");
        head.blocks.push_back(std::move(block));
      }
      fit(head);
      used += head.width + kGap;
      heads.push_back(std::move(head));
    }
    if (used > width_) return std::nullopt;
    return heads;
  }

  TerminalColumn one_head(const DocumentPanel& panel, const std::vector<TerminalColumn>& columns,
                          std::size_t widest) const {
    const auto title = join(panel.heads, " · ");
    std::size_t wanted = std::max(kMinHeadWidth, display_width(title));
    for (const auto& row : panel.rows) {
      wanted = std::max({wanted, display_width(joined_heads(row)), display_width(row.label) + 2});
    }
    wanted = std::min(wanted, kMaxHeadWidth);
    std::size_t all = 0;
    for (const auto& column : columns) all += column.width + kGap;
    // All columns side by side where the head can shrink to make room; else at least one must fit
    // beside it.
    const std::size_t room = width_ > all + kMinHeadWidth ? width_ - all
                             : width_ > widest + kGap     ? width_ - widest - kGap
                                                          : 0;
    const auto width = std::clamp(room, kMinHeadWidth, wanted);
    TerminalColumn head{.title = title_block(title, width)};
    for (const auto& row : panel.rows) {
      Block block;
      add_wrapped(block, joined_heads(row), width, kBold);
      add_wrapped(block, label_and_notes(row), width, kDim, "  ");
      head.blocks.push_back(std::move(block));
    }
    fit(head);
    head.width = std::max(head.width, width);
    return head;
  }

  void write_panel(const DocumentPanel& panel) {
    out_ += '\n';
    const auto notes = marker(panel.notes);
    paragraph(notes.empty() ? panel.title : fmt::format("{} {}", panel.title, notes), kBold, "");
    paragraph(panel.settings, kDim, "");
    const auto columns = columns_of(panel);
    std::size_t widest = 0;
    for (const auto& column : columns) widest = std::max(widest, column.width);
    std::vector<TerminalColumn> heads;
    if (panel.heads.size() > 1) heads = separate_heads(panel, widest).value_or(std::vector<TerminalColumn>{});
    if (heads.empty()) heads.push_back(one_head(panel, columns, widest));
    std::size_t head_width = 0;
    for (const auto& head : heads) head_width += head.width + kGap;
    head_width -= kGap;
    for (std::size_t first = 0; first < columns.size();) {
      std::size_t last = first, used = head_width;
      while (last < columns.size() && (last == first || used + kGap + columns[last].width <= width_)) {
        used += kGap + columns[last].width;
        ++last;
      }
      auto block = heads;
      block.insert(block.end(), columns.begin() + static_cast<std::ptrdiff_t>(first),
                   columns.begin() + static_cast<std::ptrdiff_t>(last));
      write_block(block, panel.rows.size(), std::min(used, width_));
      first = last;
    }
  }

  void write_block(const std::vector<TerminalColumn>& columns, std::size_t rows, std::size_t used) {
    out_ += '\n';
    write_lines(columns, [](const TerminalColumn& column) -> const Block& { return column.title; });
    for (std::size_t i = 0; i < used; ++i) out_ += "─";
    out_ += '\n';
    for (std::size_t row = 0; row < rows; ++row) {
      write_lines(columns,
                  [row](const TerminalColumn& column) -> const Block& { return column.blocks[row]; });
    }
  }

  // One block of each column, side by side.
  template <class BlockOf>
  void write_lines(const std::vector<TerminalColumn>& columns, const BlockOf& block_of) {
    std::size_t height = 0;
    for (const auto& column : columns) height = std::max(height, block_of(column).size());
    for (std::size_t i = 0; i < height; ++i) {
      std::string line;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto& block = block_of(columns[c]);
        if (c > 0) line += std::string(kGap, ' ');
        line += padded(i < block.size() ? block[i] : Line{}, columns[c].width);
      }
      out_ += trimmed(line) + '\n';
    }
  }

  std::string padded(const Line& line, std::size_t width) const {
    const auto shown = display_width(line.text);
    return styled(line.text, line.style) + std::string(width > shown ? width - shown : 0, ' ');
  }

  static std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  const Document& document_;
  std::size_t width_;
  bool colour_;
  std::string out_;
};

}  // namespace

TerminalStyle style_of_standard_output() {
  TerminalStyle style;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (const int number = std::atoi(columns); number > 0) style.width = static_cast<std::size_t>(number);
  }
  if (isatty(STDOUT_FILENO) != 0) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
    const char* no_colour = std::getenv("NO_COLOR");
    style.colour = no_colour == nullptr || *no_colour == '\0';
  }
  return style;
}

std::string terminal_text(const Document& document, const TerminalStyle& style) {
  return TerminalTable(document, style).write();
}

std::string terminal_table(const TableModel& table, const TerminalStyle& style) {
  return terminal_text(document_of(table), style);
}

}  // namespace hyfreedp::results
