#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/base/text.h"
#include "harness/cli/check/commands.h"
#include "harness/cli/check/references.h"
#include "harness/cli/common/command_line.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/execute/ab_timing.h"
#include "harness/runner/execute/other_code.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/runner/spec/plan.h"
#include "results/regress/night.h"
#include "results/regress/regress_writers.h"
#include "results/store/records.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp regress SPEC --against REF [options]\n"
    "Compares the rows of a spec in DIR with a reference and says what moved and whether chance explains it; "
    "one\n"
    "line where nothing did. Trains nothing, but for --speed. SPEC: its name or its file. REF: a database, "
    "an output folder, or the tag or "
    "commit of a kept\n"
    "reference. The spec's `regress` says margins and the false alarms a night.\n\n"
    "hyfreedp regress --keep [--commit HASH] [--tag NAME] [options]\n"
    "Keeps what later nights are compared with as a reference.\n\n"
    "Example: hyfreedp run experiments/nightly.yaml --out out/tonight\n"
    "         hyfreedp regress nightly --out out/tonight --against v0.4.0 --references out/references \\\n"
    "           --markdown out/tonight.md --junit out/tonight.xml\n"
    "Exit code: 0 the same or better, 1 regressed, or changed and not better, 2 could not tell (a cell that "
    "failed as\n"
    "before, a seed that was not run, a row in DIR that other code trained than this program's), bad input\n"
    "included (then nothing is on standard output).\n\n";

struct Request {
  std::string spec;
  std::string out;
  std::string references;
  std::string against;
  std::string commit;
  std::string tag;
  std::string markdown;
  std::string junit;
  std::string worker;
  std::string other_worker;
  int rounds = 20;
  bool keep = false;
  bool no_hashes = false;
  bool speed = false;
};

CommandLine command_line(Request& request) {
  CommandLine line{.command = "regress", .usage = kUsage, .positional = "spec"};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add("against", options::value(&request.against)->value_name("REF"), "what to compare with");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder of tonight's `hyfreedp run`");
  add("references", options::value(&request.references)->value_name("DIR"),
      "where references are kept; default: references beside DIR's database");
  add("no-hashes", options::bool_switch(&request.no_hashes), "compare no bits, only what tests can tell");
  add("markdown", options::value(&request.markdown)->value_name("FILE"),
      "also write it as Markdown: what moved, then every check, folded");
  add("junit", options::value(&request.junit)->value_name("FILE"), "also write it as JUnit XML");
  add("speed", options::bool_switch(&request.speed),
      "time the spec's trials again, tonight's worker and --against-binary's by turns; specs with a "
      "noise_seed only");
  add("against-binary", options::value(&request.other_worker)->value_name("PATH"),
      "the reference's hyfreedp-worker, for --speed");
  add("worker", options::value(&request.worker)->value_name("PATH"),
      "tonight's hyfreedp-worker, for --speed; default: the one that `hyfreedp run` uses");
  add("rounds", options::value(&request.rounds)->default_value(20)->value_name("N"), "of --speed");
  add("keep", options::bool_switch(&request.keep), "keep a reference of DIR's database");
  add("commit", options::value(&request.commit)->value_name("HASH"),
      "of the program that made it, for --keep; default: the one that the database names");
  add("tag", options::value(&request.tag)->value_name("NAME"), "a name, for --keep");
  return line;
}

// The mistakes of a spec come in several lines.
int refuse(const Error& failure, std::ostream& err) {
  if (failure.message.find('\n') == std::string::npos) return refused("regress", failure, err);
  return refused_lines("regress", failure, err);
}

std::string problem_of(const Request& request) {
  if (request.keep) {
    const bool compares = !request.against.empty() || request.speed;
    return compares ? "--keep keeps and compares nothing; leave out --against and --speed" : "";
  }
  if (!request.commit.empty() || !request.tag.empty()) return "--commit and --tag are for --keep";
  if (request.spec.empty()) return "name a spec of the database, for example nightly";
  if (request.against.empty()) return "--against REF is missing";
  if (request.speed && request.other_worker.empty()) return "--speed needs --against-binary PATH";
  if (!request.speed && (!request.other_worker.empty() || !request.worker.empty()))
    return "--against-binary and --worker are for --speed";
  if (request.rounds < 2 || request.rounds > 1000) return "--rounds must be from 2 to 1000";
  return "";
}

Result<std::string> name_of(const std::string& given) {
  if (!given.ends_with(".yaml") && !given.ends_with(".yml")) return given;
  const auto spec = runner::load_spec(given);
  if (!spec) return spec.error();
  return spec->content.name;
}

int keep(const Request& request, std::ostream& out, std::ostream& err) {
  const auto kept = keep_reference(request.out, request.references, request.commit, request.tag);
  if (!kept) return refuse(kept.error(), err);
  out << fmt::format("Kept {}: {}\n", kept->name(), kept->path);
  return 0;
}

// The first seed's reported run of each cell.
Result<std::vector<runner::AbTimingEntry>> entries_of(const results::Store& store, const std::string& spec) {
  const auto studies = store.studies(spec);
  if (!studies) return studies.error();
  std::vector<runner::AbTimingEntry> entries;
  std::set<std::tuple<std::string, std::string, std::optional<double>>> seen;
  for (const auto& study : *studies) {
    if (study.state != results::StudyState::concluded || study.reported_trial.empty()) continue;
    if (!seen.insert({study.panel, study.row, study.epsilon_target}).second) continue;
    const auto trial = store.trial(study.reported_trial);
    if (!trial) return trial.error();
    if (!*trial) continue;
    auto config = trial::TrialConfig::from_json((**trial).config, "trial " + study.reported_trial);
    if (!config) return config.error();
    entries.push_back({study.panel, study.row, study.epsilon_target, std::move(*config)});
  }
  if (entries.empty()) return error("no row has a run that could be timed.");
  return entries;
}

Result<std::vector<results::AbTiming>> timings_of(const Request& request, const results::Store& store,
                                                  const std::string& spec, std::ostream& err) {
  auto entries = entries_of(store, spec);
  if (!entries) return entries.error();
  auto worker = request.worker.empty() ? runner::find_worker() : Result<std::string>(request.worker);
  if (!worker) return worker.error();
  for (const auto& program : {*worker, request.other_worker}) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(program, failure))
      return error(program + ": there is no such worker program.");
  }
  const runner::AbTimingRequest timing{.tonight = *worker,
                                       .reference = request.other_worker,
                                       .entries = std::move(*entries),
                                       .rounds = request.rounds};
  return runner::run_ab_timing(
      timing, [&](int round) { err << fmt::format("round {} of {}\n", round + 1, request.rounds); });
}

Result<void> mark_other_code(const results::Store& store, results::Night& night) {
  const auto rows = runner::rows_of_other_code(store, night.spec, "");
  if (!rows) return rows.error();
  for (const auto& row : *rows) {
    for (auto& cell : night.cells) {
      if (cell.panel == row.panel && cell.row == row.row) cell.other_code = join(row.parts, ", ");
    }
  }
  return {};
}

Result<results::RegressReport> compare(const Request& request, std::ostream& err) {
  const auto name = name_of(request.spec);
  if (!name) return name.error();
  const auto path = find_reference(request.against, request.references);
  if (!path) return path.error();
  const auto tonight_store = open_for_reading(request.out);
  if (!tonight_store) return tonight_store.error();
  const auto reference_store = results::Store::open(*path, results::Store::Mode::read_only);
  if (!reference_store) return reference_store.error();
  std::error_code failure;
  if (std::filesystem::equivalent(*path, request.out + "/hyfreedp.sqlite", failure)) {
    return error("the reference is tonight's own database; a night begins in a folder of its own (--out).");
  }
  auto tonight = results::read_night(**tonight_store, *name);
  if (!tonight) return in_context(request.out, tonight.error());
  const auto reference = results::read_night(**reference_store, *name);
  if (!reference) return in_context(*path, reference.error());
  if (auto marked = mark_other_code(**tonight_store, *tonight); !marked) return marked.error();
  const auto other_code = runner::other_code_note(**tonight_store, *name, "");
  if (!other_code) return other_code.error();
  if (!other_code->empty()) err << fmt::format("hyfreedp regress: in {}, {}\n", request.out, *other_code);
  const auto spec = (**tonight_store).spec(*name);
  if (!spec) return spec.error();
  const auto content = results::spec_of(**spec);
  if (!content) return content.error();
  auto settings = content->regress.value_or(spec::Regress{});
  if (request.no_hashes) settings.hashes = false;
  std::vector<results::AbTiming> timings;
  if (request.speed) {
    auto timed = timings_of(request, **tonight_store, *name, err);
    if (!timed) return timed.error();
    timings = std::move(*timed);
  }
  return results::compare_nights(*tonight, *reference, timings, settings);
}

}  // namespace

int regress_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Request request;
  options::variables_map given;
  if (const auto code = read_command_line(command_line(request), arguments, given, out, err)) return *code;
  if (given.count("spec") > 0) request.spec = given["spec"].as<std::string>();
  if (const auto problem = problem_of(request); !problem.empty())
    return refuse(error(problem + "; see hyfreedp regress --help."), err);
  if (request.references.empty()) request.references = request.out + "/references";
  if (request.keep) return keep(request, out, err);
  const auto report = compare(request, err);
  if (!report) return refuse(report.error(), err);
  for (const auto& [file, text] : {std::pair{&request.markdown, &results::markdown_regress},
                                   std::pair{&request.junit, &results::junit_regress}}) {
    if (file->empty()) continue;
    if (auto written = write_named_file(*file, text(*report)); !written) return refuse(written.error(), err);
  }
  out << results::terminal_regress(*report, results::style_of_standard_output());
  return report->exit_code();
}

}  // namespace hyfreedp::cli
