#include "harness/cli/common/spec_request.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/value_spec.h"
#include "harness/runner/odometer/release.h"

namespace hyfreedp::cli {

namespace options = boost::program_options;

namespace {

constexpr const char* kPresetOfName = "--preset is of a spec's file; name the file, or NAME-PRESET.";

bool is_file_of_spec(const std::string& spec) { return spec.ends_with(".yaml") || spec.ends_with(".yml"); }

}  // namespace

Result<std::string> name_of_spec(const std::string& spec, const std::string& preset) {
  if (!is_file_of_spec(spec)) return preset.empty() ? Result<std::string>(spec) : error(kPresetOfName);
  const auto loaded = runner::load_spec(spec, preset);
  if (!loaded) return loaded.error();
  return loaded->content.name;
}

void add_set_option(options::options_description& all, std::vector<std::string>& settings) {
  all.add_options()(
      "set", options::value(&settings)->composing()->value_name("KEY=VALUE"),
      "where a spec is given as a file: as if it had this value in what the preset makes of it; "
      "KEY is a path (defaults.train.steps, panels.main.rows.0.title), VALUE is YAML; may be "
      "repeated");
}

void add_shared_options(options::options_description& all, SpecRequest& request) {
  auto add = all.add_options();
  add("help,h", "this text");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`");
  add("confidential", options::bool_switch(&request.confidential),
      "show values that were not released under differential privacy; the output says so");
  add("preset", options::value(&request.preset)->value_name("PRESET"),
      "where a spec is given as a file: which of its presets");
  add_set_option(all, request.settings);
}

std::optional<int> parse_spec_request(const std::string& command, const std::string& usage,
                                      const options::options_description& further,
                                      const std::vector<std::string>& arguments, SpecRequest& request,
                                      std::ostream& out, std::ostream& err) {
  CommandLine line{.command = command, .usage = usage, .positional = "spec"};
  add_shared_options(line.options, request);
  line.options.add(further);
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return code;
  if (given.count("spec") > 0) request.spec = given["spec"].as<std::string>();
  if (is_file_of_spec(request.spec)) {
    auto loaded = runner::load_spec(request.spec, request.preset, request.settings);
    if (!loaded) return refused_lines(command, loaded.error(), err);
    request.spec = loaded->content.name;
    request.file = std::move(*loaded);
    return std::nullopt;
  }
  if (!request.preset.empty()) {
    return refused(command, error(kPresetOfName), err);
  }
  if (!request.settings.empty())
    return refused(command, error("--set is of a spec's file; name the file."), err);
  if (!request.spec.empty()) {
    auto kept = value_spec_by_name(request.folder());
    if (!kept) return refused(command, kept.error(), err);
    request.file = std::move(*kept);
    return std::nullopt;
  }
  return refused(
      command, error("name a spec of the database, for example quick; see hyfreedp " + command + " --help."),
      err);
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
