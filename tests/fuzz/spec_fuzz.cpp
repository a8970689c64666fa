// libFuzzer's target for specs (targets.h). README.md says how to build and run it.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hyfreedp::fuzz::read_spec({reinterpret_cast<const char*>(data), size});
  return 0;
}
