#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <unistd.h>

#include "harness/base/text.h"
#include "harness/base/utf8.h"
#include "harness/base/version.h"
#include "harness/cli/common/data_items.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/run_needs.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/value_spec.h"
#include "harness/cli/run/dry_run.h"
#include "harness/cli/run/figure_doubts.h"
#include "harness/cli/run/notify.h"
#include "harness/cli/run/run_report.h"
#include "harness/cli/run/run_request.h"
#include "harness/runner/execute/asked_runs.h"
#include "harness/runner/execute/budget.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/coordinator.h"
#include "harness/runner/execute/first_runs.h"
#include "harness/runner/execute/mixed_builds.h"
#include "harness/runner/execute/only.h"
#include "harness/runner/execute/other_code.h"
#include "harness/runner/execute/run_keys.h"
#include "harness/runner/execute/run_memory.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/runner/executors/machine_memory.h"
#include "harness/runner/executors/stop_signal.h"
#include "harness/runner/odometer/changed_rows.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/odometer/test_sets.h"
#include "harness/runner/progress/run_log.h"
#include "harness/runner/progress/run_price.h"
#include "harness/runner/progress/snapshot.h"
#include "harness/runner/spec/spec_needs.h"
#include "results/store/states.h"
#include "results/table/cell_text.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Trains what the spec asks for and writes DIR/NAME/{table.{md,csv,tex,html}, report.html, plots}. The
same command again continues where the last one stopped; finished runs are not repeated. Ctrl-C
stops cleanly.
Example: hyfreedp run experiments/smoke.yaml --out out
Exit code: 0 all rows are there (a method's own failure is a row), 1 some run was lost or broke, 2
bad input, --cap leaves no room, or memory or disk do not suffice, 130 stopped.)";

// The part of a spec that is asked for.
struct AskedPart {
  runner::Only only;
  runner::Spec needs;  // the spec without panels and rows that it leaves out
};

Result<AskedPart> part_of(const runner::Spec& spec, const std::vector<std::string>& asked) {
  auto only = runner::Only::read(asked, spec);
  if (!only) return only.error();
  if (auto whole = runner::check_seeds_are_whole(*only, spec); !whole) return whole.error();
  auto needs = runner::narrowed(spec, *only);
  if (!needs) return needs.error();
  return AskedPart{std::move(*only), std::move(*needs)};
}

// Everything that can be known to be missing before anything starts.
Result<void> check_datasets(const runner::Spec& spec) {
  std::vector<std::string> sentences;
  for (const auto& one : missing_data(spec)) sentences.push_back(one.why);
  if (sentences.empty()) return {};
  return error(join(sentences, " "));
}

// A worker is asked where a panel trains on a GPU; the processor is always there.
Result<void> check_devices(const runner::Spec& spec) {
  std::set<std::string> devices;
  for (const auto& panel : spec.content.panels) devices.insert(panel.train.device);
  devices.erase("cpu");
  if (devices.empty()) return {};
  const auto worker = runner::find_worker();
  if (!worker) return worker.error();
  for (const auto& device : devices) {
    if (auto usable = runner::check_device(*worker, device); !usable) return usable;
  }
  return {};
}

std::uint64_t memory_for(const RunRequest& request) {
  return request.memory ? static_cast<std::uint64_t>(std::min(1e9 * *request.memory, 1e18))
                        : runner::machine_memory();
}

// Checks that this machine has memory and disk for a run; the error has a sentence for each that it
// lacks. If fewer workers fit at once than are asked for, there is only a warning: some wait then.
Result<void> check_room(const runner::Spec& spec, const std::vector<runner::PlannedStudy>& studies,
                        const RunRequest& request, std::ostream& err) {
  const int workers = request.workers;
  const auto largest = runner::largest_run(studies);
  if (!largest) return largest.error();
  const auto machine = memory_for(request);
  std::vector<std::string> sentences;
  for (const auto& room : {runner::check_memory(*largest, machine), check_disk(disk_needs(spec))}) {
    if (!room) sentences.push_back(room.error().message);
  }
  if (!sentences.empty()) return error(join(sentences, " "));
  if (largest->host > static_cast<double>(machine)) {
    err << fmt::format("hyfreedp run: warning: a run may need {} of memory, and this machine has {}.\n",
                       bytes_text(static_cast<std::uint64_t>(largest->host)), bytes_text(machine));
  } else if (const int fit = runner::workers_that_fit(*largest, workers, machine); fit < workers) {
    err << fmt::format(
        "hyfreedp run: warning: {} at once may need {} of memory, and there are {}: a run "
        "that does not fit waits for the others. --workers {} fits; --memory GB sets what they may have.\n",
        counted(workers, "run"), bytes_text(static_cast<std::uint64_t>(workers * largest->host)),
        bytes_text(machine), fit);
  }
  return {};
}

Result<void> check_room(const AskedPart& part, const RunRequest& request, std::ostream& err) {
  auto studies = runner::plan(part.needs, runner::StudyIds::left_empty);
  if (!studies) return studies.error();
  return check_room(part.needs, runner::covered(std::move(*studies), part.only), request, err);
}

// Checks that each row can begin, and warns of what is doubtful of the figures.
Result<void> check_begins(const runner::Spec& spec, const AskedPart& part, std::ostream& err) {
  auto planned = runner::plan(part.needs, runner::StudyIds::left_empty);
  if (!planned) return planned.error();
  const auto studies = runner::covered(std::move(*planned), part.only);
  if (const auto begin = runner::check_first_runs(studies); !begin)
    return in_context(spec.path, begin.error());
  for (const auto& doubt : figure_doubts(spec, studies)) err << "hyfreedp run: warning: " << doubt << '\n';
  return {};
}

Result<void> check_name(const runner::Spec& spec) {
  const auto& name = spec.content.name;
  if (!runner::is_taken_in_out_folder(name)) return {};
  return error(spec.path + ": a spec cannot be named '" + name +
               "': that folder of the output is taken. Rename it.");
}

// Marks the rows that --retrain asks for in `spec`, and returns the line that says which these are.
// `worker`: the path of the program, or empty.
Result<std::string> choose_retrained(const results::Store& store, runner::Spec& spec,
                                     const RunRequest& request, const std::string& worker) {
  if (const auto other = runner::other_build_text(worker); !other.empty())
    return error("--retrain: " + other + ".");
  auto changed = runner::rows_of_other_code(store, spec.content.name,
                                            worker.empty() ? "" : runner::build_of_worker(worker).worker);
  if (!changed) return changed.error();
  const auto rows = runner::rows_to_retrain(*changed, request.retrain, spec.content);
  if (!rows) return rows.error();
  if (auto marked = runner::retrain(store, {request.out}, spec, *rows); !marked) return marked.error();
  std::erase_if(*changed, [&](const auto& row) { return !rows->contains({row.panel, row.row}); });
  if (changed->empty())
    return std::string(
        "hyfreedp run: nothing is trained anew: what --retrain names is of this program's code.\n");
  return fmt::format("hyfreedp run: {}; to be trained anew{}.\n", runner::other_code_text(*changed),
                     runner::has_seeded_noise(spec)
                         ? ""
                         : ", as a further release of the same data: what was spent before stays in the "
                           "odometer");
}

// `planned`: the studies that are asked for, of the spec's first release; empty: to be planned
// here.
Result<runner::Budget> reserved_budget(const results::Store& store, const runner::OutFolder& folder,
                                       runner::Spec& spec, const RunRequest& request,
                                       const runner::Only& only,
                                       const std::vector<runner::PlannedStudy>& planned = {}) {
  if (auto settled = runner::settle_release(store, folder, spec, request.fresh, request.replace); !settled) {
    return settled.error();
  }
  auto budget = runner::Budget::open(store, folder, request.budget());
  if (!budget) return budget.error();
  const bool draws =
      !runner::has_seeded_noise(spec) && std::filesystem::exists(folder.draw_key(spec.content.name));
  if (!planned.empty() && !draws && !runner::has_further_release(spec)) {
    if (auto reserved = budget->reserve(planned); !reserved) return reserved.error();
    return budget;
  }
  auto studies = runner::plan_release(spec);
  if (!studies) return studies.error();
  if (draws) {
    if (auto shown = runner::show_draws(folder, *studies, spec.content.name, spec.hash()); !shown)
      return shown.error();
  }
  if (auto reserved = budget->reserve(runner::covered(std::move(*studies), only)); !reserved)
    return reserved.error();
  return budget;
}

// Returns how long earlier runs of the folder took; nothing if its database cannot be read:
// print_forecast says why.
runner::Pace measured_in(const std::string& out) {
  const runner::OutFolder folder{out};
  if (!std::filesystem::exists(folder.database())) return {};
  const auto store = results::Store::open(folder.database(), results::Store::Mode::read_only);
  if (!store) return {};
  auto pace = runner::stored_pace(**store);
  return pace ? std::move(*pace) : runner::Pace();
}

// Prints how many studies have a row already, if the folder has run the spec.
Result<void> print_known(const results::Store& store, const runner::OutFolder& folder,
                         const runner::Spec& spec, const runner::Only& only, std::ostream& out) {
  const auto recorded = store.spec(spec.content.name);
  if (!recorded) return recorded.error();
  if (!*recorded) return {};
  auto planned = runner::plan_release(spec);
  if (!planned) return planned.error();
  const auto studies = runner::covered(std::move(*planned), only);
  std::size_t known = 0;
  for (const auto& study : studies) {
    const auto found = store.study(study.id);
    if (!found) return found.error();
    if (*found && results::is_answered(**found)) ++known;
  }
  if (known > 0)
    out << fmt::format("{} of these {} studies have their rows in {} already and are not trained again.\n",
                       known, studies.size(), folder.root);
  return {};
}

// Prints what the odometers show now, and when all that the spec starts with is done.
Result<void> print_forecast(const RunRequest& request, runner::Spec spec, const runner::Only& only,
                            const std::vector<runner::PlannedStudy>& planned, std::ostream& out) {
  const runner::OutFolder folder{request.out};
  // The database may be an older copy than the release records.
  const auto store = std::filesystem::exists(folder.database())
                         ? results::Store::open(folder.database(), results::Store::Mode::scratch)
                         : results::Store::in_memory(results::Store::Mode::scratch);
  if (!store) return store.error();
  if (auto restored = runner::restore_for(**store, folder, spec.content.name, request.fresh); !restored)
    return restored;
  const auto untold = runner::list_asked_runs(**store, folder);
  if (!untold) return untold.error();
  if (!untold->empty()) return error(untold->front());
  if (auto apart = runner::check_test_sets(**store, folder, spec.content); !apart) return apart;
  if (!request.retrain.empty()) {
    const auto worker = runner::find_worker();
    const auto said = choose_retrained(**store, spec, request, worker ? *worker : "");
    if (!said) return said.error();
    out << *said;
  }
  auto asked = request;
  asked.replace = true;  // a dry run discards nothing
  asked.cap.reset();
  const auto budget = reserved_budget(**store, folder, spec, asked, only, planned);
  if (!budget) return budget.error();
  if (auto known = print_known(**store, folder, spec, only, out); !known) return known;
  const auto delta = request.cap_delta;
  const auto forecasts = budget->forecast(delta);
  if (!forecasts) return forecasts.error();
  const auto text = [](double epsilon, bool infinite) {
    return "epsilon " + results::epsilon_text(epsilon) + (infinite ? " and runs that have none" : "");
  };
  if (!request.replace && !request.fresh && request.retrain.empty()) {
    const auto changed = runner::changed_rows(**store, folder, spec);
    if (!changed) return changed.error();
    if (!changed->lost.empty()) {
      out << fmt::format(
          "Rows that {} has would leave the table, for which the run asks for --replace: {}.\n", folder.root,
          runner::text_of(changed->lost));
    }
  }
  if (!forecasts->empty()) {
    out << "All rows and seeds together; searches and repetitions spend more than their first trials:\n";
  }
  for (const auto& one : *forecasts) {
    out << fmt::format("odometer of {}: now {}, then at least {} (delta {})\n", one.dataset,
                       text(one.now, one.now_infinite), text(one.then, one.then_infinite),
                       short_number(one.delta));
  }
  if (!request.cap) return {};
  asked.cap = request.cap;
  const auto kept = reserved_budget(**store, folder, spec, asked, only, planned);
  if (!kept) return kept.error();
  out << fmt::format("--cap {} lets all of this start.\n", short_number(*request.cap));
  return {};
}

// An error where there would be none: nothing is trained for weights that cannot be kept.
Result<runner::KeptForecast> foresee_weights(const runner::Spec& spec, const runner::Only& only,
                                             const runner::KeptWeights& keeper) {
  auto planned = runner::plan(spec, runner::StudyIds::left_empty);
  if (!planned) return planned.error();
  auto forecast = keeper.foresee(runner::covered(std::move(*planned), only));
  if (forecast.kept > 0) return forecast;
  std::vector<std::string> reasons;
  for (const auto& [why, rows] : forecast.confidential) reasons.push_back(why);
  return error(fmt::format(
      "{}: --keep-weights would keep none, for every row's are confidential: {}. Kept nevertheless, and "
      "marked, with --confidential.",
      spec.path, join(reasons, "; ")));
}

// A spec that trains nothing: its table, computed or the paper's own.
Result<int> give_values(const RunRequest& request, const runner::Spec& spec, std::ostream& out) {
  const auto& name = spec.content.name;
  const auto& reason = spec.content.not_runnable;
  if (request.dry_run) {
    out << fmt::format("{}: {}\n", name, spec.content.title);
    out << (reason ? not_runnable_text(*reason) + " The table is of the paper's values alone."
                   : "It is computed in this process; nothing is trained.")
        << '\n';
    return 0;
  }
  const auto values = value_spec(spec);
  if (!values) return values.error();
  out << formatted(values->table, TableFormat::terminal, results::style_of_standard_output()) << '\n';
  const auto written = write_value_spec(*values, spec, runner::OutFolder{request.out}.derived(name), out);
  if (!written) return written.error();
  if (reason) out << not_runnable_text(*reason) << '\n';
  return 0;
}

// The end of a run, as it is told to those who do not look on.
struct Ending {
  bool has_begun = false;  // else it was refused, and only the error stream says so
  std::string summary;     // one line
};

std::string summary_of(const runner::RunReport& report, const std::string& name, int code, double seconds) {
  if (report.halt) return fmt::format("{} halted: {}", name, *report.halt);
  if (report.stopped) return name + " stopped; the same command continues it";
  const auto lost = std::ranges::count_if(report.failed, &runner::FailedStudy::unexpected);
  const auto without = static_cast<std::int64_t>(report.failed.size()) - lost;
  std::string text = fmt::format("{} {}: {}", name, code == 0 ? "finished" : "failed",
                                 runner::size_text(report.studies, report.cells));
  if (lost > 0) text += fmt::format(", {} lost (the same command tries again)", lost);
  if (without > 0) text += fmt::format(", {} without a value", without);
  if (report.refused) return text + "; stopped short of the rest: " + *report.refused;
  return report.hides_times ? text : text + "; " + human_duration(seconds);
}

// Errors of --log and --notify are warnings: the run is over, and its exit code stays.
void tell_end(const RunRequest& request, const std::string& spec, const Ending& ending, int code,
              runner::RunLog* log, std::ostream& err) {
  if (!ending.has_begun) return;
  const auto summary = as_one_line(ending.summary);
  if (log != nullptr) {
    log->end(code, summary);
    if (!log->problem().empty())
      err << fmt::format("hyfreedp run: warning: the log lacks lines. {}\n", log->problem());
  }
  if (request.notify.empty()) return;
  const auto told =
      run_notify(request.notify, {{"HYFREEDP_SPEC", spec},
                                  {"HYFREEDP_OUT", std::filesystem::absolute(request.out).lexically_normal()},
                                  {"HYFREEDP_EXIT_CODE", std::to_string(code)},
                                  {"HYFREEDP_SUMMARY", summary}});
  if (!told) err << fmt::format("hyfreedp run: warning: {}\n", told.error().message);
}

// Weights under a row's name that are not of what the table shows now.
Result<void> tell_old_weights(const runner::KeptWeights& keeper, const runner::Spec& spec,
                              std::ostream& err) {
  if (!runner::has_further_release(spec)) return {};
  const auto planned = runner::plan_release(spec);
  if (!planned) return planned.error();
  const auto folders = keeper.of_earlier_releases(*planned);
  if (folders.empty()) return {};
  err << fmt::format(
      "hyfreedp run: warning: {} of an earlier release than the table's rows, whose weights were not kept: "
      "{}{}\n",
      folders.size() == 1 ? "weights are" : fmt::format("weights in {} folders are", folders.size()),
      folders.front(), folders.size() == 1 ? "" : ", ...");
  return {};
}

Result<int> train(const RunRequest& request, runner::Spec spec, const runner::Only& only, runner::RunLog* log,
                  Ending& ending, std::ostream& out, std::ostream& err) {
  const auto begin = std::chrono::steady_clock::now();
  const runner::OutFolder folder{std::filesystem::absolute(request.out).lexically_normal().string()};
  const runner::KeptWeights keeper(folder, spec.content.name, request.confidential);
  if (request.keep_weights) {
    if (auto some = foresee_weights(spec, only, keeper); !some) return some.error();
  }
  const auto worker = runner::find_worker();
  if (!worker) return worker.error();
  const auto lock = runner::FolderLock::acquire(folder);
  if (!lock) return lock.error();
  if (request.keep_weights) {
    if (auto opened = keeper.open(); !opened) return opened.error();
  }
  const auto store = results::Store::open(folder.database(), results::Store::Mode::read_write);
  if (!store) return store.error();
  const auto& name = spec.content.name;
  if (auto restored = runner::restore_for(**store, folder, name, request.fresh); !restored)
    return restored.error();
  if (auto caught_up = runner::catch_up(**store, folder); !caught_up) return caught_up.error();
  if (auto apart = runner::check_test_sets(**store, folder, spec.content); !apart) {
    return apart.error();
  }
  if (const auto other = runner::other_build_text(*worker); !other.empty())
    err << fmt::format("hyfreedp run: warning: {}.\n", other);
  if (!request.retrain.empty()) {
    const auto said = choose_retrained(**store, spec, request, *worker);
    if (!said) return said.error();
    err << *said;
  }
  std::optional<runner::Budget> budget;
  if (request.cap) {
    // The budget is reserved before the spec is entered, so a refused run leaves everything as it
    // was.
    auto reserved = reserved_budget(**store, folder, spec, request, only);
    if (!reserved) return reserved.error();
    budget = std::move(*reserved);
  }
  const auto differs = runner::differs_from_recorded(**store, spec);
  if (auto entered = runner::enter_spec(**store, folder, spec, request.fresh, request.replace); !entered) {
    return entered.error();
  }
  if (differs && !differs->empty() && !request.fresh && !request.replace) {
    err << fmt::format(
        "hyfreedp run: this version of '{}' takes the place of the folder's; all rows there stay.{}\n", name,
        *differs);
  }
  const auto mixed = runner::mixed_builds_warning(**store, spec, runner::build_of_worker(*worker));
  if (!mixed) return mixed.error();
  if (*mixed) err << fmt::format("hyfreedp run: {}\n", **mixed);
  ending = {.has_begun = true, .summary = name + " failed"};
  if (log != nullptr) {
    log->begin({{"spec", name},
                {"hash", spec.hash()},
                {"version", program_version()},
                {"workers", request.workers},
                {"out", folder.root}});
    for (const auto& warning : spec.warnings) log->warning(warning);
    if (*mixed) log->warning(**mixed);
  }
  runner::SnapshotWriter snapshot(folder, name);
  const runner::StopSignal signals;
  runner::Progress progress(
      err, request.quiet ? runner::Progress::Style::none : runner::Progress::style_for(STDERR_FILENO));
  runner::LocalExecutor executor({.worker = *worker,
                                  .slots = request.workers,
                                  .hang_limit = std::chrono::duration<double>(60 * request.hang_minutes),
                                  .memory_limit = 1e9 * request.memory_limit,
                                  .memory = static_cast<double>(memory_for(request))});
  runner::Coordinator coordinator(**store, executor, folder, progress);
  coordinator.checkpoint_every(std::chrono::duration<double>(60 * request.checkpoint_minutes));
  coordinator.limit_time(std::chrono::duration<double>(60 * request.time_limit));
  coordinator.keep_to(only);
  if (budget) coordinator.keep_within(std::move(*budget));
  if (request.keep_weights) coordinator.keep_weights(keeper);
  coordinator.tell(snapshot);
  if (log != nullptr) coordinator.tell(*log);
  const auto report = coordinator.run(spec, &runner::StopSignal::asked);
  if (!report) {
    print_refusal("run", in_lines(report.error()), err);
    // The message may name a run of a private selection, and the summary goes to a log and to
    // others.
    ending.summary =
        name + " failed" +
        (runner::has_seeded_noise(spec) ? ": " + report.error().message : "; the terminal says why");
    return 1;
  }
  const auto other_code = runner::other_code_note(**store, name, runner::build_of_worker(*worker).worker);
  if (!other_code) return other_code.error();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const int code = finish_run(*report, **store, spec, folder, seconds, out, err);
  if (!other_code->empty()) err << fmt::format("hyfreedp run: warning: {}\n", *other_code);
  if (auto told = tell_old_weights(keeper, spec, err); !told) return told.error();
  ending.summary = summary_of(*report, name, code, seconds);
  if (log != nullptr) {
    if (!other_code->empty()) log->warning(*other_code);
    if (!report->checkpoint_problem.empty()) log->checkpoint_problem(report->checkpoint_problem);
    for (const auto& sentence : report->weights.lost) log->warning("weights not kept: " + sentence);
  }
  return code;
}

Result<int> run_spec(const RunRequest& request, std::ostream& out, std::ostream& err) {
  const auto load = [&request] {
    auto spec = runner::load_spec(request.spec, request.preset, request.settings);
    if (spec && !request.device.empty()) runner::set_device(*spec, request.device);
    return spec;
  };
  auto spec = load();
  if (request.fetch && !request.dry_run) {
    // Gigabytes are not brought for a run that cannot be made here.
    if (spec && runner::is_runnable(*spec)) {
      const auto part = part_of(*spec, request.only);
      if (!part) return part.error();
      if (auto usable = check_devices(part->needs); !usable) return usable.error();
      std::ostringstream later;  // what is only a warning is said when it runs
      if (auto room = check_room(*part, request, later); !room) return room.error();
    }
    // Mistakes of the spec, and needs that cannot be fetched, are told below.
    if (const auto needs = runner::spec_needs(request.spec, request.preset, request.settings)) {
      const auto done = fetch_needs(*needs, err);
      // The data that did not come may be needed only by what --only leaves out.
      if (!done.failed.empty() && request.only.empty()) return error(join(done.failed, " "));
      if (done.brought > 0) spec = load();
    }
  }
  if (!spec) return spec.error();
  for (const auto& warning : spec->warnings) err << "hyfreedp run: warning: " << warning << '\n';
  if (auto named = check_name(*spec); !named) return named.error();
  if (!runner::is_runnable(*spec)) {
    if (request.only.empty()) return give_values(request, *spec, out);
    return error(spec->path + ": it trains nothing, so that --only has nothing to choose from.");
  }
  const auto part = part_of(*spec, request.only);
  if (!part) return part.error();
  if (auto begins = check_begins(*spec, *part, err); !begins) return begins.error();
  const auto& [only, needs] = *part;
  if (request.dry_run) {
    const DryRunRates rates{request.gpu_tflops.value_or(runner::kAssumedTflops), measured_in(request.out),
                            request.out, request.workers, memory_for(request)};
    auto planned = runner::plan(needs);
    if (!planned) return planned.error();
    const auto studies = runner::covered(std::move(*planned), only);
    // The forecast is made in another thread: with 10^5 runs it takes as long as what is printed
    // before it.
    std::ostringstream odometers;
    auto forecast = std::async(std::launch::async, print_forecast, std::cref(request), *spec, std::cref(only),
                               std::cref(studies), std::ref(odometers));
    if (auto said = dry_run(needs, studies, rates, out); !said) return said.error();
    if (request.keep_weights) {
      const runner::KeptWeights keeper({request.out}, spec->content.name, request.confidential);
      const auto weights = foresee_weights(*spec, only, keeper);
      if (!weights) return weights.error();
      out << fmt::format("Weights would be kept of {} of {} studies.\n", weights->kept, weights->studies);
      print_reasons(request.confidential ? "Marked as confidential" : kUnkept, weights->confidential, out);
    }
    for (const auto& missing : missing_data(needs)) out << "Not on this machine: " << missing.why << '\n';
    if (auto usable = check_devices(needs); !usable)
      out << "Not on this machine: " << usable.error().message << '\n';
    out << "Trials run on " << runner::describe_workers(request.workers) << '\n';
    const auto printed = forecast.get();
    out << odometers.str();
    if (!printed) return printed.error();  // as the run itself would be
    if (request.data) {
      if (auto read = check_data(needs); !read) return read.error();
      out << "All data that these runs read were read without an error.\n";
    }
    const auto room = check_room(needs, studies, request, err);
    if (!room) return room.error();
    return 0;
  }
  if (auto present = check_datasets(needs); !present) return present.error();
  if (auto usable = check_devices(needs); !usable) return usable.error();
  if (auto room = check_room(*part, request, err); !room) return room.error();
  std::unique_ptr<runner::RunLog> log;
  if (!request.log.empty()) {
    auto opened = runner::RunLog::open(request.log);
    if (!opened) return opened.error();
    log = std::move(*opened);
  }
  Ending ending;
  const auto name = spec->content.name;
  const auto code = train(request, std::move(*spec), only, log.get(), ending, out, err);
  if (!code) print_refusal("run", in_lines(code.error()), err);
  const int exit_code = code ? *code : 2;
  tell_end(request, name, ending, exit_code, log.get(), err);
  return exit_code;
}

Outcome run_comparison(const RunRequest& request, std::ostream& out, std::ostream& err) {
  const auto code = run_spec(request, out, err);
  if (!code) return in_lines(code.error());
  return *code;
}

}  // namespace

Command run_command() {
  return {"run", kText, action<RunRequest>(run_comparison),
          "trains what a spec asks for, then writes table, plots and report",
          "hyfreedp run experiments/quick.yaml"};
}

}  // namespace hyfreedp::cli
