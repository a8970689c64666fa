#include "harness/runner/execute/study_request.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/restored_releases.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLook{50};

// Names sort by age.
std::string new_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:020}-{}", std::chrono::nanoseconds(now).count(), ::getpid());
}

std::vector<fs::path> request_files(const OutFolder& out) {
  std::vector<fs::path> paths;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(out.requests(), absent)) {
    const auto extension = entry.path().extension();
    if (extension == ".json" || extension == ".taken") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<StudyRequest> read_request(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto value = parse_json(*text, path);
  if (!value) return value.error();
  return from_json<StudyRequest>(*value, path);
}

Result<void> carry_out_under_lock(const OutFolder& out, const StudyRequest& request) {
  const auto store = results::Store::open(out.database(), results::Store::Mode::read_write);
  if (!store) return store.error();
  // The database may be an older copy than the release records.
  if (auto restored = restore_from_records(**store, out); !restored) return restored.error();
  if (auto caught_up = catch_up(**store, out); !caught_up) return caught_up.error();
  for (const auto& left : take_requests(out)) {
    auto done = carry_out(**store, out, left.request);
    remove_request(left);
    if (!done) return done;
  }
  return carry_out(**store, out, request);
}

Result<void> cancel_studies(results::Store& store, const OutFolder& out,
                            const std::vector<std::string>& studies) {
  std::set<std::string> specs;
  for (const auto& id : studies) {
    const auto known = store.study(id);
    if (!known) return known.error();
    if (!*known || results::is_answered(**known)) continue;
    const auto cancelled = as_cancelled(store, out, **known);
    if (!cancelled) return cancelled.error();
    if (auto written = store.put_study(*cancelled); !written) return written;
    specs.insert(cancelled->spec);
  }
  for (const auto& spec : specs) {
    if (auto written = update_release_record(store, out, spec); !written) return written;
  }
  return {};
}

Result<void> annotate(results::Store& store, const StudyRequest& request) {
  auto known = store.notes();
  if (!known) return known.error();
  for (const auto& id : request.studies) {
    auto note = (*known)[id];
    note.study = id;
    if (request.kind == StudyRequest::Kind::note) note.note = request.note;
    std::set<std::string> tags(note.tags.begin(), note.tags.end());
    tags.insert(request.add.begin(), request.add.end());
    for (const auto& tag : request.remove) tags.erase(tag);
    note.tags.assign(tags.begin(), tags.end());
    if (auto written = store.put_note(note); !written) return written;
  }
  return {};
}

}  // namespace

Result<std::string> leave_request(const OutFolder& out, const StudyRequest& request) {
  if (auto made = make_closed_folder(out.requests()); !made) return made.error();
  const auto path = fmt::format("{}/{}.json", out.requests(), new_name());
  if (auto written = write_file_atomically(path, canonical_json(as_json(request)), 0600); !written)
    return written.error();
  return path;
}

std::vector<TakenRequest> take_requests(const OutFolder& out) {
  std::vector<TakenRequest> taken;
  for (auto path : request_files(out)) {
    if (path.extension() == ".json") {
      const auto before = path;
      std::error_code failure;
      fs::rename(before, path.replace_extension(".taken"), failure);
      if (failure) continue;  // withdrawn
    }
    auto request = read_request(path.string());
    TakenRequest one{request ? std::move(*request) : StudyRequest{}, path.string()};
    if (request) {
      taken.push_back(std::move(one));
    } else {
      remove_request(one);
    }
  }
  return taken;
}

void remove_request(const TakenRequest& taken) {
  std::error_code failure;
  fs::remove(taken.path, failure);
}

Result<void> carry_out(results::Store& store, const OutFolder& out, const StudyRequest& request) {
  if (request.kind == StudyRequest::Kind::cancel) return cancel_studies(store, out, request.studies);
  return annotate(store, request);
}

Result<void> hand_in(const OutFolder& out, const StudyRequest& request, std::chrono::milliseconds patience) {
  std::optional<fs::path> waiting, taken;
  std::error_code failure;
  for (const auto begin = std::chrono::steady_clock::now();;) {
    if (!FolderLock::is_held(out)) {
      if (const auto lock = FolderLock::acquire(out)) {
        // This process carries out all that waits, and this request with it.
        if (waiting) {
          fs::remove(*waiting, failure);
          fs::remove(*taken, failure);
        }
        return carry_out_under_lock(out, request);
      }
    }
    if (!waiting) {
      const auto left = leave_request(out, request);
      if (!left) return left.error();
      waiting = *left;
      taken = fs::path(*left).replace_extension(".taken");
    } else if (!fs::exists(*waiting) && !fs::exists(*taken)) {
      return {};
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > patience && fs::remove(*waiting, failure)) {
      return error(fmt::format(
          "{} is in use by process {}, which did not answer within {} seconds. Nothing was changed; try "
          "again, or when it is over.",
          out.root, FolderLock::holder(out).value_or(0),
          std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace hyfreedp::runner
