#include "results/provenance/ledger.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"
#include "harness/trial/trial_config.h"
#include "results/store/states.h"
#include "results/table/cell_text.h"

namespace hyfreedp::results {
namespace {

std::string composition_text(const StudyRecord& study) {
  using Rule = trial::Composition::Rule;
  const auto rule = study.composition.rule;
  if (!rule) return "";
  if (rule == Rule::trial) return "the reported run alone";
  if (rule == Rule::sum) return fmt::format("{} runs in sequence", study.trials.size());
  return rule == Rule::selection ? "private selection" : name_of(*rule);
}

std::string release_text(const accounting::Release& release) {
  std::string text = release.purpose.empty() ? "σ" : release.purpose + " σ";
  text += " = " + short_number(release.noise_multiplier);
  if (release.noise == accounting::Noise::laplace) text = "Laplace " + text;
  if (release.count > 1) text = fmt::format("{} × {}", release.count, text);
  return text;
}

struct Describe {
  std::string operator()(const accounting::Batch& batch) const {
    std::vector<std::string> releases;
    for (const auto& release : batch.releases) releases.push_back(release_text(release));
    const auto sampling =
        batch.sample_rate < 1 ? "Poisson q = " + short_number(batch.sample_rate) : std::string("full batch");
    return sampling + ": " + join(releases, " and ");
  }
  std::string operator()(const accounting::Repeat& repeat) const {
    return fmt::format("{} × ({})", repeat.count, describe_events(repeat.base));
  }
  std::string operator()(const accounting::Selection& selection) const {
    return fmt::format("selection, {} runs on average, of ({})", short_number(selection.mean),
                       describe_events(selection.base));
  }
  std::string operator()(const accounting::NotAccountable& event) const {
    return "not accountable: " + event.reason;
  }
};

// Executed events of a run, on the part of the training split that the composition names, where it
// names one.
Result<std::vector<accounting::Event>> events_of(const Store& store, const StudyRecord& study,
                                                 const std::string& id) {
  const auto trial = store.trial(id);
  if (!trial) return trial.error();
  if (!*trial) return std::vector<accounting::Event>{};
  auto events = (**trial).events;
  const auto part = study.composition.parts.find(id);
  if (part != study.composition.parts.end()) trial::tell_part(part->second, events);
  return events;
}

// Describes the events behind a row's epsilon: those of all runs that it charges; of a private
// selection the law and one run's events. Runs of a search that is not charged are named as such.
Result<std::string> charged_events(const Store& store, const StudyRecord& study) {
  const auto reported = events_of(store, study, study.reported_trial);
  if (!reported) return reported.error();
  if (study.composition.is_selection()) {
    if (!study.composition.selection) return "selection of (" + describe_events(*reported) + ")";
    return Describe{}(accounting::Selection{.mean = study.composition.selection->mean, .base = *reported});
  }
  std::vector<accounting::Event> others;
  std::size_t runs = 0;
  for (const auto& id : study.trials) {
    if (id == study.reported_trial) continue;
    const auto events = events_of(store, study, id);
    if (!events) return events.error();
    others.insert(others.end(), events->begin(), events->end());
    ++runs;
  }
  if (runs == 0) return describe_events(*reported);
  if (study.composition.rule == trial::Composition::Rule::sum) {
    others.insert(others.end(), reported->begin(), reported->end());
    return fmt::format("{} runs: {}", runs + 1, describe_events(others));
  }
  return fmt::format("{}; not charged, {}: {}", describe_events(*reported), counted(runs, "further run"),
                     describe_events(others));
}

// The study of the seed that spent most.
const SeedResult* largest_spender(const CellModel& cell) {
  const SeedResult* largest = nullptr;
  for (const auto& seed : cell.seeds) {
    if (seed.epsilon && (largest == nullptr || *seed.epsilon > *largest->epsilon)) largest = &seed;
  }
  return largest;
}

Result<std::optional<LedgerLine>> line_of(const Store& store, const PanelModel& panel, const RowModel& row,
                                          const CellModel& cell) {
  const auto* seed = largest_spender(cell);
  if (seed == nullptr || !cell.epsilon_target) return std::optional<LedgerLine>{};
  auto study = store.study(seed->study);
  if (!study) return study.error();
  auto trial = store.trial(seed->trial);
  if (!trial) return trial.error();
  if (!*study || !(**study).total) return std::optional<LedgerLine>{};
  auto events = charged_events(store, **study);
  if (!events) return events.error();
  LedgerLine line;
  line.events = std::move(*events);
  line.panel = panel.title;
  line.title = row.title;
  line.target = *cell.epsilon_target;
  line.composition = composition_text(**study);
  if (*trial) {
    const auto* privacy = (**trial).config.if_contains("privacy");
    if (privacy != nullptr && privacy->is_object())
      line.sampler = string_or(privacy->get_object(), "sampler", "");
  }
  line.label = (**study).label;
  line.flags = (**study).flags;
  line.total = *(**study).total;
  if ((**study).training) line.training = (**study).training->epsilon;
  return std::optional<LedgerLine>(std::move(line));
}

std::string fingerprint_text(const json::object& fingerprint) {
  std::vector<std::string> parts;
  for (const auto& member : fingerprint) {
    const auto& value = member.value();
    parts.push_back(std::string(member.key()) + " " +
                    (value.is_string() ? std::string(value.get_string()) : json::serialize(value)));
  }
  std::sort(parts.begin(), parts.end());
  return join(parts, ", ");
}

}  // namespace

std::optional<double> LedgerLine::tuning() const {
  if (!training) return std::nullopt;
  return std::max(0.0, total.epsilon - *training);
}

std::string ledger_text(const TableModel& table, const std::vector<LedgerLine>& lines) {
  std::string text = table.title + ": what was spent\n";
  const auto shown = [](const std::optional<double>& epsilon) {
    return epsilon ? epsilon_text(*epsilon) : std::string("-");
  };
  std::size_t title_width = 3;
  for (const auto& line : lines) title_width = std::max(title_width, display_width(line.title));
  const auto line_text = [title_width](const std::array<std::string, 9>& cells) {
    std::string line = "  " + cells[0] + std::string(title_width - display_width(cells[0]), ' ');
    for (std::size_t i = 1; i < cells.size() - 1; ++i) {
      const auto width = display_width(cells[i]);
      line += "  " + std::string(width < 9 ? 9 - width : 0, ' ') + cells[i];
    }
    return line + "  " + cells.back() + "\n";
  };
  std::string panel;
  for (const auto& line : lines) {
    if (line.panel != panel) {
      panel = line.panel;
      text += fmt::format("\n{}: δ = {}, add or remove one record\n", panel, short_number(line.total.delta));
      text +=
          line_text({"row", "target", "training", "tuning", "total", "PLD", "RDP", "by", "sampler; label"});
    }
    auto label = line.sampler + "; " + line.label;
    for (const auto& flag : line.flags) label += "; " + flag;
    const bool is_charged = line.label != "oracle" && line.label != "simulated";
    text += line_text({line.title, short_number(line.target), shown(line.training),
                       is_charged ? shown(line.tuning()) : "uncharged", epsilon_text(line.total.epsilon),
                       shown(line.total.pld), shown(line.total.rdp), line.total.accountant, label});
  }
  if (lines.empty()) return text + "No private row is finished yet.\n";
  return text +
         "\nOf each cell the seed that spent most. training: the reported run alone; tuning: what finding it "
         "added; "
         "total:\nthe row's ε, the smaller of the PLD and RDP upper bounds (PLD does not price private "
         "selection). "
         "Evaluation on\ntest data is outside the mechanism. hyfreedp odometer composes all rows and "
         "runs.\n";
}

Result<bool> has_unpriced_runs(const Store& store, const StudyRecord& study) {
  if (study.total || is_not_needed(study)) return false;
  const bool is_lost_selection = study.composition.is_selection() && !study.composition.drew_no_run;
  if (study.state == StudyState::open || is_lost_selection) return true;
  for (const auto& id : study.trials) {
    const auto trial = store.trial(id);
    if (!trial) return trial.error();
    if (!*trial) continue;
    const auto& run = **trial;
    if (run.begun_after || !run.events.empty() || !run.charged.empty()) return true;
  }
  return false;
}

std::string describe_events(const std::vector<accounting::Event>& events) {
  std::vector<std::pair<std::string, std::int64_t>> merged;
  for (const auto& event : events) {
    auto text = std::visit(Describe{}, event.what);
    if (!event.split.empty() && event.split != accounting::kDefaultSplit) text += " (on " + event.split + ")";
    const auto* batch = std::get_if<accounting::Batch>(&event.what);
    const std::int64_t count = batch != nullptr ? batch->count : 1;
    const auto found =
        std::find_if(merged.begin(), merged.end(), [&](const auto& entry) { return entry.first == text; });
    if (found != merged.end())
      found->second += count;
    else
      merged.emplace_back(text, count);
  }
  std::vector<std::string> parts;
  parts.reserve(merged.size());
  for (const auto& [text, count] : merged)
    parts.push_back(count > 1 ? fmt::format("{} × {}", count, text) : text);
  return join(parts, "; ");
}

Result<std::vector<LedgerLine>> ledger_lines(const Store& store, const TableModel& table) {
  std::vector<LedgerLine> lines;
  for (const auto& panel : table.panels) {
    for (const auto& row : panel.rows) {
      for (const auto& cell : row.cells) {
        auto line = line_of(store, panel, row, cell);
        if (!line) return line.error();
        if (*line) lines.push_back(std::move(**line));
      }
    }
  }
  return lines;
}

Result<std::vector<std::string>> fingerprints(const Store& store, const TableModel& table) {
  std::set<std::string> found;
  for (const auto& panel : table.panels) {
    for (const auto& row : panel.rows) {
      for (const auto& cell : row.cells) {
        for (const auto& seed : cell.seeds) {
          if (!seed.accuracy) continue;
          auto trial = store.trial(seed.trial);
          if (!trial) return trial.error();
          if (*trial && !(**trial).fingerprint.empty()) found.insert(fingerprint_text((**trial).fingerprint));
        }
      }
    }
  }
  return std::vector<std::string>(found.begin(), found.end());
}

}  // namespace hyfreedp::results
