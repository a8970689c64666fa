#include "datasets/fetch/progress.h"

#include <fmt/format.h>

#include "datasets/fetch/download.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {

FetchProgress::FetchProgress(std::ostream& out, bool terminal, double seconds)
    : out_(out), terminal_(terminal), seconds_(seconds) {}

FetchProgress::~FetchProgress() { clear_line(); }

void FetchProgress::clear_line() {
  if (has_line_) out_ << "\r\033[K" << std::flush;
  has_line_ = false;
}

void FetchProgress::at(const std::string& name, std::uint64_t done, std::uint64_t total) {
  const auto now = Clock::now();
  const auto since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (name != name_) {
    name_ = name;
    begun_ = shown_ = now;
    first_ = done;
    return;
  }
  if (since(shown_) < (terminal_ ? 0.2 : seconds_)) return;
  shown_ = now;
  const double rate = static_cast<double>(done - std::min(first_, done)) / std::max(since(begun_), 1e-3);
  auto text = fmt::format("  {}: {}", name, bytes_text(done));
  if (total > 0) text += fmt::format(" of {}", bytes_text(total));
  text += fmt::format(", {}/s", bytes_text(static_cast<std::uint64_t>(rate)));
  if (total > done && rate > 0)
    text += fmt::format(", {} left", human_duration(static_cast<double>(total - done) / rate));
  if (terminal_) {
    out_ << "\r" << text << "\033[K" << std::flush;
    has_line_ = true;
  } else {
    out_ << text << '\n' << std::flush;
  }
}

void FetchProgress::say(const std::string& sentence) {
  clear_line();
  out_ << "  " << sentence << '\n' << std::flush;
}

}  // namespace hyfreedp::datasets
