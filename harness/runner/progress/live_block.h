// A block of lines on a terminal that is drawn again in place, and the text that fits into it.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::runner {

// `text` with at most `width` characters of UTF-8; where some are cut off the last is "…".
std::string cut_to(const std::string& text, std::size_t width);
// `text` with spaces behind it, where it has fewer than `width` characters.
std::string padded_to(const std::string& text, std::size_t width);
// A bar of block characters; `fraction` from 0 to 1.
std::string bar_text(double fraction);

struct TerminalSize {
  std::size_t columns = 100;
  std::size_t rows = 24;
};
// The size of the terminal behind `descriptor`; the usual one where there is none.
TerminalSize terminal_size(int descriptor);

// True if `descriptor` is a terminal on which a block can be drawn again.
bool is_live_terminal(int descriptor);

class LiveBlock {
 public:
  explicit LiveBlock(std::ostream& out) : out_(out) {}
  // Draws in place of what was drawn before; the first line coloured if `coloured`. No line may be
  // wider than the terminal, and the block no higher.
  void draw(const std::vector<std::string>& lines, bool coloured);
  // Removes the block.
  void clear();

 private:
  std::ostream& out_;
  std::size_t drawn_ = 0;
};

}  // namespace hyfreedp::runner
