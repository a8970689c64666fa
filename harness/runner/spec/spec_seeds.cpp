// `seeds` of a panel: a list, or how many a comparison needs.
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <sstream>
#include <string_view>

#include "harness/base/text.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {
namespace {

constexpr std::int64_t kFewestSeeds = 2;
constexpr std::int64_t kMostSeeds = 1000;
constexpr std::string_view kBeginning = "paired interval of ";
constexpr std::string_view kNarrow = "is narrower than ";
constexpr std::string_view kNarrowAgain = "narrower than ";
constexpr std::string_view kExcludes = "excludes 0";
constexpr std::string_view kOr = " or ";
constexpr std::string_view kGrammar =
    "must be like 'paired interval of prodigy - hyfreedp is narrower than 0.5 or excludes 0': two rows of "
    "the "
    "panel, then a width in percentage points of test accuracy, 'excludes 0', or both with 'or' between";

// Lines and runs of spaces, as YAML folds them, are one space.
std::string words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return join(words, " ");
}

bool take(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

// The text up to `end`, which goes too.
std::optional<std::string> take_until(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::string taken(text.substr(0, at));
  text.remove_prefix(at + end.size());
  return taken;
}

bool take_condition(std::string_view text, spec::SequentialSeeds& seeds) {
  if (text == kExcludes) {
    seeds.excludes_zero = true;
    return true;
  }
  if (!take(text, kNarrow) && !take(text, kNarrowAgain)) return false;
  double width = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), width);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return false;
  if (!std::isfinite(width) || !(width > 0)) return false;
  seeds.narrower = width;
  return true;
}

bool take_rule(std::string_view text, spec::SequentialSeeds& seeds) {
  if (!take(text, kBeginning)) return false;
  const auto first = take_until(text, " - ");
  const auto second = first ? take_until(text, " ") : std::nullopt;
  if (!second) return false;
  seeds.first = *first;
  seeds.second = *second;
  const auto between = text.find(kOr);
  if (between == std::string_view::npos) return take_condition(text, seeds);
  return take_condition(text.substr(0, between), seeds) &&
         take_condition(text.substr(between + kOr.size()), seeds) && seeds.narrower && seeds.excludes_zero;
}

}  // namespace

std::optional<spec::SequentialSeeds> read_sequential_seeds(const Entry& entry, Problems& problems) {
  static const std::vector<std::string> kKeys = {"until", "from", "to", "confidence"};
  const auto before = problems.added();
  if (!entry.check_keys(&kKeys, problems)) return std::nullopt;
  spec::SequentialSeeds seeds;
  for (const char* key : {"until", "from", "to"}) {
    if (!entry.find(key)) entry.need(key, problems);
  }
  if (const auto until = entry.find("until")) {
    if (const auto text = problems.take(until->text())) {
      seeds.until = words_of(*text);
      if (!take_rule(seeds.until, seeds)) problems.add(until->wrong(std::string(kGrammar)));
    }
  }
  const auto from = entry.find("from"), to = entry.find("to"), confidence = entry.find("confidence");
  if (from) seeds.from = problems.take(from->integer()).value_or(kFewestSeeds);
  if (to) seeds.to = problems.take(to->integer()).value_or(kMostSeeds);
  if (from && seeds.from < kFewestSeeds)
    problems.add(from->wrong("must be at least 2: one seed has no interval"));
  if (to && seeds.to > kMostSeeds) problems.add(to->wrong(fmt::format("must be at most {}", kMostSeeds)));
  if (from && to && seeds.to < seeds.from)
    problems.add(to->wrong(fmt::format("must be at least 'from', which is {}", seeds.from)));
  if (confidence) seeds.confidence = problems.take(confidence->number()).value_or(seeds.confidence);
  if (!(seeds.confidence >= 0.5 && seeds.confidence < 1)) {
    problems.add(confidence->wrong("must be at least 0.5 and below 1"));
  }
  if (problems.added() > before) return std::nullopt;
  return seeds;
}

void check_sequential_seeds(const Entry& entry, const spec::SequentialSeeds& seeds,
                            const std::vector<spec::Row>& rows, Problems& problems) {
  std::vector<std::string> ids;
  for (const auto& row : rows) ids.push_back(row.id);
  const auto until = entry.find("until").value_or(entry);
  const spec::Row* compared[] = {nullptr, nullptr};
  for (int side = 0; side < 2; ++side) {
    const auto& id = side == 0 ? seeds.first : seeds.second;
    for (const auto& row : rows) {
      if (row.id == id) compared[side] = &row;
    }
    if (compared[side] == nullptr) {
      problems.add(until.wrong(fmt::format("names '{}', which is no row of the panel (it has: {}).{}", id,
                                           join(ids, ", "), did_you_mean(id, ids))));
    } else if (compared[side]->seeds != seeds_of(seeds)) {
      problems.add(until.wrong(fmt::format("compares '{}', which lists seeds of its own", id)));
    }
  }
  if (compared[0] == nullptr || compared[1] == nullptr) return;
  if (compared[0] == compared[1]) problems.add(until.wrong("compares a row with itself"));
  if (compared[0]->epsilons != compared[1]->epsilons) {
    problems.add(until.wrong(fmt::format(
        "compares '{}' and '{}', which do not have the same columns (epsilons)", seeds.first, seeds.second)));
  }
}

std::vector<std::int64_t> seeds_of(const spec::SequentialSeeds& sequential) {
  std::vector<std::int64_t> seeds(static_cast<std::size_t>(sequential.to));
  std::iota(seeds.begin(), seeds.end(), 0);
  return seeds;
}

}  // namespace hyfreedp::runner
