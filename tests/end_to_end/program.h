// The real binaries, run as a user runs them, in a folder of their own.
#pragma once

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <boost/process/start_dir.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"

namespace hyfreedp::end_to_end {

namespace fs = std::filesystem;

inline const std::string kProgram = std::string(HYFREEDP_BIN_DIR) + "/hyfreedp";
inline const std::string kSmoke = std::string(HYFREEDP_SOURCE_DIR) + "/experiments/smoke.yaml";

inline bool binaries_are_built() {
  const char* elsewhere = std::getenv("HYFREEDP_WORKER");
  return fs::exists(kProgram) &&
         (elsewhere != nullptr || fs::exists(std::string(HYFREEDP_BIN_DIR) + "/hyfreedp-worker"));
}

struct Ended {
  int code = 0;  // 128 + signal where one ended it
  std::string out;
  std::string err;
};

// Waits for `condition`, a minute at most.
inline bool wait_for(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

struct OwnGroup : boost::process::extend::handler {
  template <class Executor>
  void on_exec_setup(Executor&) const {
    ::setpgid(0, 0);
  }
};

// A program under way.
class Running {
 public:
  Running(const fs::path& folder, const std::string& program, const std::vector<std::string>& arguments)
      : out_(folder / ("stdout-" + std::to_string(count()))),
        err_(folder / ("stderr-" + std::to_string(count()))),
        child_(program, boost::process::args = arguments, boost::process::start_dir = folder.string(),
               boost::process::std_in<boost::process::null, boost::process::std_out> out_.string(),
               boost::process::std_err > err_.string(), OwnGroup{}) {
    ++counter();
  }
  int id() const { return child_.id(); }
  // As a terminal does on Ctrl-C: to the whole process group.
  void interrupt() { ::kill(-id(), SIGINT); }
  void kill() { ::kill(id(), SIGKILL); }
  bool is_running() { return child_.running(); }
  // Its workers stand still until resume(), so that a run is under way however fast the machine is.
  void pause() {
    paused_ = workers();
    for (const int worker : paused_) ::kill(worker, SIGSTOP);
  }
  void resume() {
    for (const int worker : paused_) ::kill(worker, SIGCONT);
  }

  Ended wait() {
    child_.wait();
    const int status = child_.native_exit_code();
    return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
            read_file(out_.string()).value(), read_file(err_.string()).value()};
  }

  std::vector<int> workers() const {
    std::vector<int> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "stat");
      std::string text;
      std::getline(file, text);
      // pid (name) state ppid ...; the name may hold spaces
      const auto close = text.rfind(')');
      if (close == std::string::npos || text.find("(hyfreedp-worker") == std::string::npos) continue;
      std::istringstream rest(text.substr(close + 1));
      char state = 0;
      int parent = 0;
      rest >> state >> parent;
      if (parent == id() && state != 'Z') found.push_back(std::stoi(name));
    }
    return found;
  }

 private:
  static int& counter() {
    static int value = 0;
    return value;
  }
  static int count() { return counter(); }
  fs::path out_;
  fs::path err_;
  boost::process::child child_;
  std::vector<int> paused_;
};

// Each test has a folder that goes with it. Without the binaries the suite is skipped, loudly.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!binaries_are_built()) {
      std::cout << "SKIPPED SUITE: " << kProgram << " and hyfreedp-worker are not built here\n";
      GTEST_SKIP();
    }
    std::string pattern = ::testing::TempDir() + "hyfreedp-end-to-end-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    // Own files are compared with all that this user has had.
    if (const char* state = std::getenv("XDG_STATE_HOME")) state_ = state;
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
  }
  void TearDown() override {
    draw_pictures();
    if (state_) {
      ::setenv("XDG_STATE_HOME", state_->c_str(), 1);
    } else {
      ::unsetenv("XDG_STATE_HOME");
    }
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // For tests that look at no picture: gnuplot, a fifth of a small run's time, is not found. Nor is
  // any other program by its name.
  void draw_no_pictures() {
    if (const char* path = std::getenv("PATH"); path != nullptr && path_.empty()) path_ = path;
    ::setenv("PATH", "/nowhere", 1);
  }

  void draw_pictures() {
    if (!path_.empty()) ::setenv("PATH", path_.c_str(), 1);
  }

  Running start(const std::vector<std::string>& arguments, const std::string& program = kProgram) {
    return Running(folder_, program, arguments);
  }
  Ended run(const std::vector<std::string>& arguments) { return start(arguments).wait(); }

  std::string write(const std::string& name, const std::string& text) {
    const auto path = (folder_ / name).string();
    write_file_atomically(path, text).value();
    return path;
  }

  // Rows, trials, metrics and events of a spec, without times.
  std::string rows(const std::string& spec, const std::string& out = "out") {
    const auto ended = run({"export", "rows", spec, "--out", out});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_GT(ended.out.size(), 1000U);
    return ended.out;
  }

  std::size_t journal_bytes(const std::string& out = "out") const {
    std::size_t bytes = 0;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder_ / out / "journals", failure)) {
      bytes += fs::file_size(entry, failure);
    }
    return bytes;
  }

  fs::path folder_;

 private:
  std::optional<std::string> state_;  // XDG_STATE_HOME before the test
  std::string path_;                  // PATH, where draw_no_pictures() changed it
};

}  // namespace hyfreedp::end_to_end
