#include "harness/cli/common/run_needs.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "datasets/cache_file.h"
#include "datasets/facts.h"
#include "datasets/own/own_files.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/cli/common/data_items.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::cli {
namespace {

// All of the dataset that is not here: its files, and the weights that make its features.
bool is_fetchable(const datasets::Facts& facts, const json::object& options) {
  const auto own = datasets::own_path(options), weights = models::weights_named(options);
  const bool files = own.empty() ? datasets::locate(facts) || !facts.supply.empty()
                                 : datasets::locate_own_files(own).has_value();
  return files &&
         (weights.empty() || models::locate_weights(weights) || models::find_pretrained(weights) != nullptr);
}

namespace fs = std::filesystem;

// Returns the free bytes of the first folder on the way up that exists. If the system does not say,
// there is room.
std::uint64_t free_in(fs::path folder) {
  std::error_code failure;
  while (!fs::exists(folder, failure) && folder.has_relative_path()) folder = folder.parent_path();
  const auto space = fs::space(folder, failure);
  return failure ? UINT64_MAX : space.available;
}

void add_download(const Supply& supply, DiskNeeds& needs) {
  needs.downloads += supply.bytes;
  needs.downloads_at_least = needs.downloads_at_least || supply.bytes == 0;
}

class Downloads {
 public:
  explicit Downloads(DiskNeeds& needs) : needs_(needs) {}

  void dataset(const trial::Named& named) {
    const auto facts = datasets::find_dataset(named.name);
    const bool own = !datasets::own_path(named.options).empty();
    if (!facts || own || (**facts).supply.empty() || !counted_.insert("data " + named.name).second) return;
    if (!datasets::locate(**facts)) add_download((**facts).supply, needs_);
  }
  void weights(const json::object& options) {
    const auto name = models::weights_named(options);
    const auto* known = models::find_pretrained(name);
    if (known == nullptr || !counted_.insert("weights " + name).second) return;
    if (!models::locate_weights(name)) add_download(known->supply, needs_);
  }

 private:
  DiskNeeds& needs_;
  std::set<std::string> counted_;
};

bool is_there(const std::string& path, std::uint64_t bytes) {
  std::error_code absent;
  return !path.empty() && fs::file_size(path, absent) == bytes && !absent;
}

// A frozen network computes on the GPU where there is one, whatever the runs do: its features may
// be there under either name.
void add_cache(const trial::Named& dataset, DiskNeeds& needs) {
  const auto facts = datasets::find_dataset(dataset.name);
  if (!facts) return;
  bool there = false;
  std::uint64_t bytes = 0;
  for (const char* device : {"cpu", "cuda"}) {
    const auto file = datasets::cache_file(**facts, dataset.options, device);
    if (!file) return;
    bytes = file->bytes;
    there = there || is_there(file->path, file->bytes);
  }
  needs.caches += bytes;
  if (there) needs.cached += bytes;
}

}  // namespace

std::vector<Missing> missing_data(const runner::Spec& spec) {
  std::vector<Missing> missing;
  const auto add = [&missing](const std::string& what, const Result<void>& found, bool fetchable) {
    if (found) return;
    const auto same = [&](const Missing& one) {
      return one.what == what && one.why == found.error().message;
    };
    if (std::ranges::none_of(missing, same)) missing.push_back({what, found.error().message, fetchable});
  };
  for (const auto& panel : spec.content.panels) {
    // The model's, and those of a frozen network that makes features.
    std::vector<json::object> with_weights = {panel.model.options};
    for (const auto& [name, options] : spec::datasets_of(panel)) {
      const auto facts = datasets::find_dataset(name);
      add(datasets::data_name(name, options),
          facts ? datasets::check_present(**facts, options) : Result<void>(facts.error()),
          facts && is_fetchable(**facts, options));
      with_weights.push_back(options);
    }
    for (const auto& of : with_weights) {
      const auto weights = models::weights_named(of);
      if (weights.empty()) continue;
      const auto folder = models::locate_weights(weights);
      add(weights, folder ? Result<void>() : Result<void>(folder.error()),
          models::find_pretrained(weights) != nullptr);
    }
  }
  return missing;
}

Result<void> check_data(const runner::Spec& spec) {
  std::set<std::string> checked;
  std::vector<std::string> wrong;
  for (const auto& panel : spec.content.panels) {
    for (const auto& [name, options] : spec::datasets_of(panel)) {
      if (!checked.insert(name + canonical_json(options)).second) continue;
      const auto facts = datasets::find_dataset(name);
      if (!facts) return facts.error();
      if (auto sound = datasets::check_data(**facts, options); !sound) wrong.push_back(sound.error().message);
    }
  }
  return wrong.empty() ? Result<void>() : Result<void>(error(join(wrong, "\n")));
}

DiskNeeds disk_needs(const runner::Spec& spec) {
  DiskNeeds needs;
  needs.folder = cache_folder();
  needs.free = free_in(needs.folder);
  Downloads downloads(needs);
  std::set<std::string> seen;
  for (const auto& panel : spec.content.panels) {
    downloads.weights(panel.model.options);
    for (const auto& dataset : spec::datasets_of(panel)) {
      if (!seen.insert(dataset.name + canonical_json(dataset.options)).second) continue;
      downloads.dataset(dataset);
      downloads.weights(dataset.options);
      add_cache(dataset, needs);
    }
  }
  return needs;
}

std::string disk_text(const DiskNeeds& needs) {
  if (needs.caches + needs.downloads == 0 && !needs.downloads_at_least) return "";
  std::string parts = fmt::format("caches {}", bytes_text(needs.caches));
  if (needs.cached > 0) {
    parts += needs.cached == needs.caches ? " (there)" : fmt::format(" ({} there)", bytes_text(needs.cached));
  }
  if (needs.downloads > 0 || needs.downloads_at_least) {
    parts += fmt::format(", downloads {}{}", needs.downloads_at_least ? "at least " : "",
                         bytes_text(needs.downloads));
  }
  return fmt::format("Disk: {}; {} more in {}, where {} are free.", parts, bytes_text(needs.needed()),
                     needs.folder, bytes_text(needs.free));
}

Result<void> check_disk(const DiskNeeds& needs) {
  if (needs.needed() <= needs.free) return {};
  return error(fmt::format(
      "The spec needs {}{} of disk in {} for caches and downloads, and {} are free there; make room, or let "
      "XDG_CACHE_HOME name a folder that has it.",
      needs.downloads_at_least ? "at least " : "", bytes_text(needs.needed()), needs.folder,
      bytes_text(needs.free)));
}

}  // namespace hyfreedp::cli
