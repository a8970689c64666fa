// The largest memory that a run takes, as the operating system and LibTorch's allocator count it.
//
//   host      resident memory of the process: program, data that it holds, and the pages of mapped
//             files that it has read. What earlier runs of the process left unused is given back to
//             the system first
//   device    memory that LibTorch's tensors take on the GPU; its own reserve, and what CUDA keeps
//             for itself, come on top
//
// Two runs at once in one process cannot be told apart.
#pragma once

#include <cstdint>
#include <string>

namespace hyfreedp::training {

class PeakMemory {
 public:
  // Starts counting. `device` as in a trial's config: "cpu" or "cuda".
  explicit PeakMemory(const std::string& device);

  // Bytes since then; 0 where the system does not tell, or where there is no GPU.
  std::int64_t host() const;
  std::int64_t device() const;

 private:
  bool on_gpu_;
};

// Has memory that is freed stay with the process from now on. Each microbatch needs as much again,
// and the system would hand it out anew page by page, each set to zero.
void keep_freed_memory();
// Gives what is free back to the system, so that others may have it between two runs.
void give_back_freed_memory();

// Bytes that LibTorch's tensors take on the GPU now, from any thread, once a run there has begun.
std::int64_t device_bytes_now();

// True if LibTorch's message of a failure says that memory was short.
bool tells_of_memory(const std::string& message);

}  // namespace hyfreedp::training
