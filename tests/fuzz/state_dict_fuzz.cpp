// libFuzzer's target for the readers of pickles: PyTorch's state dicts, both forms, and NumPy's
// arrays. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I.
//     tests/fuzz/state_dict_fuzz.cpp
//     harness/models/weights/{state_dict,numpy_pickle,pickle,zip_entries,stored_tensor}.cpp
//     harness/base/{mapped_file,text,utf8}.cpp -lfmt -o build/state_dict_fuzz
//   build/state_dict_fuzz -rss_limit_mb=1024 -max_len=65536 CORPUS
// The .pth files of tests/data/state_dicts and the .pkl files of tests/data/squeezenet are a corpus
// to begin with.
#include <cstddef>
#include <cstdint>

#include "harness/models/files/numpy_pickle.h"
#include "harness/models/files/state_dict.h"

namespace {

using namespace hyfreedp;

// Reads every value: one outside the file is seen by the address sanitizer.
void touch(const Result<models::StoredTensors>& read) {
  if (!read) return;
  volatile unsigned total = 0;
  for (const auto& [name, tensor] : *read) {
    for (const char c : tensor.values.bytes) total = total + static_cast<unsigned char>(c);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const begin = reinterpret_cast<const char*>(data);
  const auto kept = std::make_shared<const std::vector<char>>(begin, begin + size);
  const SharedBytes file{.bytes = {kept->data(), size}, .owner = kept};
  touch(models::parse_state_dict(file, "fuzz"));
  touch(models::parse_numpy_pickle(file, "fuzz"));
  return 0;
}
