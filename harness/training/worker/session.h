// The worker's main loop: it says hello, loads datasets and runs trials one after another until it
// is told to stop (harness/trial/worker_protocol.h). Datasets stay in memory for later trials.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "datasets/dataset.h"
#include "harness/training/trainer.h"
#include "harness/training/worker/heartbeat.h"
#include "harness/training/worker/inbox.h"
#include "harness/training/worker/outbox.h"

namespace hyfreedp::worker {

// Exit statuses.
inline constexpr int kStopped = 0;
inline constexpr int kBadInput = 2;
inline constexpr int kNobodyReads = 3;

class Session {
 public:
  Session(Inbox& inbox, Outbox& outbox, training::Parts parts = {})
      : inbox_(inbox), outbox_(outbox), heartbeat_(outbox), parts_(std::move(parts)) {}
  // Reads messages until a stop, and returns the exit status.
  int serve();

 private:
  struct Request {
    std::string trial;
    json::value config;
    std::string journal;
    std::string key;
    std::int64_t attempts = 0;  // that the database knows
    std::string checkpoints;    // folder; empty: none
    double checkpoint_seconds = 0;
    std::string weights;  // empty: not to be kept
    std::string commit;   // of the program that asks
  };

  bool handle(const json::object& message);
  void prepare(const json::object& message);
  void run(const Request& request);
  // Empty: stopped on the way, the journal stays resumable.
  std::optional<trial::Finish> run_to_finish(const Request& request);
  Result<std::optional<trial::Finish>> run_journalled(const trial::TrialConfig& config,
                                                      const Request& request);
  Result<std::shared_ptr<const datasets::Dataset>> dataset(const std::string& name,
                                                           const json::object& options);
  static Result<Request> parse_run(const json::object& message);

  Inbox& inbox_;
  Outbox& outbox_;
  Heartbeat heartbeat_;
  training::Parts parts_;
  std::map<std::string, std::shared_ptr<const datasets::Dataset>> datasets_;
  std::string problem_;
  std::string weights_problem_;     // of the trial that just ended
  std::string checkpoint_problem_;  // of the trial that just ended
  bool heard_ = true;
};

}  // namespace hyfreedp::worker
