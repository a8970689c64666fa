#include "harness/mechanism/journal_follower.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <string_view>

#include "harness/mechanism/journal_reader.h"

namespace hyfreedp::mechanism {

struct JournalFollower::State {
  std::string path;
  reading::Reader reader{path, {}};
  std::string checksum;  // of the last line that was read
  std::size_t position = 0;
  std::size_t lines = 0;

  explicit State(std::string of) : path(std::move(of)) {}
  // The whole lines of `text`, the last of which ends with a newline.
  Result<void> add(std::string_view text);
};

Result<void> JournalFollower::State::add(std::string_view text) {
  while (!text.empty()) {
    const auto newline = text.find('\n');
    auto line = open_line(text.substr(0, newline), checksum);
    if (!line) return error(fmt::format("{}:{}: {}", path, lines + 1, line.error().message));
    if (auto added = reader.add(*line, lines + 1); !added) return added;
    checksum = std::move(line->checksum);
    ++lines;
    position += newline + 1;
    text.remove_prefix(newline + 1);
  }
  return {};
}

JournalFollower::JournalFollower(const std::string& path) : state_(std::make_unique<State>(path)) {}
JournalFollower::JournalFollower(JournalFollower&&) noexcept = default;
JournalFollower& JournalFollower::operator=(JournalFollower&&) noexcept = default;
JournalFollower::~JournalFollower() = default;

Result<bool> JournalFollower::read(std::size_t most) {
  std::ifstream file(state_->path, std::ios::binary | std::ios::ate);
  if (!file) return error(state_->path + ": cannot read the journal");
  const auto size = static_cast<std::size_t>(file.tellg());
  // Another file is in its place.
  if (size < state_->position) *this = JournalFollower(state_->path);
  std::string text(std::min(most, size - state_->position), '\0');
  file.seekg(static_cast<std::streamoff>(state_->position));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const bool is_all = state_->position + text.size() == size;
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  if (text.empty() && !is_all) return read(2 * most);
  if (auto added = state_->add(text); !added) return added.error();
  return is_all;
}

const Journal& JournalFollower::journal() const { return state_->reader.so_far(); }

std::vector<accounting::Event> JournalFollower::charged() const {
  return trial::events_of(state_->reader.charged(reading::Reader::Last::booked));
}

}  // namespace hyfreedp::mechanism
