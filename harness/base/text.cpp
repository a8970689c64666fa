#include "harness/base/text.h"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace hyfreedp {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const auto same = std::ranges::find_if(
      candidates, [&](const std::string& one) { return boost::algorithm::iequals(one, name); });
  if (same != candidates.end()) return *same;
  std::string best;
  std::size_t best_distance = name.size() / 2 + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : " Did you mean '" + nearest + "'?";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string first_of(std::vector<std::string> names, std::size_t most) {
  const bool more = names.size() > most;
  names.resize(std::min(names.size(), most));
  return join(names, ", ") + (more ? ", ..." : "");
}

std::string short_number(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string counted(std::int64_t count, std::string_view noun, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto size = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* larger : {"kB", "MB", "GB", "TB"}) {
    size /= 1000;
    unit = larger;
    if (size < 999.5) break;  // from there on three digits would show 1000
  }
  return fmt::format("{:.3g} {}", size, unit);
}

std::string human_duration(double seconds) {
  if (!(seconds >= 0)) return "?";
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02d} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02d} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace hyfreedp
