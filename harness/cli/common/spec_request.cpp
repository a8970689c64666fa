#include "harness/cli/common/spec_request.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/value_spec.h"
#include "harness/runner/odometer/release.h"

namespace hyfreedp::cli {

namespace {

constexpr const char* kPresetOfName = "--preset is of a spec's file; name the file, or NAME-PRESET.";

}  // namespace

bool is_file_of_spec(const std::string& spec) { return spec.ends_with(".yaml") || spec.ends_with(".yml"); }

Result<std::string> name_of_spec(const std::string& spec, const std::string& preset) {
  if (!is_file_of_spec(spec)) return preset.empty() ? Result<std::string>(spec) : error(kPresetOfName);
  const auto loaded = runner::load_spec(spec, preset);
  if (!loaded) return loaded.error();
  return loaded->content.name;
}

void describe_preset(Options& options, std::string& preset) {
  options.value(preset, "preset", "PRESET", "where a spec is given as a file: which of its presets");
}

void describe_out(Options& options, std::string& out) {
  options.value(out, "out", "DIR", "output folder of `hyfreedp run`");
}

void describe_set(Options& options, std::vector<std::string>& settings) {
  options.value(settings, "set", "KEY=VALUE",
                "where a spec is given as a file: as if it had this value in what the preset makes of it; "
                "KEY is a path (defaults.train.steps, panels.main.rows.0.title), VALUE is YAML; may be "
                "repeated");
}

void SpecRequest::describe(Options& options, const std::string& shown) {
  options.positional(spec, "spec", shown);
  describe_options(options);
  options.begin_group();
}

void SpecRequest::describe_options(Options& options) {
  describe_out(options, out);
  options.flag(confidential, "confidential",
               "show values that were not released under differential privacy; the output says so");
  describe_preset(options, preset);
  describe_set(options, settings);
}

Checked SpecRequest::check() {
  if (is_file_of_spec(spec)) {
    auto loaded = runner::load_spec(spec, preset, settings);
    if (!loaded) return in_lines(loaded.error());
    spec = loaded->content.name;
    file = std::move(*loaded);
    return {};
  }
  if (!preset.empty()) return error(kPresetOfName);
  if (!settings.empty()) return error("--set is of a spec's file; name the file.");
  if (spec.empty()) return unusable("name a spec of the database, for example quick");
  auto kept = value_spec_by_name(folder());
  if (!kept) return kept.error();
  file = std::move(*kept);
  return {};
}

void CellRequest::describe(Options& options) {
  options.positional(spec, "spec", "SPEC");
  options.positional(cell.row, "row", "ROW");
  options.positional(cell.column, "column", "COLUMN");
  options.value(cell.panel, "panel", "ID", "the panel; default: the first that has the row and column");
  describe_out(options, out);
  options.begin_group();
}

Checked CellRequest::check(const std::string& command) const {
  for (const auto& [name, value] :
       {std::pair{"spec", &spec}, std::pair{"row", &cell.row}, std::pair{"column", &cell.column}}) {
    if (!value->empty()) continue;
    return unusable(fmt::format("the {} is missing: hyfreedp {} SPEC ROW COLUMN, for example quick prodigy 3",
                                name, command));
  }
  return {};
}

Result<std::unique_ptr<results::Store>> open_for_reading(const std::string& out_folder) {
  return results::Store::open(out_folder + "/hyfreedp.sqlite", results::Store::Mode::read_only);
}

Result<std::unique_ptr<results::Store>> open_for_reading(const std::string& command,
                                                         const SpecRequest& request, std::ostream& err) {
  auto store = open_for_reading(request.out);
  if (store && request.file) warn_of_other_version(command, **store, *request.file, err);
  return store;
}

void warn_of_other_version(const std::string& command, const results::Store& store, runner::Spec file,
                           std::ostream& err) {
  const auto differs = runner::differs_from_recorded(store, file);
  if (!differs || differs->empty()) return;  // that it cannot be read is said by whoever shows it
  err << fmt::format(
      "hyfreedp {}: warning: {} is not the version of '{}' that the database has, which is "
      "shown.{} `hyfreedp run` with the same --preset and --set takes over what changes the table alone.\n",
      command, file.path, file.content.name, *differs);
}

}  // namespace hyfreedp::cli
