#include "harness/runner/progress/live_block.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace hyfreedp::runner {
namespace {

constexpr std::size_t kBarWidth = 24;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

}  // namespace

std::string cut_to(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  std::string kept;
  std::size_t count = 0;
  for (const char byte : text) {
    if (!is_continuation(byte) && ++count >= width) break;
    kept += byte;
  }
  return width == 0 ? "" : kept + "…";
}

std::string padded_to(const std::string& text, std::size_t width) {
  const auto have = characters(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string bar_text(double fraction) {
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * kBarWidth));
  std::string text;
  for (std::size_t i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

bool is_live_terminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

void LiveBlock::draw(const std::vector<std::string>& lines, bool coloured) {
  std::string text = drawn_ > 0 ? fmt::format("\x1b[{}A\x1b[J", drawn_) : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += coloured && i == 0 ? "\x1b[36m" + lines[i] + "\x1b[0m\n" : lines[i] + "\n";
  }
  drawn_ = lines.size();
  out_ << text << std::flush;
}

void LiveBlock::clear() {
  if (drawn_ == 0) return;
  out_ << "\x1b[" << drawn_ << "A\x1b[J" << std::flush;
  drawn_ = 0;
}

}  // namespace hyfreedp::runner
