#include <cmath>
#include <fmt/format.h>
#include <map>

#include "harness/base/text.h"
#include "results/provenance/trace.h"
#include "results/store/records.h"
#include "results/table/cell_text.h"

namespace hyfreedp::results {
namespace {

constexpr std::size_t kWidth = 110;  // columns; a longer word keeps its line whole
constexpr std::size_t kIndent = 14;

// "  name        text", broken at spaces, the rest beneath the text.
std::string entry(const std::string& name, const std::string& text) {
  std::string lines;
  bool first = true;
  for (const auto& line : wrap(text, kWidth - kIndent)) {
    lines += fmt::format("  {:<{}}{}\n", first ? name : "", kIndent - 2, line);
    first = false;
  }
  return lines;
}

// One line a part of the config: "optimizer: adamw (beta1 0.9, ...)".
std::string config_lines(const json::object& config) {
  std::map<std::string, std::vector<std::string>> parts;
  for (const auto& [path, value] : flattened(config)) {
    if (value == "null" || value == "false" || value.empty()) continue;
    const auto dot = path.find('.');
    const bool nested = dot != std::string::npos;
    auto name = nested ? path.substr(dot + 1) : path;
    if (name.rfind("options.", 0) == 0) name = name.substr(8);
    auto& part = parts[nested ? path.substr(0, dot) : "run"];
    name == "name" ? void(part.insert(part.begin(), value))
                   : part.push_back(fmt::format("{} {}", name, value));
  }
  std::string lines;
  for (const auto& [name, members] : parts) lines += entry(name, join(members, ", "));
  return lines;
}

// An upper bound stays one.
std::string bound(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.6f}", std::ceil(epsilon * 1e6 - 1e-4) / 1e6) : "∞";
}

std::string epsilon_line(const TracedSeed& seed) {
  if (seed.is_unpriced) return "not known yet; hyfreedp odometer counts what the runs have released so far";
  if (!seed.total) return "none: nothing private was released";
  const auto& total = *seed.total;
  auto text = fmt::format("total {} by {} at δ = {}", bound(total.epsilon), total.accountant,
                          short_number(total.delta));
  if (total.epsilon_lower > 0) text += fmt::format(" (at least {:.6f})", total.epsilon_lower);
  if (!total.noise_accountant.empty()) text += ", noise set by " + total.noise_accountant;
  if (seed.training) text += fmt::format(", training {}", bound(seed.training->epsilon));
  if (seed.tuning) {
    text += fmt::format(", tuning {:.6f}", *seed.tuning);
  } else if (seed.training) {
    text += ", tuning uncharged";
  }
  if (seed.claimed_epsilon) text += fmt::format("; claimed {}", short_number(*seed.claimed_epsilon));
  return text;
}

std::string run_line(const TracedRun& run) {
  std::vector<std::string> parts;
  if (run.state != "finished") parts.push_back(run.state);
  if (run.accuracy) parts.push_back(fmt::format("test {:.2f} %", *run.accuracy));
  if (run.validation) parts.push_back(fmt::format("validation {:.2f} %", *run.validation));
  parts.push_back(human_duration(run.seconds));
  if (run.memory.host > 0) parts.push_back(memory_text(run.memory));
  if (run.attempts > 1) parts.push_back(fmt::format("{} attempts", run.attempts));
  if (run.reported) parts.emplace_back("reported");
  for (const auto& difference : run.differences) parts.push_back(difference);
  return fmt::format("{}  {}", run.id, join(parts, "; "));
}

std::string runs_text(const TracedSeed& seed) {
  std::string text;
  if (seed.runs_are_hidden) {
    text +=
        entry("runs", seed.state == "concluded"
                          ? "how many there were, and the losing ones, are confidential: the epsilon of a "
                            "private selection holds only as long as they stay secret"
                          : "none is shown before the row is finished");
  } else {
    text += entry("runs", fmt::format("{} asked for, {}{}", seed.runs.size(),
                                      seed.seconds ? human_duration(*seed.seconds) + " in all" : "",
                                      seed.runs.size() > 1 ? "; what differs from the reported one:" : ""));
  }
  for (const auto& run : seed.runs) text += entry("", run_line(run));
  return text;
}

std::string events_text(const TracedSeed& seed) {
  for (const auto& run : seed.runs) {
    if (run.reported) return entry("executed", run.events);
  }
  return "";
}

std::string with_unit(const std::string& number, const std::string& unit) {
  return unit.empty() ? number : number + " " + unit;
}

std::string seed_text(const TracedSeed& seed, const CellTrace& trace, const json::object& first_config) {
  auto text =
      fmt::format("\nseed {}: {}\n", seed.seed,
                  seed.value ? with_unit(fmt::format("{:.4f}", *seed.value), trace.unit) : "no value");
  if (seed.study.empty()) return text + entry("study", seed.state);
  text += entry("study", seed.study + ", " + seed.state);
  if (!seed.failure.empty()) text += entry("failed", seed.failure);
  if (!seed.user_note.empty()) text += entry("your note", seed.user_note);
  if (!seed.tags.empty()) text += entry("tags", join(seed.tags, " "));
  text += entry("label", seed.label.empty() ? "-" : seed.label);
  for (const auto& flag : seed.flags) text += entry("flag", flag);
  if (seed.builds.size() > 1) {
    std::vector<std::string> builds;
    for (const auto& build : seed.builds) builds.push_back(build.text());
    text += entry("builds", join(builds, "; then "));
  }
  if (!seed.measured.empty()) {
    std::vector<std::string> values;
    for (const auto& [step, value] : seed.measured) {
      values.push_back(fmt::format("{:.{}f} ({})", value, trace.metric == "loss" ? 4 : 2, step));
    }
    text += entry("test", join(values, ", ") + "; " +
                              (trace.metric == "loss"      ? "loss"
                               : trace.metric == "seconds" ? "accuracy, %"
                                                           : trace.metric + ", %") +
                              " (after how many steps)");
  }
  text += entry("composition", seed.composition);
  text += entry("epsilon", epsilon_line(seed));
  text += events_text(seed);
  for (const auto& note : seed.notes) text += entry("says", note);
  for (const auto& note : seed.footnotes) text += entry("note", note);
  text += runs_text(seed);
  if (seed.config.empty()) return text;
  if (first_config.empty()) return text + config_lines(seed.config);
  const auto differing = differences(first_config, seed.config);
  return text + entry("config", differing.empty() ? "as of the first seed"
                                                  : "as of the first seed, but " + join(differing, ", "));
}

std::string machine_text(const CellTrace& trace) {
  std::map<std::string, std::vector<std::string>> seeds;  // by machine
  for (const auto& seed : trace.seeds) {
    if (seed.fingerprint.empty()) continue;
    std::vector<std::string> parts;
    for (const auto& [name, value] : flattened(seed.fingerprint))
      parts.push_back(fmt::format("{} {}", name, value));
    seeds[join(parts, ", ")].push_back(std::to_string(seed.seed));
  }
  std::string text;
  for (const auto& [machine, of] : seeds) {
    text += entry("machine", seeds.size() == 1 ? machine : "seed " + join(of, ", ") + ": " + machine);
  }
  return text;
}

json::object run_json(const TracedRun& run) {
  json::object object{{"id", run.id},
                      {"reported", run.reported},
                      {"state", run.state},
                      {"differences", as_json(run.differences)},
                      {"attempts", run.attempts},
                      {"seconds", number(run.seconds)},
                      {"peak_bytes", run.memory.host},
                      {"device_peak_bytes", run.memory.device},
                      {"events", run.events}};
  if (run.accuracy) object["test_accuracy_percent"] = number(*run.accuracy);
  if (run.validation) object["validation_accuracy_percent"] = number(*run.validation);
  return object;
}

json::object seed_json(const TracedSeed& seed) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? number(*value) : json::value(nullptr);
  };
  json::array measured, runs;
  for (const auto& [step, value] : seed.measured)
    measured.push_back({{"step", step}, {"value", number(value)}});
  for (const auto& run : seed.runs) runs.push_back(run_json(run));
  return {{"seed", seed.seed},
          {"study", seed.study},
          {"state", seed.state},
          {"failure", seed.failure},
          {"value", optional(seed.value)},
          {"test", measured},
          {"label", seed.label},
          {"flags", as_json(seed.flags)},
          {"footnotes", as_json(seed.footnotes)},
          {"notes", as_json(seed.notes)},
          {"user_note", seed.user_note},
          {"tags", as_json(seed.tags)},
          {"composition", seed.composition},
          {"delta", number(seed.delta)},
          {"total", as_json(seed.total)},
          {"unpriced", seed.is_unpriced},
          {"training", as_json(seed.training)},
          {"tuning", optional(seed.tuning)},
          {"claimed_epsilon", optional(seed.claimed_epsilon)},
          {"config", seed.config},
          {"fingerprint", seed.fingerprint},
          {"builds", as_json(seed.builds)},
          {"runs", runs},
          {"runs_are_confidential", seed.runs_are_hidden},
          {"seconds", optional(seed.seconds)}};
}

}  // namespace

std::string trace_text(const CellTrace& trace) {
  const auto cell = text_of(trace.cell);
  std::string text;
  if (trace.confidential) text += std::string(kWatermark) + "\n";
  text += fmt::format("{} / {} / {} / {}: {}{}\n", trace.spec, trace.panel, trace.row,
                      trace.column == "inf" ? "non-private" : "ε = " + trace.column, cell.main,
                      cell.details.empty() ? "" : " (" + join(cell.details, "; ") + ")");
  text += entry("table", trace.title + "; " + trace.panel_title + "; " + trace.settings);
  if (!trace.other_panels.empty()) {
    text += entry("panel", fmt::format("{}, the first that has this cell; also in {} (--panel)", trace.panel,
                                       join(trace.other_panels, ", ")));
  }
  text += entry("method", trace.method + ", \"" + trace.row_title + "\"");
  text += entry("spec", fmt::format("hash {}, run by hyfreedp {}", trace.hash, trace.version));
  text += machine_text(trace);
  for (const auto& note : trace.footnotes) text += entry("footnote", note);
  json::object first;
  for (const auto& seed : trace.seeds) {
    text += seed_text(seed, trace, first);
    if (first.empty()) first = seed.config;
  }
  return text;
}

json::object trace_json(const CellTrace& trace) {
  json::array seeds;
  for (const auto& seed : trace.seeds) seeds.push_back(seed_json(seed));
  const auto cell = text_of(trace.cell);
  auto cell_parts = cell.details;
  cell_parts.insert(cell_parts.begin(), cell.main);
  json::object object{{"spec", trace.spec},
                      {"title", trace.title},
                      {"hash", trace.hash},
                      {"version", trace.version},
                      {"panel", trace.panel},
                      {"row", trace.row},
                      {"method", trace.method},
                      {"column", trace.column},
                      {"cell", join(cell_parts, "; ")},
                      {"n", trace.cell.n},
                      {"metric", trace.metric},
                      {"unit", trace.unit},
                      {"mean", trace.cell.n > 0 ? number(trace.cell.mean) : json::value(nullptr)},
                      {"sd", trace.cell.sd ? number(*trace.cell.sd) : json::value(nullptr)},
                      {"epsilon", trace.cell.epsilon ? number(*trace.cell.epsilon) : json::value(nullptr)},
                      {"footnotes", as_json(trace.footnotes)},
                      {"seeds", seeds}};
  if (trace.confidential) object["watermark"] = kWatermark;
  return object;
}

}  // namespace hyfreedp::results
