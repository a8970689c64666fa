// Every case of the reference files. Tolerances: PLD never below `exact` and at most 0.1 % above
// it, its lower bound never above it (both up to the 1e-9 that `exact` itself is checked to, 1e-6
// where the file gives no lattice bracket); RDP curves to 1e-9; calibration within 1e-4 above the
// smallest noise; closed forms to 1e-9.
#include <algorithm>
#include <cmath>
#include <set>

#include "harness/accounting/rdp.h"
#include "harness/accounting/selection.h"
#include "harness/mechanism/probe_split.h"
#include "tests/accounting/cases.h"

namespace hyfreedp::accounting::testing {
namespace reference_test {

constexpr double kAbove = 1e-3;

double doubt_of(const json::object& one) {
  const auto* bracket = one.if_contains("bracket");
  const bool loose = bracket != nullptr && bracket->is_string() && bracket->as_string().starts_with("exact");
  return loose ? 1e-6 : 1e-9;
}

void expect_bracket(const json::object& one, double lower, double upper) {
  const double exact = num(one, "exact");
  const double doubt = doubt_of(one);
  EXPECT_GE(upper, exact * (1 - doubt)) << text(one, "id");
  EXPECT_LE(upper, exact * (1 + kAbove)) << text(one, "id");
  EXPECT_LE(lower, exact * (1 + doubt)) << text(one, "id");
  EXPECT_GE(lower, exact * (1 - 2 * kAbove)) << text(one, "id");
}

std::vector<double> dp_accounting_orders() {
  std::vector<double> orders;
  for (int i = 11; i < 110; ++i) orders.push_back(i / 10.0);
  for (int i = 11; i <= 63; ++i) orders.push_back(i);
  for (const double order : {128.0, 256.0, 512.0, 1024.0}) orders.push_back(order);
  return orders;
}

std::vector<double> fine_orders() {
  std::vector<double> orders;
  for (int i = 21; i <= 219; ++i) orders.push_back(i / 20.0);
  for (int i = 11; i <= 63; ++i) orders.push_back(i);
  for (const double order : {72, 80, 96, 112, 128, 160, 192, 256, 384, 512, 768, 1024, 2048, 4096}) {
    orders.push_back(order);
  }
  return orders;
}

std::vector<double> integer_orders() {
  std::vector<double> orders;
  for (int i = 2; i <= 256; ++i) orders.push_back(i);
  return orders;
}

// The best any order can do is the least; the default table must come within 0.1 % of it or stand
// at its end.
void expect_rdp(const json::object& one, const Events& events) {
  const auto rdp = epsilon_rdp(events, num(one, "delta"));
  ASSERT_TRUE(rdp.has_value()) << rdp.error().message;
  const double best = num(one, "rdp_optimal");
  EXPECT_GE(rdp->epsilon, best * (1 - 1e-9)) << text(one, "id");
  EXPECT_LE(rdp->epsilon, best * 1.001) << text(one, "id") << " at order " << *rdp->order;
}

void expect_case(const json::object& one, const Events& events) {
  const auto pld = epsilon_pld(events, num(one, "delta"));
  ASSERT_TRUE(pld.has_value()) << pld.error().message;
  expect_bracket(one, pld->epsilon_lower, pld->epsilon);
  if (one.contains("rdp_optimal")) expect_rdp(one, events);
}

TEST(ReferenceAccounting, EveryFileIsKnown) {
  if (!std::filesystem::exists(reference_folder())) {
    std::cout << "SKIPPED SUITE: " << reference_folder() << " is absent\n";
    GTEST_SKIP();
  }
  const std::set<std::string> known = {"psg_epsilon", "psg_delta", "composition", "replace_one", "calibrate",
                                       "gdp",         "psg_rdp",   "selection",   "seed_tables"};
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(reference_folder())) {
    if (entry.path().extension() != ".json") continue;
    const auto value = read_json_file(entry.path().string());
    ASSERT_TRUE(value.has_value()) << value.error().message;
    if (!value->is_object() || !value->as_object().contains("cases")) continue;
    ++files;
    EXPECT_TRUE(known.count(entry.path().stem().string()) > 0)
        << entry.path() << " holds cases of an unknown kind";
  }
  EXPECT_GT(files, 0) << "no reference case in " << reference_folder();
}

TEST(ReferenceAccounting, PsgEpsilon) {
  for (const auto& one : cases_of("psg_epsilon")) expect_case(one, psg(one));
}

TEST(ReferenceAccounting, ReplaceOne) {
  for (const auto& one : cases_of("replace_one")) expect_case(one, psg(one, Neighbouring::replace_one));
}

TEST(ReferenceAccounting, Composition) {
  for (const auto& one : cases_of("composition")) {
    const auto events = events_from_json(one.at("events"), text(one, "id"));
    ASSERT_TRUE(events.has_value()) << events.error().message;
    expect_case(one, *events);
    Events folded;
    for (const auto& part : one.at("folded").as_array()) {
      const auto& triple = part.as_array();
      folded.events.push_back(poisson_gaussian(to_double(triple[0], "q").value(),
                                               to_double(triple[1], "s").value(),
                                               static_cast<std::int64_t>(to_double(triple[2], "n").value())));
    }
    const auto again = epsilon_pld(folded, num(one, "delta"));
    ASSERT_TRUE(again.has_value());
    EXPECT_NEAR(again->epsilon / epsilon_pld(*events, num(one, "delta"))->epsilon, 1, 1e-9)
        << text(one, "id");
  }
}

TEST(ReferenceAccounting, PsgDelta) {
  for (const auto& one : cases_of("psg_delta")) {
    const auto answer = delta_pld(psg(one), num(one, "epsilon"));
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    expect_bracket(one, answer->delta_lower, answer->delta);
  }
}

TEST(ReferenceAccounting, PsgRdp) {
  for (const auto& one : cases_of("psg_rdp")) {
    const Mechanism mechanism{Noise::gaussian, num(one, "q"), num(one, "sigma"), 1};
    const auto& orders = one.at("orders").as_array();
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const double order = to_double(orders[i], "order").value();
      const double expected = to_double(one.at("rdp").as_array()[i], "rdp").value();
      EXPECT_NEAR(renyi_divergence(mechanism, Neighbouring::add_remove, order) / expected, 1, 1e-9)
          << text(one, "id") << " order " << order;
    }
  }
}

TEST(ReferenceAccounting, Calibrate) {
  for (const auto& one : cases_of("calibrate")) {
    const double target = num(one, "epsilon");
    const double smallest = num(one, "sigma");
    const auto found = calibrate_gaussian(num(one, "q"), whole(one, "steps"), target, num(one, "delta"));
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_LE(found->answer.epsilon, target) << text(one, "id");
    EXPECT_GE(found->noise_multiplier, smallest * (1 - 1e-9)) << text(one, "id");
    EXPECT_LE(found->noise_multiplier, smallest * (1 + 1e-4)) << text(one, "id");
  }
}

void expect_gaussian(const json::object& one) {
  Events events;
  for (const auto& value : one.at("releases").as_array()) {
    const auto& release = value.as_object();
    events.events.push_back(poisson_gaussian(1, num(release, "noise_multiplier"), whole(release, "count")));
  }
  const double mu = num(one, "mu");
  for (const auto& pair : one.at("epsilon_at_delta").as_array()) {
    const double delta = to_double(pair.as_array()[0], "delta").value();
    const double expected = to_double(pair.as_array()[1], "epsilon").value();
    const auto answer = epsilon_gdp(events, delta);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->accountant, "gdp");
    EXPECT_NEAR(answer->epsilon, expected, 1e-9 * std::max(expected, 1e-3)) << text(one, "id");
    EXPECT_NEAR(epsilon_pld(events, delta)->epsilon, expected, 1e-9 * std::max(expected, 1e-3))
        << text(one, "id");
  }
  for (const auto& pair : one.at("delta_at_epsilon").as_array()) {
    const double expected = to_double(pair.as_array()[1], "delta").value();
    EXPECT_NEAR(gdp_delta(mu, to_double(pair.as_array()[0], "epsilon").value()), expected,
                1e-9 * expected + 1e-300);
  }
}

TEST(ReferenceAccounting, Gdp) {
  for (const auto& one : cases_of("gdp")) {
    const auto kind = text(one, "kind");
    if (kind == "gaussian composition") {
      expect_gaussian(one);
    } else if (kind == "mu from (epsilon, delta)") {
      EXPECT_NEAR(gdp_mu(num(one, "epsilon"), num(one, "delta")).value() / num(one, "mu"), 1, 1e-9);
    } else if (kind == "clt") {
      const auto answer = epsilon_gdp(psg(one), num(one, "delta"));
      EXPECT_EQ(answer->accountant, "gdp-clt (approximation)");
      EXPECT_NEAR(answer->epsilon / num(one, "epsilon_clt"), 1, 1e-9) << text(one, "id");
    } else {
      ADD_FAILURE() << "unknown kind " << kind;
    }
  }
}

Event selection_event(const json::object& one) {
  Selection selection;
  selection.mean = num(one, "mean");
  const auto name = text(one, "distribution");
  if (name == "poisson") {
    selection.distribution = Selection::Distribution::poisson;
  } else if (name == "liu-talwar") {
    selection.distribution = Selection::Distribution::liu_talwar;
  } else {
    EXPECT_EQ(name, "truncated negative binomial");
    selection.eta = num(one, "eta");
  }
  selection.base = psg(one).events;
  return Event{selection, {}};
}

TEST(ReferenceAccounting, SelectionByRdp) {
  for (const auto& one : cases_of("selection")) {
    const Events events{Neighbouring::add_remove, {selection_event(one)}};
    const double delta = num(one, "delta");
    const auto price = [&](const std::vector<double>& orders, Conversion conversion) {
      const auto answer = epsilon_rdp(events, delta, orders, conversion);
      EXPECT_TRUE(answer.has_value()) << answer.error().message;
      return answer->epsilon;
    };
    constexpr auto kCks = Conversion::canonne_kamath_steinke;
    if (text(one, "distribution") == "liu-talwar") {
      EXPECT_NEAR(price(fine_orders(), kCks) / num(one, "lt_fine_orders_cks"), 1, 1e-9) << text(one, "id");
      EXPECT_NEAR(price(integer_orders(), Conversion::mironov) / num(one, "lt_integer_orders_mironov"), 1,
                  1e-9);
      continue;
    }
    EXPECT_NEAR(price(fine_orders(), kCks) / num(one, "own_fine_orders"), 1, 1e-9) << text(one, "id");
    EXPECT_NEAR(price(dp_accounting_orders(), kCks) / num(one, "own_default_orders"), 1, 1e-9)
        << text(one, "id");
    const auto orders = dp_accounting_orders();
    const auto curve = renyi_curve(split_contents(events).value()[0], events.neighbouring, orders).value();
    for (const auto& pair : one.at("rdp_after_selection").as_array()) {
      const double order = to_double(pair.as_array()[0], "order").value();
      const auto place = std::find(orders.begin(), orders.end(), order) - orders.begin();
      const double ratio =
          curve[static_cast<std::size_t>(place)] / to_double(pair.as_array()[1], "rdp").value();
      EXPECT_LE(ratio, 1 + 1e-9) << text(one, "id") << " order " << order;
      // The file's Poisson curves are not tightened by monotonicity in the order; ours are.
      if (text(one, "distribution") != "poisson") {
        EXPECT_GE(ratio, 1 - 1e-9) << text(one, "id") << " order " << order;
      }
    }
    if (one.contains("gamma") && !one.at("gamma").is_null()) {
      EXPECT_NEAR(
          std::exp(-log_inverse_gamma_from_mean(num(one, "eta"), num(one, "mean"))) / num(one, "gamma"), 1,
          1e-9)
          << text(one, "id");
    }
  }
}

void expect_panda(const json::object& one) {
  const double delta = num(one, "delta");
  if (one.contains("exact_sigma")) {
    const double target = num(one, "epsilon");
    const auto found = calibrate_gaussian(num(one, "q"), whole(one, "steps"), target, delta);
    EXPECT_NEAR(found->noise_multiplier / num(one, "exact_sigma"), 1, 1e-4) << text(one, "id");
    const Events claimed{{},
                         {poisson_gaussian(num(one, "q"), num(one, "claimed_sigma"), whole(one, "steps"))}};
    EXPECT_NEAR(epsilon_pld(claimed, delta)->epsilon / num(one, "exact_epsilon_at_claim"), 1, 1e-3);
  } else if (one.contains("exact_total")) {
    double square = 0;
    const auto& epsilons = one.at("epsilons").as_array();
    for (std::size_t i = 0; i < epsilons.size(); ++i) {
      const double mu = gdp_mu(to_double(epsilons[i], "epsilon").value(), delta).value();
      square += mu * mu * to_double(one.at("counts").as_array()[i], "count").value();
    }
    EXPECT_NEAR(gdp_epsilon(std::sqrt(square), delta).value() / num(one, "exact_total"), 1, 1e-9)
        << text(one, "id");
  }
}

// One row of a table: MA is four runs composed, LT_m Liu-Talwar's selection with m runs on average.
void expect_mohapatra(const json::object& one) {
  const auto& computed = one.at("computed").as_object();
  const double rate = num(one, "batch") / num(one, "n");
  const Event run = poisson_gaussian(rate, num(one, "sigma"), whole(one, "steps"));
  for (const auto& member : computed) {
    const std::string key(member.key());
    Event event{Repeat{{run}, 4}, {}};
    if (key.starts_with("LT_")) {
      event.what = Selection{Selection::Distribution::liu_talwar, 1, std::stod(key.substr(3)), {run}};
    } else {
      ASSERT_EQ(key, "MA_4_candidates");
    }
    const auto answer = epsilon_rdp({Neighbouring::add_remove, {event}}, num(one, "delta"), integer_orders(),
                                    Conversion::mironov);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->accountant, key.starts_with("LT_") ? "rdp, liu-talwar" : "rdp");
    EXPECT_NEAR(answer->epsilon / to_double(member.value(), key).value(), 1, 1e-9)
        << text(one, "id") << " " << key;
  }
}

void expect_figure(const json::object& one) {
  const double rate = num(one, "batch") / num(one, "n");
  const Event run = poisson_gaussian(rate, num(one, "sigma"), whole(one, "steps"));
  for (const auto& value : one.at("computed").as_array()) {
    const auto& row = value.as_object();
    const auto accountant = text(row, "accountant");
    const bool mironov = accountant.find("Mironov") != std::string::npos;
    if (!mironov && accountant.find("fine") == std::string::npos) continue;
    const auto orders = mironov ? integer_orders() : fine_orders();
    const auto conversion = mironov ? Conversion::mironov : Conversion::canonne_kamath_steinke;
    const auto price = [&](const Event& event) {
      return epsilon_rdp({Neighbouring::add_remove, {event}}, num(one, "delta"), orders, conversion)->epsilon;
    };
    const double single =
        epsilon_rdp(
            {Neighbouring::add_remove,
             {poisson_gaussian(num(one, "batch") / num(row, "n"), num(one, "sigma"), whole(one, "steps"))}},
            num(one, "delta"), orders, conversion)
            ->epsilon;
    EXPECT_NEAR(single / num(row, "one_run"), 1, 1e-9) << text(one, "id");
    if (num(row, "n") != num(one, "n")) continue;
    const Event selected{Selection{Selection::Distribution::liu_talwar, 1, 1, {run}}, {}};
    EXPECT_NEAR(price(selected) / num(row, "LT_1"), 1, 1e-9) << text(one, "id");
  }
}

TEST(ReferenceAccounting, SeedTables) {
  for (const auto& one : cases_of("seed_tables")) {
    if (text(one, "paper") == "Panda") {
      expect_panda(one);
    } else if (one.at("computed").is_object()) {
      expect_mohapatra(one);
    } else {
      expect_figure(one);
    }
  }
}

TEST(ReferenceAccounting, SplitsOfTheBudget) {
  const auto path = reference_folder() / "composition.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP();
  const auto file = read_json_file(path.string());
  int checked = 0;
  for (const auto& value : file->as_object().at("sigma_l_calibrations").as_array()) {
    const auto& one = value.as_object();
    for (const bool folded : {true, false}) {
      mechanism::ProbeSplitRequest request;
      request.plan = mechanism::probing_plan(num(one, "q"), whole(one, "interval"),
                                             static_cast<int>(whole(one, "probes")));
      request.steps = whole(one, "steps");
      request.gamma = num(one, "gamma");
      request.epsilon = num(one, "epsilon");
      request.delta = num(one, "delta");
      request.mode = folded ? mechanism::ProbeAccounting::folded : mechanism::ProbeAccounting::separate_batch;
      const auto split = mechanism::split_budget(request);
      ASSERT_TRUE(split.has_value()) << split.error().message;
      EXPECT_NEAR(split->sigma / num(one, "sigma_pld"), 1, 1e-4);
      EXPECT_NEAR(split->sigma_g / num(one, "sigma_g_pld"), 1, 1e-4);
      // What is left for the losses is a small difference: 1e-4 in sigma_g moves sigma_l by up to
      // 50 times as much.
      EXPECT_NEAR(split->sigma_l / num(one, folded ? "sigma_l_same_batch_pld" : "sigma_l_separate_pld"), 1,
                  5e-3)
          << text(one, "id");
      EXPECT_LE(split->sound.epsilon, request.epsilon);
      ++checked;
    }
  }
  std::cout << "sigma_l_calibrations: " << checked << " splits\n";
}

}  // namespace reference_test
}  // namespace hyfreedp::accounting::testing
