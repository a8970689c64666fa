#include "harness/runner/progress/run_log.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "harness/base/describe.h"
#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

std::string utc_now() {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto whole = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03d}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(whole)),
                     (now - whole).count());
}

json::object study_members(const results::StudyRecord& record) {
  return {{"study", record.id},
          {"panel", record.panel},
          {"row", record.row},
          {"epsilon_target", as_json(record.epsilon_target)},
          {"seed", record.seed}};
}

// The last test values of the reported run, by name.
json::object test_values(const results::Store& store, const std::string& trial) {
  json::object values;
  if (const auto metrics = store.metrics(trial)) {
    for (const auto& metric : *metrics) {
      if (metric.split == "test") values[metric.name] = number(metric.value);
    }
  }
  return values;
}

// Studies before trials.
std::string place_of(const StudyNews& news) { return fmt::format("study {:09}", news.place); }
std::string place_of(const std::string& trial) { return "trial " + trial; }

std::string end_of(const results::StudyRecord& record) {
  if (results::is_not_needed(record)) return "not-needed";
  return record.state == results::StudyState::failed ? "failed" : "concluded";
}

}  // namespace

Result<std::unique_ptr<RunLog>> RunLog::open(const std::string& path) {
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    if (auto made = make_folders(folder.string()); !made) return made.error();
  }
  const auto open_file = named_descriptor(path);
  const int descriptor = open_file ? ::fcntl(*open_file, F_DUPFD_CLOEXEC, 0)
                                   : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) return error(path + ": cannot open the log (" + std::strerror(errno) + ")");
  // An earlier file may have a wider mode. What is no regular file, /dev/stderr say, keeps its own.
  struct stat status {};
  if (!open_file && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    static_cast<void>(::fchmod(descriptor, 0600));
  }
  return std::unique_ptr<RunLog>(new RunLog(path, descriptor));
}

RunLog::~RunLog() { ::close(descriptor_); }

void RunLog::begin(const json::object& members) { write("run-begun", members); }

void RunLog::warning(const std::string& text) { write("warning", {{"message", text}}); }

void RunLog::checkpoint_problem(const std::string& text) { write("checkpoint-problem", {{"message", text}}); }

void RunLog::end(int exit_code, const std::string& summary) {
  for (auto& [place, lines] : held_) {
    for (auto& [event, line] : lines) write(event, std::move(line));
  }
  held_.clear();
  write("run-over", {{"exit_code", exit_code}, {"summary", summary}});
}

void RunLog::board(const Board& board) {
  hides_times_ = hides_times_ || board.hides_times;
  if (board.phase == phase_) return;
  phase_ = board.phase;
  write("phase", {{"phase", phase_}});
}

void RunLog::study_begun(const StudyNews& news) {
  write_or_hold("study-begun", place_of(news), study_members(news.record));
}

void RunLog::study_over(const StudyNews& news, const results::Store& store) {
  auto line = study_members(news.record);
  line["state"] = end_of(news.record);
  if (news.record.state == results::StudyState::failed) line["failure"] = news.record.failure_kind;
  if (news.record.total) {
    line["epsilon"] = number(news.record.total->epsilon);
    line["delta"] = number(news.record.total->delta);
  }
  if (!news.record.reported_trial.empty()) line["test"] = test_values(store, news.record.reported_trial);
  write_or_hold("study-over", place_of(news), std::move(line));
}

void RunLog::trial_begun(const std::string& trial, const std::string& title, std::int64_t steps) {
  write_or_hold("trial-begun", place_of(trial), {{"trial", trial}, {"title", title}, {"steps", steps}});
}

void RunLog::trial_over(const Update& update, const std::string& title) {
  json::object line{{"trial", update.job}, {"title", title}, {"state", "finished"}};
  if (update.failed) {
    line["state"] = update.failure_kind == kCancelled ? "interrupted" : "failed";
    if (update.failure_kind != kCancelled) line["failure"] = update.failure_kind;
  }
  if (!hides_times_) line["seconds"] = number(update.seconds);
  write_or_hold("trial-over", place_of(update.job), std::move(line));
}

void RunLog::write_or_hold(const std::string& event, const std::string& place, json::object line) {
  if (hides_times_) {
    held_[place].push_back({event, std::move(line)});
  } else {
    write(event, std::move(line));
  }
}

// The line is written in one call, so that lines of several runs that append to one file do not
// mix.
void RunLog::write(const std::string& event, json::object line) {
  line["event"] = event;
  if (!hides_times_) line["time"] = utc_now();
  const auto text = canonical_json(line) + "\n";
  const auto written = ::write(descriptor_, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return;
  problem_ = path_ + ": " + (written < 0 ? std::strerror(errno) : "the disk is full");
}

}  // namespace hyfreedp::runner
