#include "harness/cli/show/list_specs.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/run_needs.h"
#include "harness/cli/common/value_spec.h"
#include "harness/runner/execute/run_memory.h"
#include "harness/runner/executors/machine_memory.h"

namespace hyfreedp::cli {
namespace {

namespace fs = std::filesystem;

// True if a driver of NVIDIA's is loaded. It is asked for its devices when something runs.
bool has_gpu() {
  std::error_code absent;
  return fs::exists("/dev/nvidiactl", absent);
}

std::string fetch_text(const DiskNeeds& disk) {
  return fmt::format("`fetch` of {}{}", disk.downloads_at_least ? "at least " : "",
                     bytes_text(disk.downloads));
}

void set_state(const runner::Spec& spec, ListedPreset& preset) {
  if (const auto& reason = spec.content.not_runnable) {
    preset.state = "not runnable";
    preset.why = reason->reason;
    return;
  }
  if (const auto& analytic = spec.content.analytic) {
    preset.state = "analytic";
    preset.why = analytic->name;
    return;
  }
  const auto studies = runner::plan(spec);
  if (!studies) {
    preset.state = "cannot be read";
    preset.why = studies.error().message;
    return;
  }
  preset.studies = studies->size();
  preset.cells = runner::count_cells(*studies);
  const auto missing = missing_data(spec);
  std::vector<std::string> names;
  names.reserve(missing.size());
  for (const auto& one : missing) names.push_back(one.what);
  preset.why = join(names, ", ");
  preset.state = "runnable";
  const auto disk = disk_needs(spec);
  if (!missing.empty()) {
    preset.state = "data missing";
    const auto fetchable = [](const Missing& one) { return one.fetchable; };
    if (std::ranges::any_of(missing, fetchable)) preset.needs.push_back(fetch_text(disk));
    if (!std::ranges::all_of(missing, fetchable)) preset.needs.emplace_back("files that cannot be fetched");
  }
  const auto lacks = [&preset](const char* state, std::string what) {
    if (preset.state == "runnable") preset.state = state;
    preset.needs.push_back(std::move(what));
  };
  const auto largest = runner::largest_run(*studies);
  if (!largest) return;
  const auto bytes = [](double number) { return bytes_text(static_cast<std::uint64_t>(number)); };
  if (largest->device > 0 && !has_gpu()) lacks("gpu missing", "a GPU with " + bytes(largest->device));
  if (!runner::check_memory(*largest, runner::machine_memory())) {
    lacks("too large", bytes(largest->host) + " of memory");
  }
  if (!check_disk(disk)) lacks("too large", bytes_text(disk.needed()) + " of disk");
}

ListedPreset listed_preset(const std::string& path, const std::string& name, ListedSpec& listed) {
  ListedPreset preset{.name = name, .title = "", .state = "cannot be read", .why = ""};
  const auto spec = runner::load_spec(path, name);
  if (!spec) {
    preset.why = spec.error().message;
    return preset;
  }
  preset.title = spec->content.title;
  if (listed.title.empty()) listed.title = preset.title;
  if (listed.description.empty()) listed.description = spec->content.description;
  if (const auto& reproduces = spec->content.reproduces) {
    listed.paper = reproduces->paper;
    listed.id = reproduces->id;
  }
  set_state(*spec, preset);
  return preset;
}

const std::vector<std::string> kStates = {"runnable",     "data-missing", "gpu-missing",   "too-large",
                                          "not-runnable", "analytic",     "cannot-be-read"};

std::string hyphenated(std::string state) {
  std::replace(state.begin(), state.end(), ' ', '-');
  return state;
}

std::string state_text(const ListedPreset& preset) {
  std::string text = preset.state;
  if (preset.studies > 0) text += ", " + runner::size_text(preset.studies, preset.cells);
  if (!preset.why.empty()) text += ": " + preset.why;
  if (!preset.needs.empty()) text += "; needs " + join(preset.needs, " and ");
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "    ");
  return text;
}

}  // namespace

Result<std::vector<ListedSpec>> listed_specs(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code missing;
  for (const auto& file : fs::recursive_directory_iterator(folder, missing)) {
    if (file.path().extension() == ".yaml") paths.push_back(file.path().string());
  }
  if (missing) {
    return error("there is no folder '" + folder + "' here; run the command from the project's folder.");
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ListedSpec> specs;
  for (const auto& path : paths) {
    ListedSpec listed{.path = path, .title = "", .description = "", .paper = "", .id = "", .presets = {}};
    auto names = runner::presets_of(path);
    if (!names) {
      listed.title = "cannot be read";
      listed.presets.push_back(
          {.name = "", .title = "", .state = "cannot be read", .why = names.error().message});
      specs.push_back(std::move(listed));
      continue;
    }
    if (names->empty()) names->emplace_back();
    for (const auto& name : *names) {
      auto preset = listed_preset(path, name, listed);
      listed.presets.push_back(std::move(preset));
    }
    specs.push_back(std::move(listed));
  }
  return specs;
}

Result<void> check_filter(const SpecFilter& filter) {
  if (filter.state.empty() || std::find(kStates.begin(), kStates.end(), filter.state) != kStates.end())
    return {};
  return error(fmt::format("--state is one of {}, not '{}'.{}", join(kStates, ", "), filter.state,
                           did_you_mean(filter.state, kStates)));
}

std::vector<ListedSpec> filtered(const std::vector<ListedSpec>& specs, const SpecFilter& filter) {
  std::vector<ListedSpec> kept;
  for (auto spec : specs) {
    if (spec.path.find(filter.in_path) == std::string::npos) continue;
    if (!filter.paper.empty() && spec.paper != filter.paper) continue;
    std::erase_if(spec.presets, [&](const ListedPreset& preset) {
      return !filter.state.empty() && hyphenated(preset.state) != filter.state;
    });
    if (!spec.presets.empty()) kept.push_back(std::move(spec));
  }
  return kept;
}

void print_short(const std::vector<ListedSpec>& specs, std::ostream& out) {
  std::size_t width = 0;
  for (const auto& spec : specs) width = std::max(width, spec.path.size());
  for (const auto& spec : specs) {
    for (const auto& preset : spec.presets) {
      const auto cells = preset.cells == 0 ? "" : counted(static_cast<std::int64_t>(preset.cells), "cell");
      const auto needs =
          preset.needs.empty() ? std::string() : fmt::format("  (needs {})", join(preset.needs, " and "));
      out << fmt::format("{:<{}}  {:<6}  {:<14}  {:<9}  {}{}\n", spec.path, width, preset.name, preset.state,
                         cells, preset.title, needs);
    }
  }
}

void print(const std::vector<ListedSpec>& specs, std::ostream& out) {
  for (const auto& spec : specs) {
    out << fmt::format("{}  ({})\n", spec.path, spec.title);
    if (!spec.paper.empty()) out << fmt::format("  reproduces: {}, {}\n", spec.paper, spec.id);
    if (!spec.description.empty()) out << fmt::format("  description: {}\n", spec.description);
    for (const auto& preset : spec.presets) {
      const auto head = preset.name.empty() ? std::string() : fmt::format("{}: ", preset.name);
      out << fmt::format("  {}{}\n", head, state_text(preset));
    }
    out << '\n';
  }
}

json::array to_json(const std::vector<ListedSpec>& specs) {
  json::array list;
  for (const auto& spec : specs) {
    json::array presets;
    for (const auto& preset : spec.presets) {
      presets.push_back(json::object{{"name", preset.name},
                                     {"title", preset.title},
                                     {"state", preset.state},
                                     {"why", preset.why},
                                     {"needs", json::value_from(preset.needs)},
                                     {"studies", preset.studies},
                                     {"cells", preset.cells}});
    }
    list.push_back(json::object{{"name", spec.path},
                                {"title", spec.title},
                                {"description", spec.description},
                                {"paper", spec.paper},
                                {"id", spec.id},
                                {"presets", presets}});
  }
  return list;
}

}  // namespace hyfreedp::cli
