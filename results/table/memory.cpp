#include "results/table/memory.h"

#include <algorithm>

#include "harness/base/text.h"

namespace hyfreedp::results {

void Memory::raise_to(const Memory& other) {
  host = std::max(host, other.host);
  device = std::max(device, other.device);
}

Memory memory_of(const TrialRecord& trial) { return {trial.peak_bytes, trial.device_peak_bytes}; }

std::string memory_text(const Memory& memory) {
  if (memory.host <= 0) return "-";
  auto text = bytes_text(static_cast<std::uint64_t>(memory.host));
  if (memory.device > 0) text += ", GPU " + bytes_text(static_cast<std::uint64_t>(memory.device));
  return text;
}

}  // namespace hyfreedp::results
