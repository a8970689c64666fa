#include "harness/runner/spec/mistakes/spec_problems.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "harness/base/error_list.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"

namespace hyfreedp::runner {
namespace {

constexpr std::size_t kMostShown = 20;

// The N of "FILE:N: ..."; 0 for a message of another form.
long line_number(const std::string& message, const std::string& file) {
  if (!message.starts_with(file + ":")) return 0;
  return std::strtol(message.c_str() + file.size() + 1, nullptr, 10);
}

}  // namespace

void Problems::add(const Error& mistake) {
  ++added_;
  auto line = as_one_line(mistake.message);
  if (known_.insert(line).second) lines_.push_back(std::move(line));
}

bool Problems::take(const Result<void>& result) {
  if (!result) add(result.error());
  return result.has_value();
}

void Problems::warn(const Error& doubt) {
  auto line = as_one_line(doubt.message);
  if (std::ranges::find(warnings_, line) == warnings_.end()) warnings_.push_back(std::move(line));
}

void Problems::note_misspelt(const std::string& path, const std::string& key) {
  misspelt_.insert({path, key});
}

bool Problems::is_misspelt(const std::string& path, const std::string& key) const {
  return misspelt_.contains({path, key});
}

Error Problems::error() const {
  auto sorted = lines_;
  // The list of a user's own wrong files was cut already: its last line, which says how many are
  // left out, is taken out and their number added.
  std::size_t unlisted = 0;
  std::erase_if(sorted, [&unlisted](const std::string& line) {
    const auto more = ErrorList::unlisted_in(line);
    unlisted += more;
    return more > 0;
  });
  std::stable_sort(sorted.begin(), sorted.end(), [&](const std::string& one, const std::string& other) {
    return line_number(one, file_) < line_number(other, file_);
  });
  const auto count = sorted.size() + unlisted;
  if (count == 1) return hyfreedp::error(sorted.front());
  const auto head = fmt::format("{} has {} mistakes:\n", file_, count);
  if (count <= kMostShown) return hyfreedp::error(head + join(sorted, "\n"));
  if (sorted.size() > kMostShown) sorted.resize(kMostShown);
  const auto more = count - sorted.size();
  return hyfreedp::error(fmt::format("{}{}\n... and {} more.", head, join(sorted, "\n"), more));
}

}  // namespace hyfreedp::runner
