#include "harness/cli/spec_request.h"

#include "harness/cli/style.h"

namespace hyfreedp::cli {

namespace options = boost::program_options;

std::optional<int> parse_spec_request(const std::string& command, const std::string& usage,
                                      const options::options_description& further,
                                      const std::vector<std::string>& arguments, SpecRequest& request,
                                      std::ostream& out, std::ostream& err) {
  options::options_description visible("Options");
  auto add = visible.add_options();
  add("help", "this text");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`");
  add("confidential", options::bool_switch(&request.confidential),
      "show values that were not released under differential privacy; the output says so");
  visible.add(further);
  options::options_description all;
  all.add(visible).add_options()("spec", options::value(&request.spec));
  options::positional_options_description positional;
  positional.add("spec", 1);
  try {
    options::variables_map given;
    options::store(
        options::command_line_parser(arguments).options(all).positional(positional).style(kStyle).run(),
        given);
    if (given.count("help") > 0) {
      out << usage << visible;
      return 0;
    }
    options::notify(given);
  } catch (const options::error& failure) {
    err << "hyfreedp " << command << ": " << failure.what() << ". Try hyfreedp " << command << " --help.\n";
    return 2;
  }
  if (!request.spec.empty()) return std::nullopt;
  err << "hyfreedp " << command << ": name a spec of the database, for example quick. Try hyfreedp "
      << command << " --help.\n";
  return 2;
}

Result<std::unique_ptr<results::Store>> open_for_reading(const std::string& out_folder) {
  return results::Store::open(out_folder + "/hyfreedp.sqlite", results::Store::Mode::read_only);
}

int refused(const std::string& command, const Error& failure, std::ostream& err) {
  err << "hyfreedp " << command << ": " << failure.message << '\n';
  return 2;
}

}  // namespace hyfreedp::cli
