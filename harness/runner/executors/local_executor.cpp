#include "harness/runner/executors/local_executor.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "harness/base/text.h"
#include "harness/runner/executors/process_use.h"
#include "harness/trial/worker_protocol.h"

namespace hyfreedp::runner {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// LibTorch may have to come from a slow disk first.
constexpr Seconds kStartPatience{60};
// Deaths in a row, without a job that ended well in between, after which there is no point in going
// on.
constexpr int kStartFailures = 3;
constexpr int kLossesInARow = 8;

struct Message {
  enum class Kind { hello, prepared, progress, heartbeat, done, error };
  Kind kind = Kind::error;
  json::object body;
};

Result<Message> parse_message(const std::string& line) {
  auto body = trial::parse_message(line, "line");
  if (!body) return error("it wrote a line that is no message (" + body.error().message + ")");
  Message message{.kind = Message::Kind::error, .body = std::move(*body)};
  const std::string type = string_or(message.body, "type", "");
  static const std::map<std::string, Message::Kind> kinds = {
      {"hello", Message::Kind::hello},       {"prepared", Message::Kind::prepared},
      {"progress", Message::Kind::progress}, {"heartbeat", Message::Kind::heartbeat},
      {"done", Message::Kind::done},         {"error", Message::Kind::error}};
  const auto kind = kinds.find(type);
  if (kind == kinds.end()) return error("it wrote a message of unknown type '" + type + "'");
  message.kind = kind->second;
  return message;
}

std::map<std::string, double> scalars_of(const json::object& body) {
  std::map<std::string, double> scalars;
  const auto* given = body.if_contains("scalars");
  if (given == nullptr || !given->is_object()) return scalars;
  for (const auto& member : given->get_object()) {
    if (const auto value = to_double(member.value(), "scalars")) scalars[std::string(member.key())] = *value;
  }
  return scalars;
}

// The reason why a worker was ended that would have gone on.
struct Ending {
  std::string kind;
  std::string message;
};

struct Slot {
  std::unique_ptr<WorkerProcess> process;
  bool ready = false;
  bool leaving = false;  // told to; its death is no loss
  std::string nonsense;  // what was wrong with its last line
  std::optional<Job> job;
  Clock::time_point job_started;
  std::unique_ptr<boost::asio::steady_timer> grace;

  bool sent = false;              // the job, to the worker
  std::optional<Ending> ending;   // of the job
  Seconds without_progress{0};    // of the job, or of the start
  Seconds running{0};             // the job
  Seconds since_use{0};           // was told
  std::int64_t moves = -1;        // that its last heartbeat counted
  double cpu_seconds_before = 0;  // the job
  double device_bytes = 0;
};

}  // namespace

// Everything but the update queue is touched by the executor's own thread only.
class LocalExecutor::Pool {
 public:
  explicit Pool(LocalOptions options) : options_(std::move(options)), slots_(count()) {
    // A write to a worker that has just died is an error to handle, not the end of this program.
    std::signal(SIGPIPE, SIG_IGN);
    watch();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Pool() {
    guard_.reset();
    io_.stop();
    thread_.join();
    slots_.clear();  // which kills the workers
  }

  std::size_t count() const { return static_cast<std::size_t>(std::max(options_.slots, 1)); }

  void submit(Job job) {
    boost::asio::post(io_, [this, job = std::move(job)]() mutable {
      const double cost = job.cost;
      pending_.emplace(cost, std::move(job));
      hand_out();
    });
  }

  Result<std::vector<Update>> poll(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return !updates_.empty() || !to_start_.empty() || failure_; });
    auto to_start = std::exchange(to_start_, {});
    lock.unlock();
    for (auto& [index, job] : to_start) {
      if (auto prepared = job.before_start(job.request); !prepared) return prepared.error();
      boost::asio::post(io_, [this, index = index, id = job.id, request = std::move(job.request)]() mutable {
        auto& present = slots_[index].job;
        if (!present || present->id != id) return;
        present->request = std::move(request);
        send_job(index);
      });
    }
    lock.lock();
    std::vector<Update> taken(std::make_move_iterator(updates_.begin()),
                              std::make_move_iterator(updates_.end()));
    updates_.clear();
    if (taken.empty() && failure_) return error(*failure_);
    return taken;
  }

  void cancel(const std::string& job) {
    boost::asio::post(io_, [this, job] {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].job && slots_[i].job->id == job) return dismiss(i);
      }
      const auto waiting = std::find_if(pending_.begin(), pending_.end(),
                                        [&](const auto& candidate) { return candidate.second.id == job; });
      if (waiting == pending_.end()) return;
      report_failed(waiting->second, 0, kCancelled, "It was cancelled before it started.");
      pending_.erase(waiting);
    });
  }

  void stop() {
    on_own_thread([this] {
      stopping_ = true;
      for (const auto& [cost, job] : pending_)
        report_failed(job, 0, kCancelled, "It was cancelled before it started.");
      pending_.clear();
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].process) dismiss(i);
      }
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return alive_ == 0; });
  }

 private:
  void on_own_thread(const std::function<void()>& task) {
    std::packaged_task<void()> wrapped(task);
    auto done = wrapped.get_future();
    boost::asio::post(io_, std::move(wrapped));
    done.wait();
  }

  void publish(Update update) {
    {
      const std::lock_guard lock(mutex_);
      updates_.push_back(std::move(update));
    }
    changed_.notify_all();
  }

  void report_failed(const Job& job, std::size_t slot, const std::string& kind, const std::string& message) {
    Update update{.kind = Update::Kind::over, .job = job.id, .slot = static_cast<int>(slot)};
    update.failed = true;
    update.failure_kind = kind;
    update.message = message;
    publish(std::move(update));
  }

  void count_alive() {
    const auto alive =
        std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !!slot.process; });
    {
      const std::lock_guard lock(mutex_);
      alive_ = alive;
    }
    changed_.notify_all();
  }

  void give_up(const std::string& why) {
    stopping_ = true;
    for (const auto& [cost, job] : pending_) report_failed(job, 0, kInternal, why);
    pending_.clear();
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = why;
    }
    changed_.notify_all();
  }

  // One that was killed may be there for a moment yet.
  static bool can_work(const Slot& slot) {
    return slot.process && slot.ready && !slot.leaving && !slot.ending && slot.nonsense.empty();
  }

  void hand_out() {
    if (stopping_) {
      for (const auto& [cost, job] : pending_) report_failed(job, 0, kCancelled, "The executor has stopped.");
      pending_.clear();
      return;
    }
    std::size_t starting = 0;
    for (std::size_t i = 0; i < slots_.size() && !pending_.empty(); ++i) {
      if (can_work(slots_[i]) && !slots_[i].job) start_job(i);
      if (slots_[i].process && !slots_[i].ready) ++starting;
    }
    const auto wanted = workers_wanted();
    for (std::size_t i = 0; i < slots_.size() && starting < wanted; ++i) {
      if (slots_[i].process) continue;
      start_worker(i);
      ++starting;
      if (stopping_) return;
    }
  }

  void start_worker(std::size_t index) {
    auto environment = worker_environment();
    for (const auto& [name, value] : options_.environment) environment[name] = value;
    auto process =
        WorkerProcess::start(io_, options_.worker, environment,
                             {.on_line = [this, index](const std::string& line) { on_line(index, line); },
                              .on_death = [this, index](const Death& death) { on_death(index, death); }});
    if (!process) return give_up(process.error().message);
    slots_[index] = Slot{};
    slots_[index].process = std::move(*process);
    count_alive();
  }

  // Bytes that the jobs under way may need; none if there are no jobs.
  std::optional<double> memory_under_way() const {
    std::optional<double> bytes;
    for (const auto& slot : slots_) {
      if (slot.job) bytes = bytes.value_or(0) + slot.job->memory;
    }
    return bytes;
  }

  bool fits(const Job& job, const std::optional<double>& under_way) const {
    return options_.memory <= 0 || !under_way || *under_way + job.memory <= options_.memory;
  }

  // The number of waiting jobs for which there is memory, as far as slots go.
  std::size_t workers_wanted() const {
    auto under_way = memory_under_way();
    std::size_t count = 0;
    for (auto job = pending_.begin(); job != pending_.end() && count < slots_.size(); ++job) {
      if (!fits(job->second, under_way)) continue;
      under_way = under_way.value_or(0) + job->second.memory;
      ++count;
    }
    return count;
  }

  void start_job(std::size_t index) {
    const auto under_way = memory_under_way();
    const auto dearest =
        std::ranges::find_if(pending_, [&](const auto& job) { return fits(job.second, under_way); });
    if (dearest == pending_.end()) return;
    auto& slot = slots_[index];
    slot.job = std::move(pending_.extract(dearest).mapped());
    slot.job_started = Clock::now();
    slot.sent = false;
    if (!slot.job->before_start) return send_job(index);
    {
      const std::lock_guard lock(mutex_);
      to_start_.insert_or_assign(index, *slot.job);
    }
    changed_.notify_all();
  }

  void send_job(std::size_t index) {
    auto& slot = slots_[index];
    slot.job_started = Clock::now();
    slot.sent = true;
    slot.without_progress = slot.running = slot.since_use = Seconds{0};
    slot.moves = -1;
    slot.device_bytes = 0;
    const auto use = process_use(slot.process->id());
    slot.cpu_seconds_before = use ? use->cpu_seconds : 0;
    slot.process->send(canonical_json(slot.job->request));
    publish({.kind = Update::Kind::started, .job = slot.job->id, .slot = static_cast<int>(index)});
  }

  void forget_start(std::size_t index) {
    const std::lock_guard lock(mutex_);
    to_start_.erase(index);
  }

  void on_line(std::size_t index, const std::string& line) {
    auto& slot = slots_[index];
    if (!slot.nonsense.empty()) return;
    const auto message = parse_message(line);
    if (!message) return expel(index, message.error().message);
    switch (message->kind) {
      case Message::Kind::hello:
        return on_hello(index, message->body);
      case Message::Kind::progress:
        return on_progress(index, message->body);
      case Message::Kind::heartbeat:
        return on_heartbeat(index, message->body);
      case Message::Kind::prepared:
        return end_job(index, "",
                       {{"seconds", double_or(message->body, "seconds", 0)}, {"state", "finished"}});
      case Message::Kind::done:
        return end_job(index, string_or(message->body, "trial", ""), message->body);
      case Message::Kind::error:
        return end_job(index, "",
                       {{"state", "failed"},
                        {"kind", kInternal},
                        {"message", string_or(message->body, "message", "the worker gave no reason")}});
    }
  }

  void on_hello(std::size_t index, const json::object& body) {
    const std::string version = string_or(body, "version", "?");
    if (version != trial::kWorkerProtocolVersion) {
      dismiss(index);
      return give_up(
          fmt::format("The worker {} uses version {} of the worker protocol, and this program uses version "
                      "{}. Build both from the same sources.",
                      options_.worker, version, trial::kWorkerProtocolVersion));
    }
    start_failures_ = 0;
    slots_[index].ready = true;
    slots_[index].without_progress = Seconds{0};
    hand_out();
  }

  void on_heartbeat(std::size_t index, const json::object& body) {
    auto& slot = slots_[index];
    const auto moves = int_or(body, "moves", 0);
    if (moves != slot.moves) slot.without_progress = Seconds{0};
    slot.moves = moves;
    slot.device_bytes = double_or(body, "device_bytes", 0);
  }

  void on_progress(std::size_t index, const json::object& body) {
    auto& slot = slots_[index];
    if (!slot.job || string_or(body, "trial", "") != slot.job->id) return;
    slot.without_progress = Seconds{0};
    Update update{.kind = Update::Kind::progress, .job = slot.job->id, .slot = static_cast<int>(index)};
    update.step = int_or(body, "step", 0);
    update.steps = int_or(body, "steps", 0);
    update.scalars = scalars_of(body);
    publish(std::move(update));
  }

  // `trial`: whose end was announced; empty: of whatever it was doing.
  void end_job(std::size_t index, const std::string& trial, const json::object& body) {
    auto& slot = slots_[index];
    if (!slot.job || !slot.sent) return expel(index, "it reported the end of a job that it was not given");
    if (!trial.empty() && trial != slot.job->id)
      return expel(index, "it reported the end of another job than its own");
    Update update{.kind = Update::Kind::over, .job = slot.job->id, .slot = static_cast<int>(index)};
    update.failed = string_or(body, "state", "") != "finished";
    update.failure_kind = string_or(body, "kind", "");
    if (update.failed && update.failure_kind.empty()) update.failure_kind = kInternal;
    update.message = string_or(body, "message", "");
    update.seconds = double_or(body, "seconds", seconds_of(slot));
    update.cpu_seconds = double_or(body, "cpu_seconds", 0);
    update.peak_bytes = double_or(body, "peak_bytes", 0);
    update.weights_problem = string_or(body, "weights_problem", "");
    update.checkpoint_problem = string_or(body, "checkpoint_problem", "");
    const auto use = process_use(slot.process->id());
    update.resident_bytes = use ? use->resident_bytes : 0;
    update.device_bytes = slot.device_bytes;
    slot.job.reset();
    losses_ = 0;
    publish(std::move(update));
    hand_out();
  }

  // A worker that speaks nonsense cannot be trusted with anything further.
  void expel(std::size_t index, const std::string& why) {
    slots_[index].nonsense = why;
    slots_[index].process->signal(SIGKILL);
  }

  void watch() {
    watch_.expires_after(options_.watch);
    watch_.async_wait([this, before = Clock::now()](const boost::system::error_code& failure) {
      if (failure) return;
      const Seconds passed = std::min<Seconds>(Clock::now() - before, options_.watch);
      for (std::size_t i = 0; i < slots_.size(); ++i) look_at(i, passed);
      watch();
    });
  }

  void look_at(std::size_t index, Seconds passed) {
    auto& slot = slots_[index];
    if (!slot.process || slot.leaving || slot.ending || !slot.nonsense.empty()) return;
    if (slot.ready && !(slot.job && slot.sent)) return;  // it waits for work
    slot.without_progress += passed;
    const auto hang_limit = slot.ready ? options_.hang_limit : std::max(options_.hang_limit, kStartPatience);
    if (options_.hang_limit > Seconds{0} && slot.without_progress > hang_limit) {
      return end_worker(index, kHung,
                        "Its worker showed no progress for " + human_duration(hang_limit.count()) +
                            " (--hang-minutes) and was killed.");
    }
    if (!slot.ready) return;
    slot.running += passed;
    slot.since_use += passed;
    const auto use = process_use(slot.process->id());
    if (use && slot.since_use >= options_.use_interval) tell_use(index, *use);
    if (use && options_.memory_limit > 0 && use->own_bytes > options_.memory_limit) {
      return end_worker(index, kOutOfMemory,
                        fmt::format("Its worker had {} of memory, and --memory-limit allows {}.",
                                    bytes_text(static_cast<std::uint64_t>(use->own_bytes)),
                                    bytes_text(static_cast<std::uint64_t>(options_.memory_limit))));
    }
    const auto time_limit = slot.job->time_limit;
    if (time_limit > Seconds{0} && slot.running > time_limit) {
      slot.ending =
          Ending{kOverTime, "It was stopped after " + human_duration(time_limit.count()) +
                                " (--time-limit), with a checkpoint; the next hyfreedp run continues it."};
      dismiss(index);
    }
  }

  void end_worker(std::size_t index, const char* kind, std::string message) {
    slots_[index].ending = Ending{kind, std::move(message)};
    slots_[index].process->signal(SIGKILL);
  }

  void tell_use(std::size_t index, const ProcessUse& use) {
    auto& slot = slots_[index];
    slot.since_use = Seconds{0};
    Update update{.kind = Update::Kind::use, .job = slot.job->id, .slot = static_cast<int>(index)};
    update.seconds = seconds_of(slot);
    update.cpu_seconds = use.cpu_seconds - slot.cpu_seconds_before;
    update.resident_bytes = use.resident_bytes;
    update.device_bytes = slot.device_bytes;
    publish(std::move(update));
  }

  void dismiss(std::size_t index) {
    auto& slot = slots_[index];
    if (slot.leaving) return;
    slot.leaving = true;
    forget_start(index);
    slot.process->send(canonical_json(json::object{{"type", "stop"}}));
    slot.process->close_input();
    slot.process->signal(SIGTERM);
    slot.grace = std::make_unique<boost::asio::steady_timer>(io_, options_.grace);
    slot.grace->async_wait([this, index](const boost::system::error_code& failure) {
      if (!failure && slots_[index].process) slots_[index].process->signal(SIGKILL);
    });
  }

  static double seconds_of(const Slot& slot) {
    return std::chrono::duration<double>(Clock::now() - slot.job_started).count();
  }

  void on_death(std::size_t index, const Death& death) {
    Slot lost = std::move(slots_[index]);
    slots_[index] = Slot{};
    forget_start(index);
    if (lost.job) report_lost(index, lost, death);
    count_alive();
    if (stopping_) return;
    const bool too_large = lost.ending && lost.ending->kind == kOutOfMemory;
    if (!lost.leaving && !too_large) {
      ++losses_;
      if (!lost.ready) ++start_failures_;
    }
    if (start_failures_ >= kStartFailures) {
      return give_up(options_.worker + " cannot start. " + death.sentence());
    }
    if (losses_ >= kLossesInARow) {
      return give_up(
          fmt::format("Workers died {} times in a row without ending a job. {}", losses_, death.sentence()));
    }
    hand_out();
  }

  void report_lost(std::size_t index, const Slot& lost, const Death& death) {
    if (!lost.nonsense.empty()) {
      return report_failed(*lost.job, index, kInternal, "The worker was stopped: " + lost.nonsense + ".");
    }
    if (lost.ending) return report_failed(*lost.job, index, lost.ending->kind, lost.ending->message);
    if (lost.leaving) return report_failed(*lost.job, index, kCancelled, "It was cancelled.");
    report_failed(*lost.job, index, death.by_signal ? kKilled : kInternal, death.sentence());
  }

  LocalOptions options_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{io_.get_executor()};
  boost::asio::steady_timer watch_{io_};
  std::vector<Slot> slots_;
  // The waiting jobs by cost, the dearest first; of equal cost, in the order of submission.
  std::multimap<double, Job, std::greater<>> pending_;
  bool stopping_ = false;
  int losses_ = 0;
  int start_failures_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Update> updates_;
  std::map<std::size_t, Job> to_start_;  // by slot: before_start is to be called
  std::optional<std::string> failure_;
  std::ptrdiff_t alive_ = 0;

  std::thread thread_;
};

namespace {

std::string threads_of_a_worker() {
  const char* threads = std::getenv("HYFREEDP_THREADS");
  return threads == nullptr ? "1" : threads;
}

}  // namespace

std::string describe_workers(int slots) {
  const auto threads = threads_of_a_worker();
  return fmt::format("{} worker{} of {} thread{} each (HYFREEDP_THREADS); idle threads sleep.", slots,
                     slots == 1 ? "" : "s", threads, threads == "1" ? "" : "s");
}

WorkerProcess::Environment worker_environment() {
  const std::string count = threads_of_a_worker();
  return {{"OMP_NUM_THREADS", count},
          {"MKL_NUM_THREADS", count},
          {"OMP_WAIT_POLICY", "PASSIVE"},
          {"GOMP_SPINCOUNT", "0"},
          {"KMP_BLOCKTIME", "0"}};
}

Result<std::string> find_worker() {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (const char* given = std::getenv("HYFREEDP_WORKER"); given != nullptr && *given != '\0') {
    if (fs::is_regular_file(given, failure)) return std::string(given);
    return error(std::string("HYFREEDP_WORKER names ") + given + ", which is not a file.");
  }
  const auto beside = fs::read_symlink("/proc/self/exe", failure).parent_path() / "hyfreedp-worker";
  if (fs::is_regular_file(beside, failure)) return beside.string();
  return error(
      "The worker program is not at " + beside.string() +
      ". Build the target hyfreedp-worker (experiments/run does), or set HYFREEDP_WORKER to its path.");
}

LocalExecutor::LocalExecutor(LocalOptions options) : pool_(std::make_unique<Pool>(std::move(options))) {}
LocalExecutor::~LocalExecutor() = default;

void LocalExecutor::submit(Job job) { pool_->submit(std::move(job)); }
Result<std::vector<Update>> LocalExecutor::poll(std::chrono::milliseconds patience) {
  return pool_->poll(patience);
}
void LocalExecutor::cancel(const std::string& job) { pool_->cancel(job); }
void LocalExecutor::stop() { pool_->stop(); }
int LocalExecutor::slots() const { return static_cast<int>(pool_->count()); }

}  // namespace hyfreedp::runner
