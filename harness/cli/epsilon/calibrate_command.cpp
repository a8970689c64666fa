#include <fmt/format.h>
#include <sstream>

#include "harness/accounting/calibration_search.h"
#include "harness/accounting/mechanism.h"
#include "harness/base/text.h"
#include "harness/cli/common/accounting_flags.h"
#include "harness/cli/epsilon/epsilon_boxes.h"
#include "harness/cli/epsilon/print_epsilon.h"

namespace hyfreedp::cli {
namespace {

using accounting::Calibration;
using accounting::Events;
using mechanism::ProbeAccounting;
using mechanism::ProbeSplit;
using mechanism::ProbeSplitRequest;

constexpr std::string_view kText = R"(
hyfreedp calibrate: the smallest noise multiplier that keeps T Poisson-sampled steps within epsilon.

  hyfreedp calibrate --sample-rate 0.02 --steps 250 --epsilon 3 --delta 1e-5 --plot noise.svg
  hyfreedp calibrate --records 50000 --batch-size 1000 --epochs 5 --epsilon 3
  hyfreedp calibrate --sample-rate 0.02 --steps 250 --epsilon 3 --delta 1e-5 --hyfreedp folded
      --interval 5

HyFreeDP splits the budget: gradients get gamma times the noise that all of it would need, the
losses of a probe every K steps get what is left. Modes: folded (probes on the gradient's batch,
sound), separate-batch (probes on their own batch, sound), paper and paper-appendix (as published,
by RDP; their epsilon is understated).)";

constexpr std::int64_t kMostLosses = 1000;
constexpr double kSmallestTried = 0.01 * 1.001;  // search_noise goes no lower; with its tolerance

struct CalibrateRequest : AccountingRequest {
  Given epsilon, hyfreedp, interval, probes, gamma, probe_sample_rate;

  void describe(Options& options) {
    describe_sampling(options);
    options.value(epsilon, "epsilon", "e", "target, > 0; several with commas: a line for each");
    options.value(delta, "delta", "D", "delta, (0, 1) (default N^-1.1 with --records); several as above");
    options.value(neighbouring, "neighbouring", "R", "add-remove (default) or replace-one");
    options.value(accountant, "accountant", "A", "pld (default) or rdp");
    options.value(orders, "orders", "LIST",
                  "Renyi orders for rdp and the paper modes, such as 1.5,2,3,4,8,16");
    options.value(hyfreedp, "hyfreedp", "MODE", "folded, separate-batch, paper or paper-appendix");
    options.value(interval, "interval", "K", "with --hyfreedp: a probe every K steps (default 5)");
    options.value(probes, "probes", "m", "with --hyfreedp: losses a probe (default 3)");
    options.value(gamma, "gamma", "g",
                  "with --hyfreedp: sigma_g over the noise without probes, > 1 (default 1.01)");
    options.value(probe_sample_rate, "probe-sample-rate", "q",
                  "separate-batch: rate of the probe batch (default that of the steps)");
    options.flag(json, "json", "print a JSON object");
    options.value(plot, "plot", "FILE", "draw epsilon over steps and noise, as .svg, .png or .pdf");
  }
};

// The request, checked. Without `mode` the fields of the probes say nothing.
struct Task {
  ProbeSplitRequest request = {.plan = mechanism::probing_plan(1)};
  Sampling sampling = {};
  std::vector<double> epsilons = {}, deltas = {};  // the request has the first of each
  bool is_split = false;
  accounting::Neighbouring neighbouring = accounting::Neighbouring::add_remove;

  bool has_several() const { return epsilons.size() * deltas.size() > 1; }
};

Result<void> read_target(const CalibrateRequest& given, Task& task) {
  const auto sampling = given.sampling();
  if (!sampling) return sampling.error();
  if (!given.epsilon) return error("--epsilon is missing.");
  auto epsilons = positives_of(given.epsilon);
  if (!epsilons) return epsilons.error();
  auto deltas = given.deltas(*sampling, "--delta is missing.");
  if (!deltas) return deltas.error();
  task.sampling = *sampling;
  task.request.plan.sample_rate = sampling->rate;
  task.request.steps = sampling->steps;
  task.request.epsilon = epsilons->front();
  task.request.delta = deltas->front();
  task.epsilons = std::move(*epsilons);
  task.deltas = std::move(*deltas);
  return {};
}

Result<void> read_accountant(const CalibrateRequest& given, Task& task) {
  if (given.accountant) {
    task.request.accountant = *given.accountant.text;
    if (auto ok = one_of(given.accountant, {"pld", "rdp"}); !ok) return ok;
    if (task.is_split && mechanism::is_published(task.request.mode) && task.request.accountant == "pld") {
      return error(
          fmt::format("--accountant pld cannot set the noise of --hyfreedp {}, which is published by RDP.",
                      mechanism::to_string(task.request.mode)));
    }
  }
  if (task.request.accountant.empty()) {
    task.request.accountant = task.is_split && mechanism::is_published(task.request.mode) ? "rdp" : "pld";
  }
  if (!given.orders) return {};
  if (task.request.accountant != "rdp") return error("--orders needs --accountant rdp.");
  auto orders = given.renyi_orders();
  if (!orders) return orders.error();
  task.request.orders = std::move(*orders);
  return {};
}

Result<void> read_probes(const CalibrateRequest& given, Task& task) {
  if (!given.hyfreedp) {
    for (const auto* one : {&given.interval, &given.probes, &given.gamma, &given.probe_sample_rate}) {
      if (*one) return error(fmt::format("--{} needs --hyfreedp MODE.", one->name));
    }
    return {};
  }
  auto& request = task.request;
  task.is_split = true;
  const auto mode = mechanism::probe_accounting_from(*given.hyfreedp.text);
  if (!mode) return in_context("--hyfreedp", mode.error());
  request.mode = *mode;
  if (given.interval) {
    const auto interval = count_of(given.interval, accounting::kMaxMechanisms);
    if (!interval) return interval.error();
    request.plan.probe->interval = *interval;
  }
  if (given.probes) {
    const auto points = count_of(given.probes, kMostLosses);
    if (!points) return points.error();
    request.plan.probe->points = static_cast<int>(*points);
  }
  if (given.gamma) {
    const auto gamma = positive_of(given.gamma);
    if (!gamma) return gamma.error();
    if (!(*gamma > 1)) {
      return error(fmt::format(
          "--gamma is {}; it must be above 1, or the gradients leave nothing for the probes.", *gamma));
    }
    request.gamma = *gamma;
  }
  if (given.probe_sample_rate) {
    if (request.mode != ProbeAccounting::separate_batch) {
      return error("--probe-sample-rate needs --hyfreedp separate-batch.");
    }
    const auto rate = rate_of(given.probe_sample_rate);
    if (!rate) return rate.error();
    request.plan.probe->sample_rate = *rate;
  }
  return {};
}

Result<Task> task_of(const CalibrateRequest& given) {
  Task task;
  if (auto ok = read_target(given, task); !ok) return ok.error();
  if (auto ok = read_probes(given, task); !ok) return ok.error();
  if (auto ok = read_accountant(given, task); !ok) return ok.error();
  const auto neighbouring = given.neighbours();
  if (!neighbouring) return neighbouring.error();
  task.neighbouring = *neighbouring;
  if (task.is_split && task.neighbouring != accounting::Neighbouring::add_remove) {
    return error(
        "--neighbouring replace-one cannot be given together with --hyfreedp, whose modes are stated "
        "for add-remove.");
  }
  if (task.has_several()) {
    if (task.is_split) return error("--hyfreedp takes one --epsilon and one --delta.");
    if (given.plot) return error("--plot draws one --epsilon and one --delta.");
  }
  return task;
}

Result<Calibration> calibrated(const Task& task) {
  const auto& request = task.request;
  const auto events_at = [&](double noise) {
    return Events{task.neighbouring,
                  {accounting::poisson_gaussian(request.plan.sample_rate, noise, request.steps)}};
  };
  if (request.orders.empty()) {
    return accounting::calibrate(events_at, request.epsilon, request.delta, request.accountant);
  }
  const auto tolerance = accounting::calibration_tolerance(request.accountant);
  if (!tolerance) return tolerance.error();
  return accounting::search_noise(
      [&](double noise) {
        return accounting::epsilon_by(request.accountant, events_at(noise), request.delta, request.orders);
      },
      request.epsilon, *tolerance);
}

void print(const Calibration& found, bool as_json, std::ostream& out) {
  if (as_json) {
    json::object object = epsilon_to_json(found.answer);
    object["noise_multiplier"] = found.noise_multiplier;
    out << pretty_json(object);
    return;
  }
  out << fmt::format("noise multiplier  {}\n", rounded_up(found.noise_multiplier));
  print_epsilon(found.answer, false, out);
}

// Says why a claim and its cost differ, in one line.
std::string reading_of(const ProbeSplitRequest& request, const ProbeSplit& split) {
  const auto cost = fmt::format("{:.4g}", split.sound.epsilon);
  if (!mechanism::is_published(request.mode)) {
    if (request.accountant == "pld") return "the claim is what the executed events cost";
    return fmt::format("RDP sets the noise, and the claim is its bound; by PLD the executed events cost {}",
                       cost);
  }
  const auto way = request.mode == ProbeAccounting::paper
                       ? std::string("as if every probe had a batch of its own")
                       : fmt::format("which adds two epsilons, each at delta {:.6g}", request.delta);
  const bool holds = split.sound.epsilon <= split.claimed_epsilon;
  return fmt::format("claims epsilon {:.4g}, {}; on the gradient's batch it costs {}{}",
                     split.claimed_epsilon, way, cost,
                     holds ? ": here the claim holds, though nothing in it says so" : "");
}

void print(const ProbeSplitRequest& request, const ProbeSplit& split, bool as_json, std::ostream& out) {
  if (as_json) {
    json::object object = epsilon_to_json(split.sound);
    object["mode"] = mechanism::to_string(request.mode);
    object["noise_by"] = request.accountant;
    object["noise_multiplier"] = split.sigma;
    object["sigma_g"] = split.sigma_g;
    object["sigma_l"] = split.sigma_l;
    object["claimed_epsilon"] = split.claimed_epsilon;
    if (mechanism::is_published(request.mode)) object["label"] = "paper accounting: epsilon understated";
    out << pretty_json(object);
    return;
  }
  out << fmt::format("mode      {}\n", mechanism::to_string(request.mode));
  out << fmt::format("sigma     {}  (without probes)\n", rounded_up(split.sigma));
  out << fmt::format("sigma_g   {}  (gradients)\n", rounded_up(split.sigma_g));
  out << fmt::format("sigma_l   {}  (losses)\n", rounded_up(split.sigma_l));
  out << fmt::format("epsilon   {} (PLD, sound) at delta {:.6g}\n", rounded_up(split.sound.epsilon),
                     request.delta);
  out << fmt::format("claimed   {}\n", rounded_up(split.claimed_epsilon));
  if (mechanism::is_published(request.mode)) out << "label     paper accounting: epsilon understated\n";
  out << "reading   " << reading_of(request, split) << '\n';
}

EpsilonFigure figure_of(const Task& task) {
  const auto& request = task.request;
  return {.title = gaussian_title(request.plan.sample_rate, request.delta, task.neighbouring),
          .delta = request.delta,
          .orders = request.orders,
          .target = request.epsilon,
          .boxes = {}};
}

Result<Calibration> noted_calibration(const Task& task) {
  auto found = calibrated(task);
  if (found && found->noise_multiplier <= kSmallestTried) {
    auto& note = found->answer.note;
    note = "the smallest noise that is tried already meets the target" + (note.empty() ? "" : "; " + note);
  }
  return found;
}

// A line, or an object, for each epsilon and delta.
Result<void> calibrate_several(Task task, bool as_json, std::ostream& out) {
  json::array objects;
  std::string table =
      fmt::format("{:<10}  {:<12}  {:<16}  {}\n", "target", "delta", "noise multiplier", "epsilon");
  for (const double epsilon : task.epsilons) {
    for (const double delta : task.deltas) {
      task.request.epsilon = epsilon;
      task.request.delta = delta;
      const auto found = noted_calibration(task);
      if (!found) return in_context(fmt::format("epsilon {}, delta {:.6g}", epsilon, delta), found.error());
      auto object = epsilon_to_json(found->answer);
      object["noise_multiplier"] = found->noise_multiplier;
      object["target"] = epsilon;
      objects.push_back(std::move(object));
      table += fmt::format("{:<10}  {:<12.6g}  {:<16}  {}{}\n", short_number(epsilon), delta,
                           rounded_up(found->noise_multiplier), rounded_up(found->answer.epsilon),
                           found->answer.note.empty() ? "" : "  (" + found->answer.note + ")");
    }
  }
  out << (as_json ? pretty_json(objects) : table);
  return {};
}

Result<EpsilonFigure> calibrate_one(const Task& task, bool as_json, std::ostream& out) {
  const auto found = noted_calibration(task);
  if (!found) return found.error();
  print(*found, as_json, out);
  auto figure = figure_of(task);
  figure.boxes = gaussian_boxes(task.request.plan.sample_rate, found->noise_multiplier, task.request.steps,
                                task.neighbouring,
                                {.epsilon = found->answer.epsilon,
                                 .title = "calibrated: σ = " + short_number(found->noise_multiplier)});
  return figure;
}

Result<EpsilonFigure> calibrate_split(const Task& task, bool as_json, std::ostream& out) {
  const auto split = mechanism::split_budget(task.request);
  if (!split) return split.error();
  print(task.request, *split, as_json, out);
  auto figure = figure_of(task);
  figure.title = fmt::format("HyFreeDP, {}: q = {}, δ = {}, {} losses every {} steps",
                             mechanism::to_string(task.request.mode),
                             short_number(task.request.plan.sample_rate), short_number(task.request.delta),
                             task.request.plan.probe->points, task.request.plan.probe->interval);
  std::vector<MarkedPoint> marks = {
      {.epsilon = split->sound.epsilon, .title = "spent: ε = " + short_number(split->sound.epsilon)}};
  if (mechanism::is_published(task.request.mode)) {
    marks.push_back({.epsilon = split->claimed_epsilon,
                     .title = "claimed: ε = " + short_number(split->claimed_epsilon),
                     .claim = true});
  }
  figure.boxes = split_boxes(task.request, *split, std::move(marks));
  return figure;
}

// Draws first, so that a plot that fails leaves nothing printed.
Outcome calibrate(const CalibrateRequest& request, std::ostream& out, std::ostream&) {
  const auto task = task_of(request);
  if (!task) return task.error();
  if (auto can = request.check_plot(); !can) return can.error();
  std::ostringstream text;
  if (task->has_several()) {
    if (auto done = calibrate_several(*task, request.json, text); !done) return done.error();
  } else {
    const auto figure = task->is_split ? calibrate_split(*task, request.json, text)
                                       : calibrate_one(*task, request.json, text);
    if (!figure) return figure.error();
    if (request.plot) {
      const auto drawn = draw_epsilon(*figure, *request.plot.text);
      if (!drawn) return in_context("--plot", drawn.error());
    }
  }
  if (task->sampling.records > 0 && !request.json) out << task->sampling.text();
  out << text.str();
  return 0;
}

}  // namespace

Command calibrate_command() {
  return {"calibrate", kText, action<CalibrateRequest>(calibrate), "the noise that meets an epsilon",
          "hyfreedp calibrate --sample-rate 0.02 --steps 250 --epsilon 3 --delta 1e-5"};
}

}  // namespace hyfreedp::cli
