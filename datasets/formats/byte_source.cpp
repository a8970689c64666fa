#include "datasets/formats/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <zlib.h>

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 24;  // zlib counts in int

Error truncated(const ByteSource& source, std::uint64_t got, std::uint64_t wanted, const std::string& what) {
  return error(fmt::format("{}: ends after {} of {} bytes of {}; the file is truncated. Fetch it again.",
                           source.path(), got, wanted, what));
}

}  // namespace

void PackedFile::Close::operator()(gzFile_s* file) const { gzclose(file); }

Result<PackedFile> PackedFile::open(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rbe");
  if (file == nullptr) return error(path + ": cannot open (" + std::strerror(errno) + ")");
  return PackedFile(path, file);
}

Result<std::size_t> PackedFile::read_up_to(std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto want = static_cast<unsigned>(std::min(kPiece, out.size() - done));
    const int got = gzread(file_.get(), out.data() + done, want);
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    if (got < 0 || code == Z_BUF_ERROR) {
      return error(fmt::format("{}: cannot read ({}); the file is damaged. Fetch it again.", path(),
                               code == Z_ERRNO ? std::strerror(errno) : message));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> read_exactly(ByteSource& source, std::span<std::uint8_t> out, const std::string& what) {
  const auto got = source.read_up_to(out);
  if (!got) return got.error();
  if (*got != out.size()) return truncated(source, *got, out.size(), what);
  return {};
}

Result<std::vector<std::uint8_t>> read_bytes(ByteSource& source, std::uint64_t count,
                                             const std::string& what) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < count) {
    const auto done = bytes.size();
    bytes.resize(done + static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, count - done)));
    const auto got = source.read_up_to(std::span(bytes).subspan(done));
    if (!got) return got.error();
    if (done + *got != bytes.size()) return truncated(source, done + *got, count, what);
  }
  return bytes;
}

}  // namespace hyfreedp::datasets
