#include "datasets/published_files.h"

#include <fmt/format.h>

#include "datasets/own/own_files.h"

namespace hyfreedp::datasets {

Result<PublishedFiles> locate_published(const Facts& facts, const json::object& options) {
  if (const auto own = own_path(options); !own.empty()) {
    const auto path = locate_own_files(own);
    if (!path) return path.error();
    const auto mark = mark_of(options, *path);
    if (!mark) return mark.error();
    return PublishedFiles{.path = *path, .folder = "", .marks = {json::value(*mark)}};
  }
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  const auto only = facts.files.size() == 1 ? "/" + facts.files.front().name : std::string();
  return PublishedFiles{.path = *folder + only, .folder = *folder, .marks = checksums(facts)};
}

Result<void> check_published(const Facts& facts, const PublishedFiles& files, const json::object& options) {
  if (!files.folder.empty()) return verify_files(facts, files.folder);
  const auto same = with_checksum(options, files.path);
  return same ? Result<void>() : same.error();
}

Result<json::object> complete_own_copy(json::object options) {
  const auto own = read_options<OwnFilesOptions>(options);
  if (!has_text(own.path)) {
    for (const auto& [name, given] : {std::pair{"sha256", &own.sha256}, {"files_mark", &own.files_mark}}) {
      if (has_text(*given)) return error(fmt::format("'{}' has no effect without 'path'.", name));
    }
    return options;
  }
  const auto place = locate_own_files(*own.path);
  return place ? with_checksum(std::move(options), *place) : options;
}

}  // namespace hyfreedp::datasets
