#include "datasets/image/archive.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <locale.h>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

// The sum for a message; the largest number if the sum is beyond it.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) { return a + std::min(b, ~a); }

// Counts what a folder or archive holds against the limits.
class Budget {
 public:
  explicit Budget(const ArchiveLimits& limits) : limits_(limits) {}

  // An error where one file of so many bytes is too large to be read.
  Result<void> check_one(std::uint64_t bytes) const {
    if (bytes <= limits_.file_bytes) return {};
    return error(fmt::format("has {} bytes; at most {} are read.", bytes, limits_.file_bytes));
  }
  // An error where another file is too much for all. One that is passed over may have to be
  // unpacked for that.
  Result<void> add(std::uint64_t bytes) {
    if (++files_ > limits_.files) return error(fmt::format("has more than {} files.", limits_.files));
    if (bytes > limits_.total_bytes - total_) {
      return error(fmt::format("brings the files to {} bytes; at most {} are read.", sum_of(total_, bytes),
                               limits_.total_bytes));
    }
    total_ += bytes;
    return {};
  }

 private:
  ArchiveLimits limits_;
  std::uint64_t files_ = 0;
  std::uint64_t total_ = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

Error at(const std::string& path, std::string_view name, const std::string& what) {
  return error(fmt::format("{}: {} {}", path, name, what));
}

std::size_t bytes_wanted(FilePart part, std::size_t size) {
  return part == FilePart::head ? std::min(size, kHeadBytes) : size;
}

// The request of a caller of either function. A file that cannot be read ends the reading unless
// `unread` takes it.
struct Reading {
  const WantedPart& wanted;
  const Visit& visit;
  const Unread* unread = nullptr;
  const ArchiveLimits& limits;

  Result<void> leave(const std::string& name, const Error& why) const {
    if (unread == nullptr) return why;
    (*unread)(name, why);
    return {};
  }
};

// ---- a folder

// All files under `path`, sorted by name.
Result<std::vector<std::string>> names_under(const std::string& path, const Reading& reading) {
  const auto& limits = reading.limits;
  std::vector<std::string> names;
  std::error_code code;
  auto entry = fs::recursive_directory_iterator(path, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    const auto name = entry->path().lexically_relative(path).generic_string();
    const auto kind = entry->symlink_status(code).type();
    if (code) break;
    if (kind == fs::file_type::directory) continue;
    auto named = plain_name(name);
    auto plain = named ? Result<void>() : Result<void>(in_context(path, named.error()));
    if (kind != fs::file_type::regular) {
      plain =
          at(path, as_one_line(name), "is a link or a device. Put the file itself there, or take it out.");
    }
    if (!plain) {
      if (auto left = reading.leave(name, plain.error()); !left) return left.error();
      continue;
    }
    names.push_back(name);
    if (names.size() > limits.files)
      return error(fmt::format("{}: has more than {} files.", path, limits.files));
  }
  if (code) return error(fmt::format("{}: cannot be listed ({}).", path, code.message()));
  std::sort(names.begin(), names.end());
  return names;
}

// Opens a file that is no link and no device.
Result<std::string> read_plain_file(const std::string& path, const std::string& name, FilePart part,
                                    const Budget& budget) {
  const auto problem = [&](const char* what) {
    return at(path, name, fmt::format("{} ({}).", what, std::strerror(errno)));
  };
  const Descriptor file(::open((path + "/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) return problem("cannot be opened");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return problem("cannot be read");
  if (!S_ISREG(status.st_mode)) return at(path, name, "is no longer a plain file.");
  const auto wanted = bytes_wanted(part, static_cast<std::size_t>(status.st_size));
  if (auto one = budget.check_one(wanted); !one) return at(path, name, one.error().message);
  std::string bytes(wanted, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return problem("cannot be read");
    if (got == 0) return at(path, name, "became shorter while it was read.");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<void> visit_folder(const std::string& path, const Reading& reading) {
  const auto names = names_under(path, reading);
  if (!names) return names.error();
  Budget budget(reading.limits);
  for (const auto& name : *names) {
    const auto part = reading.wanted(name);
    if (part == FilePart::none) continue;
    const auto bytes = read_plain_file(path, name, part, budget);
    if (bytes) {
      if (auto more = budget.add(bytes->size()); !more) return at(path, name, more.error().message);
    }
    auto done = bytes ? reading.visit(name, *bytes) : reading.leave(name, bytes.error());
    if (!done) return done;
  }
  return {};
}

// ---- a tar or zip

struct FreeArchive {
  void operator()(archive* tar) const { archive_read_free(tar); }
};
using Tar = std::unique_ptr<archive, FreeArchive>;

Error damaged(const std::string& path, const Tar& tar) {
  const char* reason = archive_error_string(tar.get());
  if (reason != nullptr &&
      std::string_view(reason).find("Unrecognized archive format") != std::string_view::npos) {
    return error(
        path +
        ": is no archive that is read here: a tar, plain or gzipped, or a zip. Give one of these, or "
        "the folder with the files.");
  }
  return error(fmt::format("{}: cannot be read as a tar, plain or gzipped, or a zip ({}). Fetch it again.",
                           path, reason != nullptr ? reason : "out of memory"));
}

struct TarFile {
  std::string name;
  std::size_t bytes = 0;
};

// Reads the file's bytes, in pieces: a tar that is cut short does not cost what it declares.
Result<void> read_data(const std::string& path, const TarFile& file, FilePart part, const Tar& tar,
                       std::string& bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const auto wanted = bytes_wanted(part, file.bytes);
  std::size_t done = 0;
  while (done < wanted) {
    bytes.resize(std::min(done + kPiece, wanted));
    const auto got = archive_read_data(tar.get(), bytes.data() + done, bytes.size() - done);
    if (got == ARCHIVE_RETRY) continue;
    if (got < 0) return damaged(path, tar);
    if (got == 0) return at(path, file.name, "ends too early; the archive is truncated. Fetch it again.");
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  if (done < file.bytes) return {};
  // A zip's file may go on beyond its declared size, and its checksum is compared at its end.
  char more = 0;
  const auto got = archive_read_data(tar.get(), &more, 1);
  if (got < 0) return damaged(path, tar);
  if (got > 0) return at(path, file.name, "is longer than it is said to be. Fetch it again.");
  return {};
}

// This thread's characters are UTF-8's while the object lives. A zip may say that its names are
// UTF-8, and libarchive gives no name that the locale's characters lack. Other archives are read in
// the locale that there is, in which it leaves names as they are.
class Utf8Names {
 public:
  explicit Utf8Names(bool wanted) {
    for (const char* name : {"C.UTF-8", "en_US.UTF-8"}) {
      if (wanted && made_ == nullptr) made_ = ::newlocale(LC_CTYPE_MASK, name, nullptr);
    }
    if (made_ != nullptr) before_ = ::uselocale(made_);
  }
  ~Utf8Names() {
    if (made_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(made_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t made_ = nullptr;
  locale_t before_ = nullptr;
};

bool begins_as_zip(const std::string& path) {
  std::array<char, 2> begin{};
  return std::ifstream(path, std::ios::binary).read(begin.data(), begin.size()) &&
         begin == std::array{'P', 'K'};
}

// The file behind the entry, which has a name; nothing for a folder.
Result<std::optional<TarFile>> file_of(const std::string& path, archive_entry* entry) {
  const char* const given = archive_entry_pathname(entry);
  if (archive_entry_hardlink(entry) == nullptr && archive_entry_filetype(entry) == AE_IFDIR) {
    // Only files are read, so a folder's name leads nowhere; "./" is usual.
    return std::optional<TarFile>();
  }
  const auto name = plain_name(given);
  if (!name) return in_context(path, name.error());
  if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) != AE_IFREG) {
    return at(path, *name, "is a link or a device. Pack the file itself, or take it out.");
  }
  if (archive_entry_size_is_set(entry) == 0) return at(path, *name, "has no declared size. Pack it again.");
  const auto size = archive_entry_size(entry);
  if (size < 0) return at(path, *name, "has a negative size; the archive is damaged. Fetch it again.");
  return std::optional(TarFile{*name, static_cast<std::size_t>(size)});
}

Error without_names(const std::string& path, std::size_t count) {
  return error(fmt::format("{}: has {} without a readable name. Pack it again, with names in UTF-8.", path,
                           count == 1 ? "a file" : fmt::format("{} files", count)));
}

// A tar ends with blocks of zeros where the next file's header would be. Without one it may have
// been cut between two files, which libarchive does not report. A zip's list of files is at its
// end, so that one which is cut cannot be opened.
bool has_end(const Tar& tar) {
  if ((archive_format(tar.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP) return true;
  const auto end = archive_read_header_position(tar.get());
  return archive_filter_bytes(tar.get(), 0) - end >= 512;
}

Result<void> visit_archive(const std::string& path, const Reading& reading) {
  const Utf8Names utf8(begins_as_zip(path));
  const Tar tar(archive_read_new());
  if (!tar) return error(path + ": out of memory.");
  archive_read_support_filter_gzip(tar.get());
  archive_read_support_format_tar(tar.get());
  archive_read_support_format_zip_seekable(tar.get());
  if (archive_read_open_filename(tar.get(), path.c_str(), std::size_t{1} << 18) != ARCHIVE_OK) {
    return damaged(path, tar);
  }
  Budget budget(reading.limits);
  archive_entry* entry = nullptr;  // owned by the archive
  std::string bytes;
  std::size_t nameless = 0;
  while (true) {
    const int code = archive_read_next_header(tar.get(), &entry);
    if (code == ARCHIVE_EOF && has_end(tar)) {
      return nameless == 0 ? Result<void>() : reading.leave("", without_names(path, nameless));
    }
    if (code == ARCHIVE_EOF)
      return error(path + ": ends without a tar's end; it is truncated. Fetch it again.");
    if (code == ARCHIVE_RETRY) continue;
    // A warning is about a name's characters; whether there is a name is asked below.
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return damaged(path, tar);
    if (archive_entry_pathname(entry) == nullptr) {
      ++nameless;
      if (reading.unread == nullptr) return without_names(path, nameless);
      continue;
    }
    const auto file = file_of(path, entry);
    if (!file) {
      if (auto left = reading.leave("", file.error()); !left) return left;
      continue;
    }
    if (!*file) continue;
    const auto& [name, size] = **file;
    const auto part = reading.wanted(name);
    const bool is_whole = part == FilePart::whole;
    const auto one = is_whole ? budget.check_one(size) : Result<void>();
    if (!one) {
      if (auto left = reading.leave(name, at(path, name, one.error().message)); !left) return left;
    }
    if (auto more = budget.add(size); !more) return at(path, name, more.error().message);
    if (part == FilePart::none || !one) continue;
    if (auto got = read_data(path, **file, part, tar, bytes); !got) return got;
    if (auto visited = reading.visit(name, bytes); !visited) return visited;
  }
}

Result<void> visit_all(const std::string& path, const Reading& reading) {
  std::error_code code;
  const auto status = fs::status(path, code);
  if (fs::is_directory(status)) return visit_folder(path, reading);
  if (fs::is_regular_file(status)) return visit_archive(path, reading);
  return error(
      fmt::format("{}: is {}. Give a folder, or an archive of one (.tar, .tar.gz, .zip).", path,
                  fs::exists(status) ? "neither a folder nor a file" : "not there or cannot be reached"));
}

}  // namespace

Result<std::string> plain_name(std::string_view name) {
  const auto shown = as_one_line(name);
  const auto refuse = [&shown](const char* what) {
    return error(
        fmt::format("the name '{}' {}. Only files inside the folder are read; take it out.", shown, what));
  };
  if (name.starts_with('/')) return refuse("is absolute");
  if (std::any_of(name.begin(), name.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; })) {
    return refuse("has a control character");
  }
  std::string plain;
  while (!name.empty()) {
    const auto part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    if (part == "..") return refuse("has a ..");
    if (part.empty() || part == ".") continue;
    if (!plain.empty()) plain += '/';
    plain += part;
  }
  if (plain.empty()) return refuse("is empty");
  return plain;
}

Result<void> visit_files(const std::string& path, const Wanted& wanted, const Visit& visit,
                         const ArchiveLimits& limits) {
  const WantedPart part = [&wanted](const std::string& name) {
    return wanted(name) ? FilePart::whole : FilePart::none;
  };
  return visit_all(path, {.wanted = part, .visit = visit, .limits = limits});
}

Result<void> visit_parts(const std::string& path, const WantedPart& wanted, const Visit& visit,
                         const Unread& unread, const ArchiveLimits& limits) {
  return visit_all(path, {.wanted = wanted, .visit = visit, .unread = &unread, .limits = limits});
}

}  // namespace hyfreedp::datasets
