#include "harness/cli/epsilon/events_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "harness/accounting/mechanism.h"

namespace hyfreedp::cli {
namespace {

// read_file would not do: a device or a pipe may have no end.
Result<std::string> read_bounded(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return error(path + " is a folder; name an events file.");
  std::ifstream in(path, std::ios::binary);
  if (!in) return error(path + ": cannot open (" + std::strerror(errno) + ").");
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (in.read(buffer.data(), buffer.size()), in.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kLargestEventsFile) {
      return error(fmt::format("{} is larger than {} MiB; use 'count' for events that repeat.", path,
                               kLargestEventsFile >> 20));
    }
  }
  if (in.bad()) return error(path + ": cannot read (" + std::strerror(errno) + ").");
  return text;
}

std::size_t different(const accounting::SplitContent& content) {
  std::size_t number = content.mechanisms.size() + content.selections.size();
  for (const auto& selection : content.selections) number += different(selection.base);
  return number;
}

}  // namespace

Result<accounting::Events> read_events_file(const std::string& path) {
  const auto text = read_bounded(path);
  if (!text) return text.error();
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return error(path + " is empty; an events file contains {\"events\": [...]}.");
  }
  const auto value = parse_json(*text, path);
  if (!value) return value.error();
  auto events = accounting::events_from_json(*value, path);
  if (!events) return events;
  const auto contents = accounting::split_contents(*events);
  if (!contents) return in_context(path, contents.error());
  std::size_t number = 0;
  for (const auto& content : *contents) number += different(content);
  if (number > kMostDifferentEvents) {
    return error(
        fmt::format("{} contains {} different events; at most {} can be priced (equal events count once).",
                    path, number, kMostDifferentEvents));
  }
  return events;
}

}  // namespace hyfreedp::cli
