#include "harness/runner/spec/spec_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 8;
constexpr const char* kListed = "`hyfreedp list specs` lists the specs of this project";

bool is_yaml(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

std::vector<std::string> yaml_files_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, absent)) {
    if (is_yaml(entry.path())) files.push_back((folder / entry.path().filename()).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> yaml_files_below(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (auto entry = fs::recursive_directory_iterator(folder, failure);
       !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    if (is_yaml(entry->path())) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The file among `files` whose name is nearest to that of `path`; of several, the one whose folder
// is too.
std::string nearest_file(const std::string& path, const std::vector<std::string>& files) {
  std::vector<std::string> stems;
  for (const auto& file : files) stems.push_back(fs::path(file).stem().string());
  const auto name = fs::path(path).filename();
  const auto stem = nearest_name(is_yaml(name) ? name.stem().string() : name.string(), stems);
  std::vector<std::string> of_that_name;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (stems[i] == stem) of_that_name.push_back(files[i]);
  }
  if (of_that_name.size() < 2) return of_that_name.empty() ? "" : of_that_name.front();
  const auto nearest = nearest_name(path, of_that_name);
  return nearest.empty() ? of_that_name.front() : nearest;
}

Error no_such_file(const std::string& path) {
  auto near = nearest_file(path, yaml_files_in(fs::path(path).parent_path()));
  if (near.empty()) near = nearest_file(path, yaml_files_below("experiments"));
  return error(near.empty() ? fmt::format("there is no file {}; {}.", path, kListed)
                            : fmt::format("there is no file {}; did you mean {}?", path, near));
}

Error is_a_folder(const std::string& path) {
  auto files = yaml_files_in(path);
  if (files.empty())
    return error(fmt::format("{} is a folder, not a spec, and has no .yaml file in it; {}.", path, kListed));
  const auto more = files.size() > kMostNamed ? files.size() - kMostNamed : 0;
  files.resize(files.size() - more);
  return error(fmt::format("{} is a folder, not a spec; name one of its files: {}{}; {}.", path,
                           join(files, ", "), more > 0 ? fmt::format(" and {} more", more) : "", kListed));
}

}  // namespace

Result<std::string> read_spec_file(const std::string& path) {
  std::error_code failure;
  const auto status = fs::status(path, failure);
  if (fs::is_directory(status)) return is_a_folder(path);
  if (!fs::exists(status)) return no_such_file(path);
  return read_file(path);
}

}  // namespace hyfreedp::runner
