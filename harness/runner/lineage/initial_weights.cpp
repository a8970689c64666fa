#include "harness/runner/lineage/initial_weights.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "datasets/own/own_files.h"
#include "harness/base/files.h"
#include "harness/base/safetensors_file.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/networks/options.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

bool stands(const fs::path& path) {
  std::error_code failure;
  return fs::symlink_status(path, failure).type() != fs::file_type::not_found;
}

// Metadata vouch for the files that they were written with.
Result<void> check_files(const fs::path& folder, const json::object& metadata) {
  const auto* files = metadata.if_contains("files");
  if (files == nullptr || !files->is_object()) {
    return error((folder / models::kTrialMetadata).string() +
                 ": the member 'files' must list the files that the metadata describe.");
  }
  for (const auto& file : files->get_object()) {
    const auto path = folder / fs::path(std::string(file.key())).filename();
    const auto content = read_file(path.string());
    if (!content) return content.error();
    if (!file.value().is_string() || sha256_hex(*content) != file.value().get_string()) {
      return error(path.string() +
                   ": this is not the file that trial.json beside it describes. Leave the weights as "
                   "--keep-weights wrote them, or put other weights into another folder.");
    }
  }
  return {};
}

bool are_marks(const json::value* marks) {
  return marks == nullptr ||
         (marks->is_array() &&
          std::ranges::all_of(marks->get_array(), [](const auto& mark) { return mark.is_string(); }));
}

bool is_release(const json::value& value) {
  return value.is_object() && are_marks(value.get_object().if_contains("marks")) &&
         are_marks(value.get_object().if_contains("common")) && value.get_object().contains("epsilon") &&
         value.get_object().contains("delta") && !string_or(value.get_object(), "dataset", "").empty();
}

std::string tagged_text(json::object metadata) {
  metadata.erase("tag");
  return "trial.json " + sha256_hex(canonical_json(metadata));
}

// SHA-256 of trial.json of the weights that the project ships (experiments/weights), which no
// user's secret tags.
constexpr std::string_view kShipped[] = {"0d5320d5bef6cf4aef76fe80a43706581e9ca43f025b596aca20f9bb1811bd79"};

// True if this user's program wrote the metadata as they are, or the project ships them.
bool is_authentic(const json::object& metadata, const std::string& file) {
  const auto content = read_file(file);
  if (content && std::ranges::find(kShipped, sha256_hex(*content)) != std::end(kShipped)) return true;
  const auto tag = datasets::secret_mark(tagged_text(metadata));
  return tag && string_or(metadata, "tag", "") == *tag;
}

// True if a run kept the weights in the file, whatever it is called: an index may name a shard as
// it likes. What is wrong with a file otherwise is told elsewhere.
Result<bool> is_kept(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const auto file = map_file(path.string());
  if (!file) return file.error();
  const auto stored = parse_safetensors(*file, path.string());
  return stored && stored->metadata.contains(models::kKeptMark);
}

// The metadata must list all weights of the folder.
Result<void> check_all_listed(const fs::path& folder, const json::object& metadata) {
  constexpr std::string_view kEndings[] = {".safetensors", ".bin", ".pkl",  ".pt",
                                           ".pth",         ".npz", ".gguf", ".index.json"};
  const auto& listed = metadata.at("files").get_object();
  const auto paths = entries_of(folder.string());
  if (!paths) return paths.error();
  for (const auto& path : *paths) {
    const auto name = path.filename().string();
    if (listed.contains(name)) continue;
    const auto kept = is_kept(path);
    if (!kept) return kept.error();
    const bool may_be_weights =
        *kept || std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); });
    if (!may_be_weights) continue;
    return error(path.string() +
                 ": trial.json beside it does not list this file, so nothing says what private examples it "
                 "has seen. Put it into a folder of its own, together with its own trial.json if a run kept "
                 "it.");
  }
  return {};
}

// trial.json is not there.
Result<void> check_not_kept(const fs::path& folder) {
  const auto paths = entries_of(folder.string());
  if (!paths) return paths.error();
  for (const auto& path : *paths) {
    const auto kept = is_kept(path);
    if (!kept) return kept.error();
    if (!*kept) continue;
    return error(
        fmt::format("{}: a run kept these weights, and {}, which says what private examples they have seen, "
                    "is not beside them. Put it back: it was written with them.",
                    path.string(), models::kTrialMetadata));
  }
  return {};
}

// trial.json of a weights folder; nothing where there is none.
Result<std::optional<json::object>> metadata_in(const fs::path& folder) {
  const auto path = folder / models::kTrialMetadata;
  if (!stands(path)) return std::optional<json::object>();
  auto metadata = read_json_file(path.string());
  if (!metadata) return metadata.error();
  if (!metadata->is_object()) return error(path.string() + ": must be an object.");
  return std::optional(std::move(metadata->get_object()));
}

Result<void> add_private_data(const fs::path& folder, SeenData& seen) {
  if (stands(folder / models::kStagedMetadata)) {
    return error(fmt::format(
        "The weights in '{}' belong to a run that has not finished. When it finishes, they are published or "
        "marked as confidential, in DIR/SPEC/weights/ or beside it; use that folder.",
        folder.string()));
  }
  const auto metadata = metadata_in(folder);
  if (!metadata) return metadata.error();
  if (!*metadata) return check_not_kept(folder);
  const auto path = folder / models::kTrialMetadata;
  const auto& object = **metadata;
  if (object.contains("watermark")) {
    return error(
        fmt::format("The weights in '{}' are confidential (trial.json: watermark): a run that starts from "
                    "them would publish, under its own epsilon, what they reveal of private examples. Start "
                    "from public weights or from a release.",
                    folder.string()));
  }
  const auto* listed = object.if_contains("private_data");
  if (listed == nullptr || !listed->is_array() || !std::ranges::all_of(listed->get_array(), is_release)) {
    return error(path.string() +
                 ": 'private_data' must list the private datasets that the weights have seen.");
  }
  if (auto checked = check_files(folder, object); !checked) return checked;
  if (auto checked = check_all_listed(folder, object); !checked) return checked;
  seen.is_known = seen.is_known && is_authentic(object, path.string());
  for (const auto& release : listed->get_array()) {
    if (std::ranges::find(seen.releases, release) == seen.releases.end()) seen.releases.push_back(release);
  }
  return {};
}

// An error of marks that are none was told when the metadata were read.
datasets::DataIdentity data_of(const json::object& release) {
  datasets::DataIdentity data{.name = string_or(release, "dataset", ""),
                              .division = string_or(release, "division", ""),
                              .set_aside = string_or(release, "set_aside", ""),
                              .secret = string_or(release, "secret", ""),
                              .reading = string_or(release, "reading", "")};
  data.kind = datasets::kind_of(data.name);
  if (const auto* marks = release.if_contains("marks")) {
    for (const auto& mark : marks->get_array()) data.marks.emplace(mark.get_string());
  }
  if (const auto* common = release.if_contains("common")) {
    for (const auto& mark : common->get_array()) data.common.emplace(mark.get_string());
  }
  return datasets::as_known_now(std::move(data));
}

// "people", or, of the same files under another name, "people, whose files are those of copy".
std::string said_as(const std::string& seen, const std::string& here) {
  return seen == here ? seen : fmt::format("{}, whose files are those of {}", seen, here);
}

struct Start {
  const char* option;
  std::string given;
  Result<std::string> (*locate)(const std::string&);
};

// Of those that the model's options name.
std::vector<Start> starts_of(const json::object& options) {
  const auto shared = read_options<models::SharedOptions>(options);
  std::vector<Start> starts;
  if (shared.weights) starts.push_back({"weights", *shared.weights, models::locate_weights});
  if (shared.adapter) starts.push_back({"adapter", *shared.adapter, models::locate_adapter});
  return starts;
}

std::string folders_of(const json::object& options) {
  std::string folders;
  for (const auto& start : starts_of(options))
    folders += fmt::format("{}{}: {}", folders.empty() ? "" : ", ", start.option, start.given);
  return folders;
}

// True if own files may have records in common, because their single records are not marked.
bool may_have_common_records(const datasets::DataIdentity& seen, const datasets::DataIdentity& data) {
  if (seen.kind != datasets::DataKind::own || data.kind != datasets::DataKind::own) return false;
  if (seen.marks.empty()) return false;  // of weights that the project ships
  datasets::TrainedData one, other;
  one.add(seen);
  other.add(data);
  return datasets::may_be_same(one, other);
}

Error common_records_unknown(const json::object& options, const datasets::DataIdentity& seen,
                             const std::string& data) {
  return error(fmt::format(
      "The weights that enter the model or its features ({}) were trained on {}, and whether these data have "
      "records of {} is not known: the marks of their records are lost, or are another user's, or one of the "
      "two says `other_people`. A spec that names those data marks them again when it is read (`hyfreedp run "
      "SPEC --dry-run`). Or start from other weights.",
      folders_of(options), seen.name, data));
}

Error start_unknown(const json::object& options, const char* consequence, const std::string& data) {
  return error(fmt::format(
      "Which private data the weights that enter the model or its features ({}) have seen is not known: "
      "their trial.json has no tag of this user, so it was edited, or is another user's or an older "
      "version's. {} Keep the weights anew (`hyfreedp run --keep-weights`), or start from weights that have "
      "not seen '{}'.",
      folders_of(options), consequence, data));
}

// A run on data that the weights have seen would not count what that spent.
Result<void> check_training(const json::object& options, const SeenData& seen,
                            const datasets::DataIdentity& data) {
  const auto same = std::ranges::find_if(seen.releases, [&](const json::value& release) {
    return datasets::is_same_data(data_of(release.get_object()), data);
  });
  if (same != seen.releases.end()) {
    return error(fmt::format(
        "The weights that enter the model or its features ({}) were trained on '{}' already, as their "
        "trial.json says. A run on the same examples does not count what that training spent, so "
        "its epsilon would be too small. Start from other weights.",
        folders_of(options), said_as(data_of(same->get_object()).name, data.name)));
  }
  for (const auto& release : seen.releases) {
    const auto seen_data = data_of(release.get_object());
    if (may_have_common_records(seen_data, data))
      return common_records_unknown(options, seen_data, data.name);
  }
  if (seen.is_known) return {};
  return start_unknown(options, "A run does not count what their training spent of its own examples.",
                       data.name);
}

Result<void> check_test(const TestedData& test, const json::array& releases, const json::object& options) {
  for (const auto& release : releases) {
    const auto seen = data_of(release.get_object());
    datasets::TrainedData trained;
    trained.add(seen);
    // An earlier version did not say how the data were divided.
    const bool is_divided_alike =
        trained.divisions.contains(test.data.division) || trained.divisions.contains("");
    const bool may_share = test.is_own && trained.is_same(test.data)
                               ? !is_divided_alike
                               : datasets::may_share_records(test.data, trained);
    if (!may_share && !trained.is_same(test.data) && may_have_common_records(seen, test.data))
      return common_records_unknown(options, seen, fmt::format("{}, {}", test.name, test.data.name));
    if (!may_share) continue;
    return error(
        datasets::why_no_test_set(test.name, test.data, trained,
                                  fmt::format("the run that made the weights ({})", folders_of(options))));
  }
  return {};
}

}  // namespace

Result<SeenData> private_data_of_start(const json::object& options) {
  SeenData seen;
  for (const auto& start : starts_of(options)) {
    const auto folder = start.locate(start.given);
    // Public weights, which are not here yet; a run asks again.
    if (!folder && models::find_pretrained(start.given) != nullptr) continue;
    if (!folder) return folder.error();
    if (auto added = add_private_data(*folder, seen); !added) return added.error();
  }
  return seen;
}

Result<bool> are_confidential(const std::string& folder) {
  if (stands(fs::path(folder) / models::kStagedMetadata)) return true;
  const auto metadata = metadata_in(folder);
  if (!metadata) return metadata.error();
  return *metadata && (**metadata).contains("watermark");
}

Result<std::string> tag_of(const json::object& metadata) {
  return datasets::made_secret_mark(tagged_text(metadata));
}

json::object named_data(const datasets::DataIdentity& data) {
  json::object named{{"dataset", data.name}};
  if (!data.marks.empty()) named["marks"] = json::array(data.marks.begin(), data.marks.end());
  if (!data.common.empty()) named["common"] = json::array(data.common.begin(), data.common.end());
  if (!data.division.empty()) named["division"] = data.division;
  if (!data.set_aside.empty()) named["set_aside"] = data.set_aside;
  if (!data.secret.empty()) named["secret"] = data.secret;
  if (!data.reading.empty()) named["reading"] = data.reading;
  return named;
}

Result<void> check_start(const json::object& options, const datasets::DataIdentity& data,
                         const std::vector<TestedData>& tested, bool is_private) {
  const auto seen = private_data_of_start(options);
  if (!seen) return seen.error();
  if (is_private) {
    if (auto free = check_training(options, *seen, data); !free) return free;
  }
  for (const auto& test : tested) {
    if (!seen->is_known && !datasets::keeps_test_apart(test.data)) {
      return start_unknown(options,
                           "Test records may be among these, and accuracy on them is printed without noise.",
                           test.data.name);
    }
    if (auto apart = check_test(test, seen->releases, options); !apart) return apart;
  }
  return {};
}

}  // namespace hyfreedp::runner
