// libFuzzer's target for lines of the worker protocol (targets.h). README.md says how to build and
// run it.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hyfreedp::fuzz::read_message({reinterpret_cast<const char*>(data), size});
  return 0;
}
