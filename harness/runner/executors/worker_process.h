// One worker process: lines to it, lines from it, and how it ended.
//
// The process has a process group of its own, so that Ctrl-C at the terminal reaches the
// coordinator alone. It is killed with the thread that started it (PR_SET_PDEATHSIG), so a killed
// coordinator leaves no worker behind. All functions and callbacks run on the thread of the
// io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::runner {

struct Death {
  bool by_signal = false;
  int code = 0;      // signal number or exit status
  std::string tail;  // the end of what it wrote to standard error

  // "was killed by signal 9 (Killed)" or "exited with status 1".
  std::string how() const;
  // how(), and the last output if there is any.
  std::string sentence() const;
};

class WorkerProcess {
 public:
  struct Callbacks {
    std::function<void(const std::string& line)> on_line;
    std::function<void(const Death& death)>
        on_death;  // called once, after the last line, and never before start() returns
  };
  using Environment = std::map<std::string, std::string>;  // added to this process's own

  static Result<std::unique_ptr<WorkerProcess>> start(boost::asio::io_context& io, const std::string& path,
                                                      const Environment& environment, Callbacks callbacks);
  ~WorkerProcess();  // kills the process if it still runs; no callback is called afterwards

  void send(const std::string& line);
  void close_input();
  void signal(int number);
  int id() const;  // of the process

 private:
  struct State;
  explicit WorkerProcess(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace hyfreedp::runner
