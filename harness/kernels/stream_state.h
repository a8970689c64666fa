// A key and an address as the kernels take them.
#pragma once

#include <cstring>

#include "harness/kernels/chacha.h"
#include "harness/random/stream.h"

namespace hyfreedp::kernels {

inline Stream stream_of(const random::Key& key, const random::Address& address) {
  Stream stream{};
  std::memcpy(stream.key, key.bytes.data(), key.bytes.size());
  stream.nonce[0] = address.step;
  stream.nonce[1] = static_cast<std::uint32_t>(address.tensor) |
                    static_cast<std::uint32_t>(address.purpose) << 16 |
                    static_cast<std::uint32_t>(address.lane) << 24;
  stream.nonce[2] = address.attempt;
  return stream;
}

}  // namespace hyfreedp::kernels
