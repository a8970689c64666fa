// libFuzzer's target for the tokenizers of weights folders. The variable READER chooses one: json
// (tokenizer.json), pairs (vocab.json, and merges.txt after the first NUL), word_pieces
// (vocab.txt), sentence_pieces (tokenizer.model); what follows the last 0x01 of an input is its
// tokenizer_config.json, where that is JSON. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/tokenizer_fuzz.cpp
//     datasets/text/*.cpp harness/models/files/piece_model.cpp
//     harness/base/{files,json,text,utf8}.cpp
//     -lfmt -lboost_json -lcrypto -lutf8proc -lsentencepiece -o build/tokenizer_fuzz
//   READER=json build/tokenizer_fuzz -rss_limit_mb=2048 -max_len=65536 CORPUS
// The files of tests/data/text are a corpus to begin with. Debian's libsentencepiece is not
// instrumented: what it does wrong is seen where it ends the program, or with the library's own
// sources, compiled with -fsanitize=fuzzer-no-link,address,undefined, in its place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

#include "datasets/text/tokenizer.h"
#include "harness/base/files.h"
#include "harness/base/json.h"

namespace {

using namespace hyfreedp;

const std::string& folder() {
  static const std::string made = [] {
    std::string name = "/dev/shm/hyfreedp-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  return made;
}

void put(const char* name, std::string_view bytes) {
  if (!write_file_atomically(folder() + "/" + name, bytes)) std::abort();
}

void read(std::string_view reader, std::string_view bytes) {
  const auto config_at = bytes.rfind('\x01');
  const bool has_config =
      config_at != std::string_view::npos && parse_json(bytes.substr(config_at + 1), "fuzz").has_value();
  put("tokenizer_config.json", has_config ? bytes.substr(config_at + 1) : R"({"eos_token": "</s>"})");
  if (has_config) bytes = bytes.substr(0, config_at);
  if (reader == "json") {
    put("tokenizer.json", bytes);
  } else if (reader == "pairs") {
    const auto gap = std::min(bytes.find('\0'), bytes.size());
    put("vocab.json", bytes.substr(0, gap));
    put("merges.txt", bytes.substr(std::min(gap + 1, bytes.size())));
  } else if (reader == "word_pieces") {
    put("vocab.txt", bytes);
  } else if (reader == "sentence_pieces") {
    put("tokenizer.model", bytes);
  } else {
    std::abort();  // READER is not set, or to another name
  }
  const auto tokenizer = datasets::load_tokenizer(folder());
  if (!tokenizer) return;
  auto& tokens = **tokenizer;
  const auto check = [&](std::int64_t id) {
    if (id < 0 || id >= tokens.vocabulary()) std::abort();
  };
  const std::string known = "It's 12 \u2581 <s> caf\u00e9\r\n\n  \ufb01 x \xff";
  for (const auto& text : {known, std::string(bytes.substr(0, 300)), std::string()}) {
    for (const auto id : tokens.encode(text)) check(id);
  }
  const auto& marks = tokens.marks();
  if (marks.before.size() + marks.between.size() + marks.after.size() > datasets::Tokenizer::kMostMarks)
    std::abort();
  if (marks.end) check(*marks.end);
  std::vector<std::int64_t> row(8);
  const std::string_view second = "b";
  tokens.fill_row("a", &second, row);
  for (const auto id : row) check(id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const reader = std::getenv("READER");
  read(reader == nullptr ? "" : reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}
