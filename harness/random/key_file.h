// A run's key on disk: what makes an unseeded run resumable, and what must not outlive it.
//
// Two lines of text, "hyfreedp key 1" and 64 hexadecimal digits, mode 0600. The file and its folder
// are synced before the key is handed out, so that no noise is ever drawn under a key that a crash
// could lose. Whoever holds the key can subtract the noise: it is deleted when the run is complete,
// and no error message or log ever quotes the file.
#pragma once

#include <string>

#include "harness/random/stream.h"

namespace hyfreedp::random {

// The key in the file; where there is none, a new one from the system's entropy, written first. Two
// processes that start at once get the same key.
//   file not well-formed             error (a key is never replaced: the run could not be resumed)
//   file readable by anyone else     error that says chmod 600
Result<Key> create_or_read_key(const std::string& path);
// Removes the file and syncs the folder; not an error where it is absent. A journaling or flash
// file system may keep the old blocks for a while, which no program can change.
Result<void> delete_key(const std::string& path);

}  // namespace hyfreedp::random
