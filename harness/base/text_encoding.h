// Recognises the encoding of a text file by its first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace hyfreedp {

// Returns where the text begins in UTF-8: behind a byte order mark, with which spreadsheets write
// it, or at 0. An error for UTF-16 and UTF-32, which names the command that converts the file at
// `path`.
Result<std::size_t> begin_of_text(std::string_view head, const std::string& path);

}  // namespace hyfreedp
