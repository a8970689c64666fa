// A world in which trials end at once: an executor that writes journals as a worker would, with
// metrics that are a pure function of the config, and ends jobs in an order of the test's choosing.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "harness/random/key_file.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/coordinator.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/trial/code_marks.h"
#include "results/store/records.h"

namespace hyfreedp::runner {

// unwritten: killed before its worker wrote a line. linger: under way until it is cancelled.
// exhausted: its worker says that memory is short. crash: killed with the coordinator, whose run()
// ends with an error; crash_unwritten: before the worker wrote a line.
enum class Fate {
  finish,
  diverge,
  kill,
  no_device,
  cancel,
  unwritten,
  linger,
  exhausted,
  crash,
  crash_unwritten
};
enum class Order { first_in, last_in, shuffled };

class FakeExecutor final : public Executor {
 public:
  Order order = Order::first_in;
  std::function<Fate(const trial::TrialConfig&)> fate = [](const auto&) { return Fate::finish; };
  // Steps that a run which does not finish does, in all, from step 0 on.
  std::function<std::int64_t(const trial::TrialConfig&)> steps_done = [](const auto&) { return 2; };
  // Whether it is killed after the next step was booked, and before that has its line.
  std::function<bool(const trial::TrialConfig&)> ends_in_a_step = [](const auto&) { return false; };
  // After how many steps it keeps a state, from which the next run can go on; 0: it keeps none.
  std::function<std::int64_t(const trial::TrialConfig&)> keeps_state = [](const auto&) { return 0; };
  std::map<std::string, std::vector<mechanism::ResumePoint>> states;  // of each trial, latest first
  // A worker has its journal and its key. It releases a step, or its score (step = config.steps):
  // returns the hash.
  std::function<void(const trial::TrialConfig&, const mechanism::JournalWriter&)> at_begin =
      [](const auto&, const auto&) {};
  std::function<std::string(const trial::TrialConfig&, std::int64_t step)> release =
      [](const auto&, std::int64_t) { return "hash"; };
  std::function<void(const trial::TrialConfig&, const mechanism::ResumePoint&)> at_state = [](const auto&,
                                                                                              const auto&) {};
  // What of a finished trial is put into the folder for its weights; returns why it could not be.
  std::function<std::string(const std::string& folder, const trial::TrialConfig&)> keep_weights = {};
  // Called with the trial when it is over, or lingers, before the coordinator hears of it.
  std::function<void(const std::string& trial)> at_end = [](const auto&) {};
  std::function<void(const std::string& trial)> at_submit = [](const auto&) {};
  std::function<void()> at_prepare = [] {};
  bool cancels_slowly = false;  // what is cancelled is over at the second poll() from then on
  std::int64_t peak_bytes = 0;  // of each run, in its journal
  int uses = 0;                 // updates of what a trial takes, before its end
  bool prepare_fails = false;
  double test_shift = 0;  // of the test accuracies alone
  // The test accuracy instead, where it is given.
  std::function<double(const trial::TrialConfig&)> test_accuracy = {};
  // Another one cannot repeat the noise of a killed run: a new attempt.
  std::string machine = "fake";
  std::vector<std::string> submitted;            // trials
  std::vector<std::string> prepared;             // jobs
  std::vector<std::string> cancelled;            // jobs, that were not over
  std::map<std::string, double> memory;          // of each job, as submitted
  std::map<std::string, std::int64_t> attempts;  // earlier ones that a started job is told of
  std::map<std::string, std::chrono::duration<double>> time_limits;
  std::size_t ended = 0;
  bool stopped = false;
  int idle = 0;  // so many calls of poll() yet in which nothing happens

  void submit(Job job) override {
    const bool is_trial = string_or(job.request, "type", "") == "run";
    (is_trial ? submitted : prepared).push_back(job.id);
    memory[job.id] = job.memory;
    time_limits[job.id] = job.time_limit;
    waiting_.push_back(std::move(job));
    is_trial ? at_submit(submitted.back()) : at_prepare();
  }
  void cancel(const std::string& id) override {
    const auto waiting = std::ranges::find(waiting_, id, &Job::id);
    if (waiting != waiting_.end()) {
      (cancels_slowly ? over_later_ : over_).push_back(failure(id, kCancelled));
      waiting_.erase(waiting);
    } else if (auto lingering = lingering_.extract(id)) {
      over_.push_back(std::move(lingering.mapped()));
    } else {
      return;
    }
    cancelled.push_back(id);
  }
  int slots() const override { return 1; }
  void stop() override { stopped = true; }

  Result<std::vector<Update>> poll(std::chrono::milliseconds) override {
    if (crashed_) return std::vector<Update>{};
    std::vector<Update> updates = std::exchange(over_, std::exchange(over_later_, {}));
    if (stopped) {
      for (const auto& job : waiting_) updates.push_back(failure(job.id, kCancelled));
      for (auto& [id, over] : lingering_) updates.push_back(std::move(over));
      waiting_.clear();
      lingering_.clear();
    } else if (idle > 0) {
      --idle;
    } else if (!waiting_.empty()) {
      auto job = take();
      if (job.before_start) {
        if (auto begun = job.before_start(job.request); !begun) return begun.error();
      }
      attempts[job.id] = int_or(job.request, "attempts", 0);
      updates.push_back({.kind = Update::Kind::started, .job = job.id});
      const bool is_trial = string_or(job.request, "type", "") == "run";
      for (int i = 1; is_trial && i <= uses; ++i) updates.push_back(use(job.id, i));
      has_booked_ = false;
      auto over = end(job);
      if (has_booked_) updates.push_back({.kind = Update::Kind::progress, .job = job.id});
      if (crashed_) return error("The coordinator was killed.");
      if (is_trial && uses > 0) over.resident_bytes = 5e8;
      if (std::exchange(lingers_, false)) {
        lingering_.emplace(job.id, std::move(over));
      } else {
        updates.push_back(std::move(over));
      }
      if (string_or(job.request, "type", "") == "run") at_end(job.id);
    }
    return updates;
  }

 private:
  Job take() {
    std::size_t index = 0;
    if (order == Order::last_in) index = waiting_.size() - 1;
    if (order == Order::shuffled) index = random_() % waiting_.size();
    auto job = waiting_[index];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
    return job;
  }

  // Half a core, and a byte more each time.
  static Update use(const std::string& job, int count) {
    Update update{.kind = Update::Kind::use, .job = job};
    update.seconds = 10.0 * count;
    update.cpu_seconds = 5.0 * count;
    update.resident_bytes = 1e8 + count;
    return update;
  }

  static Update failure(const std::string& job, const std::string& kind) {
    Update update{.kind = Update::Kind::over, .job = job};
    update.failed = true;
    update.failure_kind = kind;
    update.message = "It ended as " + kind + ".";
    return update;
  }

  Update end(const Job& job) {
    if (string_or(job.request, "type", "") == "prepare") {
      return prepare_fails ? failure(job.id, kInternal) : Update{.kind = Update::Kind::over, .job = job.id};
    }
    ++ended;
    const auto config = trial::TrialConfig::from_json(job.request.at("config"), "job").value();
    EXPECT_EQ(config.id(), job.id);
    const auto key = string_or(job.request, "key", "");
    const auto ending = fate(config);
    crashed_ = ending == Fate::crash || ending == Fate::crash_unwritten;
    if (ending == Fate::unwritten || ending == Fate::crash_unwritten) return failure(job.id, kKilled);
    auto journal = open_journal(job.request, config, key);
    journal->tell_before_booking([this] { has_booked_ = true; });
    at_begin(config, *journal);
    do_steps(config, ending, *journal);
    if (ending == Fate::kill || ending == Fate::crash) return failure(job.id, kKilled);
    if (ending == Fate::exhausted) {
      EXPECT_TRUE(journal->finish({.state = trial::TrialState::failed, .kind = kOutOfMemory}));
      forget_key(key);
      states.erase(job.id);
      return failure(job.id, kOutOfMemory);
    }
    lingers_ = ending == Fate::linger;
    if (ending == Fate::cancel || ending == Fate::linger) return failure(job.id, kCancelled);
    if (ending != Fate::finish) {
      const std::string kind = ending == Fate::diverge ? "diverged" : "device-unavailable";
      EXPECT_TRUE(
          journal->finish({.state = trial::TrialState::failed, .kind = kind, .message = "So it was."}));
      forget_key(key);
      states.erase(job.id);
      return failure(job.id, kind);
    }
    states.erase(job.id);
    write_metrics(config, *journal);
    Update over{.kind = Update::Kind::over, .job = job.id};
    const auto weights = string_or(job.request, "weights", "");
    if (!weights.empty() && keep_weights) over.weights_problem = keep_weights(weights, config);
    EXPECT_TRUE(journal->finish({.seconds = static_cast<double>(ended), .peak_bytes = peak_bytes}));
    forget_key(key);
    return over;
  }

  void do_steps(const trial::TrialConfig& config, Fate ending, mechanism::JournalWriter& journal) {
    const auto from = journal.resumed_from().step;
    auto until = ending == Fate::finish ? config.steps : std::min(steps_done(config), config.steps);
    if (ending == Fate::diverge) until = std::max(until, std::min(from + 1, config.steps));
    const auto kept = keeps_state(config);
    for (auto step = from; step < until; ++step) {
      EXPECT_TRUE(journal.ensure_booked(step));
      const auto hash = release(config, step);
      EXPECT_EQ(journal.expected_hash(step).value_or(hash), hash) << "another release under the same noise";
      EXPECT_TRUE(journal.step({step, hash, {{"eta", 0.5}}}, {"gradient"}));
      if (step + 1 != kept) continue;
      auto& points = states[config.id()];
      points.insert(points.begin(), journal.point(kept).value());
      if (points.size() > 2) points.pop_back();
      at_state(config, points.front());
    }
    if (ending == Fate::finish || until == config.steps || !ends_in_a_step(config)) return;
    const auto step = std::max(until, from);
    EXPECT_TRUE(journal.ensure_booked(step));
    release(config, step);
  }

  // With the key, where the run is unseeded, as a worker binds the two.
  std::unique_ptr<mechanism::JournalWriter> open_journal(const json::object& request,
                                                         const trial::TrialConfig& config,
                                                         const std::string& key) {
    mechanism::EarlierAttempts earlier{.recorded = int_or(request, "attempts", 0)};
    const auto stored = random::read_key(key).value();
    if (stored) {
      earlier.key = stored->label;
      earlier.has_old_key = !stored->label;
    }
    json::object fingerprint{{"machine", machine}};
    if (auto code = trial::code_of(config.optimizer.name, config.controller.name); !code.empty())
      fingerprint["code"] = std::move(code);
    auto journal = mechanism::JournalWriter::open(string_or(request, "journal", ""), config, fingerprint,
                                                  earlier, states[config.id()])
                       .value();
    const bool goes_on = stored && stored->label && stored->label->nonce == journal->nonce();
    if (!goes_on) {
      EXPECT_TRUE(random::replace_key(key, {.nonce = journal->nonce(),
                                            .trial = config.id(),
                                            .attempt = journal->attempt(),
                                            .config = config.to_json()}));
    }
    return journal;
  }

  static void forget_key(const std::string& key) { EXPECT_TRUE(random::delete_key(key)); }

  void write_metrics(const trial::TrialConfig& config, mechanism::JournalWriter& journal) {
    const double value = static_cast<double>(std::stoul(config.id().substr(0, 6), nullptr, 16)) / 0x1000000;
    const double tested = test_accuracy ? test_accuracy(config) : value + test_shift * (0.5 - value);
    EXPECT_TRUE(journal.metric({config.steps, "test", "accuracy", tested, trial::Visibility::test}));
    EXPECT_TRUE(journal.metric(
        {config.steps, "private_validation", "accuracy", value, trial::Visibility::confidential}));
    for (const auto& shifted : config.ood_test) {
      // The better a run is on its own data, the worse on these.
      for (const char* name : {"accuracy", "score"}) {
        EXPECT_TRUE(
            journal.metric({config.steps, shifted.split(), name, 1 - value, trial::Visibility::test}));
      }
    }
    if (config.evaluation.oracle_train) {
      EXPECT_TRUE(journal.metric(
          {config.steps, "private_train", "accuracy", value, trial::Visibility::confidential}));
    }
    if (!config.evaluation.score) return;
    EXPECT_TRUE(journal.book_score(config.evaluation.score->noise_counts, "private_validation"));
    release(config, config.steps);
    EXPECT_TRUE(
        journal.metric({config.steps, "private_validation", "score", value, trial::Visibility::released}));
  }

  std::deque<Job> waiting_;
  std::map<std::string, Update> lingering_;  // with their ends
  std::vector<Update> over_, over_later_;
  bool lingers_ = false;
  bool crashed_ = false;
  bool has_booked_ = false;  // the present job, so that its worker has told of it
  std::mt19937 random_{7};
};

// A folder, a store in memory or in the folder, and runs of specs in them.
class World {
 public:
  enum class Database { in_memory, in_folder };
  explicit World(Database database = Database::in_memory) : database_(database) {
    std::string pattern = ::testing::TempDir() + "hyfreedp-world-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    if (database == Database::in_folder) std::filesystem::create_directories(out().root);
    reopen_database();
  }
  ~World() { std::filesystem::remove_all(folder_); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void forget_database() {
    close_database();
    std::filesystem::remove(out().database());
    reopen_database();
  }
  // For a process of its own; only of one in the folder anything is left.
  void close_database() { store_.reset(); }
  void reopen_database() {
    close_database();
    store_ = database_ == Database::in_memory
                 ? results::Store::in_memory().value()
                 : results::Store::open(out().database(), results::Store::Mode::read_write).value();
  }
  results::Store& store() { return *store_; }
  OutFolder out() const { return {folder_ + "/out"}; }

  Spec read(const std::string& yaml) {
    const std::string path = folder_ + "/spec.yaml";
    write_file_atomically(path, yaml).value();
    return load_spec(path).value();
  }

  RunReport run(
      const std::string& yaml, FakeExecutor& executor,
      const std::function<bool()>& stop_asked = [] { return false; }) {
    return run(read(yaml), executor, stop_asked, false);
  }

  // `hyfreedp run --only`.
  RunReport run_only(
      const std::string& yaml, const std::vector<std::string>& asked, FakeExecutor& executor,
      const std::function<bool()>& stop_asked = [] { return false; }) {
    const auto spec = read(yaml);
    return run(spec, executor, stop_asked, false, {}, Only::read(asked, spec).value());
  }

  RunReport run(Spec spec, FakeExecutor& executor, const std::function<bool()>& stop_asked, bool fresh,
                const std::optional<KeptWeights>& keeper = {}, const Only& only = {}, bool replace = false) {
    return try_run(std::move(spec), executor, stop_asked, fresh, keeper, only, replace).value();
  }

  Result<RunReport> try_run(Spec spec, FakeExecutor& executor, const std::function<bool()>& stop_asked,
                            bool fresh, const std::optional<KeptWeights>& keeper = {}, const Only& only = {},
                            bool replace = false) {
    restore_for(*store_, out(), spec.content.name, fresh).value();
    catch_up(*store_, out()).value();
    enter_spec(*store_, out(), spec, fresh, replace).value();
    Progress progress(silent_, Progress::Style::none);
    Coordinator coordinator(*store_, executor, out(), progress);
    coordinator.keep_to(only);
    coordinator.look_for_requests_every(std::chrono::seconds(0));
    if (keeper) {
      keeper->open().value();
      coordinator.keep_weights(*keeper);
    }
    return coordinator.run(spec, stop_asked);
  }

  // Everything but seconds, as text.
  std::vector<std::string> rows(const std::string& spec) {
    std::vector<std::string> lines;
    for (auto study : store_->studies(spec).value()) {
      study.seconds = 0;
      lines.push_back(canonical_json(as_json(study)));
      for (const auto& id : study.trials) {
        auto trial = store_->trial(id).value();
        if (!trial) continue;
        trial->seconds = 0;
        lines.push_back(canonical_json(results::to_json(*trial)));
        for (const auto& metric : store_->metrics(id, true).value()) {
          lines.push_back(canonical_json(as_json(metric)));
        }
      }
    }
    return lines;
  }

 private:
  Database database_;
  std::string folder_;
  std::unique_ptr<results::Store> store_;
  std::ostream silent_{nullptr};
};

}  // namespace hyfreedp::runner
