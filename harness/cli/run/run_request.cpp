#include "harness/cli/run/run_request.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/cli/common/command_line.h"
#include "harness/cli/common/spec_request.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp run SPEC.yaml [options]\n"
    "Trains what the spec asks for and writes DIR/NAME/{table.{md,csv,tex,html}, report.html, plots}. The "
    "same "
    "command\n"
    "again continues where the last one stopped; finished runs are not repeated. Ctrl-C stops cleanly.\n"
    "Example: hyfreedp run experiments/smoke.yaml --out out\n"
    "Exit code: 0 all rows are there (a method's own failure is a row), 1 some run was lost or broke, 2 bad "
    "input,\n"
    "--cap leaves no room, or memory or disk do not suffice, 130 stopped.\n\n";

constexpr int kMostWorkers = 256;

CommandLine command_line(RunRequest& request) {
  CommandLine line{.command = "run", .usage = kUsage, .positional = "spec"};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add("preset", options::value(&request.preset)->value_name("PRESET"),
      "which of the spec's presets (hyfreedp list specs); default: small where there is one, else the first");
  add_set_option(line.options, request.settings);
  add("only", options::value(&request.only)->composing()->value_name("KEY=VALUE,..."),
      "train only these studies: panel, row, epsilon, noise_multiplier, seed (row=prodigy,epsilon=3), or a "
      "value that only one key has; repeated: these too. The rest stays open for a later run. --dry-run, "
      "--cap, --keep-weights and the checks of memory and disk are of these alone");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder: database, journals, keys, tables");
  add("workers", options::value(&request.workers)->default_value(2)->value_name("N"),
      "worker processes, one thread each");
  add("device", options::value(&request.device)->value_name("cpu|cuda"),
      "where to train, instead of the spec's own");
  add("dry-run", options::bool_switch(&request.dry_run),
      "print what would run, the noise and the price in time, memory and disk; train nothing");
  add("data", options::bool_switch(&request.data),
      "with --dry-run: also read all data that the runs would read, and name every file that is broken");
  add("gpu-tflops", options::value<std::string>()->value_name("R"),
      "the rate at which --dry-run states GPU hours, 10^12 operations a second; default: 100");
  add("fetch", options::bool_switch(&request.fetch),
      "first bring the data and weights that the spec needs and that are not here (hyfreedp data fetch); "
      "where "
      "all is here, nothing is asked of the network");
  add("fresh", options::bool_switch(&request.fresh),
      "a new release of a finished spec without noise_seed: new keys, new noise, spent anew");
  add("replace", options::bool_switch(&request.replace),
      "discard rows that DIR has of another version of the spec, or of another spec of its name, and that "
      "this one trains anew or leaves out; what it shows otherwise or adds needs no option");
  add("retrain", options::value(&request.retrain)->composing()->value_name("ROW|all"),
      "train this row anew where other code than this program's trained it, as after a change of its "
      "optimizer; repeated: these too; all: every such row. Rows of this code stay. Without noise_seed it is "
      "a further release of the same data, and the row's epsilon is spent again");
  add("cap", options::value<std::string>()->value_name("E"),
      "start nothing that may take a dataset's odometer (hyfreedp odometer) beyond this epsilon; non-private "
      "and "
      "oracle rows have none and cannot run under it");
  add("cap-delta", options::value<std::string>()->value_name("D"),
      "the delta of --cap, and of what --dry-run says of the odometer; default: N^-1.1 of each dataset's "
      "training split");
  add("checkpoint-minutes", options::value<std::string>()->value_name("M"),
      "write each run's state every M minutes, so that after a crash it goes on from there; 0: only when it "
      "is stopped; default: 10");
  add("hang-minutes", options::value<std::string>()->value_name("M"),
      "kill a worker that makes no progress, not even one microbatch, for M minutes; its run is lost, and "
      "the "
      "same command tries it again; 0: never; default: 30");
  add("time-limit", options::value<std::string>()->value_name("M"),
      "stop a run after M minutes, with a checkpoint; its row has no value yet, and the same command "
      "continues "
      "the run for M minutes more");
  add("memory-limit", options::value<std::string>()->value_name("GB"),
      "kill a worker that has more memory of its own; its run is lost, and the same command tries it again");
  add("memory", options::value<std::string>()->value_name("GB"),
      "what the runs under way may need together, by the estimates of --dry-run: one that does not fit waits "
      "for the others; default: what this machine has");
  add("keep-weights", options::bool_switch(&request.keep_weights),
      "keep the weights of the runs that rows report, in DIR/NAME/weights: a folder each that `weights:` or "
      "`adapter:` of a spec reads, and trial.json with what may be said of their privacy");
  add("confidential", options::bool_switch(&request.confidential),
      "with --keep-weights: also weights that are no release (without noise, of an oracle's choice, of "
      "reproducible noise), in DIR/NAME/weights.confidential");
  add("log", options::value(&request.log)->value_name("FILE"),
      "append what happens to FILE, one JSON object a line: begin, phases, studies, runs, problems, end "
      "(experiments/README.md)");
  add("notify", options::value(&request.notify)->value_name("COMMAND"),
      "when the run has ended, however it did, run COMMAND by /bin/sh with HYFREEDP_SPEC, HYFREEDP_OUT, "
      "HYFREEDP_EXIT_CODE and HYFREEDP_SUMMARY (one line), for a minute at most. That it fails is a warning");
  add("quiet", options::bool_switch(&request.quiet), "no progress lines; the table is still printed");
  return line;
}

Result<void> read_cap(const options::variables_map& given, RunRequest& request) {
  if (given.count("cap-delta") > 0) {
    const auto delta = number_given(given, "cap-delta");
    if (!delta) return delta.error();
    if (!(*delta > 0 && *delta < 1)) return error("--cap-delta must lie in (0, 1).");
    request.cap_delta = *delta;
  }
  if (given.count("cap") == 0) {
    if (request.cap_delta && !request.dry_run) {
      return error("--cap-delta is the delta of --cap, which is missing.");
    }
    return {};
  }
  const auto epsilon = number_given(given, "cap");
  if (!epsilon) return epsilon.error();
  if (!(*epsilon >= 0) || !std::isfinite(*epsilon))
    return error("--cap must be a finite epsilon of at least 0.");
  request.cap = runner::Cap{*epsilon, request.cap_delta};
  return {};
}

// Absent: the option was not given.
Result<std::optional<double>> positive_given(const options::variables_map& given, const std::string& name,
                                             bool may_be_zero = false) {
  if (given.count(name) == 0) return std::optional<double>();
  const auto value = number_given(given, name);
  if (!value) return value.error();
  if (!std::isfinite(*value) || *value < 0 || (*value == 0 && !may_be_zero)) {
    return error(
        fmt::format("--{} must be {}.", name, may_be_zero ? "finite and at least 0" : "positive and finite"));
  }
  return std::optional(*value);
}

Result<void> read_numbers(const options::variables_map& given, RunRequest& request) {
  const auto rate = positive_given(given, "gpu-tflops");
  if (!rate) return rate.error();
  request.gpu_tflops = rate->value_or(request.gpu_tflops);
  const auto checkpoint = positive_given(given, "checkpoint-minutes", true);
  if (!checkpoint) return checkpoint.error();
  request.checkpoint_minutes = checkpoint->value_or(request.checkpoint_minutes);
  const auto hang = positive_given(given, "hang-minutes", true);
  if (!hang) return hang.error();
  request.hang_minutes = hang->value_or(request.hang_minutes);
  const auto time = positive_given(given, "time-limit");
  if (!time) return time.error();
  request.time_limit = time->value_or(0);
  const auto worker = positive_given(given, "memory-limit");
  if (!worker) return worker.error();
  request.memory_limit = 1e9 * worker->value_or(0);
  const auto all = positive_given(given, "memory");
  if (!all) return all.error();
  if (*all) request.memory = static_cast<std::uint64_t>(std::min(1e9 * **all, 1e18));
  return {};
}

}  // namespace

std::optional<int> parse_run_request(const std::vector<std::string>& arguments, RunRequest& request,
                                     std::ostream& out, std::ostream& err) {
  options::variables_map given;
  if (const auto code = read_command_line(command_line(request), arguments, given, out, err)) return code;
  if (given.count("spec") > 0) request.spec = given["spec"].as<std::string>();
  if (const auto read = read_cap(given, request); !read) return refused("run", read.error(), err);
  if (const auto read = read_numbers(given, request); !read) return refused("run", read.error(), err);
  std::string problem;
  if (request.confidential && !request.keep_weights) problem = "--confidential is for --keep-weights";
  if (request.data && !request.dry_run) problem = "--data is for --dry-run";
  if (request.spec.empty()) problem = "name a spec, for example experiments/quick.yaml";
  if (request.workers < 1 || request.workers > kMostWorkers) {
    problem = fmt::format("--workers must be from 1 to {}", kMostWorkers);
  }
  if (!request.device.empty() && request.device != "cpu" && request.device != "cuda") {
    problem = "--device is cpu or cuda, not '" + request.device + "'";
  }
  if (problem.empty()) return std::nullopt;
  return refused("run", error(problem + "; see hyfreedp run --help."), err);
}

}  // namespace hyfreedp::cli
