#include "results/regress/regress_writers.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "harness/base/text.h"
#include "results/table/cell_text.h"
#include "results/table/html_writer.h"

namespace hyfreedp::results {
namespace {

constexpr std::size_t kShown = 2;          // findings of a cell on the terminal
constexpr std::size_t kVerdictWidth = 14;  // of "could not tell"

const char* colour_of(RegressVerdict verdict) {
  switch (verdict) {
    case RegressVerdict::regressed:
      return "\x1b[31m";
    case RegressVerdict::changed:
    case RegressVerdict::unclear:
      return "\x1b[33m";
    case RegressVerdict::improved:
      return "\x1b[36m";
    case RegressVerdict::same:
      return "\x1b[32m";
    case RegressVerdict::skipped:
      return "\x1b[2m";
  }
  return "";
}

std::string coloured(RegressVerdict verdict, const TerminalStyle& style) {
  const auto text = fmt::format("{:<{}}", to_string(verdict), kVerdictWidth);
  return style.colour ? colour_of(verdict) + text + "\x1b[0m" : text;
}

bool is_shown(const RegressFinding& finding) {
  return finding.verdict != RegressVerdict::same && finding.verdict != RegressVerdict::skipped;
}

std::string line_of(const RegressFinding& finding) { return finding.what + " " + finding.text; }

// Writes the line of a night in which nothing moved: what it was compared by.
std::string quiet_line(const RegressReport& report) {
  std::int64_t bits = 0;
  std::string why;
  for (const auto& cell : report.cells) {
    for (const auto& finding : cell.findings) {
      if (finding.what != "bits") continue;
      bits += finding.replicates;
      if (finding.verdict == RegressVerdict::skipped) why = finding.text;
    }
  }
  const auto equal = bits > 0 ? fmt::format("{} runs are the same bit for bit", bits) : "bits " + why;
  return fmt::format("{}; {}{} tests, false alarms at most {:.3g} a night", summary_of(report),
                     bits > 0 || !why.empty() ? equal + ", " : "", report.tests,
                     report.options.false_alarms_per_night);
}

// Findings that read alike in several cells, such as a method's setting, once; in the order of the
// cells, worst first.
struct Moved {
  RegressVerdict verdict;
  std::string text;
  std::vector<std::string> cells;
};

std::vector<Moved> what_moved(const RegressReport& report) {
  std::vector<Moved> moved;
  const auto add = [&](const RegressCell& cell, const RegressFinding& finding) {
    const auto text = line_of(finding);
    auto known = std::find_if(moved.begin(), moved.end(), [&](const Moved& one) { return one.text == text; });
    if (known == moved.end()) known = moved.insert(moved.end(), {finding.verdict, text, {}});
    known->cells.push_back(cell.name());
  };
  // A setting first: it may be the reason of the rest.
  for (const bool setting : {true, false}) {
    for (const auto& cell : report.cells) {
      for (const auto& finding : cell.findings) {
        const bool is_told = finding.verdict == RegressVerdict::regressed ||
                             finding.verdict == RegressVerdict::changed ||
                             finding.verdict == RegressVerdict::improved ||
                             (setting && finding.verdict == RegressVerdict::unclear);
        if (is_told && (finding.what == "setting") == setting) add(cell, finding);
      }
    }
  }
  return moved;
}

std::string places_of(const Moved& moved) {
  constexpr std::size_t kMost = 6;
  if (moved.cells.size() <= kMost) return join(moved.cells, "; ");
  return fmt::format("{} cells", moved.cells.size());
}

void add_wrapped(std::string& out, const std::string& text, std::size_t indent, const TerminalStyle& style) {
  const std::size_t width = style.width > indent + 40 ? style.width - indent : 40;
  for (const auto& line : wrap(text, width)) out += fmt::format("{}{}\n", std::string(indent, ' '), line);
}

// The reasons why findings were skipped, each once.
std::vector<std::string> skipped_reasons(const RegressReport& report) {
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const auto& cell : report.cells) {
    for (const auto& finding : cell.findings) {
      if (finding.verdict != RegressVerdict::skipped) continue;
      const auto text = line_of(finding);
      const auto known = std::find_if(reasons.begin(), reasons.end(),
                                      [&](const auto& reason) { return reason.first == text; });
      if (known == reasons.end()) {
        reasons.emplace_back(text, 1);
      } else {
        ++known->second;
      }
    }
  }
  std::vector<std::string> lines;
  lines.reserve(reasons.size());
  for (const auto& [text, count] : reasons) {
    lines.push_back(count == 1 ? text : fmt::format("{} ({} cells)", text, count));
  }
  return lines;
}

std::string p_text(const std::optional<double>& p) { return p ? fmt::format("{:.2g}", *p) : ""; }

std::string escaped_pipe(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

// The checks with one of the verdicts as a table that opens on a click; nothing where there is
// none.
std::string folded_table(const RegressReport& report, const char* title,
                         const std::set<RegressVerdict>& verdicts) {
  std::string rows;
  std::size_t checks = 0;
  for (const auto& cell : report.cells) {
    for (const auto& finding : cell.findings) {
      if (!verdicts.contains(finding.verdict)) continue;
      ++checks;
      rows +=
          fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", to_string(finding.verdict),
                      escaped_pipe(cell.name()), escaped_pipe(finding.what), escaped_pipe(finding.text),
                      finding.test, p_text(finding.p), p_text(finding.adjusted), p_text(finding.equivalence),
                      finding.seeds_needed ? std::to_string(*finding.seeds_needed) : "");
    }
  }
  if (checks == 0) return "";
  return fmt::format(
      "<details><summary>{}: {}</summary>\n\n"
      "| verdict | cell | what | what was seen | test | p | p over the night | p of a change beyond the "
      "margin | seeds to tell |\n|---|---|---|---|---|---|---|---|---|\n{}\n</details>\n\n",
      title, counted(checks, "check"), rows);
}

std::string xml(const std::string& text) { return html_escaped(text); }

void add_case(std::string& out, const RegressReport& report, const RegressCell& cell,
              const RegressFinding& finding) {
  const auto suite = report.spec + (cell.panel.empty() ? "" : "." + cell.panel);
  out += fmt::format("    <testcase classname=\"{}\" name=\"{}: {}\"", xml(suite), xml(cell.name()),
                     xml(finding.what));
  switch (finding.verdict) {
    case RegressVerdict::regressed:
      out += fmt::format(">\n      <failure type=\"regressed\" message=\"{}\"/>\n    </testcase>\n",
                         xml(line_of(finding)));
      return;
    case RegressVerdict::changed:
      if (cell.is_better()) {
        out += fmt::format(
            ">\n      <system-out>changed in a cell that is better: {}</system-out>\n    </testcase>\n",
            xml(finding.text));
        return;
      }
      out += fmt::format(">\n      <failure type=\"changed\" message=\"{}\"/>\n    </testcase>\n",
                         xml(line_of(finding)));
      return;
    case RegressVerdict::unclear:
      out += fmt::format(">\n      <error type=\"could not tell\" message=\"{}\"/>\n    </testcase>\n",
                         xml(line_of(finding)));
      return;
    case RegressVerdict::skipped:
      out += fmt::format(">\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n",
                         xml(to_string(finding.verdict)), xml(finding.text));
      return;
    case RegressVerdict::improved:
    case RegressVerdict::same:
      out += fmt::format(">\n      <system-out>{}: {}</system-out>\n    </testcase>\n",
                         xml(to_string(finding.verdict)), xml(finding.text));
  }
}

// The findings of a cell that are shown; those that say where it went come first.
std::vector<const RegressFinding*> shown_first(const RegressCell& cell) {
  using enum RegressVerdict;
  std::vector<const RegressFinding*> all;
  for (const auto verdict : {regressed, improved, changed, unclear, skipped, same}) {
    for (const auto& finding : cell.findings) {
      if (finding.verdict == verdict && is_shown(finding)) all.push_back(&finding);
    }
  }
  return all;
}

std::size_t findings_of(const RegressReport& report, RegressVerdict verdict) {
  std::size_t count = 0;
  for (const auto& cell : report.cells) {
    if (verdict == RegressVerdict::changed && cell.is_better()) continue;
    for (const auto& finding : cell.findings) count += finding.verdict == verdict;
  }
  return count;
}

std::size_t findings_of(const RegressReport& report) {
  std::size_t count = 0;
  for (const auto& cell : report.cells) count += cell.findings.size();
  return count;
}

}  // namespace

std::string summary_of(const RegressReport& report) {
  std::vector<std::string> parts;
  for (const auto verdict : {RegressVerdict::regressed, RegressVerdict::changed, RegressVerdict::unclear,
                             RegressVerdict::improved, RegressVerdict::same}) {
    if (const auto count = report.count(verdict); count > 0) {
      parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
    }
  }
  const bool better = report.verdict() == RegressVerdict::changed && report.exit_code() == 0;
  return fmt::format("{}: {}{} ({})", report.spec, to_string(report.verdict()),
                     better ? " for the better" : "",
                     parts.empty() ? "nothing was compared" : "cells: " + join(parts, ", "));
}

std::string guarantee_of(const RegressReport& report) {
  const auto& options = report.options;
  const bool holm = options.control == FalseAlarmControl::holm;
  return fmt::format(
      "{} tests. Where nothing changed, a night raises {} with probability at most {:.3g} ({}). \"Same\" "
      "means within the "
      "margin, wrongly so with probability at most {:.3g}.",
      report.tests, holm ? "a false alarm" : "alarms", options.false_alarms_per_night,
      holm ? "Holm over all tests" : "false discovery rate, Benjamini and Hochberg",
      options.equivalence_level);
}

std::string terminal_regress(const RegressReport& report, const TerminalStyle& style) {
  if (report.is_quiet()) return quiet_line(report) + "\n";
  std::string out = summary_of(report) + "\n";
  for (const auto& moved : what_moved(report)) {
    if (moved.cells.size() < 2) continue;  // it stands below its cell
    add_wrapped(out, fmt::format("{} ({})", moved.text, places_of(moved)), 0, style);
  }
  for (const auto& note : report.notes) add_wrapped(out, note, 0, style);
  add_wrapped(out, guarantee_of(report), 0, style);
  out += "\n";
  for (const auto& cell : report.cells) {
    if (cell.verdict() == RegressVerdict::skipped || cell.verdict() == RegressVerdict::same) continue;
    out += fmt::format("{}  {}{}\n", coloured(cell.verdict(), style), cell.name(),
                       cell.verdict() == RegressVerdict::changed && cell.is_better() ? " (better)" : "");
    const auto shown = shown_first(cell);
    for (std::size_t i = 0; i < std::min(shown.size(), kShown); ++i)
      add_wrapped(out, line_of(*shown[i]), kVerdictWidth + 4, style);
    if (shown.size() > kShown)
      add_wrapped(out, fmt::format("and {} more (--markdown)", shown.size() - kShown), kVerdictWidth + 4,
                  style);
  }
  const auto reasons = skipped_reasons(report);
  if (!reasons.empty()) out += "\nNot compared:\n";
  for (const auto& reason : reasons) add_wrapped(out, reason, 2, style);
  return out;
}

std::string markdown_regress(const RegressReport& report) {
  std::string out = fmt::format("# {}\n\n", summary_of(report));
  for (const auto& moved : what_moved(report)) {
    out += fmt::format("- **{}**: {} ({})\n", to_string(moved.verdict), moved.text, places_of(moved));
  }
  if (!report.is_quiet()) {
    for (const auto& note : report.notes) out += fmt::format("- {}\n", note);
  }
  if (!out.ends_with("\n\n")) out += "\n";
  using enum RegressVerdict;
  out += folded_table(report, "What moved", {regressed, changed, improved});
  out += folded_table(report, "Could not tell", {unclear});
  out += folded_table(report, "The same or not compared", {same, skipped});
  out += guarantee_of(report) + "\n";
  if (report.is_quiet()) {
    for (const auto& note : report.notes) out += fmt::format("\n{}\n", note);
  }
  return out;
}

std::string junit_regress(const RegressReport& report) {
  const auto counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", findings_of(report),
      findings_of(report, RegressVerdict::regressed) + findings_of(report, RegressVerdict::changed),
      findings_of(report, RegressVerdict::unclear), findings_of(report, RegressVerdict::skipped));
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite name=\"{}\" {}>\n",
      counts.substr(0, counts.rfind(" skipped")), xml("hyfreedp regress " + report.spec), counts);
  for (const auto& cell : report.cells) {
    for (const auto& finding : cell.findings) add_case(out, report, cell, finding);
  }
  out += fmt::format("    <system-out>{}\n{}</system-out>\n  </testsuite>\n</testsuites>\n",
                     xml(summary_of(report)), xml(guarantee_of(report)));
  return out;
}

}  // namespace hyfreedp::results
