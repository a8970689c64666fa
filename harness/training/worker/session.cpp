#include "harness/training/worker/session.h"

#include <ATen/Context.h>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <sys/resource.h>

#include "harness/base/files.h"
#include "harness/base/version.h"
#include "harness/random/key_file.h"
#include "harness/training/cuda_settings.h"
#include "harness/training/fingerprint.h"
#include "harness/training/peak_memory.h"
#include "harness/trial/code_marks.h"
#include "harness/trial/worker_protocol.h"

namespace hyfreedp::worker {
namespace {

using Clock = std::chrono::steady_clock;
using trial::Finish;
using trial::TrialState;

constexpr const char* kInput = "standard input";

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Finish failure(std::string kind, std::string message) {
  Finish finish;
  finish.state = TrialState::failed;
  finish.kind = std::move(kind);
  finish.message = std::move(message);
  return finish;
}

json::object to_json(const training::Scalars& scalars) {
  json::object object;
  for (const auto& [name, value] : scalars) object[name] = number(value);
  return object;
}

// Processor time in seconds of the whole process since it started.
double cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Sends at most a few progress lines a second.
class ProgressReporter {
 public:
  ProgressReporter(Outbox& outbox, std::string trial, std::int64_t steps)
      : outbox_(outbox), trial_(std::move(trial)), steps_(steps) {}

  void operator()(std::int64_t step, const training::Scalars& scalars) {
    for (const auto& [name, value] : scalars) latest_[name] = value;
    const auto now = Clock::now();
    if (now - sent_ < std::chrono::milliseconds(250)) return;
    sent_ = now;
    outbox_.send({{"type", "progress"},
                  {"trial", trial_},
                  {"step", step + 1},
                  {"steps", steps_},
                  {"scalars", to_json(latest_)}});
  }

 private:
  Outbox& outbox_;
  std::string trial_;
  std::int64_t steps_;
  training::Scalars latest_;
  Clock::time_point sent_ = Clock::now();
};

}  // namespace

int Session::serve() {
  outbox_.send({{"type", "hello"},
                {"version", trial::kWorkerProtocolVersion},
                {"fingerprint", training::fingerprint("cpu")}});
  while (auto message = inbox_.next()) {
    if (!message->problem.empty()) problem_ = message->problem;
    heartbeat_.begin();
    const bool handled = problem_.empty() && handle(message->object);
    heartbeat_.end();
    if (!handled) {
      std::cerr << "hyfreedp-worker: " << problem_ << "\n";
      return kBadInput;
    }
    if (!heard_) return kNobodyReads;
  }
  return kStopped;
}

bool Session::handle(const json::object& message) {
  const auto type = string_or(message, "type", "");
  if (type == "prepare") {
    prepare(message);
    return problem_.empty();
  }
  if (type == "run") {
    auto request = parse_run(message);
    if (!request) {
      problem_ = request.error().message;
      return false;
    }
    run(*request);
    return true;
  }
  problem_ = std::string(kInput) + ": unknown message type '" + type + "' (prepare, run or stop)";
  return false;
}

void Session::prepare(const json::object& message) {
  const auto begin = Clock::now();
  const auto* wanted = message.if_contains("dataset");
  const auto* object = wanted != nullptr ? wanted->if_object() : nullptr;
  const auto* options = object != nullptr ? object->if_contains("options") : nullptr;
  if (options == nullptr || !options->is_object()) {
    problem_ = std::string(kInput) + ": prepare needs a dataset with name and options";
    return;
  }
  const auto loaded = dataset(string_or(*object, "name", ""), options->get_object());
  heard_ = loaded ? outbox_.send({{"type", "prepared"}, {"seconds", seconds_since(begin)}})
                  : outbox_.send({{"type", "error"}, {"message", loaded.error().message}});
}

Result<Session::Request> Session::parse_run(const json::object& message) {
  auto trial = get_string(message, "trial", kInput);
  if (!trial) return trial.error();
  auto journal = get_string(message, "journal", kInput);
  if (!journal) return journal.error();
  const auto* config = message.if_contains("config");
  if (config == nullptr) return error(std::string(kInput) + ": run needs a config");
  return Request{.trial = *trial,
                 .config = *config,
                 .journal = *journal,
                 .key = string_or(message, "key", ""),
                 .attempts = int_or(message, "attempts", 0),
                 .checkpoints = string_or(message, "checkpoints", ""),
                 .checkpoint_seconds = double_or(message, "checkpoint_seconds", 0),
                 .weights = string_or(message, "weights", ""),
                 .commit = string_or(message, "commit", "")};
}

void Session::run(const Request& request) {
  const auto begin = Clock::now();
  const double before = cpu_seconds();
  weights_problem_.clear();
  checkpoint_problem_.clear();
  auto finish = run_to_finish(request);
  training::give_back_freed_memory();
  if (!finish) return;
  heard_ = outbox_.send({{"type", "done"},
                         {"trial", request.trial},
                         {"state", name_of(finish->state)},
                         {"kind", finish->kind},
                         {"message", finish->message},
                         {"weights_problem", weights_problem_},
                         {"checkpoint_problem", checkpoint_problem_},
                         {"seconds", seconds_since(begin)},
                         {"cpu_seconds", cpu_seconds() - before},
                         {"peak_bytes", finish->peak_bytes}});
}

std::optional<Finish> Session::run_to_finish(const Request& request) {
  const auto config = trial::TrialConfig::from_json(request.config, "trial " + request.trial);
  if (!config) return failure("invalid-config", config.error().message);
  if (config->id() != request.trial) {
    return failure("invalid-config", "The config's own identity is " + config->id() + ", not " +
                                         request.trial +
                                         ": coordinator and worker are of different versions.");
  }
  auto end = Result<std::optional<Finish>>(std::nullopt);
  try {
    end = run_journalled(*config, request);
  } catch (const std::exception& caught) {
    return failure("internal", caught.what());
  }
  if (!end) return failure("internal", end.error().message);
  if (*end) {
    const auto& folder = request.checkpoints;
    if (auto deleted = folder.empty() ? Result<void>{} : remove_folder(folder); !deleted) {
      return failure("internal", deleted.error().message);
    }
  }
  // A seeded run that failed may go on as the same attempt, which its key names; the coordinator
  // deletes that where it may not.
  const bool stays = *end && config->noise_seed && (**end).state != TrialState::finished;
  if (*end && !stays) {
    // Whoever held the key could subtract the noise; a finished run has no use for it.
    if (auto deleted = random::delete_key(request.key); !deleted) {
      return failure("internal", deleted.error().message);
    }
  }
  return *end;
}

Result<std::optional<Finish>> Session::run_journalled(const trial::TrialConfig& config,
                                                      const Request& request) {
  if (std::filesystem::exists(request.journal)) {
    const auto earlier = mechanism::read_journal(request.journal);
    const bool over = earlier && earlier->trial == request.trial && earlier->finish &&
                      earlier->finish->state == TrialState::finished;
    if (over) return earlier->finish;
  }
  auto earlier = mechanism::earlier_attempts(config, request.key);
  if (!earlier) return earlier.error();
  earlier->recorded = request.attempts;
  auto fingerprint = training::fingerprint(config.device);
  if (!request.commit.empty()) fingerprint["commit"] = request.commit;
  if (auto code = trial::code_of(config.optimizer.name, config.controller.name); !code.empty())
    fingerprint["code"] = std::move(code);
  std::optional<training::Checkpoints> checkpoints;
  if (!request.checkpoints.empty()) {
    checkpoints.emplace(request.checkpoints, config.id(),
                        std::chrono::duration<double>(request.checkpoint_seconds));
  }
  auto journal = mechanism::JournalWriter::open(
      request.journal, config, fingerprint, *earlier,
      checkpoints ? training::points_of(checkpoints->read()) : std::vector<mechanism::ResumePoint>());
  if (!journal) return journal.error();
  (**journal).tell_before_booking([&] {
    outbox_.send({{"type", "progress"},
                  {"trial", request.trial},
                  {"step", (**journal).resumed_from().step},
                  {"steps", config.steps},
                  {"scalars", json::object()}});
  });
  const auto fail = [&](const std::string& kind,
                        const std::string& message) -> Result<std::optional<Finish>> {
    const auto finish = failure(kind, message);
    if (auto written = (**journal).finish(finish); !written) return written.error();
    return std::optional(finish);
  };
  const auto data = dataset(config.dataset.name, config.dataset.options);
  if (!data) return fail("missing-data", data.error().message);
  std::vector<datasets::SplitData> ood_test;
  for (const auto& shifted : config.ood_test) {
    const auto loaded = dataset(shifted.dataset.name, shifted.dataset.options);
    if (!loaded) return fail("missing-data", loaded.error().message);
    ood_test.push_back((**loaded).test);
  }
  heartbeat_.watch_gpu(config.device != "cpu");
  const auto present_key = [&] { return mechanism::run_key(config, request.key, **journal); };
  const auto key = present_key();
  if (!key) return key.error();
  auto end = training::train({.config = config,
                              .dataset = **data,
                              .key = *key,
                              .journal = **journal,
                              .next_key = present_key,
                              .stop_requested =
                                  [&] {
                                    heartbeat_.move();
                                    return inbox_.stop_requested();
                                  },
                              .progress = ProgressReporter(outbox_, request.trial, config.steps),
                              .checkpoints = checkpoints ? &*checkpoints : nullptr,
                              .weights_folder = request.weights,
                              .parts = parts_,
                              .ood_test = std::move(ood_test)});
  if (checkpoints) checkpoint_problem_ = checkpoints->problem();
  if (!end) return end.error();
  weights_problem_ = end->weights_problem;
  return end->stopped ? std::optional<Finish>() : std::optional(end->finish);
}

Result<std::shared_ptr<const datasets::Dataset>> Session::dataset(const std::string& name,
                                                                  const json::object& options) {
  const auto identity = name + canonical_json(options);
  if (const auto found = datasets_.find(identity); found != datasets_.end()) return found->second;
  try {
    // A frozen network may compute features there, before any run has been set up.
    if (at::hasCUDA()) training::use_deterministic_kernels();
    auto loaded = datasets::load_dataset(name, options, at::hasCUDA() ? "cuda" : "cpu");
    if (!loaded) return loaded.error();
    return datasets_[identity] = std::make_shared<const datasets::Dataset>(std::move(*loaded));
  } catch (const std::exception& caught) {
    return error("dataset '" + name + "' could not be loaded: " + caught.what());
  }
}

}  // namespace hyfreedp::worker
