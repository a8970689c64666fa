#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <poll.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/study_choice.h"
#include "harness/cli/run/watched_run.h"
#include "harness/runner/executors/stop_signal.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/progress/live_block.h"
#include "harness/runner/progress/progress.h"
#include "harness/runner/progress/snapshot.h"
#include "results/store/store.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Shows from another terminal how the run in an output folder stands: what is done, the time left, and
of each run under way its step, its rate, curves of its test accuracy, noised loss and step size,
and the epsilon of what its journal has booked. Of private selections it shows that they are under
way. On a terminal it draws this again until the run is over; elsewhere, or with --once, it prints
it once. It only reads.
Example: hyfreedp watch --out out
Exit code: 0 the run is over, or was shown once; 1 the run was killed; 2 bad input; 130 Ctrl-C.)";

// The time of a redraw for reading journals; the rest is read for the next.
constexpr std::chrono::milliseconds kReading{400};
constexpr double kLongestInterval = 3600;

constexpr Allowed kInterval = {[](double value) { return value >= 0.1 && value <= kLongestInterval; },
                               "be from 0.1 to 3600 seconds"};

struct WatchRequest {
  std::string spec;  // its name; empty: whichever is run
  runner::OutFolder folder{"out"};
  bool once = false;
  double interval = 1;
  std::string preset;

  void describe(Options& options) {
    options.positional(spec, "spec", "[SPEC]");
    options.value(folder.root, "out", "DIR", "output folder");
    options.flag(once, "once", "print once, and end");
    options.number(interval, "interval", "S", kInterval,
                   "seconds between two drawings, from 0.1; default: 1");
    options.value(preset, "preset", "PRESET", "where the spec is given as a file: which of its presets");
  }

  Checked check() {
    auto name = name_of_spec(spec, preset);
    if (!name) return in_lines(name.error());
    spec = std::move(*name);
    return {};
  }
};

// The state of the folder.
struct Sight {
  std::optional<int> process;                // that works there
  std::optional<runner::Snapshot> snapshot;  // of that process, or of one that was killed
  bool is_killed() const { return snapshot && !process; }
};

Result<Sight> look_at(const runner::OutFolder& folder) {
  // The order matters: a run that ends meanwhile has removed its snapshot before it gives up the
  // lock.
  Sight sight{.process = runner::FolderLock::holder(folder)};
  auto snapshot = runner::read_snapshot(folder);
  if (!snapshot) return snapshot.error();
  sight.snapshot = std::move(*snapshot);
  // Left by one that was killed, before the present one wrote its own.
  if (sight.process && sight.snapshot && sight.snapshot->process != *sight.process) sight.snapshot.reset();
  return sight;
}

// The runs under way, each read as far as it was.
class WatchedRuns {
 public:
  explicit WatchedRuns(const runner::OutFolder& folder) : folder_(folder) {}

  void keep_to(const std::vector<runner::SnapshotRun>& running) {
    std::erase_if(runs_, [&](const auto& run) {
      return std::ranges::find(running, run.first, &runner::SnapshotRun::trial) == running.end();
    });
    for (const auto& run : running) runs_.try_emplace(run.trial, folder_, run.trial);
  }

  // Reads the journals by turns, until all is read or the time is over.
  void read(std::optional<std::chrono::milliseconds> time) {
    const auto begin = std::chrono::steady_clock::now();
    bool more = true;
    while (more && (!time || std::chrono::steady_clock::now() - begin < *time)) {
      more = false;
      for (auto& [trial, run] : runs_) more = run.read() || more;
    }
  }

  WatchedView view(const runner::SnapshotRun& run) { return runs_.at(run.trial).view(run); }

 private:
  runner::OutFolder folder_;
  std::map<std::string, WatchedRun> runs_;
};

std::vector<std::string> lines_of(const runner::Snapshot& snapshot, WatchedRuns& runs, std::size_t width) {
  auto overall = runner::live_lines(runner::board_of(snapshot), snapshot.seconds.value_or(0), width);
  std::vector<std::string> lines = {overall.front()};
  bool has_epsilon = false;
  bool is_reproducible = false;
  for (const auto& run : snapshot.running) {
    const auto view = runs.view(run);
    for (auto& line : lines_of(view, width)) lines.push_back(std::move(line));
    has_epsilon = has_epsilon || view.epsilon.starts_with("ε ");
    is_reproducible = is_reproducible || view.is_reproducible;
  }
  lines.insert(lines.end(), overall.begin() + 1, overall.end());  // private selections
  if (has_epsilon) {
    lines.push_back(
        "  ε: of the run alone, steps booked so far (up to 128 ahead); hyfreedp odometer composes all");
  }
  if (is_reproducible) lines.push_back("  reproducible noise: not a private release");
  for (auto& line : lines) line = runner::cut_to(line, width);
  return lines;
}

// Returns a line of counts for the spec that is named, or for each in the database if none is.
Result<std::string> summary(const WatchRequest& request, const std::string& spec) {
  const auto store = results::Store::open(request.folder.database(), results::Store::Mode::read_only);
  if (!store) return store.error();
  const auto specs = (**store).specs();
  if (!specs) return specs.error();
  std::string text;
  for (const auto& one : *specs) {
    if (!spec.empty() && one.name != spec) continue;
    const auto studies = (**store).studies(one.name);
    if (!studies) return studies.error();
    text += fmt::format("{}  {}\n", one.name, study_counts(*studies));
  }
  if (!text.empty()) return text;
  if (spec.empty()) return std::string("No spec was run here yet.\n");
  return error(fmt::format("{} has no spec '{}'; hyfreedp status --out {} lists those that it has.",
                           request.folder.database(), spec, request.folder.root));
}

// Prints the last text, when nothing of the wanted spec goes on any more, or ever did.
Outcome print_end(const WatchRequest& request, const Sight& sight, const std::string& spec, std::ostream& out,
                  std::ostream& err) {
  const auto text = summary(request, spec);
  if (!text) return text.error();
  out << *text;
  if (sight.process && sight.snapshot) {
    out << fmt::format("Process {} works on {} now.\n", *sight.process, sight.snapshot->spec);
  }
  if (!sight.is_killed()) return 0;
  err << fmt::format(
      "hyfreedp watch: the process that ran {} was killed; the same hyfreedp run continues it.\n",
      sight.snapshot->spec);
  return 1;
}

bool is_watched(const WatchRequest& request, const Sight& sight) {
  return sight.process && (request.spec.empty() || !sight.snapshot || sight.snapshot->spec == request.spec);
}

std::vector<std::string> lines_of(const Sight& sight, WatchedRuns& runs, std::size_t width) {
  if (!sight.snapshot) {
    return {runner::cut_to(
        fmt::format("Process {} begins or ends its work; no run is under way.", *sight.process), width)};
  }
  return lines_of(*sight.snapshot, runs, width);
}

void follow(const Sight& sight, WatchedRuns& runs, std::optional<std::chrono::milliseconds> time) {
  if (!sight.snapshot) return;
  runs.keep_to(sight.snapshot->running);
  runs.read(time);
}

Outcome watch_once(const WatchRequest& request, std::ostream& out, std::ostream& err) {
  const auto sight = look_at(request.folder);
  if (!sight) return sight.error();
  if (!is_watched(request, *sight)) return print_end(request, *sight, request.spec, out, err);
  WatchedRuns runs(request.folder);
  follow(*sight, runs, std::nullopt);
  for (const auto& line : lines_of(*sight, runs, runner::TerminalSize{}.columns)) out << line << '\n';
  return 0;
}

void wait(double seconds) {
  // A signal ends it early, as it would not end std::this_thread::sleep_for.
  ::poll(nullptr, 0, static_cast<int>(std::lround(1000 * seconds)));
}

Outcome watch_on_terminal(const WatchRequest& request, std::ostream& out, std::ostream& err) {
  const runner::StopSignal signals;
  runner::LiveBlock block(out);
  WatchedRuns runs(request.folder);
  const char* no_colour = std::getenv("NO_COLOR");
  const bool coloured = no_colour == nullptr || *no_colour == '\0';
  std::string spec = request.spec;
  while (!runner::StopSignal::asked()) {
    const auto sight = look_at(request.folder);
    if (!sight) return sight.error();
    if (!is_watched(request, *sight)) {
      block.clear();
      return print_end(request, *sight, spec, out, err);
    }
    if (sight->snapshot) spec = sight->snapshot->spec;
    follow(*sight, runs, kReading);
    const auto size = runner::terminal_size(STDOUT_FILENO);
    auto lines = lines_of(*sight, runs, size.columns);
    if (lines.size() >= size.rows) {
      const auto kept = size.rows > 2 ? size.rows - 2 : 1;
      const auto more = lines.size() - kept;
      lines.resize(kept);
      lines.push_back(runner::cut_to(fmt::format("  ... {} more lines", more), size.columns));
    }
    block.draw(lines, coloured);
    wait(request.interval);
  }
  return runner::kExitStopped;
}

Outcome watch(const WatchRequest& request, std::ostream& out, std::ostream& err) {
  const bool is_live = !request.once && runner::is_live_terminal(STDOUT_FILENO);
  return is_live ? watch_on_terminal(request, out, err) : watch_once(request, out, err);
}

}  // namespace

Command watch_command() {
  return {"watch", kText, action<WatchRequest>(watch),
          "from another terminal: how a run stands, its curves and epsilon so far",
          "hyfreedp watch --out out"};
}

}  // namespace hyfreedp::cli
