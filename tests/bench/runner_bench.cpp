// How fast runs that train nothing go through the coordinator, and whether its memory grows with
// their number. See README.md beside this file.
//   runner_bench DIR [RUNS [WORKERS]]
// runs RUNS (10000) trials of one step on WORKERS (2) workers that train nothing, which are this
// program: through the executor alone, then as a seeded spec (journals, database), then as an
// unseeded one (keys too). DIR is made, and emptied of what was made in it.
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "harness/random/key_file.h"
#include "harness/runner/execute/coordinator.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/runner/odometer/release.h"
#include "harness/trial/worker_protocol.h"

namespace hyfreedp::runner {
namespace {

constexpr const char* kIdleWorker = "HYFREEDP_IDLE_WORKER";

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "runner_bench: {}\n", result.error().message);
  std::exit(1);
}
void must(const Result<void>& result) {
  if (result) return;
  fmt::print(stderr, "runner_bench: {}\n", result.error().message);
  std::exit(1);
}

void say(const json::object& message) { std::cout << canonical_json(message) << std::endl; }

// A run of one step that computes nothing: its journal and key are as a worker's.
void answer_run(const json::object& request) {
  const auto trial = string_or(request, "trial", "");
  const auto path = string_or(request, "journal", "");
  if (!path.empty()) {
    const auto config = must(trial::TrialConfig::from_json(request.at("config"), "job"));
    const auto key = string_or(request, "key", "");
    const auto journal = must(mechanism::JournalWriter::open(path, config, {{"device", "none"}}, {}));
    if (!config.noise_seed) {
      must(random::replace_key(
          key, {.nonce = journal->nonce(), .trial = trial, .attempt = 0, .config = config.to_json()}));
    }
    for (std::int64_t step = 0; step < config.steps; ++step) {
      must(journal->ensure_booked(step));
      must(journal->step({step, "hash", {{"eta", 0.5}}}, {"gradient"}));
    }
    must(journal->metric({config.steps, "test", "accuracy", 0.5, trial::Visibility::test}));
    must(journal->finish({.seconds = 1e-3}));
    if (!config.noise_seed) must(random::delete_key(key));
  }
  say({{"type", "done"}, {"trial", trial}, {"state", "finished"}, {"seconds", 1e-3}});
}

int idle_worker() {
  say({{"type", "hello"}, {"version", trial::kWorkerProtocolVersion}, {"fingerprint", json::object{}}});
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = must(trial::parse_message(line, "request"));
    const auto type = string_or(request, "type", "");
    if (type == "stop") return 0;
    if (type == "prepare") say({{"type", "prepared"}, {"seconds", 0}});
    if (type == "run") answer_run(request);
  }
  return 0;
}

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The executor, and what this process has in memory after a fifth of the runs and at their end.
class Watched final : public Executor {
 public:
  Watched(Executor& inner, std::size_t runs) : inner_(inner), runs_(runs) {}
  void submit(Job job) override { inner_.submit(std::move(job)); }
  Result<std::vector<Update>> poll(std::chrono::milliseconds patience) override {
    auto updates = inner_.poll(patience);
    if (!updates) return updates;
    for (const auto& update : *updates) {
      if (update.kind != Update::Kind::over) continue;
      if (update.failed) fmt::print(stderr, "a run failed: {}\n", update.message);
      ++over_;
      if (over_ == runs_ / 5) early_ = resident_megabytes();
      if (over_ == runs_) late_ = resident_megabytes();
    }
    return updates;
  }
  void cancel(const std::string& job) override { inner_.cancel(job); }
  void stop() override { inner_.stop(); }
  int slots() const override { return inner_.slots(); }
  std::size_t over() const { return over_; }
  void report(const char* what, double seconds, double processor) const {
    fmt::print(
        "{:<34} {:>7.0f} runs/s, {:.0f} a second of this process's time; {:.0f} MB after {}, {:.0f} MB after "
        "{}\n",
        what, static_cast<double>(runs_) / seconds, static_cast<double>(runs_) / processor, early_, runs_ / 5,
        late_, runs_);
  }

 private:
  Executor& inner_;
  std::size_t runs_;
  std::size_t over_ = 0;
  double early_ = 0, late_ = 0;
};

LocalOptions options(int workers) {
  return {.worker = std::filesystem::read_symlink("/proc/self/exe").string(),
          .slots = workers,
          .environment = {{kIdleWorker, "1"}}};
}

void executor_alone(std::size_t runs, int workers) {
  LocalExecutor local(options(workers));
  Watched executor(local, runs);
  const auto begin = Clock::now();
  const double before = processor_seconds();
  for (std::size_t i = 0; i < runs; ++i) {
    const auto id = std::to_string(i);
    executor.submit(
        {.id = id, .request = {{"type", "run"}, {"trial", id}}, .cost = static_cast<double>(i % 7)});
  }
  while (executor.over() < runs) static_cast<void>(must(executor.poll(std::chrono::milliseconds(100))));
  executor.report("executor alone", seconds_since(begin), processor_seconds() - before);
  executor.stop();
}

void whole_spec(const std::string& folder, const char* what, bool is_seeded, std::size_t runs, int workers) {
  std::string seeds;
  for (std::size_t i = 0; i < runs; ++i) seeds += (i == 0 ? "" : ", ") + std::to_string(i);
  const auto path = folder + "/spec.yaml";
  must(write_file_atomically(
      path,
      fmt::format("name: bench\n{}dataset: {{name: synthetic, train: 2000}}\nmodel: linear\nseeds: [{}]\n"
                  "epsilon: [3]\ntrain: {{sample_rate: 0.05, steps: 1, optimizer: sgd}}\n"
                  "rows: [{{method: fixed-rate, options: {{lr: 0.1}}}}]\n",
                  is_seeded ? "noise_seed: bench\n" : "", seeds)));
  auto spec = must(load_spec(path));
  const OutFolder out{folder + (is_seeded ? "/seeded" : "/unseeded")};
  const auto store = must(results::Store::open(out.database(), results::Store::Mode::read_write));
  must(enter_spec(*store, out, spec, false, false));
  LocalExecutor local(options(workers));
  Watched executor(local, runs);
  std::ostream silent(nullptr);
  Progress progress(silent, Progress::Style::none);
  Coordinator coordinator(*store, executor, out, progress);
  const auto begin = Clock::now();
  const double before = processor_seconds();
  const auto report = must(coordinator.run(spec, [] { return false; }));
  executor.report(what, seconds_since(begin), processor_seconds() - before);
  for (const auto& failed : report.failed) fmt::print(stderr, "{}: {}\n", failed.cell, failed.message);
}

// Of the disk under `folder`.
void syncs(const std::string& folder) {
  const auto path = folder + "/sync";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  constexpr int kSyncs = 200;
  const auto begin = Clock::now();
  for (int i = 0; i < kSyncs; ++i) {
    std::fputs("a line of a journal\n", file);
    std::fflush(file);
    static_cast<void>(::fdatasync(::fileno(file)));
  }
  fmt::print("{:<34} {:>7.0f} /s\n", "appended lines synced", kSyncs / seconds_since(begin));
  std::fclose(file);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "runner_bench DIR [RUNS [WORKERS]]\n");
    return 2;
  }
  const auto folder = arguments[0] + "/runner_bench";
  const std::size_t runs = arguments.size() > 1 ? std::stoul(arguments[1]) : 10000;
  const int workers = arguments.size() > 2 ? std::stoi(arguments[2]) : 2;
  std::filesystem::create_directories(folder);
  syncs(folder);
  executor_alone(runs, workers);
  whole_spec(folder, "seeded spec: journals, database", true, runs, workers);
  whole_spec(folder, "unseeded spec: keys too", false, runs, workers);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace hyfreedp::runner

int main(int count, char** values) {
  using namespace hyfreedp::runner;
  if (std::getenv(kIdleWorker) != nullptr) return idle_worker();
  return run({values + 1, values + count});
}
