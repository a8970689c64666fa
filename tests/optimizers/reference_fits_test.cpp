// The quadratic fit and the HyFreeDP controller against recorded cases.
#include "optimizers/acceptance.h"
#include "optimizers/learning_rate.h"
#include "optimizers/quadratic_fit.h"
#include "tests/optimizers/reference_files.h"

namespace hyfreedp::optimizers::reference {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

class ReferenceOptimizersFits : public Suite {};

std::string text_of(const json::object& object, const char* key) {
  return std::string(object.at(key).as_string());
}

TEST_F(ReferenceOptimizersFits, ThreePoints) {
  for (const auto& file : files_of("quadratic-fit/1")) {
    for (const auto& value : file.content.at("three_points").as_array()) {
      const auto& one = value.as_object();
      ++count_;
      SCOPED_TRACE(file.name + " " + text_of(one, "name"));
      const double eta = as_double(one.at("eta"));
      const std::vector<double> losses = {as_double(one.at("L0")), as_double(one.at("Lp")),
                                          as_double(one.at("Lm"))};
      const auto fit = fit_quadratic({0, eta, -eta}, losses, Intercept::fixed);
      EXPECT_TRUE(near(fit.curvature, as_double(one.at("H")), 0, as_double(one.at("tol_H"))))
          << fit.curvature;
      EXPECT_TRUE(near(fit.slope, as_double(one.at("G")), 0, as_double(one.at("tol_G")))) << fit.slope;
      if (one.at("rounding_decides").as_bool()) continue;
      const auto decision = judge_fit(fit, losses, 0.99);
      EXPECT_EQ(decision, text_of(one, "decision"));
      EXPECT_EQ(decision == "accepted", one.at("accepted").as_bool());
      const double eta_star = as_double(one.at("eta_star"));
      const double slack = std::abs(eta_star) * (as_double(one.at("tol_H")) / std::abs(fit.curvature) +
                                                 as_double(one.at("tol_G")) / std::abs(fit.slope) + 4 * kEps);
      const std::pair<const char*, Acceptance> policies[] = {
          {"eta_raw", Acceptance::raw}, {"eta_clamp", Acceptance::clamp}, {"eta_gen", Acceptance::gen}};
      for (const auto& [key, policy] : policies) {
        const double next = next_rate({.acceptance = policy}, decision, eta, fit.minimum(), 0);
        EXPECT_TRUE(near(next, as_double(one.at(key)), 4 * kEps, std::isfinite(slack) ? slack : 0))
            << key << ": " << next;
      }
    }
  }
}

// Differences of losses are what a fit sees, so their rounding is its error.
double rounding(const std::vector<double>& losses) {
  double largest = 0;
  for (const double loss : losses) largest = std::max(largest, std::abs(loss));
  return 100 * kEps * largest;
}

TEST_F(ReferenceOptimizersFits, ManyPoints) {
  for (const auto& file : files_of("quadratic-fit/1")) {
    for (const auto& value : file.content.at("multi_points").as_array()) {
      const auto& one = value.as_object();
      const auto x = as_doubles(one.at("x"));
      const auto losses = as_doubles(one.at("losses"));
      const double radius = *std::max_element(x.begin(), x.end());
      for (const auto& [key, intercept] :
           {std::pair{"fixed_intercept", Intercept::fixed}, std::pair{"free_intercept", Intercept::free}}) {
        ++count_;
        SCOPED_TRACE(file.name + " " + text_of(one, "name") + " " + key);
        const auto& wanted = one.at(key).as_object();
        const auto fit = fit_quadratic(x, losses, intercept);
        const double slack = rounding(losses);
        EXPECT_TRUE(near(fit.curvature, as_double(wanted.at("H")), 1e-12, slack / (radius * radius)))
            << fit.curvature << ' ' << wanted.at("H");
        EXPECT_TRUE(near(fit.slope, as_double(wanted.at("G")), 1e-12, slack / radius)) << fit.slope;
        EXPECT_TRUE(near(fit.intercept, as_double(wanted.at("intercept")), 1e-12)) << fit.intercept;
        EXPECT_TRUE(near(fit.r2, as_double(wanted.at("r2")), 1e-9)) << fit.r2;
        EXPECT_EQ(judge_fit(fit, losses, 0.99), text_of(wanted, "decision"));
      }
    }
  }
}

class ReferenceOptimizersController : public Suite {};

json::object controller_options(const json::object& one) {
  auto options = one.at("options").as_object();
  // Copies first: a new key may move the old ones while the assignment still refers to them.
  options["acceptance"] = json::value(options.at("policy"));
  options["interval"] = json::value(options.at("K"));
  for (const char* name : {"policy", "K", "T"}) options.erase(name);
  if (one.contains("scale_per_step")) options["gen_scale"] = "linear";
  return options;
}

void expect_recorded_decisions(const json::object& one) {
  auto made = make_controller("hyfreedp", controller_options(one));
  ASSERT_TRUE(made) << made.error().message;
  auto& controller = **made;
  const auto& probes = one.at("probes").as_object();
  const auto steps = as_doubles(one.at("eta_per_step"));
  controller.begin({.steps = std::int64_t(steps.size()), .dimension = 1, .classes = 2});
  const auto column = [&](const char* name, std::size_t i) {
    return as_double(probes.at(name).as_array().at(i));
  };
  std::size_t i = 0;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    SCOPED_TRACE("step " + std::to_string(t));
    if (const auto* scale = one.if_contains("scale_per_step")) {
      ASSERT_TRUE(near(1 - double(t) / double(steps.size()), as_double(scale->as_array().at(t)), 1e-12));
    }
    if (controller.wants_probe(std::int64_t(t))) {
      ASSERT_EQ(column("t", i), double(t));
      const auto request = controller.request(std::int64_t(t));
      EXPECT_TRUE(near(request.abscissas[1], column("eta_before", i), 1e-12));
      EXPECT_TRUE(near(request.loss_bound, column("R_l_used", i), 1e-12));
      const std::vector<double> losses = {column("L0", i), column("Lp", i), column("Lm", i)};
      controller.observe(std::int64_t(t), {request.abscissas, losses, 0});
      const double h = request.abscissas[1];
      const double size = rounding(losses);
      const auto scalars = controller.scalars();
      if (controller.last_decision() == "nonfinite_loss") {
        // The files disagree whether the fit of an infinite loss is NaN or infinite; neither is
        // finite.
        EXPECT_FALSE(std::isfinite(scalars.at("H")) || std::isfinite(column("H", i)));
        EXPECT_FALSE(std::isfinite(scalars.at("G")) || std::isfinite(column("G", i)));
      } else {
        EXPECT_TRUE(near(scalars.at("H"), column("H", i), 1e-12, size / (h * h)));
        EXPECT_TRUE(near(scalars.at("G"), column("G", i), 1e-12, size / h));
      }
      EXPECT_EQ(controller.last_decision(), std::string(probes.at("decision").as_array().at(i).as_string()));
      EXPECT_TRUE(near(controller.learning_rate(std::int64_t(t)), column("eta_after", i), 1e-12));
      EXPECT_TRUE(near(scalars.at("R_l"), column("R_l_after", i), 1e-12));
      ++i;
    }
    EXPECT_TRUE(near(controller.learning_rate(std::int64_t(t)), steps[t], 1e-12));
  }
  EXPECT_EQ(i, probes.at("t").as_array().size());
}

TEST_F(ReferenceOptimizersController, Decisions) {
  for (const auto& file : files_of("hyfreedp-controller/1")) {
    for (const auto& value : file.content.at("cases").as_array()) {
      ++count_;
      SCOPED_TRACE(file.name + " " + text_of(value.as_object(), "name"));
      expect_recorded_decisions(value.as_object());
    }
  }
}

}  // namespace
}  // namespace hyfreedp::optimizers::reference
