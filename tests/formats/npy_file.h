// NumPy's files as numpy.save writes them, made by a test.
#pragma once

#include <fmt/format.h>
#include <string>

namespace hyfreedp::datasets {

// All before the values: 128 bytes. `type`: "|u1"; `shape`: "4, 2, 2, 3", of one dimension "4,".
inline std::string npy_head(const std::string& type, const std::string& shape) {
  auto header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n";
}

}  // namespace hyfreedp::datasets
