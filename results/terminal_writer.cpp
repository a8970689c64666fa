#include "results/terminal_writer.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "results/cell_text.h"

namespace hyfreedp::results {
namespace {

constexpr std::size_t kGap = 3;  // columns between columns
constexpr std::size_t kMinMethodWidth = 18;
constexpr std::size_t kMaxMethodWidth = 40;
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

class Writer {
 public:
  Writer(const TableModel& table, const TerminalStyle& style)
      : table_(table), width_(std::max(style.width, kMinWidth)), colour_(style.colour) {}

  std::string write() {
    if (table_.confidential) paragraph(kWatermark, kRed, "");
    paragraph(table_.title, kBold, "");
    for (const auto& banner : table_.banners) paragraph(banner, kYellow, "! ");
    for (const auto& panel : table_.panels) write_panel(panel);
    out_ += '\n';
    for (std::size_t i = 0; i < table_.footnotes.size(); ++i) {
      paragraph(table_.footnotes[i], "", fmt::format("[{}] ", i + 1));
    }
    for (const auto& note : table_.notes) paragraph(note, kDim, "- ");
    if (table_.confidential) paragraph(kWatermark, kRed, "");
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

  Block method_block(const RowModel& row, std::size_t width) const {
    Block block;
    for (const auto& line : wrap(row.title, width)) block.push_back({line, kBold});
    const auto notes = marker(row.notes);
    for (const auto& line : wrap(label_text(table_, row) + (notes.empty() ? "" : " " + notes), width - 2)) {
      block.push_back({"  " + line, kDim});
    }
    return block;
  }

  static Block cell_block(const CellModel& cell) {
    const auto text = text_of(cell);
    const auto notes = marker(cell.notes);
    Block block;
    const char* style = cell.best ? kGreen : cell.kind == CellModel::Kind::failed ? kRed : "";
    block.push_back({text.main + (cell.best ? " *" : "") + (notes.empty() ? "" : " " + notes), style});
    if (!text.detail.empty()) block.push_back({text.detail, kDim});
    if (!text.confidential.empty()) block.push_back({text.confidential, kYellow});
    return block;
  }

  static std::size_t width_of(const Block& block) {
    std::size_t width = 0;
    for (const auto& line : block) width = std::max(width, display_width(line.text));
    return width;
  }

  // One column for each epsilon and one of times, the method column apart.
  struct Column {
    std::string title;
    std::vector<Block> blocks;  // one a row
    std::size_t width = 0;
  };

  std::vector<Column> columns_of(const PanelModel& panel) const {
    std::vector<Column> columns;
    for (std::size_t i = 0; i < panel.columns.size(); ++i) {
      Column column;
      column.title = column_title(panel.columns[i]);
      for (const auto& row : panel.rows) column.blocks.push_back(cell_block(row.cells[i]));
      columns.push_back(std::move(column));
    }
    Column time;
    time.title = "time";
    for (const auto& row : panel.rows)
      time.blocks.push_back({{row.seconds ? human_duration(*row.seconds) : "-"}});
    columns.push_back(std::move(time));
    for (auto& column : columns) {
      column.width = display_width(column.title);
      for (const auto& block : column.blocks) column.width = std::max(column.width, width_of(block));
    }
    return columns;
  }

  std::size_t method_width(const PanelModel& panel, const std::vector<Column>& columns) const {
    std::size_t wanted = kMinMethodWidth;
    for (const auto& row : panel.rows) {
      wanted = std::max({wanted, display_width(row.title), display_width(label_text(table_, row)) + 2});
    }
    wanted = std::min(wanted, kMaxMethodWidth);
    std::size_t all = 0, widest = 0;
    for (const auto& column : columns) {
      all += column.width + kGap;
      widest = std::max(widest, column.width + kGap);
    }
    // Side by side where the method column can shrink to make room; else at least one column must fit beside
    // it.
    const std::size_t room = width_ > all + kMinMethodWidth ? width_ - all
                             : width_ > widest              ? width_ - widest
                                                            : 0;
    return std::clamp(room, kMinMethodWidth, wanted);
  }

  void write_panel(const PanelModel& panel) {
    out_ += '\n';
    const auto notes = marker(panel.notes);
    paragraph(panel.title + (notes.empty() ? "" : " " + notes), kBold, "");
    paragraph(panel.settings, kDim, "");
    const auto columns = columns_of(panel);
    const auto method = method_width(panel, columns);
    for (std::size_t first = 0; first < columns.size();) {
      std::size_t last = first, used = method;
      while (last < columns.size() && (last == first || used + kGap + columns[last].width <= width_)) {
        used += kGap + columns[last].width;
        ++last;
      }
      write_block(panel, columns, first, last, method, used);
      first = last;
    }
  }

  void write_block(const PanelModel& panel, const std::vector<Column>& columns, std::size_t first,
                   std::size_t last, std::size_t method, std::size_t used) {
    out_ += '\n';
    std::string header = padded({"method", ""}, method);
    for (auto i = first; i < last; ++i)
      header += std::string(kGap, ' ') + padded({columns[i].title, ""}, columns[i].width);
    out_ += styled(trimmed(header), kBold) + '\n';
    std::string rule;
    for (std::size_t i = 0; i < used; ++i) rule += "─";
    out_ += rule + '\n';
    for (std::size_t row = 0; row < panel.rows.size(); ++row) {
      std::vector<std::pair<Block, std::size_t>> cells{{method_block(panel.rows[row], method), method}};
      for (auto i = first; i < last; ++i) cells.emplace_back(columns[i].blocks[row], columns[i].width);
      write_row(cells);
    }
  }

  void write_row(const std::vector<std::pair<Block, std::size_t>>& cells) {
    std::size_t height = 0;
    for (const auto& [block, width] : cells) height = std::max(height, block.size());
    for (std::size_t i = 0; i < height; ++i) {
      std::string line;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const auto& [block, width] = cells[c];
        if (c > 0) line += std::string(kGap, ' ');
        line += padded(i < block.size() ? block[i] : Line{}, width);
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

  const TableModel& table_;
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

std::string terminal_table(const TableModel& table, const TerminalStyle& style) {
  return Writer(table, style).write();
}

}  // namespace hyfreedp::results
