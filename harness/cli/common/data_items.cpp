#include "harness/cli/common/data_items.h"

#include <fmt/format.h>
#include <unistd.h>

#include "datasets/facts.h"
#include "datasets/fetch/download.h"
#include "datasets/fetch/fetch.h"
#include "datasets/fetch/progress.h"
#include "datasets/own/own_files.h"
#include "harness/base/text.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::cli {
namespace {

// Empty where it is not here.
std::string found(const Result<std::string>& folder) { return folder ? *folder : std::string(); }

DataItem item_of(const datasets::Facts& facts) {
  DataItem item{.name = facts.name,
                .kind = DataItem::Kind::data,
                .title = facts.title,
                .licence = facts.licence,
                .source = facts.source,
                .how_to_get = facts.how_to_get,
                .supply = facts.supply,
                .files = {},
                .folder = found(datasets::locate(facts)),
                .fetched_folder = datasets::fetched_folder(facts)};
  for (const auto& file : facts.files) item.files.push_back({file.name, file.sha256});
  return item;
}

DataItem item_of(const models::PretrainedWeights& weights) {
  return {.name = weights.name,
          .kind = DataItem::Kind::weights,
          .title = weights.title,
          .licence = weights.licence,
          .source = weights.source,
          .how_to_get = weights.how_to_get,
          .supply = weights.supply,
          .files = datasets::supplied_files(weights.supply),
          .folder = found(models::locate_weights(weights.name)),
          .fetched_folder = models::fetched_weights_folder(weights.name)};
}

Error cannot_be_fetched(const DataItem& item) {
  return error(
      fmt::format("{} cannot be fetched by this program. To get it: {}. `hyfreedp list datasets` says where "
                  "its folder is looked for.",
                  item.name, item.how_to_get));
}

}  // namespace

std::vector<DataItem> data_items() {
  std::vector<DataItem> items;
  for (const auto& facts : datasets::dataset_facts()) {
    if (!facts.files.empty()) items.push_back(item_of(facts));
  }
  for (const auto& weights : models::pretrained_catalogue()) items.push_back(item_of(weights));
  return items;
}

Result<DataItem> find_data_item(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& facts : datasets::dataset_facts()) {
    if (!facts.files.empty()) names.push_back(facts.name);
    if (facts.name != name) continue;
    if (facts.files.empty())
      return error(fmt::format("{} has no files to be fetched; to get it: {}.", name, facts.how_to_get));
    return item_of(facts);
  }
  if (const auto* weights = models::find_pretrained(name)) return item_of(*weights);
  for (const auto& weights : models::pretrained_catalogue()) names.push_back(weights.name);
  return error(fmt::format("there are no data and no weights '{}'.{} There are: {}.", name,
                           did_you_mean(name, names), join(names, ", ")));
}

Result<void> fetch_item(const DataItem& item, std::ostream& err) {
  if (item.is_here() && (item.folder != item.fetched_folder || item.supply.empty())) return {};
  if (item.supply.empty()) return cannot_be_fetched(item);
  err << fmt::format("{}: {}{}; licence: {}\n", item.name,
                     item.is_here() ? "looking at what is in " : "into ", item.fetched_folder, item.licence);
  datasets::FetchProgress progress(err, ::isatty(STDERR_FILENO) == 1);
  datasets::Transport transport;
  transport.token = datasets::token_of_environment();
  transport.progress = [&](const auto& name, auto done, auto total) { progress.at(name, done, total); };
  transport.say = [&](const auto& sentence) { progress.say(sentence); };
  if (auto fetched = datasets::fetch(item.supply, item.fetched_folder, transport); !fetched)
    return in_context(item.name, fetched.error());
  return {};
}

BroughtNeeds fetch_needs(const runner::SpecNeeds& needs, std::ostream& err) {
  BroughtNeeds done;
  const auto bring = [&](const DataItem& item) {
    if (item.is_here()) return;
    const bool can_be_fetched = !item.supply.empty();
    if (auto fetched = fetch_item(item, err); !fetched) {
      (can_be_fetched ? done.failed : done.elsewhere).push_back(fetched.error().message);
    } else {
      ++done.brought;
    }
  };
  for (const auto& name : needs.datasets) {
    const auto facts = datasets::find_dataset(name);
    if (facts && !(**facts).files.empty()) bring(item_of(**facts));
  }
  for (const auto& path : needs.images) {
    if (const auto own = datasets::locate_own_files(path); !own)
      done.elsewhere.push_back(own.error().message);
  }
  for (const auto& folder : needs.adapters) {
    if (const auto own = models::locate_adapter(folder); !own) done.elsewhere.push_back(own.error().message);
  }
  for (const auto& name : needs.weights) {
    if (const auto* weights = models::find_pretrained(name)) {
      bring(item_of(*weights));
    } else if (const auto located = models::locate_weights(name); !located) {
      done.elsewhere.push_back(located.error().message);
    }
  }
  return done;
}

}  // namespace hyfreedp::cli
