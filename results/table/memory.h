// The largest memory that runs took, as the worker measures it (harness/training/peak_memory.h).
#pragma once

#include <cstdint>
#include <string>

#include "results/store/store.h"

namespace hyfreedp::results {

struct Memory {  // bytes; 0: not recorded, or no GPU
  std::int64_t host = 0;
  std::int64_t device = 0;

  void raise_to(const Memory& other);
};

Memory memory_of(const TrialRecord& trial);
// "1.2 GB", "3.1 GB, GPU 14.2 GB"; "-" where it was not recorded.
std::string memory_text(const Memory& memory);

}  // namespace hyfreedp::results
