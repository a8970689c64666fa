#include "results/table/table_notes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sstream>
#include <utility>

#include "harness/base/text.h"
#include "results/table/value_notes.h"

namespace hyfreedp::results {
namespace {

struct Explanation {
  const char* begins;
  const char* text;
};

constexpr std::array<Explanation, 4> kFlags = {{
    {"reproducible noise",
     "The noise comes from a seed written in the spec, so that anybody can repeat the run bit for bit; "
     "whoever knows "
     "the seed can subtract the noise."},
    {"paper accounting",
     "The noise was chosen as published, pricing each release as if it had its own batch although all were "
     "made on the "
     "same one. The claimed epsilon is what that reading promises; the epsilon shown is what the executed "
     "events cost."},
    {"interrupted",
     "A run was cut off and continued on another machine or build, or it lost its journal or its key, so "
     "its noise could not be repeated: what it may have released before is charged as well."},
    {"oracle",
     "A setting was selected on private data without noise and without being charged; the epsilon covers the "
     "reported "
     "run alone."},
}};

constexpr std::array<Explanation, 4> kOutcomes = {{
    {"stuck at d0",
     "The estimate of the distance to the solution, which is the step size, never left its start, so the "
     "weights "
     "hardly moved."},
    {"fit rejected throughout",
     "No fit of the released losses was accepted, so the learning rate was never fitted."},
    {"curvature within its noise",
     "In most probes the fitted curvature was below twice the standard deviation of its noise. It is so in "
     "runs that find a good rate, too: whether they do depends on the slope over its noise."},
    {"every update rejected",
     "The step-size control took back every pair of half steps, so the weights never moved."},
}};

template <std::size_t n>
std::string explained(const std::array<Explanation, n>& known, const std::string& what) {
  for (const auto& [begins, text] : known) {
    if (what.starts_with(begins)) return what + ". " + text;
  }
  return what + ".";
}

std::string listed(const std::set<std::string>& texts) {
  return join(std::vector<std::string>(texts.begin(), texts.end()), ", ");
}

// A reported epsilon names one accountant or, joined by commas, what it was derived with.
std::string accountants_text(const std::set<std::string>& accountants) {
  if (accountants.empty()) return "none";
  std::set<std::string> names;
  for (const auto& one : accountants) {
    std::istringstream parts(one);
    for (std::string part; std::getline(parts, part, ',');) {
      names.insert(part.substr(std::min(part.size(), part.find_first_not_of(' '))));
    }
  }
  std::string text = listed(names) + " (the smaller of the PLD and RDP upper bounds)";
  if (names.contains("liu-talwar"))
    text += "; liu-talwar is Liu and Talwar's theorem 3.4 for private selection";
  return text;
}

// Says which accountant set the noise: that of most rows, then the others with theirs. Empty if no
// row's was recorded.
std::string noise_text(std::map<std::string, std::set<std::string>> rows) {
  const auto unrecorded = rows.extract("");
  if (rows.empty()) return "";
  const auto usual = std::max_element(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
    return one.second.size() < other.second.size();
  });
  const auto named = [](const std::set<std::string>& titles) {
    return join(std::vector<std::string>(titles.begin(), titles.end()), "; ");
  };
  auto text = " Noise was set by " + usual->first;
  for (const auto& [accountant, titles] : rows) {
    if (accountant != usual->first)
      text += fmt::format(", but by {} in these rows: {}", accountant, named(titles));
  }
  if (unrecorded) text += fmt::format(" (not recorded of these rows: {})", named(unrecorded.mapped()));
  return text + ".";
}

// Says which of several runs is the reported one.
std::string selection_text(const NoteFacts& facts) {
  std::vector<std::string> parts;
  std::set<std::string> selected, summed;
  for (const auto& [label, rules] : facts.rules) {
    if (label == "oracle")
      parts.emplace_back("oracle rows report the run with the best un-noised validation accuracy, uncharged");
    if (label == "oracle" || label == "simulated") continue;
    if (rules.contains("selection"))
      selected.insert(rules.at("selection").begin(), rules.at("selection").end());
    if (rules.contains("sum")) summed.insert(rules.at("sum").begin(), rules.at("sum").end());
  }
  if (!selected.empty()) {
    parts.push_back(listed(selected) +
                    ": private selection, the best noised validation score of a confidential number of runs");
  }
  if (!summed.empty())
    parts.push_back(listed(summed) + ": several runs, all charged, chosen from by noised, charged scores");
  if (parts.empty()) return "";
  return fmt::format("Selection: {}. All other end-to-end rows are one run, with nothing to select.",
                     join(parts, "; "));
}

std::string builds_text(const NoteFacts& facts) {
  if (facts.builds.size() < 2) return "";
  std::vector<std::string> parts;
  for (const auto& [build, rows] : facts.builds) parts.push_back(fmt::format("{} ({})", build, listed(rows)));
  return fmt::format("Rows are of several builds of the program: {}.", join(parts, "; "));
}

std::string split_text(const NoteFacts& facts) {
  std::vector<std::string> parts;
  for (const auto& [sizes, panels] : facts.splits) {
    parts.push_back(facts.splits.size() == 1 ? sizes : fmt::format("{}: {}", join(panels, ", "), sizes));
  }
  return parts.empty() ? "" : fmt::format("Split: {}.", join(parts, "; "));
}

}  // namespace

std::string explain_flag(const std::string& flag) { return explained(kFlags, flag); }

std::string explain_outcome(const std::string& outcome) { return explained(kOutcomes, outcome); }

std::string mixed_builds_note(const std::set<trial::Build>& builds) {
  std::vector<std::string> texts;
  texts.reserve(builds.size());
  for (const auto& build : builds) texts.push_back(build.text());
  return fmt::format(
      "Several builds of the program worked on this row: {}. hyfreedp trace says which run is of which.",
      join(texts, "; "));
}

bool has_explanation(const std::string& flag) {
  return std::any_of(kFlags.begin(), kFlags.end(),
                     [&](const auto& known) { return flag.starts_with(known.begins); });
}

std::vector<std::string> general_notes(const TableModel& table, const NoteFacts& facts) {
  auto notes = value_notes(table, facts.single_seed);
  if (facts.has_private) {
    notes.push_back(
        "ε is an upper bound on what was spent to get the cell, from the executed events, tuning included "
        "but "
        "where the label says otherwise; where seeds differ, the largest. It is of one row and one seed: "
        "rows "
        "and seeds use the same data and are not composed; hyfreedp odometer composes them.");
    notes.push_back("δ is given with each panel. Neighbouring relation: add or remove one record. Sampler: " +
                    (facts.samplers.empty() ? "unknown" : listed(facts.samplers)) + ". Accountant: " +
                    accountants_text(facts.accountants) + "." + noise_text(facts.noise_accountants));
  }
  if (const auto chosen = selection_text(facts); !chosen.empty()) notes.push_back(chosen);
  if (const auto split = split_text(facts); !split.empty()) notes.push_back(split);
  notes.push_back(
      "Labels: end-to-end DP: everything that touched private data is in ε. oracle: tuning saw private data "
      "and was not "
      "charged. simulated: the rate comes from an uncharged search; a share of the budget stands in for its "
      "cost.");
  notes.push_back(
      "Test accuracy is measured on public test data, outside the mechanism; no run of this table is "
      "selected by it.");
  if (!facts.ood_tests.empty()) {
    notes.push_back(fmt::format(
        "ood_test: a line in a cell that begins with the name of a set is the accuracy (%) on that "
        "set, whose data are of another distribution than the training data; it is measured at the "
        "end of the reported run, with the weights of the test accuracy above it, and nothing is "
        "selected by it. {}.",
        join(facts.ood_tests, "; ")));
  }
  if (facts.has_own_test) {
    notes.push_back(
        "Test records that are a user's own are treated as public: ε does not cover what the measured "
        "accuracy "
        "tells of them.");
  }
  notes.insert(notes.end(), facts.overlaps.begin(), facts.overlaps.end());
  notes.push_back(
      "Time is the training time of all runs that a cell asked for, tuning included, as a mean over seeds "
      "and cells; runs "
      "that several rows share count in each." +
      std::string(facts.hidden_run_count
                      ? " Under private selection the number of runs is confidential, so the time is "
                        "that of the reported run alone."
                      : ""));
  if (facts.has_memory) {
    notes.push_back(
        "Memory is the most that one of these runs took: resident memory of its process, in which data and "
        "cached files that were read count, and what its tensors took on a GPU.");
  }
  if (facts.not_planned) notes.push_back("n/a: the spec asks for no run here.");
  if (facts.best) {
    notes.push_back(
        "Marked best: end-to-end rows within the target ε, with a value of every planned seed, whose 95 % "
        "t-interval (paired by seed, Bonferroni "
        "over the "
        "competitors) lies above every other such row. No mark means that chance is not ruled out.");
  }
  if (facts.missing_seeds) {
    notes.push_back(
        "A cell of which a planned seed failed or is missing is a mean over the seeds that are left: it is "
        "not "
        "marked best, competes with no other for that, and counts as beating no oracle.");
  }
  if (!facts.groups.empty()) {
    notes.push_back(fmt::format(
        "Rows of group {} are candidates that a spec lists: to pick one of them by its number here is an "
        "oracle's choice, whatever the label of each. None of them is marked best or competes for it.",
        listed(facts.groups)));
  }
  if (const auto builds = builds_text(facts); !builds.empty()) notes.push_back(builds);
  notes.push_back("Spec " + table.spec + ", hash " + table.hash.substr(0, 16) + ", hyfreedp " +
                  table.version + ".");
  return notes;
}

}  // namespace hyfreedp::results
