#include "harness/cli/epsilon_command.h"

#include <boost/program_options.hpp>
#include <charconv>
#include <fmt/format.h>
#include <ostream>
#include <sstream>

#include "harness/cli/epsilon_db.h"
#include "harness/cli/print_epsilon.h"
#include "harness/cli/style.h"

namespace hyfreedp::cli {
namespace {

namespace po = boost::program_options;
using accounting::Events;
using accounting::Neighbouring;

constexpr const char* kUsage =
    "hyfreedp epsilon: what was released about the data, as epsilon at a delta.\n"
    "\n"
    "  hyfreedp epsilon --sample-rate 0.02 --noise-multiplier 1.6 --steps 250 --delta 1e-5\n"
    "  hyfreedp epsilon --events events.json --delta 1e-5 --accountant pld --json\n"
    "  hyfreedp epsilon --db out/hyfreedp.sqlite --study STUDY\n"
    "\n"
    "An events file: {\"neighbouring\": \"add-remove\", \"events\": [{\"type\": \"poisson-gaussian\",\n"
    "  \"sample_rate\": 0.02, \"noise_multiplier\": 1.6, \"count\": 200}, {\"type\": \"batch\", "
    "\"sample_rate\": 0.02,\n"
    "  \"releases\": [{\"noise_multiplier\": 1.6}, {\"noise_multiplier\": 6, \"count\": 3}], \"count\": "
    "50}]}\n";

po::options_description described() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("help,h", "this text");
  add("events", po::value<std::string>()->value_name("FILE"), "price the events in FILE");
  add("sample-rate", po::value<double>()->value_name("q"), "Poisson sampling rate, (0, 1]");
  add("noise-multiplier", po::value<double>()->value_name("sigma"), "noise over sensitivity, > 0");
  add("steps", po::value<std::int64_t>()->value_name("T"), "number of steps");
  add("neighbouring", po::value<std::string>()->value_name("R"),
      "add-remove (default) or replace-one, with flags");
  add("delta", po::value<double>()->value_name("D"), "delta, (0, 1)");
  add("accountant", po::value<std::string>()->value_name("A"),
      "pld, rdp or gdp; by default PLD with RDP beside it, and the smaller");
  add("orders", po::value<std::string>()->value_name("LIST"), "Renyi orders for rdp, such as 1.5,2,3,4,8,16");
  add("json", "print a JSON object");
  add("db", po::value<std::string>()->value_name("FILE"), "read the executed events from a results database");
  add("trial", po::value<std::string>()->value_name("ID"), "with --db: this trial");
  add("study", po::value<std::string>()->value_name("ID"), "with --db: this study, all its trials composed");
  return options;
}

Result<std::vector<double>> orders_from(const std::string& list) {
  std::vector<double> orders;
  std::istringstream stream(list);
  std::string item;
  while (std::getline(stream, item, ',')) {
    double order = 0;
    const auto [end, code] = std::from_chars(item.data(), item.data() + item.size(), order);
    if (code != std::errc() || end != item.data() + item.size()) {
      return error(fmt::format("--orders: '{}' is not a number; give a list such as 1.5,2,4,8.", item));
    }
    orders.push_back(order);
  }
  if (orders.empty()) return error("--orders is empty; give a list such as 1.5,2,4,8.");
  return orders;
}

// Goes through the events file's own checks, so that flags and files answer alike.
Result<Events> events_from_flags(const po::variables_map& flags) {
  for (const char* name : {"sample-rate", "noise-multiplier", "steps"}) {
    if (flags.count(name) == 0) {
      return error(fmt::format(
          "--{} is missing; give --events FILE, or --sample-rate, --noise-multiplier and --steps.", name));
    }
  }
  json::object event{{"type", "poisson-gaussian"},
                     {"sample_rate", number(flags["sample-rate"].as<double>())},
                     {"noise_multiplier", number(flags["noise-multiplier"].as<double>())},
                     {"count", flags["steps"].as<std::int64_t>()}};
  json::object object{{"events", json::array{event}}};
  if (flags.count("neighbouring") > 0) object["neighbouring"] = flags["neighbouring"].as<std::string>();
  return accounting::events_from_json(object, "command line");
}

Result<Events> events_from(const po::variables_map& flags) {
  if (flags.count("events") == 0) return events_from_flags(flags);
  for (const char* name : {"sample-rate", "noise-multiplier", "steps", "neighbouring"}) {
    if (flags.count(name) > 0)
      return error(fmt::format("--{} cannot be given together with --events.", name));
  }
  const auto path = flags["events"].as<std::string>();
  const auto value = read_json_file(path);
  if (!value) return value.error();
  return accounting::events_from_json(*value, path);
}

Result<void> answer(const po::variables_map& flags, std::ostream& out) {
  const auto events = events_from(flags);
  if (!events) return events.error();
  if (flags.count("delta") == 0) return error("--delta is missing: the delta at which epsilon is stated.");
  const double delta = flags["delta"].as<double>();
  const bool as_json = flags.count("json") > 0;
  const std::string accountant = flags.count("accountant") > 0 ? flags["accountant"].as<std::string>() : "";
  if (flags.count("orders") > 0 && accountant != "rdp") return error("--orders needs --accountant rdp.");
  if (accountant.empty()) {
    const auto report = accounting::report_epsilon(*events, delta);
    if (!report) return report.error();
    print_epsilon(*report, events->neighbouring, as_json, out);
    return {};
  }
  Result<accounting::EpsilonAnswer> priced;
  if (accountant == "pld") {
    priced = accounting::epsilon_pld(*events, delta);
  } else if (accountant == "gdp") {
    priced = accounting::epsilon_gdp(*events, delta);
  } else if (accountant == "rdp") {
    auto orders = flags.count("orders") > 0 ? orders_from(flags["orders"].as<std::string>())
                                            : Result<std::vector<double>>(accounting::default_orders());
    if (!orders) return orders.error();
    priced = accounting::epsilon_rdp(*events, delta, *orders);
  } else {
    return error("--accountant is '" + accountant + "'; valid ones are pld, rdp and gdp.");
  }
  if (!priced) return priced.error();
  print_epsilon(*priced, as_json, out);
  return {};
}

Result<int> answer_from_db(const po::variables_map& flags, std::ostream& out, std::ostream& err) {
  const bool trial = flags.count("trial") > 0;
  if (trial == (flags.count("study") > 0)) return error("--db needs either --trial ID or --study ID.");
  const std::string kind = trial ? "trial" : "study";
  return epsilon_from_db(flags["db"].as<std::string>(), kind, flags[kind].as<std::string>(),
                         flags.count("json") > 0, out, err);
}

}  // namespace

int epsilon_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const auto fail = [&](const std::string& message) {
    err << "hyfreedp epsilon: " << message << '\n';
    return 2;
  };
  const auto options = described();
  po::variables_map flags;
  try {
    po::store(po::command_line_parser(arguments).options(options).positional({}).style(kStyle).run(), flags);
    po::notify(flags);
  } catch (const po::error& failure) {
    return fail(std::string(failure.what()) + "; see hyfreedp epsilon --help.");
  }
  if (flags.count("help") > 0) {
    out << kUsage << '\n' << options;
    return 0;
  }
  if (flags.count("db") > 0) {
    const auto code = answer_from_db(flags, out, err);
    return code ? *code : fail(code.error().message);
  }
  const auto answered = answer(flags, out);
  return answered ? 0 : fail(answered.error().message);
}

}  // namespace hyfreedp::cli
