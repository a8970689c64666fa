// A user's own files, which the option `path` names: where they are, and what a run knows them by.
// This code has no LibTorch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/describe.h"
#include "harness/base/json.h"
#include "harness/base/options.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct OwnFilesOptions {
  std::optional<std::string> path, sha256, files_mark;
  bool other_people = false;
};
BOOST_DESCRIBE_STRUCT(OwnFilesOptions, (), (path, sha256, files_mark, other_people))

// Whether the text of an option is there and is not empty.
inline bool has_text(const std::optional<std::string>& text) { return text && !text->empty(); }
// Whether the options have a value of that name.
bool is_given(const json::object& options, std::string_view name);
// The option `path`; empty where there is none.
std::string own_path(const json::object& options);

// The file or folder that `path` names: an absolute path, or one in $HYFREEDP_DATA, or in the
// working folder. The error says where it was looked for.
Result<std::string> locate_own_files(const std::string& path);
// SHA-256 of a file; of a folder, that of the sorted lines "NAME SHA-256\n" of all its files.
Result<std::string> own_files_checksum(const std::string& path);
// Holds the files to the options: to `sha256` where the spec gives it, because it is published;
// otherwise to `files_mark`, which is filled in. A bare checksum of private files would tell
// whoever has a guess of them whether it is right, and options are exported, so the mark is SHA-256
// of the checksum under a secret of this user
// (${XDG_STATE_HOME:-~/.local/state}/hyfreedp/data.key).
Result<json::object> with_checksum(json::object options, const std::string& path);
// The mark of `text`, a checksum say, under the user's secret. None if there is no secret yet, or
// if it cannot be read: nothing of this user has a mark then.
std::optional<std::string> secret_mark(const std::string& text);
// Tells marks under this secret from those under another; empty where there is none.
std::string mark_of_secret();
// secret_mark(), where the secret is made if there is none yet. An error where it cannot be, or
// cannot be read safely (README.md, "The secret").
Result<std::string> made_secret_mark(const std::string& text);
// The mark of the files that the options name, whether they give `sha256` or nothing; empty where
// the files were not here when the spec was read.
std::string own_mark(const json::object& options);
// The last part of a path to own files, in two: "photos", links followed, and ".tar.gz", as the
// path has it, by which the files are read. A folder's ending is what its name has, mostly nothing.
struct OwnName {
  std::string name, ending;
};
OwnName own_name(const std::string& path);
// Returns what the options know the files by. An error if they were not here when the spec was
// read.
Result<std::string> mark_of(const json::object& options, const std::string& path);
// A number that a spec may give, and that is otherwise counted when the spec is read: for
// options_of.
OptionSpec own_count(std::string name, std::string help);
// `other_people`, of datasets whose records are compared with those of others (record_marks.h).
std::vector<OptionSpec> other_people_option();
// `path`, `sha256` and `files_mark`, which these functions read; `help`: of `path`.
std::vector<OptionSpec> own_files_options(std::string help);

}  // namespace hyfreedp::datasets
