// A run's key on disk: what makes an unseeded run resumable, and what must not outlive it.
//
// Text, mode 0600. A run's key file (format 2) has three lines: "hyfreedp key 2", 64 hexadecimal
// digits, and one JSON object that says what the key was made for. The key of a spec's draws has
// the first two lines alone, as every key file of the first format ("hyfreedp key 1") has. The file
// and its folder are synced before the key is handed out, so that no noise is ever drawn under a
// key that a crash could lose. Whoever holds the key can subtract the noise: it is deleted when the
// run is complete, and no error message or log ever quotes the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/base/json.h"
#include "harness/random/stream.h"

namespace hyfreedp::random {

// Says what a run's key was made for.
struct KeyLabel {
  // Of the attempt, as its journal has it (mechanism/journal.h); 32 hexadecimal digits, or, of a
  // seeded run, "attempt" and a number.
  std::string nonce;
  std::string trial;         // identity of the run
  std::int64_t attempt = 0;  // of that run, counted from 0; it draws under this key alone
  json::object config = {};  // of that run, resolved; names the data
};

struct LabelledKey {
  Key key;
  std::optional<KeyLabel> label = {};  // none: a file of the first format
};

// The key of a spec's draws: the one in the file; where there is none, a new one from the system's
// entropy, written first. Two processes that start at once get the same key.
//   file not well-formed             error (never replaced: the draws could not be repeated)
//   file readable by anyone else     error that says chmod 600
Result<Key> create_or_read_key(const std::string& path);

// A file of either format; none where there is no file. The same errors.
Result<std::optional<LabelledKey>> read_key(const std::string& path);
// A new key from the system's entropy in the file's place, which is made where absent: written,
// synced, then renamed over the old one. The caller holds the run's journal, so nobody else writes
// the file.
Result<Key> replace_key(const std::string& path, const KeyLabel& label);

// 32 hexadecimal digits from the system's entropy.
Result<std::string> nonce_from_entropy();

// Removes the file and syncs the folder; not an error where it is absent. A journaling or flash
// file system may keep the old blocks for a while, which no program can change.
Result<void> delete_key(const std::string& path);

}  // namespace hyfreedp::random
