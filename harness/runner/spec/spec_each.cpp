#include "harness/runner/spec/spec_each.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/split.h"
#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

constexpr std::size_t kMostRows = 10000;
const std::vector<std::string> kRoots = {"options", "train", "steps", "seeds", "epsilon", "control"};

constexpr const char* kExampleOfEach = "each: {options.lr: [0.001, 0.01]}";

struct Axis {
  std::vector<std::string> keys;  // a.b.c
  std::vector<Entry> values;
  std::vector<std::string> texts;  // of the values
};

// "0.1", "0.1_1" of a list.
Result<std::string> text_of(const Entry& value) {
  if (!value.is_list()) return value.written();
  std::vector<std::string> parts;
  for (const auto& one : value.list().value()) {
    const auto text = one.written();
    if (!text) return text.error();
    parts.push_back(*text);
  }
  return parts.empty() ? std::string("none") : join(parts, "_");
}

// Replaces each character that may not stand in an id by '_'.
std::string as_identifier(std::string text) {
  for (auto& c : text) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == '-' || c == '_' || c == '.';
    if (!allowed) c = '_';
  }
  return text;
}

std::optional<Axis> read_axis(const Entry& each, const std::string& path, Problems& problems) {
  const auto before = problems.added();
  const auto entry = *each.find(path);
  Axis axis{.keys = split(path, '.'), .values = {}, .texts = {}};
  const bool known = std::find(kRoots.begin(), kRoots.end(), axis.keys.front()) != kRoots.end();
  const bool deep = axis.keys.front() == "options" || axis.keys.front() == "train";
  const bool whole =
      std::none_of(axis.keys.begin(), axis.keys.end(), [](const auto& key) { return key.empty(); });
  if (!known || !whole || deep != (axis.keys.size() > 1)) {
    problems.add(entry.wrong(
        fmt::format(
            "is no key of a row that can vary.{} Give options.NAME, train.NAME, steps, seeds, epsilon "
            "or control",
            did_you_mean(axis.keys.front(), kRoots)),
        kExampleOfEach));
  }
  const auto values = problems.take(entry.list());
  if (!values) return std::nullopt;
  if (values->empty()) problems.add(entry.wrong("must have at least one value", kExampleOfEach));
  axis.values = *values;
  for (const auto& value : axis.values) {
    const auto text = problems.take(text_of(value));
    if (!text) continue;
    if (std::find(axis.texts.begin(), axis.texts.end(), *text) != axis.texts.end()) {
      problems.add(value.wrong("repeats a value", ""));
    }
    axis.texts.push_back(*text);
  }
  if (problems.added() > before) return std::nullopt;
  return axis;
}

ExpandedRow combine(const Layers& row, const std::string& path, const std::vector<Axis>& axes,
                    const std::vector<std::size_t>& picks) {
  ExpandedRow expanded;
  std::optional<Entry> top;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& axis = axes[i];
    const auto one = axis.values[picks[i]].nested(axis.keys, path);
    top = top ? top->overlaid(one) : one;
    expanded.id_suffix += as_identifier(fmt::format("-{}-{}", axis.keys.back(), axis.texts[picks[i]]));
    words.push_back(fmt::format("{} {}", axis.keys.back(), axis.texts[picks[i]]));
  }
  std::vector<Entry> maps{*top};
  maps.insert(maps.end(), row.maps().begin(), row.maps().end());
  expanded.layers = Layers(std::move(maps));
  expanded.title_suffix = fmt::format(" ({})", join(words, ", "));
  return expanded;
}

}  // namespace

std::vector<ExpandedRow> expand_each(const Layers& row, Problems& problems) {
  const auto each = row.find("each");
  if (!each) return {{row, "", ""}};
  if (!each->check_keys(nullptr, problems)) return {};
  const auto before = problems.added();
  std::vector<Axis> axes;
  std::size_t count = 1;
  for (const auto& path : each->keys()) {
    auto axis = read_axis(*each, path, problems);
    if (!axis) continue;
    count = std::min(count * axis->values.size(), kMostRows + 1);
    axes.push_back(std::move(*axis));
  }
  if (each->keys().empty()) problems.add(each->wrong("must vary at least one key"));
  if (count > kMostRows) problems.add(each->wrong(fmt::format("makes more than {} rows", kMostRows), ""));
  if (problems.added() > before) return {};
  std::vector<ExpandedRow> rows;
  std::vector<std::size_t> picks(axes.size(), 0);
  for (std::size_t made = 0; made < count; ++made) {
    rows.push_back(combine(row, row.maps().front().path(), axes, picks));
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (++picks[i] < axes[i].values.size()) break;
      picks[i] = 0;
    }
  }
  return rows;
}

}  // namespace hyfreedp::runner
