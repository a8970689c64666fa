// Bytes that are read one after another, from a file or from something unpacked. Memory grows with
// the bytes that are there, not with those that a header declares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

struct gzFile_s;  // zlib's

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

// Fills `out`. `what`, such as "the IDX header", is for the error of a source that ends before.
Result<void> read_exactly(ByteSource& source, std::span<std::uint8_t> out, const std::string& what);
// The next `count` bytes.
Result<std::vector<std::uint8_t>> read_bytes(ByteSource& source, std::uint64_t count,
                                             const std::string& what);

}  // namespace hyfreedp::datasets
