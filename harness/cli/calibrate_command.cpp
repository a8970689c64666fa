#include "harness/cli/calibrate_command.h"

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <ostream>

#include "harness/cli/print_epsilon.h"
#include "harness/cli/style.h"

namespace hyfreedp::cli {
namespace {

namespace po = boost::program_options;
using accounting::ProbeAccounting;
using accounting::ProbeSplit;
using accounting::ProbeSplitRequest;

constexpr const char* kUsage =
    "hyfreedp calibrate: the smallest noise multiplier that keeps T Poisson-sampled steps within epsilon.\n"
    "\n"
    "  hyfreedp calibrate --sample-rate 0.02 --steps 250 --epsilon 3 --delta 1e-5\n"
    "  hyfreedp calibrate --sample-rate 0.02 --steps 250 --epsilon 3 --delta 1e-5 --hyfreedp folded "
    "--interval 5\n"
    "\n"
    "HyFreeDP splits the budget: gradients get gamma times the noise that all of it would need, the losses "
    "of a probe\n"
    "every K steps get what is left. Modes: folded (probes on the gradient's batch, sound), separate-batch "
    "(probes on\n"
    "their own batch, sound), paper and paper-appendix (as published; their epsilon is understated).\n";

po::options_description described() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("help,h", "this text");
  add("sample-rate", po::value<double>()->value_name("q"), "Poisson sampling rate, (0, 1]");
  add("steps", po::value<std::int64_t>()->value_name("T"), "number of steps");
  add("epsilon", po::value<double>()->value_name("e"), "target, > 0");
  add("delta", po::value<double>()->value_name("D"), "delta, (0, 1)");
  add("accountant", po::value<std::string>()->default_value("pld")->value_name("A"), "pld or rdp");
  add("hyfreedp", po::value<std::string>()->value_name("MODE"),
      "folded, separate-batch, paper or paper-appendix");
  add("interval", po::value<std::int64_t>()->default_value(5)->value_name("K"), "a probe every K steps");
  add("probes", po::value<int>()->default_value(3)->value_name("m"), "losses a probe");
  add("gamma", po::value<double>()->default_value(1.01, "1.01")->value_name("g"),
      "sigma_g over the noise without probes");
  add("probe-sample-rate", po::value<double>()->value_name("q"),
      "separate-batch: rate of the probe batch (default q)");
  add("json", "print a JSON object");
  return options;
}

bool understated(ProbeAccounting mode) {
  return mode == ProbeAccounting::paper || mode == ProbeAccounting::paper_appendix;
}

void print_split(const ProbeSplitRequest& request, const ProbeSplit& split, bool as_json, std::ostream& out) {
  if (as_json) {
    json::object object = epsilon_to_json(split.sound);
    object["mode"] = accounting::to_string(request.mode);
    object["noise_multiplier"] = split.sigma;
    object["sigma_g"] = split.sigma_g;
    object["sigma_l"] = split.sigma_l;
    object["claimed_epsilon"] = split.claimed_epsilon;
    if (understated(request.mode)) object["label"] = "paper accounting: epsilon understated";
    out << pretty_json(object);
    return;
  }
  out << fmt::format("mode      {}\n", accounting::to_string(request.mode));
  out << fmt::format("sigma     {:.6g}  (without probes)\n", split.sigma);
  out << fmt::format("sigma_g   {:.6g}  (gradients)\n", split.sigma_g);
  out << fmt::format("sigma_l   {:.6g}  (losses)\n", split.sigma_l);
  out << fmt::format("epsilon   {:.6g} (PLD, sound) at delta {:.6g}\n", split.sound.epsilon, request.delta);
  out << fmt::format("claimed   {:.6g}\n", split.claimed_epsilon);
  if (understated(request.mode)) out << "label     paper accounting: epsilon understated\n";
}

Result<void> split(const po::variables_map& flags, std::ostream& out) {
  const auto mode = accounting::probe_accounting_from(flags["hyfreedp"].as<std::string>());
  if (!mode) return mode.error();
  ProbeSplitRequest request;
  request.mode = *mode;
  request.sample_rate = flags["sample-rate"].as<double>();
  request.steps = flags["steps"].as<std::int64_t>();
  request.interval = flags["interval"].as<std::int64_t>();
  request.points = flags["probes"].as<int>();
  request.gamma = flags["gamma"].as<double>();
  if (flags.count("probe-sample-rate") > 0)
    request.probe_sample_rate = flags["probe-sample-rate"].as<double>();
  request.epsilon = flags["epsilon"].as<double>();
  request.delta = flags["delta"].as<double>();
  request.accountant = flags["accountant"].as<std::string>();
  const auto found = accounting::split_budget(request);
  if (!found) return found.error();
  print_split(request, *found, flags.count("json") > 0, out);
  return {};
}

Result<void> calibrate(const po::variables_map& flags, std::ostream& out) {
  for (const char* name : {"sample-rate", "steps", "epsilon", "delta"}) {
    if (flags.count(name) == 0) return error(fmt::format("--{} is missing.", name));
  }
  if (flags.count("hyfreedp") > 0) return split(flags, out);
  const auto found = accounting::calibrate_gaussian(
      flags["sample-rate"].as<double>(), flags["steps"].as<std::int64_t>(), flags["epsilon"].as<double>(),
      flags["delta"].as<double>(), flags["accountant"].as<std::string>());
  if (!found) return found.error();
  if (flags.count("json") > 0) {
    json::object object = epsilon_to_json(found->answer);
    object["noise_multiplier"] = found->noise_multiplier;
    out << pretty_json(object);
    return {};
  }
  out << fmt::format("noise multiplier  {:.6g}\n", found->noise_multiplier);
  print_epsilon(found->answer, false, out);
  return {};
}

}  // namespace

int calibrate_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const auto fail = [&](const std::string& message) {
    err << "hyfreedp calibrate: " << message << '\n';
    return 2;
  };
  const auto options = described();
  po::variables_map flags;
  try {
    po::store(po::command_line_parser(arguments).options(options).positional({}).style(kStyle).run(), flags);
    po::notify(flags);
  } catch (const po::error& failure) {
    return fail(std::string(failure.what()) + "; see hyfreedp calibrate --help.");
  }
  if (flags.count("help") > 0) {
    out << kUsage << '\n' << options;
    return 0;
  }
  const auto done = calibrate(flags, out);
  return done ? 0 : fail(done.error().message);
}

}  // namespace hyfreedp::cli
