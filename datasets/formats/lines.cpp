#include "datasets/formats/lines.h"

#include <fmt/format.h>
#include <span>

#include "harness/base/text_encoding.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;

}  // namespace

Error no_utf8(const std::string& where, char byte) {
  return error(
      fmt::format("{}: the byte 0x{:02X} is no text in UTF-8. Convert the file; where it is in Latin-1: "
                  "`iconv -f ISO-8859-1 -t UTF-8 FILE > NEW_FILE`.",
                  where, static_cast<unsigned char>(byte)));
}

Result<LineReader> LineReader::open(const std::string& path, std::size_t max_line) {
  auto file = PackedFile::open(path);
  if (!file) return file.error();
  return LineReader(std::move(*file), max_line);
}

std::string LineReader::where() const { return fmt::format("{}:{}", file_.path(), line_); }

// Reads more bytes behind those that are not handed out.
Result<void> LineReader::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const auto kept = buffer_.size();
  buffer_.resize(kept + kPiece);
  const auto got = file_.read_up_to(
      std::span(reinterpret_cast<std::uint8_t*>(buffer_.data()), buffer_.size()).subspan(kept));
  if (!got) return got.error();
  buffer_.resize(kept + *got);
  ended_ = *got < kPiece;
  if (line_ == 0) {
    const bool bzip2 = buffer_.starts_with("BZh");
    if (bzip2 || buffer_.starts_with("\xFD"
                                     "7zXZ")) {
      return error(fmt::format("{}: is packed with {}. Unpack it first: {} FILE.", file_.path(),
                               bzip2 ? "bzip2" : "xz", bzip2 ? "bunzip2" : "unxz"));
    }
    if (!begun_) {
      const auto begin = begin_of_text(buffer_, file_.path());
      if (!begin) return begin.error();
      begin_ = *begin;
    }
    begun_ = true;
  }
  return {};
}

Result<std::optional<std::string_view>> LineReader::next() {
  std::size_t searched = 0;  // bytes after begin_ that have no line end
  while (true) {
    const auto end = buffer_.find('\n', begin_ + searched);
    const bool whole = end != std::string::npos;
    std::string_view line =
        std::string_view(buffer_).substr(begin_, whole ? end - begin_ : std::string::npos);
    if (line.size() > max_line_) {
      return error(fmt::format("{}:{}: the line has more than {} bytes. Is this the right file?",
                               file_.path(), line_ + 1, max_line_));
    }
    if (whole || ended_) {
      if (!whole && line.empty()) return std::optional<std::string_view>();
      begin_ += line.size() + (whole ? 1 : 0);
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      return std::optional(line);
    }
    searched = line.size();
    if (auto filled = fill(); !filled) return filled.error();
  }
}

}  // namespace hyfreedp::datasets
