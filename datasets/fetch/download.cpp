#include "datasets/fetch/download.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

#include "datasets/fetch/http_get.h"
#include "datasets/fetch/part_file.h"
#include "datasets/fetch/record.h"
#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

std::string shown_name(const std::string& path) { return fs::path(path).filename().string(); }

// Puts what comes into the part, and refuses what cannot be the file.
class Filler : public Receiver {
 public:
  Filler(const WantedFile& file, const std::string& url, PartFile& part, const Transport& transport)
      : file_(file), url_(url), part_(part), transport_(transport) {}

  Result<void> begin(const Begin& begin) override {
    total_ = begin.total;
    if (file_.bytes > 0 && total_ > 0 && total_ != file_.bytes) {
      return error(
          fmt::format("it has {} bytes there, {} are expected: it is another file", total_, file_.bytes));
    }
    if (!begin.continued) {
      if (part_.size() > 0 && transport_.say) {
        transport_.say(
            fmt::format("{}: begins anew, because the server cannot continue it", shown_name(file_.path)));
      }
      if (auto emptied = part_.restart({url_, begin.etag, begin.last_modified}); !emptied)
        return disk(emptied);
    } else if (transport_.say) {
      transport_.say(fmt::format("{}: continues at {}", shown_name(file_.path), bytes_text(part_.size())));
    }
    return room();
  }
  Result<void> take(std::string_view bytes) override {
    if (file_.bytes > 0 && part_.size() + bytes.size() > file_.bytes)
      return error(fmt::format("more than the expected {} bytes came: it is another file", file_.bytes));
    if (auto written = part_.append(bytes); !written) return disk(written);
    if (transport_.progress) transport_.progress(shown_name(file_.path), part_.size(), expected());
    return {};
  }

  bool is_disk_error() const { return is_disk_error_; }
  // 0: unknown
  std::uint64_t expected() const { return file_.bytes > 0 ? file_.bytes : total_; }

 private:
  Result<void> disk(const Result<void>& failure) {
    is_disk_error_ = true;
    return failure.error();
  }
  // A disk that is too small is said before it is full.
  Result<void> room() {
    std::error_code unknown;
    const auto space = fs::space(fs::absolute(file_.path).parent_path(), unknown);
    if (unknown || expected() <= part_.size() || space.available >= expected() - part_.size()) return {};
    is_disk_error_ = true;
    return error(
        fmt::format("{}: {} are still needed and the disk has {} free. Make room and run the same "
                    "command again.",
                    file_.path, bytes_text(expected() - part_.size()), bytes_text(space.available)));
  }

  const WantedFile& file_;
  const std::string& url_;
  PartFile& part_;
  const Transport& transport_;
  std::uint64_t total_ = 0;
  bool is_disk_error_ = false;
};

struct Tried {
  bool done = false;
  bool hopeless = false;  // no other address helps either
  std::string why;
};

void pause_before(int attempt, const Transport& transport) {
  std::this_thread::sleep_for(std::chrono::duration<double>(transport.pause_seconds * attempt));
}

// Returns the request that continues the part; none if it cannot be continued.
std::optional<GetRequest> continuation(const WantedFile& file, const std::string& url, const PartFile& part) {
  if (part.size() == 0 || (file.bytes > 0 && part.size() >= file.bytes)) return std::nullopt;
  const auto validator = part.version().url == url ? part.version().validator() : "";
  if (validator.empty() && file.sha256.empty()) return std::nullopt;
  return GetRequest{url, part.size(), validator};
}

// Returns the record of the part, which must be the whole file. An error if its checksum is
// another.
Result<Record> checked(const WantedFile& file, const std::string& url, const PartFile& part) {
  const auto found = sha256_of_file(part.path());
  if (!found) return found.error();
  if (!file.sha256.empty() && *found != file.sha256) {
    return error(
        fmt::format("what came has the SHA-256 {}, {} is expected: it is another file, or was damaged",
                    *found, file.sha256));
  }
  return Record{.from = url, .bytes = part.size(), .sha256 = *found, .pinned = !file.sha256.empty()};
}

Result<void> put_in_place(const WantedFile& file, const Record& record, PartFile& part) {
  if (auto written = write_record(file.path, record); !written) return written;
  return part.finish();
}

Tried from_one(const WantedFile& file, const std::string& url, PartFile& part, const Transport& transport) {
  bool whole = false;  // the next request is for the whole file
  std::uint64_t furthest = part.size();
  std::uint64_t total = 0;  // as some answer said
  for (int attempt = 1;; ++attempt) {
    const auto next = whole ? std::nullopt : continuation(file, url, part);
    Filler filler(file, url, part, transport);
    auto got = http_get(next ? *next : GetRequest{url, 0, ""}, transport, filler);
    using Ending = Got::Ending;
    total = std::max(total, filler.expected());
    if (got.ending == Ending::stopped) return {false, filler.is_disk_error(), got.why};
    if (got.ending == Ending::refused) return {false, false, got.why};
    if (got.ending == Ending::complete && part.size() < filler.expected())
      got = {Ending::broken, "the connection ended too early"};
    if (got.ending == Ending::complete) {
      const auto record = checked(file, url, part);
      if (record) {
        if (auto placed = put_in_place(file, *record, part); !placed)
          return {false, true, placed.error().message};
        return {true, false, ""};
      }
      if (auto emptied = part.restart({}); !emptied) return {false, true, emptied.error().message};
      if (!next) return {false, false, record.error().message};
      got = {Ending::no_range, record.error().message};  // the older part may be of another file
    }
    if (part.size() > furthest) attempt = 0;  // as long as something comes, it is worth going on
    furthest = std::max(furthest, part.size());
    whole = got.ending == Ending::no_range;
    if (attempt >= transport.attempts) {
      return {false, false,
              fmt::format("{}, after {} of {} and {}", got.why, bytes_text(part.size()),
                          total > 0 ? bytes_text(total) : "an unknown number of bytes",
                          counted(attempt, "attempt"))};
    }
    pause_before(attempt, transport);
  }
}

}  // namespace

Result<void> download(const WantedFile& file, const Transport& transport) {
  HYFREEDP_CHECK(!file.urls.empty(), "a download without an address");
  auto part = PartFile::open(file.path);
  if (!part) return part.error();
  // A process that died between the last byte and the renaming.
  if (file.bytes > 0 && (**part).size() == file.bytes && !file.sha256.empty()) {
    const auto url = (**part).version().url.empty() ? file.urls.front() : (**part).version().url;
    if (const auto record = checked(file, url, **part)) return put_in_place(file, *record, **part);
  }
  std::vector<std::string> reasons;
  for (const auto& url : file.urls) {
    auto tried = from_one(file, url, **part, transport);
    if (tried.done) return {};
    if (tried.hopeless) return error(tried.why);
    reasons.push_back(fmt::format("{}: {}", url, tried.why));
  }
  const bool is_begun = (**part).size() > 0;
  if (!is_begun) {
    ::unlink((**part).path().c_str());
    ::unlink(((**part).path() + ".json").c_str());
  }
  return error(fmt::format(
      "{} cannot be fetched. {}. {}", shown_name(file.path), join(reasons, ". "),
      is_begun ? fmt::format("Run the same command again to go on after {}.", bytes_text((**part).size()))
               : fmt::format("Run the same command again later, or put the file into {} by hand.",
                             fs::path(file.path).parent_path().string())));
}

}  // namespace hyfreedp::datasets
