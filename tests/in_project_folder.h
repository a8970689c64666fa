// Makes the project's folder the working folder for as long as it lives: weights of the project are
// looked for there, as when a person runs its specs.
#pragma once

#include <filesystem>

namespace hyfreedp {

class InProjectFolder {
 public:
  InProjectFolder() { std::filesystem::current_path(HYFREEDP_SOURCE_DIR); }
  ~InProjectFolder() { std::filesystem::current_path(before_); }
  InProjectFolder(const InProjectFolder&) = delete;
  InProjectFolder& operator=(const InProjectFolder&) = delete;

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace hyfreedp
