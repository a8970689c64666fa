// Files whose paths a user gives: --output, --plot, --csv and the like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace hyfreedp {

// Writes a file whose path a user gave. A regular file is replaced as by write_file_atomically(),
// but keeps its mode, and where the path is a link, the file that it leads to is replaced. What is
// no regular file (a device, a FIFO, /dev/stdout) is written into. A FIFO that nobody reads for
// ten seconds is an error. `owner_only`: a regular file gets a mode of its owner's alone.
Result<void> write_named_file(const std::string& path, std::string_view content, bool owner_only = false);
// The number in paths such as /dev/fd/3, /dev/stdout; none for other paths. These are this
// process's open files, and to open them again would begin at another place of the file.
std::optional<int> named_descriptor(const std::string& path);
// True if a file named so is standard output, which then has room for nothing else.
bool is_standard_output(const std::string& path);
// Writes into an open file. Returns true if all of it was written; errno says why not.
bool write_all(int descriptor, std::string_view bytes);
// True if a file can be made in the folder, or the folder itself if it is not there.
bool is_writable_folder(const std::string& path);

}  // namespace hyfreedp
