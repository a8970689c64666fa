// Reference vectors of the search rules: every run of the linear scaling cases, run counts, picks
// and winners of private selection, the simulated range. Files of `optimizers` with other schemas
// belong to other suites.
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <iostream>

#include "baselines/baseline.h"
#include "baselines/dp_hyper_simulated.h"
#include "baselines/linear_rule.h"
#include "baselines/run_count.h"

namespace hyfreedp::baselines {
namespace {

namespace rule = linear_rule;

std::string reference_folder() {
  const char* given = std::getenv("HYFREEDP_REFERENCE_DIR");
  return std::string(given != nullptr && *given != '\0' ? given : HYFREEDP_TEST_DATA) + "/optimizers";
}

// Every file of the folder with that schema; nothing and a printed reason where the folder is
// absent.
std::optional<std::vector<json::object>> files_of(const std::string& schema) {
  const auto folder = reference_folder();
  if (!std::filesystem::is_directory(folder)) {
    std::cout << "SKIPPED SUITE: no folder " << folder << '\n';
    return std::nullopt;
  }
  std::vector<json::object> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    const auto value = read_json_file(file.path().string());
    if (!value || !value->is_object()) {
      ADD_FAILURE() << file.path() << " is not a JSON object";
      continue;
    }
    if (string_or(value->get_object(), "schema", "") == schema) files.push_back(value->get_object());
  }
  EXPECT_FALSE(files.empty()) << folder << " has no file of schema " << schema;
  return files;
}

double at(const json::object& object, const char* key) { return get_double(object, key, key).value(); }
std::int64_t whole(const json::object& object, const char* key) { return get_int(object, key, key).value(); }
std::string text(const json::object& object, const char* key) { return get_string(object, key, key).value(); }
const json::object& inner(const json::object& object, const char* key) { return object.at(key).as_object(); }
const json::array& list(const json::object& object, const char* key) { return object.at(key).as_array(); }

void expect_close(double value, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(value, expected, tolerance * std::max(std::abs(expected), 1e-300)) << what;
}

// The files say: relative 1e-10, eps and mu relative 1e-9, T and the number of tries exact.
constexpr double kClose = 1e-10;
constexpr double kBudgetClose = 1e-9;

rule::Space space_of(const json::object& options) {
  rule::Space space{.eta_min = at(options, "eta_min"),
                    .eta_max = at(options, "eta_max"),
                    .t_min = whole(options, "T_min"),
                    .t_max = whole(options, "T_max")};
  if (text(options, "decompose") != "rejection") return space;
  space.decompose = rule::Decompose::rejection;
  space.tolerance = at(options, "rtol");
  space.max_tries = whole(options, "max_tries");
  for (const auto& eta : list(options, "eta_grid")) space.eta_grid.push_back(to_double(eta, "eta").value());
  for (const auto& steps : list(options, "T_grid")) space.t_grid.push_back(steps.to_number<std::int64_t>());
  return space;
}

// The recorded draws, in the order consumed; asking for more than were recorded is a failure.
std::function<double()> recorded(const json::object& run) {
  std::vector<double> draws;
  for (const auto& one : list(run, "u_decompose")) {
    for (const auto& value : one.as_array()) draws.push_back(to_double(value, "u").value());
  }
  return [draws, next = std::size_t{0}]() mutable {
    if (next >= draws.size()) {
      ADD_FAILURE() << "more draws than the reference recorded";
      return 0.0;
    }
    return draws[next++];
  };
}

void expect_run(const rule::Run& run, const json::object& expected, double mu, const std::string& what) {
  expect_close(run.eta, at(expected, "eta"), kClose, what + " eta");
  EXPECT_EQ(run.steps, whole(expected, "T")) << what;
  expect_close(run.r, at(expected, "r"), kClose, what + " r");
  EXPECT_EQ(run.clamp, text(expected, "clamp")) << what;
  EXPECT_EQ(run.method, text(expected, "method")) << what;
  EXPECT_EQ(run.tries, whole(expected, "n_tries")) << what;
  expect_close(rule::sigma(run.steps, mu), at(expected, "sigma"), kBudgetClose, what + " sigma");
}

// The first run of a stage with the largest score.
std::int64_t best_run(const json::array& runs, std::int64_t stage) {
  std::int64_t best = -1;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(runs.size()); ++i) {
    const auto& run = runs[static_cast<std::size_t>(i)].as_object();
    if (whole(run, "stage") != stage) continue;
    if (best < 0 || at(run, "score") > at(runs[static_cast<std::size_t>(best)].as_object(), "score"))
      best = i;
  }
  return best;
}

void check_case(const json::object& one) {
  const auto& options = inner(one, "options");
  const auto name = text(one, "name");
  const auto space = space_of(options);
  const bool narrowed = text(options, "ranges") == "narrowed";
  const bool logarithmic = text(options, "r_sampling") == "log_uniform";
  const double delta = at(options, "delta");
  const auto n = whole(options, "n");
  const double epsilon1 = at(options, "eps1");
  const double epsilon2 = at(options, "eps2");
  const auto& final_run = inner(one, "final");
  const double total = at(inner(one, "total"), "eps");

  const auto budget = rule::split_total(total, delta, n, std::array{epsilon1, epsilon2}, "pld");
  ASSERT_TRUE(budget) << name << ": " << budget.error().message;
  // From the total back to the final run: the subtraction loses what the sweeps take, little here.
  expect_close(budget->epsilon_final, at(final_run, "eps_f"), 10 * kBudgetClose, name + " eps_f");
  expect_close(budget->mu_final, at(final_run, "mu_f"), 10 * kBudgetClose, name + " mu_f");

  const auto& runs = list(one, "runs");
  const auto& best_r = list(one, "best_r");
  const double first_best = to_double(best_r[0], "best_r").value();
  const double second_best = to_double(best_r[1], "best_r").value();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i].as_object();
    const auto what = name + " run " + std::to_string(i);
    const bool is_first = whole(run, "stage") == 1;
    const auto range =
        is_first ? rule::first_range(space, narrowed) : rule::second_range(space, narrowed, first_best);
    expect_close(range.low, at(run, "range_lo"), kClose, what + " low");
    expect_close(range.high, at(run, "range_hi"), kClose, what + " high");
    const double r = rule::sample(range, logarithmic, at(run, "u_r"));
    expect_close(r, at(run, "r_target"), kClose, what + " r_target");
    const double mu = is_first ? budget->mu[0] : budget->mu[1];
    expect_close(mu, at(run, "mu"), kBudgetClose, what + " mu");
    expect_run(rule::decompose(space, r, recorded(run)), run, mu, what);
  }
  for (std::int64_t stage : {1, 2}) {
    const auto best = best_run(runs, stage);
    EXPECT_EQ(best,
              list(one, "best_run_index")[static_cast<std::size_t>(stage - 1)].to_number<std::int64_t>())
        << name;
    expect_close(at(runs[static_cast<std::size_t>(best)].as_object(), "r"),
                 stage == 1 ? first_best : second_best, kClose, name + " best r");
  }
  const bool over_mu = text(options, "axis") == "mu";
  const auto line = over_mu ? rule::line_through(budget->mu[0], first_best, budget->mu[1], second_best)
                            : rule::line_through(epsilon1, first_best, epsilon2, second_best);
  expect_close(line.slope, at(one, "slope"), kBudgetClose, name + " slope");
  expect_close(line.bias, at(one, "bias"), kBudgetClose, name + " bias");
  const double r = line.at(over_mu ? at(final_run, "mu_f") : at(final_run, "eps_f"));
  expect_close(r, at(final_run, "r_extrapolated"), kBudgetClose, name + " r_extrapolated");
  expect_run(rule::decompose(space, at(final_run, "r_extrapolated"), recorded(final_run)), final_run,
             at(final_run, "mu_f"), name + " final");
}

TEST(ReferenceBaselinesLinearScaling, Cases) {
  const auto files = files_of("linear-scaling/1");
  if (!files) GTEST_SKIP();
  std::size_t ran = 0;
  for (const auto& file : *files) {
    for (const auto& one : list(file, "cases")) {
      check_case(one.as_object());
      ++ran;
    }
    for (const auto& row_value : list(file, "composition_table")) {
      const auto& row = row_value.as_object();
      const auto budget = rule::split_total(1, 1e-5, 3, std::array{at(row, "eps1"), at(row, "eps2")}, "pld");
      ASSERT_TRUE(budget);
      expect_close(budget->mu[0], at(row, "mu1"), kBudgetClose, "mu1");
      expect_close(budget->mu[1], at(row, "mu2"), kBudgetClose, "mu2");
      expect_close(budget->epsilon_final, at(row, "eps_f_for_total_1"), 10 * kBudgetClose, "eps_f");
      ++ran;
    }
  }
  EXPECT_GT(ran, 0u);
  std::cout << ran << " linear scaling cases\n";
}

// "geometric_0.1" and the like.
std::int64_t counted(const std::string& name, double uniform) {
  const auto cut = name.rfind('_');
  const double parameter = std::stod(name.substr(cut + 1));
  return run_count(enum_from<RunCount>(name.substr(0, cut), name).value(), parameter, uniform);
}

std::optional<RunCount> distribution_of(const std::string& name) {
  if (name == "tnb_eta1") return RunCount::geometric;
  if (name == "tnb_eta0") return RunCount::logarithmic;
  if (name == "poisson") return RunCount::poisson;
  return std::nullopt;
}

void check_selection(const json::object& file, const json::object& one, RunCount distribution) {
  const auto name = text(one, "name");
  const auto& parameters = inner(one, "parameters");
  const double mean = at(one, "mean_runs");
  const double parameter =
      distribution == RunCount::poisson ? at(parameters, "mean") : at(parameters, "gamma");
  if (distribution == RunCount::logarithmic) {
    expect_close(logarithmic_parameter(mean), parameter, 1e-9, name + " parameter");
  } else if (distribution == RunCount::geometric) {
    expect_close(geometric_parameter(mean), parameter, 1e-12, name + " parameter");
  }
  EXPECT_EQ(run_count(distribution, parameter, at(one, "u_count")), whole(one, "n_runs")) << name;
  const auto candidates = static_cast<std::int64_t>(list(file, "candidates").size());
  const auto& draws = list(one, "u_pick");
  for (std::size_t i = 0; i < draws.size(); ++i) {
    EXPECT_EQ(pick(to_double(draws[i], "u").value(), candidates),
              list(one, "picked")[i].to_number<std::int64_t>())
        << name;
  }
  // What the whole selection costs, on the file's orders: relative 1e-6.
  Composition composition{
      .rule = Composition::Rule::selection, .trials = {"run"}, .selection = selection_of(distribution, mean)};
  const auto events = compose(composition, [&](const std::string&) -> Result<std::vector<accounting::Event>> {
    return std::vector{accounting::poisson_gaussian(at(file, "q"), at(one, "sigma"), whole(file, "T"))};
  });
  ASSERT_TRUE(events);
  std::vector<double> orders;
  for (const auto& order : list(file, "orders_rdp")) orders.push_back(to_double(order, "order").value());
  const auto epsilon = accounting::epsilon_rdp(*events, at(file, "delta"), orders);
  ASSERT_TRUE(epsilon) << epsilon.error().message;
  expect_close(epsilon->epsilon, at(one, "eps_selection"), 1e-6, name + " epsilon");
}

TEST(ReferenceBaselinesPrivateSelection, Cases) {
  const auto files = files_of("dp-hyper/1");
  if (!files) GTEST_SKIP();
  std::size_t ran = 0;
  std::size_t not_offered = 0;
  for (const auto& file : *files) {
    for (const auto& value : list(file, "selection")) {
      const auto& one = value.as_object();
      const auto name = text(one, "distribution");
      const auto distribution = distribution_of(name);
      if (!distribution) {
        EXPECT_EQ(name, "lt") << "an unknown distribution of the number of runs";
        ++not_offered;
        continue;
      }
      check_selection(file, one, *distribution);
      ++ran;
    }
    for (const auto& value : list(file, "count_table")) {
      const auto& row = value.as_object();
      for (const auto& member : row) {
        if (member.key() == "u") continue;
        EXPECT_EQ(counted(member.key(), at(row, "u")), member.value().to_number<std::int64_t>())
            << member.key() << " at " << at(row, "u");
        ++ran;
      }
    }
    for (const auto& value : list(file, "simulated_85")) {
      const auto& row = value.as_object();
      expect_close(at(row, "eps_train"), 0.85 * at(row, "eps"), 1e-12, "share");
      const auto range = narrow_range(at(row, "nondp_gs_eta"));
      const auto& expected = list(row, "narrow_grid");
      ASSERT_EQ(range.size(), expected.size());
      for (std::size_t i = 0; i < range.size(); ++i) {
        expect_close(range[i], to_double(expected[i], "narrow").value(), 1e-12, "narrow range");
      }
      ++ran;
    }
  }
  EXPECT_GT(ran, 0u);
  std::cout << ran << " private selection cases; " << not_offered
            << " of Liu and Talwar's rule are not covered: they flip a coin after each run, here the count "
               "is drawn\n";
}

}  // namespace
}  // namespace hyfreedp::baselines
