// `hyfreedp run --log FILE`: what happens in a run, one JSON object a line, appended.
// experiments/README.md ("A log") lists the lines and their members.
//
// If Board::hides_times is set, only the first lines of a run, written before anything of it was
// drawn, have times; and all lines of studies and trials are written at the run's end, those of the
// studies in the spec's order, those of the trials by their ids, so that not even the order of
// lines tells how long a private selection took. No line tells of a selection's runs.
//
// A line that cannot be written stops nothing: problem() says why, and later lines are tried again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/runner/progress/run_listener.h"

namespace hyfreedp::runner {

class RunLog final : public RunListener {
 public:
  // Makes the file and its folder where there is none; what it holds stays. An error if it cannot
  // be opened.
  static Result<std::unique_ptr<RunLog>> open(const std::string& path);
  ~RunLog() override;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // To be called before the coordinator runs; `members`: the spec and what works on it.
  void begin(const json::object& members);
  void warning(const std::string& text);
  void checkpoint_problem(const std::string& text);
  // The last line of a run.
  void end(int exit_code, const std::string& summary);
  const std::string& problem() const { return problem_; }

  void board(const Board& board) override;
  void study_begun(const StudyNews& news) override;
  void study_over(const StudyNews& news, const results::Store& store) override;
  void trial_begun(const std::string& trial, const std::string& title, std::int64_t steps) override;
  void trial_over(const Update& update, const std::string& title) override;

 private:
  RunLog(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  void write(const std::string& event, json::object line);
  // `place`: where it belongs among the lines that are held.
  void write_or_hold(const std::string& event, const std::string& place, json::object line);

  struct Held {
    std::string event;
    json::object line;
  };
  std::string path_;
  int descriptor_ = -1;
  bool hides_times_ = false;
  std::string phase_;
  std::string problem_;
  std::map<std::string, std::vector<Held>> held_;
};

}  // namespace hyfreedp::runner
