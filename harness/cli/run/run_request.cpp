#include "harness/cli/run/run_request.h"

#include <cmath>
#include <fmt/format.h>

#include "harness/cli/common/spec_request.h"

namespace hyfreedp::cli {
namespace {

constexpr int kMostWorkers = 256;

constexpr Allowed kCapEpsilon = {[](double value) { return value >= 0 && std::isfinite(value); },
                                 "be a finite epsilon of at least 0"};

}  // namespace

void RunRequest::describe(Options& options) {
  options.positional(spec, "spec", "SPEC.yaml");
  options.value(
      preset, "preset", "PRESET",
      "which of the spec's presets (hyfreedp list specs); default: small where there is one, else the first");
  describe_set(options, settings);
  options.value(
      only, "only", "KEY=VALUE,...",
      "train only these studies: panel, row, epsilon, noise_multiplier, seed (row=prodigy,epsilon=3), or a "
      "value that only one key has; repeated: these too. The rest stays open for a later run. --dry-run, "
      "--cap, --keep-weights and the checks of memory and disk are of these alone");
  options.value(out, "out", "DIR", "output folder: database, journals, keys, tables");
  options.value(workers, "workers", "N", "worker processes, one thread each");
  options.value(device, "device", "cpu|cuda", "where to train, instead of the spec's own");
  options.flag(dry_run, "dry-run",
               "print what would run, the noise and the price in time, memory and disk; train nothing");
  options.flag(
      data, "data",
      "with --dry-run: also read all data that the runs would read, and name every file that is broken");
  options.number(gpu_tflops, "gpu-tflops", "R", kPositive,
                 "the rate at which --dry-run states GPU hours, 10^12 operations a second; default: 100");
  options.flag(fetch, "fetch",
               "first bring the data and weights that the spec needs and that are not here (hyfreedp data "
               "fetch); where all is here, nothing is asked of the network");
  options.flag(fresh, "fresh",
               "a new release of a finished spec without noise_seed: new keys, new noise, spent anew");
  options.flag(
      replace, "replace",
      "discard rows that DIR has of another version of the spec, or of another spec of its name, and that "
      "this one trains anew or leaves out; what it shows otherwise or adds needs no option");
  options.value(retrain, "retrain", "ROW|all",
                "train this row anew where other code than this program's trained it, as after a change of "
                "its optimizer; repeated: these too; all: every such row. Rows of this code stay. Without "
                "noise_seed it is a further release of the same data, and the row's epsilon is spent again");
  options.number(cap, "cap", "E", kCapEpsilon,
                 "start nothing that may take a dataset's odometer (hyfreedp odometer) beyond this epsilon; "
                 "non-private and oracle rows have none and cannot run under it");
  options.number(cap_delta, "cap-delta", "D", kBetweenZeroAndOne,
                 "the delta of --cap, and of what --dry-run says of the odometer; default: N^-1.1 of each "
                 "dataset's training split");
  options.number(checkpoint_minutes, "checkpoint-minutes", "M", kAtLeastZero,
                 "write each run's state every M minutes, so that after a crash it goes on from there; 0: "
                 "only when it is stopped; default: 10");
  options.number(hang_minutes, "hang-minutes", "M", kAtLeastZero,
                 "kill a worker that makes no progress, not even one microbatch, for M minutes; its run is "
                 "lost, and the same command tries it again; 0: never; default: 30");
  options.number(time_limit, "time-limit", "M", kPositive,
                 "stop a run after M minutes, with a checkpoint; its row has no value yet, and the same "
                 "command continues the run for M minutes more");
  options.number(
      memory_limit, "memory-limit", "GB", kPositive,
      "kill a worker that has more memory of its own; its run is lost, and the same command tries it again");
  options.number(memory, "memory", "GB", kPositive,
                 "what the runs under way may need together, by the estimates of --dry-run: one that does "
                 "not fit waits for the others; default: what this machine has");
  options.flag(
      keep_weights, "keep-weights",
      "keep the weights of the runs that rows report, in DIR/NAME/weights: a folder each that `weights:` or "
      "`adapter:` of a spec reads, and trial.json with what may be said of their privacy");
  options.flag(confidential, "confidential",
               "with --keep-weights: also weights that are no release (without noise, of an oracle's choice, "
               "of reproducible noise), in DIR/NAME/weights.confidential");
  options.value(log, "log", "FILE",
                "append what happens to FILE, one JSON object a line: begin, phases, studies, runs, "
                "problems, end (experiments/README.md)");
  options.value(
      notify, "notify", "COMMAND",
      "when the run has ended, however it did, run COMMAND by /bin/sh with HYFREEDP_SPEC, HYFREEDP_OUT, "
      "HYFREEDP_EXIT_CODE and HYFREEDP_SUMMARY (one line), for a minute at most. That it fails is a warning");
  options.flag(quiet, "quiet", "no progress lines; the table is still printed");
}

Checked RunRequest::check() const {
  if (cap_delta && !cap && !dry_run) return error("--cap-delta is the delta of --cap, which is missing.");
  if (!device.empty() && device != "cpu" && device != "cuda") {
    return unusable("--device is cpu or cuda, not '" + device + "'");
  }
  if (workers < 1 || workers > kMostWorkers) {
    return unusable(fmt::format("--workers must be from 1 to {}", kMostWorkers));
  }
  if (spec.empty()) return unusable("name a spec, for example experiments/quick.yaml");
  if (data && !dry_run) return unusable("--data is for --dry-run");
  if (gpu_tflops && !dry_run) return unusable("--gpu-tflops is for --dry-run");
  if (confidential && !keep_weights) return unusable("--confidential is for --keep-weights");
  return {};
}

std::optional<runner::Cap> RunRequest::budget() const {
  return cap ? std::optional(runner::Cap{*cap, cap_delta}) : std::nullopt;
}

}  // namespace hyfreedp::cli
