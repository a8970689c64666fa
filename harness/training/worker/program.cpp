#include "harness/training/worker/program.h"

#include <ATen/Parallel.h>
#include <cstdlib>
#include <iostream>
#include <string>
#include <torch/version.h>
#include <unistd.h>

#include "harness/base/version.h"
#include "harness/training/cuda_settings.h"
#include "harness/training/peak_memory.h"
#include "harness/training/setup.h"
#include "harness/training/worker/audit.h"
#include "harness/training/worker/generate.h"
#include "harness/training/worker/session.h"

namespace hyfreedp::worker {
namespace {

constexpr const char* kHelp =
    R"(hyfreedp-worker: runs trials for `hyfreedp run`, which starts it; not meant to be started by hand.

It reads one JSON message a line on standard input ("prepare", "run", "stop") and answers on standard
output; harness/trial/worker_protocol.h describes both. It leaves after "stop", at the end of the input
or on SIGTERM, SIGINT, SIGHUP or SIGUSR1; a trial it was running can be continued from its journal.

  --help          this text
  --version       versions of the program and of LibTorch
  --check-device NAME  leaves with status 0 where it can train on cpu or cuda, else with 2 and the reason
  --audit [FILE]  trains what an audit request (FILE or standard input) asks for and judges it; started by
                  `hyfreedp audit`, which writes the request
  --generate FILE  continues the prompts of a request; started by `hyfreedp generate`, which writes it

Environment: HYFREEDP_THREADS=N   threads of one training step (default 1); idle ones sleep unless
                                  OMP_WAIT_POLICY says otherwise

Example: echo '{"type":"stop"}' | hyfreedp-worker
)";

// Zero: not a number of threads.
int thread_count() {
  const char* text = std::getenv("HYFREEDP_THREADS");
  if (text == nullptr || *text == '\0') return 1;
  char* end = nullptr;
  const long threads = std::strtol(text, &end, 10);
  return *end == '\0' && threads >= 1 && threads <= 1024 ? static_cast<int>(threads) : 0;
}

// OpenMP reads how its idle threads wait when the program is loaded, before main: spinning ones
// take the cores from whoever else works on the machine. So a worker of several threads that nobody
// told starts itself anew, told. One thread never waits.
void sleep_while_idle(int threads, char** arguments) {
  if (threads == 1 || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  ::setenv("GOMP_SPINCOUNT", "0", 1);
  ::setenv("KMP_BLOCKTIME", "0", 1);
  ::execv("/proc/self/exe", arguments);
  std::cerr << "hyfreedp-worker: cannot start anew; idle threads will spin. Set OMP_WAIT_POLICY=PASSIVE.\n";
}

}  // namespace

int run_program(int count, char** arguments, const training::Parts& parts) {
  training::keep_freed_memory();
  training::prepare_cublas_workspace();
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      std::cout << kHelp;
      return 0;
    }
    if (argument == "--version") {
      std::cout << "hyfreedp-worker " << kVersion << " (LibTorch " << TORCH_VERSION << ")\n";
      return 0;
    }
    if (argument == "--check-device" && count == i + 2) {
      const auto device = training::find_device(arguments[i + 1]);
      if (device) return 0;
      std::cerr << device.error().message << '\n';
      return kBadInput;
    }
    if (argument == "--audit" && count <= i + 2) {
      return run_audit(i + 1 < count ? arguments[i + 1] : "", parts);
    }
    if (argument == "--generate" && count == i + 2) return run_generate(arguments[i + 1]);
    std::cerr << "hyfreedp-worker: unknown argument '" << argument << "'; see --help\n";
    return kBadInput;
  }
  const int threads = thread_count();
  if (threads == 0) {
    std::cerr << "hyfreedp-worker: HYFREEDP_THREADS must be a number from 1 to 1024\n";
    return kBadInput;
  }
  sleep_while_idle(threads, arguments);
  Inbox inbox;
  Outbox outbox;
  at::set_num_threads(threads);
  return Session(inbox, outbox, parts).serve();
}

}  // namespace hyfreedp::worker
