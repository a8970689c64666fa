// A worker program that trains nothing: the test executable itself, started again with
// HYFREEDP_FAKE_WORKER set. Each request says what to do in `behaviour`.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "harness/base/json.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/trial/worker_protocol.h"

namespace hyfreedp::runner {

inline void fake_say(const json::object& message) { std::cout << canonical_json(message) << std::endl; }

inline json::object end_of(const std::string& trial) {
  return {{"type", "done"}, {"trial", trial}, {"state", "finished"},
          {"kind", ""},     {"message", ""},  {"seconds", 0.5}};
}
inline void fake_done(const std::string& trial) { fake_say(end_of(trial)); }

inline void fake_run(const json::object& request) {
  const std::string trial = string_or(request, "trial", "");
  const std::string behaviour = string_or(request, "behaviour", "finish");
  if (behaviour == "beats" || behaviour == "stands-still") {
    const auto begin = std::chrono::steady_clock::now();
    const auto lasts = std::chrono::milliseconds(int_or(request, "milliseconds", 0));
    for (int moves = 0; std::chrono::steady_clock::now() - begin < lasts; ++moves) {
      fake_say({{"type", "heartbeat"}, {"moves", behaviour == "beats" ? moves : 1}, {"device_bytes", 7}});
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return fake_done(trial);
  }
  if (behaviour == "stopped") std::raise(SIGSTOP);
  if (behaviour == "grows") {
    std::vector<char> memory(200'000'000, 'x');
    std::this_thread::sleep_for(std::chrono::seconds(60));
    std::cerr << memory[7];
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(int_or(request, "milliseconds", 0)));
  if (behaviour == "kill") {
    std::cerr << "about to be killed" << std::endl;
    std::raise(SIGKILL);
  }
  if (behaviour == "exit") {
    std::cerr << "out of paper" << std::endl;
    std::_Exit(3);
  }
  if (behaviour == "garbage") std::cout << "Segmentation fault, said the printer" << std::endl;
  if (behaviour == "endless-line") std::cout << std::string(3 << 20, 'x') << std::flush;
  if (behaviour == "unknown-type") fake_say({{"type", "greetings"}});
  if (behaviour == "wrong-type") fake_say({{"type", "done"}, {"trial", trial}, {"seconds", "soon"}});
  if (behaviour == "other-trial") fake_done("another");
  if (behaviour == "twice") {
    // In one write: the second must not come only when the next job runs.
    const auto line = canonical_json(end_of(trial)) + "\n";
    std::cout << line + line << std::flush;
    return;
  }
  if (behaviour == "fail") {
    return fake_say({{"type", "done"},
                     {"trial", trial},
                     {"state", "failed"},
                     {"kind", "diverged"},
                     {"message", "The loss became NaN."},
                     {"seconds", 0.25}});
  }
  if (behaviour == "progress") {
    fake_say({{"type", "progress"},
              {"trial", trial},
              {"step", 3},
              {"steps", 10},
              {"scalars", {{"eta", 0.5}, {"private_loss", "nan"}}}});
  }
  if (behaviour == "environment") {
    std::string text;
    for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OMP_WAIT_POLICY"}) {
      const char* value = std::getenv(name);
      text += std::string(name) + "=" + (value == nullptr ? "" : value) + " ";
    }
    return fake_say(
        {{"type", "done"}, {"trial", trial}, {"state", "failed"}, {"kind", "told"}, {"message", text}});
  }
  fake_done(trial);
}

inline int fake_worker(const std::string& mode) {
  if (mode == "dies-at-once") {
    std::cerr << "libtorch_cpu.so: cannot open shared object file" << std::endl;
    return 127;
  }
  if (mode == "stubborn") std::signal(SIGTERM, SIG_IGN);
  fake_say({{"type", "hello"},
            {"version", mode == "old" ? "0" : trial::kWorkerProtocolVersion},
            {"fingerprint", json::object{}}});
  std::string line;
  while (std::getline(std::cin, line) || mode == "stubborn") {
    if (!std::cin) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      continue;
    }
    const auto request = parse_json(line, "fake").value().as_object();
    const std::string type = string_or(request, "type", "");
    if (type == "stop" && mode != "stubborn") return 0;
    if (type == "prepare") fake_say({{"type", "prepared"}, {"seconds", 0.125}});
    if (type == "run") fake_run(request);
  }
  return 0;
}

// Before main(): the same executable is either the test program or the worker.
inline const bool kNotAWorker = [] {
  const char* mode = std::getenv("HYFREEDP_FAKE_WORKER");
  if (mode != nullptr) std::_Exit(fake_worker(mode));
  return true;
}();

inline LocalOptions fake_options(int slots, const std::string& mode = "well") {
  return {.worker = std::filesystem::read_symlink("/proc/self/exe").string(),
          .slots = slots,
          .grace = std::chrono::milliseconds(400),
          .environment = {{"HYFREEDP_FAKE_WORKER", mode}}};
}

}  // namespace hyfreedp::runner
