// libFuzzer's target for the reader of journals. An input is the journal's lines without their
// checksums, which are put on here, so that what lies behind these is reached; an input that begins
// with ! is read as it is. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/journal_fuzz.cpp
//     harness/{base,accounting,trial,random,mechanism}/*.cpp
//     -lfmt -lboost_json -lcrypto -o build/journal_fuzz
//   build/journal_fuzz -rss_limit_mb=1024 -max_len=65536 CORPUS
// Journals of any run, without their members "c", are a corpus to begin with.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"

namespace {

using namespace hyfreedp;

// As journal_line.h seals a line, whatever it has.
std::string sealed(std::string_view text) {
  std::string all, checksum;
  while (!text.empty()) {
    auto line = std::string(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('}')) {
      checksum = sha256_hex(checksum + line).substr(0, 16);
      line.pop_back();
      line += ",\"c\":\"" + checksum + "\"}";
    }
    all += line + '\n';
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  const auto text = given.starts_with('!') ? std::string(given.substr(1)) : sealed(given);
  static const int file = ::memfd_create("journal", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, text.data(), text.size(), 0) < 0) std::abort();
  const auto journal = mechanism::read_journal("/proc/self/fd/" + std::to_string(file));
  if (!journal) return 0;
  if (journal->valid_bytes > text.size()) std::abort();
  for (std::size_t step = 1; step < journal->steps.size(); ++step) {
    volatile auto seen = journal->steps[step].step;
    static_cast<void>(seen);
  }
  return 0;
}
