#include "harness/cli/commands.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/cli/check/audit_command.h"
#include "harness/cli/check/commands.h"
#include "harness/cli/create/new_command.h"
#include "harness/cli/data/commands.h"
#include "harness/cli/epsilon/commands.h"
#include "harness/cli/run/commands.h"
#include "harness/cli/show/commands.h"
#include "harness/cli/upkeep/commands.h"

namespace hyfreedp::cli {
namespace {

void print_overview(std::ostream& out) {
  out << "hyfreedp compares differentially private training methods: a table of method, dataset, model\n"
         "and epsilon, every cell with the epsilon that was really spent to get it.\n\n";
  for (const auto& command : commands()) {
    out << fmt::format("  {:<11} {}\n  {:<11}   {}\n", command.name, command.summary, "", command.example);
  }
  out << "\nhyfreedp help COMMAND, or COMMAND --help, tells more. --version prints the version.\n"
         "Exit codes: 0 done, 1 it ran and something failed, 2 bad input, 130 stopped by Ctrl-C; where one\n"
         "means more, the command's --help says so.\n";
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"run", "trains what a spec asks for, then writes table, plots and report",
       "hyfreedp run experiments/quick.yaml", run_command},
      {"status", "what an output folder holds, and what is missing", "hyfreedp status --out out",
       status_command},
      {"cancel", "ends studies that are not over, also while a run works on them",
       "hyfreedp cancel quick --only row=dp-hyper,epsilon=1", cancel_command},
      {"retry", "opens studies again that were cancelled or lost",
       "hyfreedp retry quick --only row=dp-hyper,epsilon=1", retry_command},
      {"note", "writes a line about studies", "hyfreedp note quick 'before the new grid' --only row=prodigy",
       note_command},
      {"tag", "gives tags to studies, or takes them away", "hyfreedp tag quick --add good --only row=prodigy",
       tag_command},
      {"watch", "from another terminal: how a run stands, its curves and epsilon so far",
       "hyfreedp watch --out out", watch_command},
      {"table", "prints a finished or running spec's table again", "hyfreedp table quick", table_command},
      {"plot", "draws its plots again", "hyfreedp plot quick", plot_command},
      {"report", "writes its HTML report again", "hyfreedp report quick", report_command},
      {"diff", "how two specs differ, and what of it is trained again", "hyfreedp diff quick.yaml",
       diff_command},
      {"trace", "the runs, configs, events and epsilons behind a cell of a table",
       "hyfreedp trace quick nondp-gs 3", trace_command},
      {"export-cell", "a cell as one small file that can be checked by itself",
       "hyfreedp export-cell quick prodigy 3 --output cell.json", export_cell_command},
      {"verify", "derives a cell's mean and epsilon from its file alone", "hyfreedp verify cell.json",
       verify_command},
      {"archive", "freezes a table with its figures and the data that it rests on",
       "hyfreedp archive quick --name quick", archive_command},
      {"replay", "repeats methods thousands of times over stored runs: accuracy against total epsilon",
       "hyfreedp replay replay-pool --rows experiments/replay.yaml --confidential", replay_command},
      {"regress", "compares tonight's rows with a reference: what moved, and whether chance explains it",
       "hyfreedp regress nightly --out out/tonight --against v0.4.0 --references refs", regress_command},
      {"odometer", "what everything ever run there has released about each dataset",
       "hyfreedp odometer --out out", odometer_command},
      {"export", "a spec's values as CSV, its rows as JSON, a run's events", "hyfreedp export values quick",
       export_command},
      {"doctor", "what is wrong with an output folder, and what to do; --repair mends what is safe",
       "hyfreedp doctor --out out", doctor_command},
      {"merge", "brings the finished runs of other machines' output folders into one",
       "hyfreedp merge out/machine-2 --out out", merge_command},
      {"epsilon", "what given steps cost, or what a stored row really spent",
       "hyfreedp epsilon --sample-rate 0.02 --noise-multiplier 1.6 --steps 250 --delta 1e-5",
       epsilon_command},
      {"calibrate", "the noise that meets an epsilon",
       "hyfreedp calibrate --sample-rate 0.02 --steps 250 --epsilon 3 --delta 1e-5", calibrate_command},
      {"audit", "tries to refute the claimed epsilon on the real training path",
       "hyfreedp audit --hyfreedp paper --epsilon 8", audit_command},
      {"list", "methods, optimizers, controllers, models, datasets, specs; the runs of a folder",
       "hyfreedp list methods", list_command},
      {"data", "brings datasets and pretrained weights here: list, info, path, fetch, verify",
       "hyfreedp data list", data_command},
      {"new", "begins a spec, or a method, optimizer or controller of your own in a checkout",
       "hyfreedp new baseline my-method", new_command},
      {"completion", "prints what completes commands and options in bash or zsh",
       "source <(hyfreedp completion bash)", completion_command},
  };
  return all;
}

int dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  if (arguments.size() > 1 && arguments[0] == "help") {  // help COMMAND is COMMAND --help
    std::vector<std::string> asked(arguments.begin() + 1, arguments.end());
    asked.emplace_back("--help");
    return dispatch(asked, out, err);
  }
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_overview(out);
    return 0;
  }
  if (arguments[0] == "--version") {
    out << fmt::format("hyfreedp {}\n", program_version());
    return 0;
  }
  const auto& all = commands();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == arguments[0]; });
  if (found == all.end()) {
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const auto& command : all) names.push_back(command.name);
    err << fmt::format("hyfreedp: there is no command '{}'.{} Commands: {}.\n", arguments[0],
                       did_you_mean(arguments[0], names), join(names, ", "));
    return 2;
  }
  try {
    return found->function({arguments.begin() + 1, arguments.end()}, out, err);
  } catch (const std::exception& failure) {
    err << fmt::format("hyfreedp {}: {}\n", found->name, failure.what());
    return 1;
  }
}

}  // namespace hyfreedp::cli
