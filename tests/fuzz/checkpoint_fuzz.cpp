// libFuzzer's target for the reader of checkpoints. An input is a checkpoint without its checksum,
// which is put on here. From the top folder, with clang, TORCH being LibTorch's folder:
//   F="-std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -DFMT_HEADER_ONLY -I."
//   mkdir build/fuzz_base; (cd build/fuzz_base; clang++ $F -I../.. -c ../../harness/base/*.cpp)
//   clang++ $F -isystem $TORCH/include -isystem $TORCH/include/torch/csrc/api/include
//     tests/fuzz/checkpoint_fuzz.cpp harness/training/checkpoint.cpp
//     harness/models/weights/{safetensors,tensor_types}.cpp build/fuzz_base/*.o
//     -L$TORCH/lib -ltorch_cpu -lc10 -Wl,-rpath,$TORCH/lib
//     -lfmt -lboost_json -lcrypto -o build/checkpoint_fuzz
//   build/checkpoint_fuzz -rss_limit_mb=2048 -max_len=65536 CORPUS
// Checkpoints of small runs, without their last 64 bytes, are a corpus to begin with.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/training/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyfreedp;
  std::string text(reinterpret_cast<const char*>(data), size);
  text += sha256_hex(text);
  static const int file = ::memfd_create("checkpoint", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, text.data(), text.size(), 0) < 0) std::abort();
  const auto read = training::read_checkpoint("/proc/self/fd/" + std::to_string(file));
  if (!read) return 0;
  // Every value: one outside the file is seen by the address sanitizer.
  for (const auto& [name, tensor] : read->state.copy().tensors) {
    if (tensor.numel() > 0 && tensor.data_ptr() == nullptr) std::abort();
  }
  return 0;
}
