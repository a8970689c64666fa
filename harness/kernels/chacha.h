// The keystream of harness/random/stream.h, one 64-byte block at a time: ChaCha20
// (RFC 8439, section 2.3) under the same key, nonce and counter, so that words and uniforms are
// equal bit for bit.
#pragma once

#include "harness/kernels/team.h"

namespace hyfreedp::kernels {

inline constexpr unsigned kWordsPerBlock = 8;  // of 64 bits

// A key and an address of stream.h in the form that the cipher takes.
struct Stream {
  std::uint32_t key[8];
  std::uint32_t nonce[3];
};

HYFREEDP_DEVICE std::uint32_t rotated(std::uint32_t value, int by) {
  return (value << by) | (value >> (32 - by));
}

HYFREEDP_DEVICE void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
  a += b, d = rotated(d ^ a, 16);
  c += d, b = rotated(b ^ c, 12);
  a += b, d = rotated(d ^ a, 8);
  c += d, b = rotated(b ^ c, 7);
}

// Words 8 * block .. 8 * block + 7 of the stream.
HYFREEDP_DEVICE void keystream_block(const Stream& stream, std::uint32_t block, std::uint64_t* words) {
  const std::uint32_t start[16] = {0x61707865,    0x3320646e,      0x79622d32,      0x6b206574,
                                   stream.key[0], stream.key[1],   stream.key[2],   stream.key[3],
                                   stream.key[4], stream.key[5],   stream.key[6],   stream.key[7],
                                   block,         stream.nonce[0], stream.nonce[1], stream.nonce[2]};
  std::uint32_t x[16];
  for (int i = 0; i < 16; ++i) x[i] = start[i];
  for (int round = 0; round < 10; ++round) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
  for (unsigned i = 0; i < kWordsPerBlock; ++i) {
    const std::uint64_t low = x[2 * i] + start[2 * i];
    const std::uint64_t high = static_cast<std::uint32_t>(x[2 * i + 1] + start[2 * i + 1]);
    words[i] = static_cast<std::uint32_t>(low) | high << 32;
  }
}

}  // namespace hyfreedp::kernels
