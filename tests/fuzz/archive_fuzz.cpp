// libFuzzer's target for the reader of archives (datasets/image/archive.h: tar, tar.gz, zip), which
// `hyfreedp data fetch` and image folders use. From the top folder, with clang:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/archive_fuzz.cpp
//     datasets/image/archive.cpp harness/base/utf8.cpp -lfmt -larchive -o build/archive_fuzz
//   build/archive_fuzz -rss_limit_mb=1024 -max_len=65536 CORPUS
// A corpus is made by packing a few small files with tar, tar -z and zip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "datasets/image/archive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyfreedp;
  using namespace hyfreedp::datasets;
  const int file = ::memfd_create("archive", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const ArchiveLimits limits = {.file_bytes = 1 << 20, .total_bytes = 1 << 23, .files = 1000};
  std::uint64_t total = 0;
  unsigned sum = 0;
  const auto visit = [&](const std::string& name, std::string_view bytes) -> Result<void> {
    // Whatever was packed: a plain name, and no more bytes than allowed.
    const auto plain = plain_name(name);
    if (!plain || *plain != name) std::abort();
    total += bytes.size();
    if (bytes.size() > limits.file_bytes || total > limits.total_bytes) std::abort();
    for (const char byte : bytes) sum += static_cast<unsigned char>(byte);
    return {};
  };
  // Every second name is passed over, which is another way through the reader.
  bool wanted = false;
  static_cast<void>(visit_files(
      "/proc/self/fd/" + std::to_string(file), [&](const std::string&) { return wanted = !wanted; }, visit,
      limits));
  ::close(file);
  volatile unsigned seen = sum;
  static_cast<void>(seen);
  return 0;
}
