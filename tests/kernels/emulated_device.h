// Runs a kernel's body (harness/kernels/team.h) on the CPU: every thread of every block, with real
// barriers.
//
// A block whose threads meet at barriers is a set of CPU threads, so the thread sanitizer sees a
// missing barrier as a race; one whose threads never meet runs them one after another.
#pragma once

#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#include "harness/base/result.h"
#include "harness/kernels/team.h"

namespace hyfreedp::kernels {

struct EmulatedTeam {
  unsigned thread = 0;
  unsigned threads = kThreads;
  std::uint64_t block = 0;
  std::uint64_t blocks = 1;
  std::barrier<>* barrier = nullptr;

  void sync() const {
    HYFREEDP_CHECK(barrier != nullptr, "a kernel that was launched without barriers meets one");
    barrier->arrive_and_wait();
  }
};

// kernel(team) for every thread of a grid that has no barriers.
template <class Kernel>
void run_grid(std::uint64_t blocks, const Kernel& kernel) {
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (unsigned thread = 0; thread < kThreads; ++thread)
      kernel(EmulatedTeam{thread, kThreads, block, blocks});
  }
}

template <class Kernel>
void run_grid_with_barriers(std::uint64_t blocks, const Kernel& kernel) {
  std::barrier<> barrier(kThreads);
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t block = 0; block < blocks; ++block) {
        kernel(EmulatedTeam{thread, kThreads, block, blocks, &barrier});
        barrier.arrive_and_wait();
      }
    });
  }
}

}  // namespace hyfreedp::kernels
