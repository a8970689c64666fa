#include "harness/cli/common/spec_request.h"

#include "harness/cli/common/value_spec.h"

namespace hyfreedp::cli {

namespace options = boost::program_options;

void add_shared_options(options::options_description& all, SpecRequest& request) {
  auto add = all.add_options();
  add("help,h", "this text");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`");
  add("confidential", options::bool_switch(&request.confidential),
      "show values that were not released under differential privacy; the output says so");
  add("preset", options::value(&request.preset)->value_name("PRESET"),
      "where a spec is given as a file: which of its presets");
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
  if (request.spec.ends_with(".yaml") || request.spec.ends_with(".yml")) {
    auto loaded = runner::load_spec(request.spec, request.preset);
    if (!loaded) return refused_lines(command, loaded.error(), err);
    request.spec = loaded->content.name;
    request.file = std::move(*loaded);
    return std::nullopt;
  }
  if (!request.preset.empty()) {
    return refused(command, error("--preset is of a spec's file; name the file, or NAME-PRESET."), err);
  }
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

}  // namespace hyfreedp::cli
