#include "harness/runner/progress/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

constexpr std::chrono::milliseconds kLiveInterval{150};
constexpr std::size_t kTitleWidth = 44;

std::string counts(const Board& board) {
  std::string text = fmt::format("{}/{}{} runs, {}/{} studies", board.runs_over, board.runs,
                                 board.planning ? "+" : "", board.cells_over, board.cells);
  return text;
}

std::string time_left(const Board& board) {
  if (board.hides_times || !board.seconds_left) return "";
  return fmt::format("{} {} left", board.planning ? "at least" : "about",
                     human_duration(*board.seconds_left));
}

std::string worker_line(int slot, const RunningTrial& trial) {
  std::string text = fmt::format("  {}  {}  ", slot + 1, padded_to(trial.title, kTitleWidth));
  if (trial.steps > 0) text += fmt::format("step {:>4}/{}", trial.step, trial.steps);
  if (trial.step_size) text += "  η " + short_number(*trial.step_size, 3);
  if (trial.private_loss) text += "  private loss " + short_number(*trial.private_loss, 3);
  return text;
}

}  // namespace

std::vector<std::string> live_lines(const Board& board, double elapsed, std::size_t width) {
  const double all = board.done + board.left;
  const double fraction = all > 0 ? board.done / all : 0.0;
  // A narrow terminal cuts the end off: what is asked for most comes first.
  auto first = fmt::format("{} {:3.0f} %  ", bar_text(fraction), 100 * std::clamp(fraction, 0.0, 1.0));
  if (const auto left = time_left(board); !left.empty()) first += left + "  ";
  first += fmt::format("{}  {}", board.phase, counts(board));
  if (!board.hides_times) first += "  " + human_duration(elapsed);
  std::vector<std::string> lines = {std::move(first)};
  for (const auto& [slot, trial] : board.running) lines.push_back(worker_line(slot, trial));
  for (const auto& [study, title] : board.selections) {
    lines.push_back(fmt::format("  –  {}  private selection", padded_to(title, kTitleWidth)));
  }
  for (auto& line : lines) line = cut_to(line, width);
  return lines;
}

std::string plain_line(const Board& board, double elapsed) {
  const auto left = time_left(board);
  return fmt::format("{}: {}{}{}{}", board.phase, left, left.empty() ? "" : "; ", counts(board),
                     board.hides_times ? "" : "; " + human_duration(elapsed));
}

Progress::Progress(std::ostream& out, Style style, std::chrono::milliseconds interval)
    : out_(out), block_(out), style_(style), interval_(interval) {}
Progress::~Progress() { clear(); }

Progress::Style Progress::style_for(int descriptor) {
  if (!is_live_terminal(descriptor)) return Style::plain;
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour != nullptr && *no_colour != '\0' ? Style::live : Style::live_colour;
}

void Progress::show(const Board& board) {
  if (style_ == Style::none) return;
  const auto now = Clock::now();
  const bool live = style_ != Style::plain;
  const auto interval = live ? std::chrono::milliseconds(kLiveInterval) : interval_;
  if (last_ && now - *last_ < interval && board.phase == last_phase_) return;
  last_ = now;
  last_phase_ = board.phase;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (live) {
    const auto lines = live_lines(board, elapsed, terminal_size(STDERR_FILENO).columns);
    return block_.draw(lines, style_ == Style::live_colour);
  }
  auto line = plain_line(board, elapsed);
  if (line == last_line_) return;
  last_line_ = std::move(line);
  out_ << last_line_ << '\n' << std::flush;
}

void Progress::clear() { block_.clear(); }

void Progress::say(const std::string& line) {
  if (style_ == Style::none) return;
  clear();
  out_ << line << '\n' << std::flush;
}

}  // namespace hyfreedp::runner
