#include "harness/runner/execute/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

constexpr std::chrono::milliseconds kLiveInterval{150};
constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kUsualWidth = 100;
constexpr std::size_t kTitleWidth = 44;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

std::string cut(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  std::string kept;
  std::size_t count = 0;
  for (const char byte : text) {
    if (!is_continuation(byte) && ++count >= width) break;
    kept += byte;
  }
  return width == 0 ? "" : kept + "…";
}

std::string padded(const std::string& text, std::size_t width) {
  const auto have = characters(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string bar(double fraction) {
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * kBarWidth));
  std::string text;
  for (std::size_t i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

std::string counts(const Board& board) {
  std::string text = fmt::format("{}/{}{} runs, {}/{} studies", board.runs_over, board.runs,
                                 board.planning ? "+" : "", board.cells_over, board.cells);
  return text;
}

std::string times(const Board& board, double elapsed) {
  if (board.hides_times) return "";
  std::string text = human_duration(elapsed);
  if (board.seconds_left) {
    text += fmt::format(", {} {} left", board.planning ? "at least" : "about",
                        human_duration(*board.seconds_left));
  }
  return text;
}

std::string worker_line(int slot, const RunningTrial& trial) {
  std::string text = fmt::format("  {}  {}  ", slot + 1, padded(trial.title, kTitleWidth));
  if (trial.steps > 0) text += fmt::format("step {:>4}/{}", trial.step, trial.steps);
  if (trial.step_size) text += "  η " + short_number(*trial.step_size, 3);
  if (trial.private_loss) text += "  private loss " + short_number(*trial.private_loss, 3);
  return text;
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualWidth;
}

}  // namespace

std::vector<std::string> live_lines(const Board& board, double elapsed, std::size_t width) {
  const double all = board.done + board.left;
  const double fraction = all > 0 ? board.done / all : 0.0;
  std::vector<std::string> lines = {fmt::format("{} {:3.0f} %  {}  {}  {}", bar(fraction),
                                                100 * std::clamp(fraction, 0.0, 1.0), board.phase,
                                                counts(board), times(board, elapsed))};
  for (const auto& [slot, trial] : board.running) lines.push_back(worker_line(slot, trial));
  for (const auto& [study, title] : board.selections) {
    lines.push_back(fmt::format("  –  {}  private selection", padded(title, kTitleWidth)));
  }
  for (auto& line : lines) line = cut(line, width);
  return lines;
}

std::string plain_line(const Board& board, double elapsed) {
  const auto time = times(board, elapsed);
  return fmt::format("{}: {}{}{}", board.phase, counts(board), time.empty() ? "" : "; ", time);
}

Progress::Progress(std::ostream& out, Style style, std::chrono::milliseconds interval)
    : out_(out), style_(style), interval_(interval) {}
Progress::~Progress() { clear(); }

Progress::Style Progress::style_for(int descriptor) {
  const char* terminal = std::getenv("TERM");
  if (::isatty(descriptor) == 0 || (terminal != nullptr && std::string_view(terminal) == "dumb")) {
    return Style::plain;
  }
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
  if (live) return draw(live_lines(board, elapsed, terminal_width()));
  auto line = plain_line(board, elapsed);
  if (line == last_line_) return;
  last_line_ = std::move(line);
  out_ << last_line_ << '\n' << std::flush;
}

void Progress::draw(const std::vector<std::string>& lines) {
  clear();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool coloured = style_ == Style::live_colour && i == 0;
    out_ << (coloured ? "\x1b[36m" : "") << lines[i] << (coloured ? "\x1b[0m" : "") << '\n';
  }
  drawn_ = lines.size();
  out_ << std::flush;
}

void Progress::clear() {
  if (drawn_ == 0) return;
  out_ << "\x1b[" << drawn_ << "A\x1b[J" << std::flush;
  drawn_ = 0;
}

void Progress::say(const std::string& line) {
  if (style_ == Style::none) return;
  clear();
  out_ << line << '\n' << std::flush;
}

}  // namespace hyfreedp::runner
