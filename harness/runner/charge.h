// What one trial is charged, from all that is known of it: its journal, its key file, the
// database's record.
//
//   journal    charges what its attempts booked, and whole those whose journal was lost before
//              (trial/journal.h)
//   key        one whose nonce the journal has not, or that has no journal: a journal was lost
//              since. Every attempt up to the key's is charged whole
//   recorded   what the database took from a journal once. Where journal and key contain it, it is
//              part of them; otherwise it is of a journal that is gone, and is added
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/accounting/event.h"
#include "harness/random/key_file.h"
#include "harness/trial/journal.h"

namespace hyfreedp::runner {

// There is no such journal, or one whose worker was killed before its first line was whole: it
// tells of nothing.
bool is_missing_journal(const std::string& path);

// The label of a run's key file; none where there is no file or it is of the first format, which
// names no journal.
Result<std::optional<random::KeyLabel>> key_label(const std::string& path);

// The trial's executed events, charged. `journal` may be null, and `recorded` empty. An error where
// the label's config is none.
Result<std::vector<accounting::Event>> charge_of(const trial::Journal* journal,
                                                 const std::optional<random::KeyLabel>& key,
                                                 const std::vector<accounting::Event>& recorded);

}  // namespace hyfreedp::runner
