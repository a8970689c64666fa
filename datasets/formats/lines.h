// The lines of a text file, gzipped or plain, one by one: a file need not fit into memory, and a
// small one that unpacks to a large one costs no more than its longest line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/formats/byte_source.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// The error of a text file in which `byte` at `where` begins no character of UTF-8.
Error no_utf8(const std::string& where, char byte);

class LineReader {
 public:
  static Result<LineReader> open(const std::string& path, std::size_t max_line);

  // The next line without its end (\n or \r\n; the last one may lack it), until the next call. None
  // at the file's end. A byte order mark of UTF-8 is no part of the first. Errors: a line of more
  // than max_line bytes, a file that is damaged, packed with bzip2 or xz, or in UTF-16.
  Result<std::optional<std::string_view>> next();
  // "PATH:LINE", of the line that next gave; from 1.
  std::string where() const;

 private:
  LineReader(PackedFile file, std::size_t max_line) : file_(std::move(file)), max_line_(max_line) {}
  Result<void> fill();

  PackedFile file_;
  std::size_t max_line_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not handed out yet
  std::size_t line_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace hyfreedp::datasets
