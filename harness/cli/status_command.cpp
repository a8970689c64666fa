#include "harness/cli/status_command.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "harness/cli/command_line.h"
#include "harness/runner/out_folder.h"
#include "harness/trial/journal.h"
#include "results/store.h"

namespace hyfreedp::cli {
namespace {

namespace fs = std::filesystem;
namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp status [options]\n"
    "Says which specs an output folder holds, how many of their cells are done, which trials are under way "
    "or were\n"
    "interrupted, and which keys are left behind.\n"
    "Example: hyfreedp status --out out\n\n";

std::vector<fs::path> files_in(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<void> print_specs(const results::Store& store, std::ostream& out) {
  const auto specs = store.specs();
  if (!specs) return specs.error();
  if (specs->empty()) out << "No spec was run here yet.\n";
  for (const auto& spec : *specs) {
    const auto studies = store.studies(spec.name);
    if (!studies) return studies.error();
    std::map<results::StudyState, std::size_t> states;
    std::map<std::string, std::size_t> kinds;
    for (const auto& study : *studies) {
      ++states[study.state];
      if (study.state == results::StudyState::failed) ++kinds[study.failure_kind];
    }
    out << fmt::format("{}  {} cells: {} concluded, {} open, {} failed", spec.name, studies->size(),
                       states[results::StudyState::concluded], states[results::StudyState::open],
                       states[results::StudyState::failed]);
    const char* separator = " (";
    for (const auto& [kind, count] : kinds) {
      out << separator << count << ' ' << kind;
      separator = ", ";
    }
    out << (kinds.empty() ? "\n" : ")\n");
  }
  return {};
}

void print_journals(const runner::OutFolder& folder, bool at_work, std::ostream& out) {
  bool first = true;
  for (const auto& path : files_in(folder.journals(), ".jsonl")) {
    const auto journal = trial::read_journal(path.string());
    if (journal && journal->finish) continue;
    if (first)
      out << (at_work ? "Trials under way:\n" : "Interrupted trials, which the next run continues:\n");
    first = false;
    if (!journal) {
      out << fmt::format("  {}  {}\n", path.stem().string(), journal.error().message);
      continue;
    }
    const auto step = journal->steps.empty() ? 0 : journal->steps.back().step + 1;
    out << fmt::format("  {}  {} on {}, step {}/{}\n", journal->trial, journal->config.model.name,
                       journal->config.dataset.name, step, journal->config.steps);
  }
}

void print_keys(const runner::OutFolder& folder, bool at_work, std::ostream& out) {
  const auto keys = files_in(folder.keys(), ".key");
  if (keys.empty() || at_work) return;
  out << fmt::format(
      "{} noise {} left behind in {}. Each resumes an interrupted trial or spec and is deleted when that is "
      "complete; whoever holds it can take the noise off what was released. Delete those of what will not go "
      "on.\n",
      keys.size(), keys.size() == 1 ? "key is" : "keys are", folder.keys());
}

}  // namespace

int status_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::string root;
  CommandLine line{.command = "status", .usage = kUsage};
  line.options.add_options()("help,h", "this text")(
      "out", options::value(&root)->default_value("out")->value_name("DIR"), "output folder");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  const runner::OutFolder folder{root};
  const auto store = results::Store::open(folder.database(), results::Store::Mode::read_only);
  if (!store) return refused("status", store.error(), err);
  const auto process = runner::FolderLock::holder(folder);
  if (process) out << fmt::format("Process {} works in {}.\n", *process, root);
  if (auto printed = print_specs(**store, out); !printed) {
    err << "hyfreedp status: " << printed.error().message << '\n';
    return 1;
  }
  print_journals(folder, process.has_value(), out);
  print_keys(folder, process.has_value(), out);
  return 0;
}

}  // namespace hyfreedp::cli
