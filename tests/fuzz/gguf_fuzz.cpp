// libFuzzer's target for the readers of GGUF files. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/gguf_fuzz.cpp
//     harness/models/files/{gguf,gguf_folder,gguf_tokenizer,piece_model}.cpp
//     harness/base/{files,json,mapped_file,safetensors_file,text,utf8}.cpp
//     -lfmt -lboost_json -lcrypto -o build/gguf_fuzz
//   build/gguf_fuzz -rss_limit_mb=2048 -max_len=65536 CORPUS
// The .gguf files of tests/data/gguf are a corpus to begin with.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "harness/models/files/gguf_folder.h"

using namespace hyfreedp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto file = models::parse_gguf(owned_bytes(bytes), "fuzz");
  if (!file) return 0;
  std::size_t all = 0;
  for (const auto& [name, tensor] : file->tensors) {
    std::int64_t numbers = 1;
    for (const auto one : tensor.shape) numbers *= one;
    const auto stored = models::numbers_of(tensor);
    const auto wanted = static_cast<std::size_t>(numbers * element_size(stored.type));
    if (stored.values.bytes.size() != wanted) std::abort();
    all += tensor.bytes.bytes.size();
  }
  if (all > bytes.size()) std::abort();
  static_cast<void>(models::texts_of_gguf(*file, "fuzz"));
  return 0;
}
