#include "results/table/value_notes.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/base/text.h"
#include "results/table/bootstrap.h"
#include "results/table/cell_text.h"

namespace hyfreedp::results {
namespace {

using IntervalKind = TableSettings::IntervalKind;

std::string row_title(const PanelModel& panel, const std::string& id) {
  for (const auto& row : panel.rows) {
    if (row.id == id) return row.title;
  }
  return "";
}

std::string over_seeds(const TableLook& look) {
  std::string text = look.is_median ? "median" : "mean";
  if (look.sd) text += " ± sample standard deviation";
  text += " over n seeds";
  if (look.range) text += ", with the range from the smallest to the largest";
  if (look.is_median) text += "; what compares rows (best, differences, intervals) is of means";
  return text;
}

std::string what_numbers_are(const TableSettings& settings, const TableLook& look, bool single_seed) {
  const auto& facts = metric_facts(settings.metric);
  if (settings.metric == spec::Metric::seconds) {
    return "Numbers are the training time of the reported run alone, in seconds: " + over_seeds(look) +
           ". It depends on the machine and on what else ran there.";
  }
  auto text = fmt::format("Numbers are {}{} of the reported run ", facts.title,
                          facts.unit == "%" ? " in percent" : "");
  text += settings.last_checkpoints > 1
              ? fmt::format("as a mean over its last {} evaluations", settings.last_checkpoints)
              : std::string("after its last step");
  text += ": " + over_seeds(look);
  return text + (single_seed && look.sd ? " (no standard deviation at n = 1)." : ".");
}

std::string also_note(const std::vector<spec::Metric>& metrics) {
  std::vector<std::string> titles;
  for (const auto metric : metrics) {
    const auto& facts = metric_facts(metric);
    titles.push_back(facts.title + (facts.unit == "%" ? ", in percent" : facts.unit.empty() ? "" : ", in s"));
  }
  return "In the columns beside it, of the same runs: " + join(titles, "; ") +
         ". ε and n are those of the first column, but where a cell says others.";
}

std::string relation_note(const PanelModel& panel) {
  const auto title = row_title(panel, panel.table.relative_to);
  if (title.empty()) return "No row " + panel.table.relative_to + " to compare with.";
  if (panel.table.metric == spec::Metric::seconds) {
    return fmt::format(
        "Beneath the time, its ratio to that of {} (means over seeds) and the range of the ratios of single "
        "seeds.",
        title);
  }
  return fmt::format(
      "\"vs reference\": the difference to {} with its 95 % t-interval, paired by seed where the seeds are "
      "the "
      "same (else Welch's); each cell by itself.",
      title);
}

std::string detectable_note(const PanelModel& panel) {
  const auto title = row_title(panel, panel.table.relative_to);
  return fmt::format(
      "\"detectable\": the smallest true difference to {} that a paired t-test at 5 % would find with 80 % "
      "power "
      "at this number of seeds and the standard deviation of these paired differences, itself only an "
      "estimate.",
      title.empty() ? std::string("the best row of the column that has several seeds") : title);
}

std::string paper_note(const TableModel& table, const PanelModel& panel) {
  std::string text = "\"paper\": the value that the paper prints";
  if (!panel.is_the_papers_task && !panel.table.paper_tolerance) {
    return text + fmt::format(
                      ". Data, model and sizes are not the paper's (preset {}), so no difference is shown; "
                      "\"rank\": the place of the row in its column among the rows that have both values, by "
                      "ours and by the paper's. 1 is the best, equal values share a rank.",
                      table.preset);
  }
  text += "; difference: ours less the paper's, in points.";
  if (panel.table.paper_tolerance) {
    text += fmt::format(" In band: at most {} points.", short_number(*panel.table.paper_tolerance));
  }
  if (!panel.is_the_papers_task) {
    text += fmt::format(" Data, model and sizes are not the paper's (preset {}).", table.preset);
  }
  return text;
}

bool has_paper_values(const PanelModel& panel) {
  return std::any_of(panel.rows.begin(), panel.rows.end(), [](const auto& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const auto& cell) { return cell.paper.has_value(); });
  });
}

std::vector<std::string> notes_of(const TableModel& table, const PanelModel& panel, bool single_seed) {
  const auto& settings = panel.table;
  std::vector<std::string> notes{what_numbers_are(settings, panel.look, single_seed)};
  if (!settings.also.empty()) notes.push_back(also_note(settings.also));
  if (settings.interval == IntervalKind::t) {
    notes.emplace_back("In brackets the 95 % t-interval of the mean over seeds.");
  } else if (settings.interval == IntervalKind::bootstrap) {
    notes.push_back(fmt::format(
        "In brackets the 95 % bootstrap interval (BCa, {} resamples of the seeds, fixed seed) of the mean. "
        "With few seeds it "
        "is too narrow: at n = 3 it holds the true mean in about 7 of 10 cases, at n = 5 in about 8.",
        kBootstrapResamples));
  }
  if (!settings.relative_to.empty()) notes.push_back(relation_note(panel));
  if (settings.mdd) notes.push_back(detectable_note(panel));
  if (!settings.rerr_random.empty()) {
    notes.push_back(fmt::format("RERR: how much of the way from {} (0 %) to {} (100 %) the mean has gone.",
                                row_title(panel, settings.rerr_random),
                                row_title(panel, settings.rerr_oracle)));
  }
  if (settings.paper && has_paper_values(panel)) notes.push_back(paper_note(table, panel));
  return notes;
}

}  // namespace

std::vector<std::string> value_notes(const TableModel& table, bool single_seed) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> panels;  // sentence -> titles
  for (const auto& panel : table.panels) {
    for (const auto& note : notes_of(table, panel, single_seed)) {
      if (!panels.contains(note)) order.push_back(note);
      panels[note].push_back(panel.title);
    }
  }
  std::vector<std::string> notes;
  for (const auto& note : order) {
    const bool everywhere = panels[note].size() == table.panels.size();
    notes.push_back(everywhere ? note : fmt::format("{}: {}", join(panels[note], "; "), note));
  }
  const auto asks_for_paper = [](const auto& panel) { return panel.table.paper; };
  if (std::any_of(table.panels.begin(), table.panels.end(), asks_for_paper) &&
      std::none_of(table.panels.begin(), table.panels.end(), has_paper_values)) {
    notes.push_back("No paper's value stands beside these rows: " +
                    (table.preset.empty() ? std::string("the spec") : "preset " + table.preset) +
                    " has none.");
  }
  return notes;
}

}  // namespace hyfreedp::results
