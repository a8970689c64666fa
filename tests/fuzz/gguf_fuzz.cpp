// libFuzzer's target for the readers of GGUF files and, of inputs that do not begin like one, of
// tokenizer.json. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/gguf_fuzz.cpp
//     harness/models/files/{gguf,gguf_folder}.cpp datasets/text/*.cpp
//     harness/base/{files,json,mapped_file,safetensors_file,text,utf8}.cpp
//     -lfmt -lboost_json -lcrypto -lutf8proc -o build/gguf_fuzz
//   build/gguf_fuzz -rss_limit_mb=2048 -max_len=65536 CORPUS
// The .gguf files of tests/data/gguf and the tokenizer.json of tests/data/text/tokenizer_json are a
// corpus to begin with.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

#include "datasets/text/json_tokens.h"
#include "harness/base/files.h"
#include "harness/models/files/gguf_folder.h"

namespace {

using namespace hyfreedp;

void read_gguf_bytes(const std::string& bytes) {
  const auto file = models::parse_gguf(owned_bytes(bytes), "fuzz");
  if (!file) return;
  std::size_t all = 0;
  for (const auto& [name, tensor] : file->tensors) {
    std::int64_t numbers = 1;
    for (const auto size : tensor.shape) numbers *= size;
    const auto stored = models::numbers_of(tensor);
    const auto wanted = static_cast<std::size_t>(numbers * element_size(stored.type));
    if (stored.values.bytes.size() != wanted) std::abort();
    all += tensor.bytes.bytes.size();
  }
  if (all > bytes.size()) std::abort();
  static_cast<void>(models::json_files_of(*file, "fuzz"));
}

void read_tokenizer(const std::string& bytes) {
  static const std::string folder = "/dev/shm/hyfreedp-fuzz-" + std::to_string(::getpid());
  static const bool made =
      static_cast<bool>(make_folders(folder)) &&
      write_file_atomically(folder + "/tokenizer_config.json", R"({"eos_token": "</s>"})");
  if (!made || !write_file_atomically(folder + "/tokenizer.json", bytes)) std::abort();
  auto tokens = datasets::JsonTokens::load(folder);
  if (!tokens) return;
  const std::string text = "It's 12 \u2581 <s> caf\u00e9\r\n\n  x" + bytes.substr(0, 64);
  for (const auto id : tokens->encode(text)) {
    if (id < 0 || id >= tokens->vocabulary()) std::abort();
  }
  std::vector<std::int64_t> row(8);
  const std::string_view second = "b";
  tokens->fill_row("a", &second, row);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes.starts_with("GGUF") ? read_gguf_bytes(bytes) : read_tokenizer(bytes);
  return 0;
}
