#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "datasets/fetch/fetch.h"
#include "datasets/fetch/record.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/cli/common/data_items.h"
#include "harness/cli/common/spec_request.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp data list [--json]              datasets and pretrained weights: here or not, size, licence
hyfreedp data info NAME                  what it is, its licence, what to cite, its files
hyfreedp data path NAME                  the folder that has it; exit code 1 where none has
hyfreedp data fetch NAME... | SPEC.yaml  brings it, or all that a spec needs, to this machine
hyfreedp data verify NAME...             compares the checksums of what is here
Example: hyfreedp data fetch efficientnet-lite0
         hyfreedp data fetch experiments/quick.yaml)";

constexpr std::string_view kListText = R"(
hyfreedp data list [--json]
Every dataset with files and all pretrained weights that can be fetched: whether they are on this
machine and where, their size and licence.
Example: hyfreedp data list)";
constexpr std::string_view kInfoText = R"(
hyfreedp data info NAME [--json]
What it is, its licence, what to cite, where it comes from, and its files with their checksums.
Example: hyfreedp data info efficientnet-lite0)";
constexpr std::string_view kPathText = R"text(
hyfreedp data path NAME
Prints the folder that has it. Exit code 1 where none has.
Example: ls "$(hyfreedp data path fashion-mnist)")text";
constexpr std::string_view kFetchText = R"(
hyfreedp data fetch NAME...
hyfreedp data fetch SPEC.yaml [--preset PRESET] [--set KEY=VALUE]
Brings datasets and weights to this machine, into the folder that the environment's XDG_CACHE_HOME
(else ~/.cache) has for this program; of a spec all that it needs and that is not here. An
interrupted transfer is continued by the same command. A hub's token is taken from HF_TOKEN and is
never stored.
Exit code: 0 all is here, 1 something could not be fetched, 2 bad input.
Example: hyfreedp data fetch efficientnet-lite0)";
constexpr std::string_view kVerifyText = R"(
hyfreedp data verify NAME...
Compares each file's SHA-256 with the published or measured one, or with that recorded when it was
fetched.
Exit code: 0 all are the same, 1 one is not, or is not here, 2 bad input.
Example: hyfreedp data verify fashion-mnist)";

const char* text_of(DataItem::Kind kind) { return kind == DataItem::Kind::data ? "data" : "weights"; }

// The bytes on the disk if it is here, else those that it will take; 0: unknown.
std::uint64_t bytes_of(const DataItem& item) {
  if (!item.is_here()) return item.supply.bytes;
  std::uint64_t bytes = 0;
  for (const auto& file : item.files) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(item.folder + "/" + file.name, absent);
    if (!absent) bytes += size;
  }
  // Other files than the declared ones may be what makes it usable: shards of a user's own folder.
  return bytes > 0 ? bytes : item.supply.bytes;
}

std::string size_of(const DataItem& item) {
  const auto bytes = bytes_of(item);
  return bytes == 0 ? "?" : bytes_text(bytes);
}

std::string where_of(const DataItem& item) {
  if (item.is_here()) return item.folder;
  return item.supply.empty() ? "not here; hyfreedp data info " + item.name
                             : "not here; hyfreedp data fetch " + item.name;
}

json::object to_json(const DataItem& item) {
  json::array files;
  for (const auto& file : item.files)
    files.push_back(json::object{{"name", file.name}, {"sha256", file.sha256}});
  return {{"name", item.name},       {"kind", text_of(item.kind)},
          {"title", item.title},     {"licence", item.licence},
          {"source", item.source},   {"here", item.is_here()},
          {"folder", item.folder},   {"can_be_fetched", !item.supply.empty()},
          {"bytes", bytes_of(item)}, {"files", files}};
}

struct ListRequest {
  bool json = false;

  void describe(Options& options) { options.flag(json, "json", "machine-readable"); }
};

Outcome list(const ListRequest& request, std::ostream& out, std::ostream&) {
  const auto items = data_items();
  if (request.json) {
    json::array all;
    for (const auto& item : items) all.push_back(to_json(item));
    out << pretty_json(all);
    return 0;
  }
  std::size_t name = 4, licence = 7;
  for (const auto& item : items) {
    name = std::max(name, item.name.size());
    licence = std::max(licence, item.licence.size());
  }
  const auto row = [&](const auto& first, const auto& kind, const auto& size, const auto& terms,
                       const auto& where) {
    out << fmt::format("{:<{}}  {:<7}  {:>7}  {:<{}}  {}\n", first, name, kind, size, terms, licence, where);
  };
  row("NAME", "KIND", "SIZE", "LICENCE", "WHERE");
  for (const auto& item : items)
    row(item.name, text_of(item.kind), size_of(item), item.licence, where_of(item));
  return 0;
}

// The one name that `info` and `path` take.
Result<DataItem> named(const std::optional<std::string>& name) {
  if (!name) return error("name a dataset or weights; see hyfreedp data list.");
  return find_data_item(*name);
}

std::vector<std::string> sources_of(const DataItem& item) {
  std::vector<std::string> sources;
  for (const auto& one : item.supply.downloads)
    sources.insert(sources.end(), one.urls.begin(), one.urls.end());
  for (const auto& one : item.supply.python_packages) {
    const auto file = one.source_archive.empty() ? "" : fmt::format(" ({})", one.source_archive);
    sources.push_back(fmt::format("Python package {}=={}{}", one.name, one.version, file));
  }
  for (const auto& one : item.supply.debian_packages) sources.push_back("Debian package " + one.name);
  return sources;
}

struct InfoRequest {
  std::optional<std::string> name;
  bool json = false;

  void describe(Options& options) {
    options.positional(name, "name", "NAME");
    options.flag(json, "json", "machine-readable");
  }
};

Outcome info(const InfoRequest& request, std::ostream& out, std::ostream&) {
  const auto item = named(request.name);
  if (!item) return item.error();
  if (request.json) return out << pretty_json(to_json(*item)), 0;
  out << fmt::format("{}  ({})\n  kind: {}\n  licence: {}\n  source: {}\n  where: {}\n  size: {}\n",
                     item->name, item->title, text_of(item->kind), item->licence, item->source,
                     where_of(*item), size_of(*item));
  if (!item->how_to_get.empty()) out << "  to get it by hand: " << item->how_to_get << '\n';
  for (const auto& source : sources_of(*item)) out << "  fetched from: " << source << '\n';
  for (const auto& file : item->files) {
    const auto record =
        item->is_here() ? datasets::read_record(item->folder + "/" + file.name) : std::nullopt;
    const auto checksum = !file.sha256.empty() ? "sha256 " + file.sha256
                          : record ? fmt::format("unpinned, was {} on {}", record->sha256, record->date)
                                   : std::string("unpinned");
    out << fmt::format("  file: {} ({})\n", file.name, checksum);
  }
  return 0;
}

struct PathRequest {
  std::optional<std::string> name;

  void describe(Options& options) { options.positional(name, "name", "NAME"); }
};

Outcome path(const PathRequest& request, std::ostream& out, std::ostream&) {
  const auto item = named(request.name);
  if (!item) return item.error();
  if (!item->is_here()) {
    Refusal absent = error(fmt::format("{} is {}", item->name, where_of(*item)));
    absent.code = 1;
    return absent;
  }
  out << item->folder << '\n';
  return 0;
}

// The names of `fetch` and `verify`, all known.
Result<std::vector<DataItem>> all_named(const std::vector<std::string>& names) {
  std::vector<DataItem> items;
  for (const auto& name : names) {
    const auto item = find_data_item(name);
    if (!item) return item.error();
    items.push_back(*item);
  }
  return items;
}

struct FetchRequest {
  std::vector<std::string> names;
  std::string preset;
  std::vector<std::string> settings;

  void describe(Options& options) {
    options.list(names, "name", "NAME...");
    options.value(preset, "preset", "PRESET", "of a spec; default: as `hyfreedp run` chooses");
    describe_set(options, settings);
  }
};

// Each is told, whatever became of the others.
void print_failure(const std::string& why, std::ostream& err) {
  print_refusal("data fetch", error(why), err);
}

Outcome fetch_spec(const FetchRequest& request, std::ostream& out, std::ostream& err) {
  const auto& spec = request.names.front();
  const auto needs = runner::spec_needs(spec, request.preset, request.settings);
  if (!needs) return in_lines(needs.error());
  const auto done = fetch_needs(*needs, err);
  for (const auto* reasons : {&done.failed, &done.elsewhere}) {
    for (const auto& why : *reasons) print_failure(why, err);
  }
  if (!done.failed.empty() || !done.elsewhere.empty()) return 1;
  const auto count = counted(static_cast<std::int64_t>(done.brought), "item");
  out << fmt::format("{}: {}all that it needs is here\n", spec,
                     done.brought == 0 ? "" : count + " fetched; ");
  return 0;
}

Outcome fetch(const FetchRequest& request, std::ostream& out, std::ostream& err) {
  if (request.names.empty()) return error("name what to fetch, or a spec; see hyfreedp data list.");
  if (std::ranges::any_of(request.names, is_file_of_spec)) {
    if (request.names.size() == 1) return fetch_spec(request, out, err);
    return error("give one spec, or names of datasets and weights.");
  }
  if (!request.preset.empty()) return error("--preset is for a spec.");
  if (!request.settings.empty()) return error("--set is for a spec.");
  const auto items = all_named(request.names);
  if (!items) return items.error();
  int code = 0;
  for (const auto& item : *items) {
    if (auto fetched = fetch_item(item, err); !fetched) {
      print_failure(fetched.error().message, err);
      code = 1;
      continue;
    }
    const auto now = find_data_item(item.name);
    out << fmt::format("{}: {}, {}\n", item.name, now->folder, size_of(*now));
  }
  return code;
}

const char* text_of(datasets::FileState state) {
  using datasets::FileState;
  switch (state) {
    case FileState::as_pinned:
      return "ok";
    case FileState::as_recorded:
      return "ok (as it was fetched; no checksum is published)";
    case FileState::unknown:
      return "no checksum is known";
    case FileState::different:
      return "DIFFERENT";
    case FileState::absent:
      return "ABSENT";
  }
  return "?";
}

// Prints the state of the item's files. Returns true if all is as it should be.
bool verify_one(const DataItem& item, std::ostream& out) {
  if (!item.is_here()) {
    out << fmt::format("{}: {}\n", item.name, where_of(item));
    return false;
  }
  bool good = true;
  for (const auto& file : datasets::check_files(item.files, item.folder)) {
    using datasets::FileState;
    out << fmt::format("{}: {}/{}: {}\n", item.name, item.folder, file.name, text_of(file.state));
    if (file.state == FileState::different)
      out << fmt::format("  its SHA-256 is {}, {} is expected\n", file.found, file.expected);
    good = good && file.state != FileState::different && file.state != FileState::absent;
  }
  if (!good && item.folder == item.fetched_folder)
    out << fmt::format("{}: `hyfreedp data fetch {}` brings it again\n", item.name, item.name);
  return good;
}

struct VerifyRequest {
  std::vector<std::string> names;

  void describe(Options& options) { options.list(names, "name", "NAME..."); }
};

Outcome verify(const VerifyRequest& request, std::ostream& out, std::ostream&) {
  if (request.names.empty()) return error("name what to verify; see hyfreedp data list.");
  const auto items = all_named(request.names);
  if (!items) return items.error();
  bool good = true;
  for (const auto& item : *items) good = verify_one(item, out) && good;
  return good ? 0 : 1;
}

}  // namespace

Command data_command() {
  return {"data",
          kText,
          {},
          "brings datasets and pretrained weights here: list, info, path, fetch, verify",
          "hyfreedp data list",
          {{"data list", kListText, action<ListRequest>(list)},
           {"data info", kInfoText, action<InfoRequest>(info)},
           {"data path", kPathText, action<PathRequest>(path)},
           {"data fetch", kFetchText, action<FetchRequest>(fetch)},
           {"data verify", kVerifyText, action<VerifyRequest>(verify)}}};
}

}  // namespace hyfreedp::cli
