// The entries of a zip archive that lies in memory (APPNOTE.TXT, PKWARE; with its 64-bit fields).
// Only entries that are stored as they are: PyTorch compresses nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace hyfreedp::models {

// Each entry's bytes, parts of `file`, by name. Refused: a truncated archive, one of several
// volumes, encrypted and compressed entries, a name that comes twice, entries that overlap or lie
// outside the file, an entry whose two sizes differ. Checksums are not compared: PyTorch can be
// told to leave them out.
Result<std::map<std::string, std::string_view>> zip_entries(std::string_view file, const std::string& where);

}  // namespace hyfreedp::models
