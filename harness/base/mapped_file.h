// A file's bytes, memory-mapped read-only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace hyfreedp {

// Bytes and what keeps them alive. Copies share both.
struct SharedBytes {
  std::string_view bytes = {};
  std::shared_ptr<const void> owner = {};
};

// An error where the path cannot be opened or is no regular file. Writing to the bytes is a memory
// fault.
Result<SharedBytes> map_file(const std::string& path);

// `text`'s bytes in memory of their own, aligned to 8 bytes.
SharedBytes owned_bytes(std::string text);

}  // namespace hyfreedp
