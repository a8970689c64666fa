// IDX files (the MNIST family's format), plain or gzipped.
//
//   bytes 0-1   zero
//   byte 2      element type; 0x08, unsigned byte, is the only one accepted
//   byte 3      number of dimensions d
//   then        d big-endian 32-bit sizes, and the elements with the last dimension fastest;
//               nothing may follow
//
// Source: Yann LeCun's page on MNIST. Every header field is checked before it is used, and memory
// grows with the bytes that are there. A truncated, over-long or damaged file is an error that
// names it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/formats/byte_source.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct IdxArray {
  std::vector<std::int64_t> shape;  // 1 to 4 dimensions, at most 2^31 elements
  std::vector<std::uint8_t> bytes;
};

Result<IdxArray> read_idx(const std::string& path);
// The same of bytes that are not packed any more.
Result<IdxArray> read_idx(ByteSource& source);

}  // namespace hyfreedp::datasets
