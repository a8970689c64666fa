#include "datasets/formats/named_files.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

// The place of the file in `names`; names.size() for one that is not among them.
std::size_t place_of(const std::vector<std::string>& names, const std::string& file) {
  const auto last = file.substr(file.rfind('/') + 1);  // all of it where there is no /
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), last) - names.begin());
}

}  // namespace

Result<void> visit_named_files(const std::string& path, const std::vector<std::string>& names,
                               const VisitNamed& visit, const ArchiveLimits& limits) {
  std::vector<std::string> found(names.size());  // the whole names, empty for those not there yet
  const auto wanted = [&names](const std::string& file) { return place_of(names, file) < names.size(); };
  const auto take = [&](const std::string& file, std::string_view bytes) -> Result<void> {
    const auto place = place_of(names, file);
    auto& before = found[place];
    if (!before.empty()) {
      return error(
          fmt::format("{}: has {} twice, as {} and as {}. Leave one.", path, names[place], before, file));
    }
    before = file;
    return visit(place, path + ": " + file, bytes);
  };
  if (auto visited = visit_files(path, wanted, take, limits); !visited) return visited;
  for (std::size_t place = 0; place < names.size(); ++place) {
    if (found[place].empty()) {
      return error(fmt::format("{}: has no {}. Expected are {}, in one folder or in an archive of it.", path,
                               names[place], join(names, ", ")));
    }
  }
  return {};
}

}  // namespace hyfreedp::datasets
