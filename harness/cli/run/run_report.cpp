#include "harness/cli/run/run_report.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/command.h"
#include "harness/cli/common/outputs.h"
#include "harness/runner/executors/stop_signal.h"
#include "harness/runner/odometer/release.h"
#include "results/store/states.h"

namespace hyfreedp::cli {
namespace {

// The message without the name of the run that it may begin with.
std::string reason_of(const runner::FailedStudy& study) {
  constexpr std::string_view kRun = "The run ";
  constexpr std::size_t kName = 16;
  auto text = study.kind + ": " + study.message;
  if (study.message.starts_with(kRun)) text.erase(study.kind.size() + 2 + kRun.size(), kName);
  return text;
}

// A reason that several studies have is told once, with the message of the first.
void print_failures(const runner::RunReport& report, std::ostream& out) {
  constexpr std::string_view kNoValue = "No value, with the reason";
  constexpr std::string_view kNotBegun =
      "Not begun; once what it needs is there, the same command tries again";
  constexpr std::string_view kLost = "Lost; the same command tries again";
  const auto heading_of = [&](const runner::FailedStudy& study) {
    if (!study.unexpected) return kNoValue;
    return results::is_setup_failure(study.kind) ? kNotBegun : kLost;
  };
  for (const std::string_view heading : {kNoValue, kNotBegun, kLost}) {
    std::vector<const runner::FailedStudy*> firsts;
    std::map<std::string, std::size_t> count;
    for (const auto& study : report.failed) {
      if (heading_of(study) == heading && count[reason_of(study)]++ == 0) firsts.push_back(&study);
    }
    if (firsts.empty()) continue;
    out << fmt::format("\n{}:\n", heading);
    for (const auto* study : firsts) {
      const auto further = static_cast<std::int64_t>(count.at(reason_of(*study))) - 1;
      out << fmt::format(
          "  {}{}: {}. {}\n", study->cell,
          further == 0 ? "" : fmt::format(" and {}", counted(further, "further study", "further studies")),
          study->kind, study->message);
    }
  }
}

void print_weights(const runner::KeptReport& weights, const std::string& folder, std::ostream& out,
                   std::ostream& err) {
  for (const bool confidential : {false, true}) {
    const std::string place = folder + (confidential ? "/weights.confidential/" : "/weights/");
    const auto count =
        std::ranges::count_if(weights.folders, [&](const auto& one) { return one.starts_with(place); });
    if (count == 0) continue;
    out << fmt::format(
        "\nWeights of {} {}: {}; trial.json of each says what they are.{}\n", count,
        count == 1 ? "run" : "runs", place,
        count == 1 || confidential ? "" : " All that was spent of their data: hyfreedp odometer.");
  }
  print_reasons(kUnkept, weights.confidential, out);
  for (const auto& sentence : weights.lost) {
    err << fmt::format("hyfreedp run: weights not kept: {}\n", sentence);
  }
}

// Equal runs of one release are made once in a folder.
std::string taken_over_text(std::size_t runs) {
  if (runs == 0) return "";
  return fmt::format(", {} made earlier for other rows or specs of the folder",
                     counted(static_cast<std::int64_t>(runs), "run"));
}

}  // namespace

void print_reasons(const char* what, const std::map<std::string, std::vector<std::string>>& reasons,
                   std::ostream& out) {
  for (const auto& [why, rows] : reasons) out << fmt::format("{}: {} ({}).\n", what, why, join(rows, "; "));
}

int finish_run(const runner::RunReport& report, const results::Store& store, const runner::Spec& spec,
               const runner::OutFolder& folder, double seconds, std::ostream& out, std::ostream& err) {
  const auto& name = spec.content.name;
  if (!report.closed_folder.empty()) err << fmt::format("hyfreedp run: {}\n", report.closed_folder);
  if (!report.checkpoint_problem.empty()) {
    err << fmt::format(
        "hyfreedp run: a checkpoint was not written: {}. A run that is interrupted goes on from the one "
        "before "
        "it, or begins again.\n",
        report.checkpoint_problem);
  }
  if (report.halt) {
    print_refusal("run", in_lines(error(*report.halt)), err);
    return report.halt_is_crash ? 1 : 2;
  }
  if (report.stopped) {
    err << "stopped; run the same command to continue\n";
    return runner::kExitStopped;
  }
  if (auto written = write_outputs(store, name, folder.derived(name), out); !written) {
    err << "hyfreedp run: the rows are in the database, but: " << written.error().message << '\n';
    return 1;
  }
  print_failures(report, out);
  print_weights(report.weights, folder.derived(name), out, err);
  out << fmt::format("\n{}, {} known before{}{}.\n", runner::size_text(report.studies, report.cells),
                     report.known_before, taken_over_text(report.taken_over),
                     report.hides_times ? "" : "; " + human_duration(seconds));
  if (report.refused) {
    err << "hyfreedp run: stopped short of the rest. " << *report.refused << '\n';
    return 2;
  }
  if (report.left_out > 0) {
    out << fmt::format("Left out by --only: {}{}.\n",
                       counted(static_cast<std::int64_t>(report.left_out), "study", "studies"),
                       report.left_open == 0 ? ""
                                             : fmt::format(", {} of them open; without it the command "
                                                           "trains these too",
                                                           report.left_open));
  }
  if (report.held > 0) {
    out << fmt::format(
        "Not begun: {} of further seeds. The comparison that says whether they are needed lacks a study: "
        "train it by the same command without --only, or open it again by hyfreedp retry if it was "
        "cancelled.\n",
        counted(static_cast<std::int64_t>(report.held), "study", "studies"));
  }
  if (report.known_before == report.studies && report.left_open == 0 && !runner::has_seeded_noise(spec)) {
    out << "Everything was finished already. --fresh makes a new release, which spends its epsilon again.\n";
  }
  return report.failed_unexpectedly() || !report.weights.lost.empty() ? 1 : 0;
}

}  // namespace hyfreedp::cli
