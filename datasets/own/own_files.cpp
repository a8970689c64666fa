#include "datasets/own/own_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/image/archive.h"
#include "datasets/image/image_folder.h"
#include "harness/base/files.h"
#include "harness/base/option_lines.h"
#include "harness/base/text.h"
#include "harness/random/key_file.h"

namespace hyfreedp::datasets {

namespace fs = std::filesystem;

bool is_given(const json::object& options, std::string_view name) {
  const auto* value = options.if_contains(name);
  return value != nullptr && !value->is_null();
}

std::string own_path(const json::object& options) {
  return read_options<OwnFilesOptions>(options).path.value_or("");
}

Result<std::string> locate_own_files(const std::string& path) {
  std::error_code ignored;
  std::vector<std::string> looked_in;
  const char* data = std::getenv("HYFREEDP_DATA");
  if (fs::path(path).is_relative()) {
    if (data == nullptr || *data == '\0') {
      looked_in.push_back("$HYFREEDP_DATA, which is not set");
    } else {
      const auto inside = (fs::path(data) / path).string();
      if (fs::exists(inside, ignored)) return inside;
      looked_in.push_back(inside);
    }
  }
  if (fs::exists(path, ignored)) return path;
  looked_in.push_back(path);
  return error(fmt::format("path '{}': there is no such file or folder on this machine. Looked in: {}.", path,
                           join(looked_in, ", ")));
}

Result<std::string> own_files_checksum(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return sha256_of_file(path);
  std::vector<std::string> lines;
  // A data set's folder may have files that are too large to be read at once, and that no run
  // reads, such as STL-10's unlabelled images. An image of that size is an error.
  std::vector<std::string> large;
  const auto wanted = [&](const std::string& name) {
    if (is_image_name(name) || fs::file_size(path + "/" + name, ignored) <= ArchiveLimits().file_bytes) {
      return true;
    }
    large.push_back(name);
    return false;
  };
  const auto add = [&lines](const std::string& name, std::string_view bytes) -> Result<void> {
    lines.push_back(fmt::format("{} {}\n", name, sha256_hex(bytes)));
    return {};
  };
  if (auto visited = visit_files(path, wanted, add); !visited) return visited.error();
  for (const auto& name : large) {
    const auto sha256 = sha256_of_file(fmt::format("{}/{}", path, name));
    if (!sha256) return sha256.error();
    lines.push_back(fmt::format("{} {}\n", name, *sha256));
  }
  std::sort(lines.begin(), lines.end());
  return sha256_hex(join(lines, ""));
}

namespace {

// The file with the secret. An error where it is not this user's alone: one that somebody else
// planted or can read lets them make marks and tell which data have one.
Result<std::string> secret_file(bool make) {
  constexpr const char* kAdvice = "Set XDG_STATE_HOME to a folder of your own.";
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (!is_set("XDG_STATE_HOME") && !is_set("HOME")) {
    return error(fmt::format(
        "There is no folder for the secret key under which your files are known: neither HOME nor "
        "XDG_STATE_HOME is set. {}",
        kAdvice));
  }
  const auto folder = state_folder();
  auto file = folder + "/data.key";
  if (make) {
    if (auto made = make_closed_folder(folder); !made) return made.error();
  }
  for (const auto& path : {folder, file}) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) continue;  // it is made, or there is none
    if (status.st_uid != ::geteuid()) {
      return error(
          fmt::format("{}: it is another user's, so the secret key there is not yours. {}", path, kAdvice));
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      return error(
          fmt::format("{}: others may write there, so the secret key may be theirs. Run: chmod "
                      "go-w '{}'; or set XDG_STATE_HOME to a folder of your own.",
                      path, path));
    }
  }
  return file;
}

std::string mark_under(const random::Key& key, const std::string& text) {
  return sha256_hex(std::string(key.bytes.begin(), key.bytes.end()) + text);
}

}  // namespace

std::optional<std::string> secret_mark(const std::string& text) {
  const auto file = secret_file(false);
  if (!file) return std::nullopt;
  const auto stored = random::read_key(*file);
  if (!stored || !*stored) return std::nullopt;
  return mark_under((**stored).key, text);
}

std::string mark_of_secret() { return secret_mark("the secret itself").value_or(""); }

Result<std::string> made_secret_mark(const std::string& text) {
  const auto file = secret_file(true);
  if (!file) return file.error();
  const auto key = random::create_or_read_key(*file);
  if (!key) return key.error();
  return mark_under(*key, text);
}

Result<json::object> with_checksum(json::object options, const std::string& path) {
  const auto sha256 = own_files_checksum(path);
  if (!sha256) return sha256.error();
  const auto given = read_options<OwnFilesOptions>(options);
  if (has_text(given.sha256)) {
    if (has_text(given.files_mark)) {
      return error(
          "'files_mark' is filled in by this program, for files without 'sha256'; leave it out of the spec.");
    }
    if (*given.sha256 == *sha256) return options;
    return error(fmt::format("{}: SHA-256 of the files is {}, but the spec gives {}: they have changed.",
                             path, *sha256, *given.sha256));
  }
  const auto mark = made_secret_mark(*sha256);
  if (!mark) return mark.error();
  if (given.files_mark.value_or(*mark) != *mark) {
    return error(path + ": the files have changed since the spec was read.");
  }
  options["files_mark"] = *mark;
  return options;
}

std::string own_mark(const json::object& options) {
  const auto given = read_options<OwnFilesOptions>(options);
  if (has_text(given.files_mark) || !has_text(given.sha256)) return given.files_mark.value_or("");
  return secret_mark(*given.sha256).value_or("sha256 " + *given.sha256);
}

namespace {

OwnName split_name(std::string name) {
  OwnName own{.name = std::move(name), .ending = ""};
  for (const std::string ending :
       {".gz", ".tgz", ".tar", ".zip", ".txt", ".csv", ".tsv", ".libsvm", ".jsonl", ".safetensors"}) {
    if (!own.name.ends_with(ending)) continue;
    own.name.resize(own.name.size() - ending.size());
    own.ending = ending + own.ending;
  }
  return own;
}

}  // namespace

OwnName own_name(const std::string& path) {
  std::error_code ignored;
  const auto here = locate_own_files(path);
  auto whole = fs::weakly_canonical(here ? *here : path, ignored).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "images/"
  // Files are read by the ending of the path, and not by that of what it links to.
  auto given = fs::path(path).lexically_normal();
  if (!given.has_filename()) given = given.parent_path();
  return {.name = split_name(whole.filename().string()).name,
          .ending = split_name(given.filename().string()).ending};
}

Result<std::string> mark_of(const json::object& options, const std::string& path) {
  const auto given = read_options<OwnFilesOptions>(options);
  const auto mark = given.files_mark.value_or(given.sha256.value_or(""));
  if (mark.empty()) return error(path + ": it was not here when the spec was read; run it again.");
  return mark;
}

OptionSpec own_count(std::string name, std::string help) {
  return ranged_option(std::move(name), 1, 1e9, std::move(help));
}

std::vector<OptionSpec> other_people_option() {
  return options_of<OwnFilesOptions>({later_option(
      plain_option("other_people",
                   "true says that rows which are equal to rows of other own files are by chance: these "
                   "files are about other people"))});
}

std::vector<OptionSpec> own_files_options(std::string help) {
  return options_of<OwnFilesOptions>(
      {later_option(plain_option("path", std::move(help))),
       later_option(plain_option(
           "sha256", "published checksum of the files; without it a secret mark identifies them")),
       later_option(plain_option("files_mark", "of the files; filled in when a spec is read"))});
}

}  // namespace hyfreedp::datasets
