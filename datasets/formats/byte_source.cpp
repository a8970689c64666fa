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

Result<std::size_t> MemorySource::read_up_to(std::span<std::uint8_t> out) {
  const auto piece = left_.substr(0, out.size());
  std::copy(piece.begin(), piece.end(), out.begin());
  left_.remove_prefix(piece.size());
  return piece.size();
}

void Inflated::End::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

Inflated::Inflated(ByteSource& packed, std::string what)
    : ByteSource(packed.path()), packed_(&packed), what_(std::move(what)), stream_(new z_stream()) {
  // 15: the largest window; 32: the format is told from the head.
  ready_ = inflateInit2(stream_.get(), 15 + 32) == Z_OK;
}

Result<std::size_t> Inflated::read_up_to(std::span<std::uint8_t> out) {
  if (!ready_) return error(path() + ": out of memory.");
  std::size_t done = 0;
  while (done < out.size() && !ended_) {
    if (stream_->avail_in == 0) {
      const auto got = packed_->read_up_to(input_);
      if (!got) return got.error();
      stream_->next_in = input_.data();
      stream_->avail_in = static_cast<unsigned>(*got);
    }
    // zlib counts in unsigned
    const auto piece = std::min(out.size() - done, std::size_t{1} << 30);
    stream_->next_out = out.data() + done;
    stream_->avail_out = static_cast<unsigned>(piece);
    const int code = inflate(stream_.get(), Z_NO_FLUSH);
    done += piece - stream_->avail_out;
    ended_ = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END) {
      return error(fmt::format("{}: {} cannot be unpacked ({}); the file is damaged. Fetch it again.", path(),
                               what_, stream_->msg != nullptr ? stream_->msg : "it is cut short"));
    }
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
