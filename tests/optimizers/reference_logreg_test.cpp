// HyFreeDP end to end on a logistic regression whose sampling masks and Gaussian draws are data, so
// that every weight is determined: optimizer and controller of this room; clipping and release are
// written out.
#include "optimizers/learning_rate.h"
#include "optimizers/optimizer.h"
#include "tests/optimizers/reference_files.h"

namespace hyfreedp::optimizers::reference {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

Matrix as_matrix(const json::value& value) {
  Matrix rows;
  for (const auto& row : value.as_array()) rows.push_back(as_doubles(row));
  return rows;
}

struct Problem {
  Matrix x;  // [N][d]
  Vector y;  // [N], +-1
  double clip_constant;

  double margin(std::size_t i, const Vector& w) const {
    double sum = 0;
    for (std::size_t j = 0; j < w.size(); ++j) sum += x[i][j] * w[j];
    return y[i] * sum;
  }
  double loss(std::size_t i, const Vector& w) const {
    const double z = margin(i, w);
    return z > 0 ? std::log1p(std::exp(-z)) : -z + std::log1p(std::exp(z));
  }
  Vector private_gradient(const Vector& w, const Vector& mask, double noise, const Vector& draws,
                          double b) const {
    Vector sum(w.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (mask[i] == 0) continue;
      const double factor = -y[i] / (1 + std::exp(margin(i, w)));
      double squares = 0;
      for (const double feature : x[i]) squares += factor * factor * feature * feature;
      const double scale = factor / (std::sqrt(squares) + clip_constant);
      for (std::size_t j = 0; j < w.size(); ++j) sum[j] += scale * x[i][j];
    }
    for (std::size_t j = 0; j < w.size(); ++j) sum[j] = (sum[j] + noise * draws[j]) / b;
    return sum;
  }
  double private_loss(const Vector& w, const Vector& mask, double bound, double noise, double draw,
                      double b) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (mask[i] != 0) sum += std::clamp(loss(i, w), 0.0, bound);
    }
    return (sum + noise * bound * draw) / b;
  }
};

Vector moved(const Vector& w, const Vector& u, double step) {
  Vector result(w.size());
  for (std::size_t j = 0; j < w.size(); ++j) result[j] = w[j] - step * u[j];
  return result;
}

Vector copy_of(const torch::Tensor& tensor) {
  return {tensor.const_data_ptr<double>(), tensor.const_data_ptr<double>() + tensor.numel()};
}

json::object controller_options(const json::object& options) {
  return {{"acceptance", options.at("policy")}, {"interval", options.at("K")},
          {"eta0", options.at("eta0")},         {"R_l_mode", options.at("R_l_mode")},
          {"R_l0", options.at("R_l0")},         {"R_l_floor", options.at("R_l_floor")}};
}

class ReferenceOptimizersLogreg : public Suite {
 protected:
  void expect_recorded_steps(const Problem& problem, Vector w, const json::object& one) {
    const auto& options = one.at("options").as_object();
    auto made = make_controller("hyfreedp", controller_options(options));
    ASSERT_TRUE(made) << made.error().message;
    auto& controller = **made;
    auto optimizer = make_optimizer(std::string(options.at("optimizer").as_string()), {});
    ASSERT_TRUE(optimizer) << optimizer.error().message;
    const double b = as_double(options.at("B"));
    const auto& probes = one.at("probes").as_object();
    const auto& decisions = probes.at("decision").as_array();
    const auto masks = as_matrix(one.at("masks"));
    const auto gradient_draws = as_matrix(one.at("noise_gradient"));
    const auto loss_draws = as_matrix(one.at("noise_loss"));
    const bool separate = options.at("separate_probe_batch").as_bool();
    const auto probe_masks = separate ? as_matrix(one.at("probe_masks")) : Matrix{};
    const auto wanted = as_matrix(one.at("w"));
    const auto etas = as_doubles(one.at("eta_per_step"));
    const auto bounds = as_doubles(one.at("R_l_per_step"));
    controller.begin(
        {.steps = std::int64_t(masks.size()), .dimension = std::int64_t(w.size()), .classes = 2});
    (*optimizer)->begin(torch::tensor(w, torch::kDouble), {}, {});
    torch::Tensor direction;
    std::size_t probe = 0;
    for (std::size_t t = 0; t < masks.size(); ++t) {
      SCOPED_TRACE("step " + std::to_string(t));
      const auto step = std::int64_t(t);
      const auto gradient =
          problem.private_gradient(w, masks[t], as_double(options.at("sigma_g")), gradient_draws[t], b);
      (*optimizer)
          ->advance(torch::tensor(gradient, torch::kDouble), torch::tensor(w, torch::kDouble),
                    controller.learning_rate(step), direction);
      const Vector u = copy_of(direction);
      if (controller.wants_probe(step)) {
        const auto request = controller.request(step);
        ProbeResult result{.abscissas = request.abscissas, .losses = {}};
        for (std::size_t k = 0; k < 3; ++k) {
          result.losses.push_back(problem.private_loss(
              moved(w, u, request.abscissas[k]), separate ? probe_masks.at(probe) : masks[t],
              request.loss_bound, as_double(options.at("sigma_l")), loss_draws.at(probe).at(k), b));
        }
        controller.observe(step, result);
        EXPECT_EQ(controller.last_decision(), std::string(decisions.at(probe).as_string()));
        ++probe;
      }
      w = moved(w, u, controller.learning_rate(step));
      double scale = 0, worst = 0;
      for (std::size_t j = 0; j < w.size(); ++j) {
        scale = std::max(scale, std::abs(wanted[t][j]));
        worst = std::max(worst, std::abs(w[j] - wanted[t][j]));
      }
      EXPECT_LE(worst, 1e-10 * scale);
      EXPECT_TRUE(near(controller.learning_rate(step), etas[t], 1e-8)) << controller.learning_rate(step);
      EXPECT_TRUE(near(controller.scalars().at("R_l"), bounds[t], 1e-10));
    }
    EXPECT_EQ(probe, decisions.size());
  }
};

TEST_F(ReferenceOptimizersLogreg, EndToEnd) {
  for (const auto& file : files_of("hyfreedp-logreg/1")) {
    const Problem problem{as_matrix(file.content.at("X")), as_doubles(file.content.at("y")),
                          as_double(file.content.at("auto_s_constant"))};
    for (const auto& value : file.content.at("cases").as_array()) {
      ++count_;
      SCOPED_TRACE(file.name + " " + std::string(value.at("name").as_string()));
      expect_recorded_steps(problem, as_doubles(file.content.at("w0")), value.as_object());
    }
  }
}

}  // namespace
}  // namespace hyfreedp::optimizers::reference
