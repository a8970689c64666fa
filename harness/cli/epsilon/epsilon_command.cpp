#include <filesystem>
#include <fmt/format.h>
#include <sstream>

#include "harness/accounting/calibration_search.h"
#include "harness/accounting/mechanism.h"
#include "harness/base/text.h"
#include "harness/cli/common/accounting_flags.h"
#include "harness/cli/common/command_line.h"
#include "harness/cli/epsilon/commands.h"
#include "harness/cli/epsilon/epsilon_boxes.h"
#include "harness/cli/epsilon/epsilon_db.h"
#include "harness/cli/epsilon/events_file.h"
#include "harness/cli/epsilon/print_epsilon.h"
#include "harness/runner/odometer/out_folder.h"
#include "plots/figures.h"

namespace hyfreedp::cli {
namespace {

namespace po = boost::program_options;
using accounting::Events;

constexpr const char* kUsage =
    "hyfreedp epsilon: what was released about the data, as epsilon at a delta.\n"
    "\n"
    "  hyfreedp epsilon --sample-rate 0.02 --noise-multiplier 1.6 --steps 250 --delta 1e-5 --plot e.svg\n"
    "  hyfreedp epsilon --events events.json --delta 1e-5 --accountant pld --json\n"
    "  hyfreedp epsilon --out out --study STUDY\n"
    "\n"
    "An events file: {\"neighbouring\": \"add-remove\", \"events\": [\n"
    "  {\"type\": \"poisson-gaussian\", \"sample_rate\": 0.02, \"noise_multiplier\": 1.6, \"count\": 200},\n"
    "  {\"type\": \"batch\", \"sample_rate\": 0.02, \"count\": 50,\n"
    "   \"releases\": [{\"noise_multiplier\": 1.6}, {\"noise_multiplier\": 6, \"count\": 3}]}]}\n"
    "Further types: gaussian, laplace (noise_multiplier, count; laplace also sample_rate); repeat (base, a "
    "list of\n"
    "events, and count); selection (distribution geometric, logarithmic, truncated-negative-binomial with "
    "eta, poisson\n"
    "or liu-talwar; mean number of runs, or gamma in its place; base, the events of one run); "
    "not-accountable (reason).\n"
    "Each may name the disjoint \"split\" of the data that it touched.\n\n";

CommandLine command_line() {
  CommandLine line{.command = "epsilon", .usage = kUsage};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add("events", po::value<std::string>()->value_name("FILE"), "price the events in FILE");
  add_sampling(add);
  add_text(add, "noise-multiplier", "sigma", "noise over sensitivity, > 0");
  add_text(add, "neighbouring", "R", "add-remove (default) or replace-one, with flags");
  add_text(add, "delta", "D",
           "delta, (0, 1) (default N^-1.1 with --records); several with commas: a line for each");
  add_text(add, "accountant", "A", "pld, rdp or gdp; default: PLD and RDP, of which the smaller is reported");
  add_text(add, "orders", "LIST", "Renyi orders for rdp, such as 1.5,2,3,4,8,16");
  add("json", "print a JSON object");
  add_text(add, "plot", "FILE",
           "draw epsilon over steps and noise (events file: over repetitions and relative noise) as .svg, "
           ".png or .pdf");
  add_text(add, "db", "FILE", "read the executed events from a results database");
  add_text(add, "out", "DIR",
           "read the executed events from an output folder of `hyfreedp run` (DIR/hyfreedp.sqlite)");
  add_text(add, "trial", "ID", "with --db or --out: the trial to price");
  add_text(add, "study", "ID", "with --db or --out: the study to price, all its trials composed");
  return line;
}

// What is asked, checked.
struct Question {
  Events events;
  std::string file;        // of the events; empty: flags
  Sampling sampling = {};  // of the flags
  double noise_multiplier = 0;
  std::vector<double> deltas;
  std::string accountant;  // empty: PLD beside RDP
  std::vector<double> orders;
};

Result<void> read_flags(const Given& given, Question& question) {
  constexpr const char* kWays = "; give --events FILE, or --sample-rate, --noise-multiplier and --steps";
  const auto sampling = sampling_given(given, kWays);
  if (!sampling) return sampling.error();
  if (given.count("noise-multiplier") == 0)
    return error(fmt::format("--noise-multiplier is missing{}.", kWays));
  const auto noise = positive_given(given, "noise-multiplier");
  if (!noise) return noise.error();
  const auto neighbouring = neighbouring_given(given);
  if (!neighbouring) return neighbouring.error();
  question.sampling = *sampling;
  question.noise_multiplier = *noise;
  question.events = {*neighbouring, {accounting::poisson_gaussian(sampling->rate, *noise, sampling->steps)}};
  return {};
}

Result<Question> question_of(const Given& given) {
  if (auto ok = excluded(
          given, "events",
          {"sample-rate", "noise-multiplier", "steps", "records", "batch-size", "epochs", "neighbouring"});
      !ok) {
    return ok.error();
  }
  for (const char* name : {"trial", "study"}) {
    if (given.count(name) > 0) return error(fmt::format("--{} needs --db FILE or --out DIR.", name));
  }
  Question question;
  if (given.count("accountant") > 0) {
    question.accountant = given["accountant"].as<std::string>();
    if (auto ok = one_of("accountant", question.accountant, {"pld", "rdp", "gdp"}); !ok) return ok.error();
  }
  if (given.count("orders") > 0 && question.accountant != "rdp") {
    return error("--orders needs --accountant rdp.");
  }
  auto orders = orders_given(given);
  if (!orders) return orders.error();
  question.orders = std::move(*orders);
  if (given.count("events") == 0) {
    if (auto ok = read_flags(given, question); !ok) return ok.error();
  }
  auto deltas =
      deltas_given(given, question.sampling, "--delta is missing: the delta at which epsilon is stated.");
  if (!deltas) return deltas.error();
  if (deltas->size() > 1 && given.count("plot") > 0) return error("--plot draws one --delta.");
  question.deltas = std::move(*deltas);
  if (given.count("events") > 0) {
    question.file = given["events"].as<std::string>();
    auto events = read_events_file(question.file);
    if (!events) return events.error();
    question.events = std::move(*events);
  }
  return question;
}

Result<void> plot(const Question& question, double epsilon, const std::string& path) {
  const double delta = question.deltas.front();
  EpsilonFigure figure{
      .delta = delta, .orders = question.orders, .gdp = question.accountant == "gdp", .boxes = {}};
  const MarkedPoint mark{.epsilon = epsilon, .title = "requested: ε = " + short_number(epsilon)};
  if (question.file.empty()) {
    figure.title = gaussian_title(question.sampling.rate, delta, question.events.neighbouring);
    figure.boxes = gaussian_boxes(question.sampling.rate, question.noise_multiplier, question.sampling.steps,
                                  question.events.neighbouring, mark);
  } else {
    figure.title = fmt::format("Events of {}, δ = {}, {} neighbours",
                               std::filesystem::path(question.file).filename().string(), short_number(delta),
                               to_string(question.events.neighbouring));
    figure.boxes = events_boxes(question.events, mark);
  }
  return draw_epsilon(figure, path);
}

struct Priced {
  double epsilon = 0, lower = 0;
  json::object object;
  std::string text;  // for people
};

Result<Priced> price(const Question& question, double delta) {
  const auto& events = question.events;
  std::ostringstream text;
  if (question.accountant.empty()) {
    const auto report = accounting::report_epsilon(events, delta);
    if (!report) return report.error();
    print_epsilon(*report, events.neighbouring, false, text);
    return Priced{report->epsilon, report->epsilon_lower, epsilon_to_json(*report, events.neighbouring),
                  text.str()};
  }
  const auto answer = question.accountant == "gdp"
                          ? accounting::epsilon_gdp(events, delta)
                          : accounting::epsilon_by(question.accountant, events, delta, question.orders);
  if (!answer) return answer.error();
  print_epsilon(*answer, false, text);
  return Priced{answer->epsilon, answer->epsilon_lower, epsilon_to_json(*answer), text.str()};
}

// What to print; draws first, so that a plot that fails leaves nothing printed.
Result<void> answer(const Given& given, std::ostream& out) {
  const auto question = question_of(given);
  if (!question) return question.error();
  const std::string path = given.count("plot") > 0 ? given["plot"].as<std::string>() : "";
  if (given.count("plot") > 0) {
    if (auto can = plots::drawable(path); !can) return in_context("--plot", can.error());
  }
  const bool as_json = given.count("json") > 0;
  const bool is_one = question->deltas.size() == 1;
  std::ostringstream text;
  json::array objects;
  double epsilon = 0;
  if (!is_one && !as_json) text << fmt::format("{:<12}  {:<12}  at least\n", "delta", "epsilon");
  for (const double delta : question->deltas) {
    const auto priced = price(*question, delta);
    if (!priced) return priced.error();
    epsilon = priced->epsilon;
    if (as_json) {
      objects.push_back(priced->object);
    } else if (is_one) {
      text << priced->text;
    } else {
      text << fmt::format("{:<12.6g}  {:<12}  {}\n", delta, rounded_up(epsilon), rounded_down(priced->lower));
    }
  }
  if (as_json) text << (is_one ? pretty_json(objects.front()) : pretty_json(objects));
  if (!path.empty()) {
    if (auto drawn = plot(*question, epsilon, path); !drawn) return in_context("--plot", drawn.error());
  }
  if (question->sampling.records > 0 && !as_json) out << sampling_line(question->sampling);
  out << text.str();
  return {};
}

Result<int> answer_from_db(const Given& given, std::ostream& out, std::ostream& err) {
  const bool folder = given.count("out") > 0;
  const char* source = folder ? "out" : "db";
  if (folder && given.count("db") > 0) return error("--db and --out both name a database; give one.");
  if (auto ok = excluded(given, source,
                         {"events", "sample-rate", "noise-multiplier", "steps", "records", "batch-size",
                          "epochs", "neighbouring", "delta", "accountant", "orders", "plot"});
      !ok) {
    return ok.error();
  }
  const bool trial = given.count("trial") > 0;
  if (trial == (given.count("study") > 0)) {
    return error(fmt::format("--{} needs either --trial ID or --study ID.", source));
  }
  const std::string kind = trial ? "trial" : "study";
  const auto& place = given[source].as<std::string>();
  return epsilon_from_db(folder ? runner::OutFolder{place}.database() : place, kind,
                         given[kind].as<std::string>(), given.count("json") > 0, out, err);
}

}  // namespace

int epsilon_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Given given;
  if (const auto code = read_command_line(command_line(), arguments, given, out, err)) return *code;
  if (given.count("db") > 0 || given.count("out") > 0) {
    const auto code = answer_from_db(given, out, err);
    return code ? *code : refused("epsilon", code.error(), err);
  }
  const auto answered = answer(given, out);
  return answered ? 0 : refused("epsilon", answered.error(), err);
}

}  // namespace hyfreedp::cli
