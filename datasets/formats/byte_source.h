// Bytes that are read one after another, from a file or from something unpacked. Memory grows with
// the bytes that are there, not with those that a header declares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

struct gzFile_s;    // zlib's
struct z_stream_s;  // the same

namespace hyfreedp::datasets {

class ByteSource {
 public:
  explicit ByteSource(std::string path) : path_(std::move(path)) {}
  virtual ~ByteSource() = default;

  // The number of bytes read: fewer than asked for only at the end. Errors name the path.
  virtual Result<std::size_t> read_up_to(std::span<std::uint8_t> out) = 0;
  const std::string& path() const { return path_; }

 protected:
  ByteSource(const ByteSource&) = default;
  ByteSource(ByteSource&&) = default;
  ByteSource& operator=(const ByteSource&) = default;
  ByteSource& operator=(ByteSource&&) = default;

 private:
  std::string path_;
};

// A file, gzipped or plain; gzip's checksum is verified at the end.
class PackedFile : public ByteSource {
 public:
  static Result<PackedFile> open(const std::string& path);
  Result<std::size_t> read_up_to(std::span<std::uint8_t> out) override;

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  PackedFile(std::string path, gzFile_s* file) : ByteSource(std::move(path)), file_(file) {}
  std::unique_ptr<gzFile_s, Close> file_;
};

// Bytes in memory, which must live as long. `path` names them for errors.
class MemorySource : public ByteSource {
 public:
  MemorySource(std::string path, std::string_view bytes) : ByteSource(std::move(path)), left_(bytes) {}
  Result<std::size_t> read_up_to(std::span<std::uint8_t> out) override;

 private:
  std::string_view left_;
};

// The unpacked bytes of `packed`, which is in the format of zlib or gzip. Whoever asks for a byte
// beyond the last has the checksum verified. `what`, such as "a packed array", is for errors.
class Inflated : public ByteSource {
 public:
  Inflated(ByteSource& packed, std::string what);
  Result<std::size_t> read_up_to(std::span<std::uint8_t> out) override;

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  ByteSource* packed_;
  std::string what_;
  std::unique_ptr<z_stream_s, End> stream_;
  std::array<std::uint8_t, std::size_t{1} << 14> input_ = {};
  bool ready_ = false;
  bool ended_ = false;
};

// Fills `out`. `what`, such as "the IDX header", is for the error of a source that ends before.
Result<void> read_exactly(ByteSource& source, std::span<std::uint8_t> out, const std::string& what);
// The next `count` bytes.
Result<std::vector<std::uint8_t>> read_bytes(ByteSource& source, std::uint64_t count,
                                             const std::string& what);

}  // namespace hyfreedp::datasets
