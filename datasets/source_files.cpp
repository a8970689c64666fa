#include "datasets/source_files.h"

#include <fmt/format.h>

#include "harness/base/files.h"

namespace hyfreedp::datasets {

Result<void> verify_files(const Facts& facts, const std::string& folder) {
  for (const auto& file : facts.files) {
    const std::string path = folder + "/" + file.name;
    const auto content = read_file(path);
    if (!content) return content.error();
    if (const auto found = sha256_hex(*content); found != file.sha256) {
      return error(fmt::format(
          "{}: SHA-256 is {} but {} is expected, so this is not the file that the splits were defined on. "
          "To get it: {}.",
          path, found, file.sha256, facts.how_to_get));
    }
  }
  return {};
}

}  // namespace hyfreedp::datasets
