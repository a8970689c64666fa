// Writes a test's file, without waiting for the disk: there are hundreds.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace hyfreedp::datasets {

// Returns `path`, whose folders it makes.
inline std::string written(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::filesystem::remove(path);  // some file systems wait where a file is written over
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return file.flush() ? path : "";
}

}  // namespace hyfreedp::datasets
