// Optimizers against recorded traces in float64 (schema optimizer-trace/1).
#include "optimizers/facts.h"
#include "optimizers/optimizer.h"
#include "tests/optimizers/reference_files.h"

namespace hyfreedp::optimizers::reference {
namespace {

class ReferenceOptimizersTraces : public Suite {};

struct Setting {
  std::string optimizer;
  json::object options;
  RunConstants constants;
};

std::string registered_name(const std::string& name) {
  if (name == "dadapt_adam") return "d-adapt-adam";
  if (name == "dadapt_sgd") return "d-adapt-sgd";
  return name;
}

// The files' options in this project's spelling.
Setting setting_of(const json::object& file, const json::object& one) {
  Setting setting{.optimizer = registered_name(std::string(file.at("optimizer").as_string())),
                  .options = file.at("defaults").as_object(),
                  .constants = {}};
  for (const auto& option : one.at("options").as_object()) setting.options[option.key()] = option.value();
  auto& options = setting.options;
  if (const auto* betas = options.if_contains("betas")) {
    const auto pair = as_doubles(*betas);
    options.erase("betas");
    options["beta1"] = pair.at(0);
    options["beta2"] = pair.at(1);
  }
  if (setting.optimizer == "dpadamwosm") {
    setting.constants = {.noise_multiplier = as_double(options.at("sigma")),
                         .sensitivity = as_double(options.at("C")),
                         .batch_size = as_double(options.at("L"))};
    for (const char* name : {"sigma", "C", "L"}) options.erase(name);
  }
  if (options.contains("avg_gamma")) {
    EXPECT_EQ(as_double(options.at("avg_gamma")), 8);
    options.erase("avg_gamma");
    options["average"] = one.contains("avg");
  }
  return setting;
}

Layout layout_of(const json::object& file) {
  Layout layout;
  std::int64_t offset = 0;
  for (const auto& shape : file.at("shapes").as_array()) {
    std::int64_t size = 1;
    for (const auto& length : shape.as_array()) size *= length.to_number<std::int64_t>();
    layout.push_back({"tensor" + std::to_string(layout.size()), offset, size});
    offset += size;
  }
  return layout;
}

torch::Tensor vector_of(const json::value& numbers) {
  return torch::tensor(as_doubles(numbers), torch::kDouble);
}

// "relative 1e-9 (absolute ...)" -> 1e-9
double scalar_tolerance(const json::object& file) {
  const std::string text(file.at("tolerance").as_object().at("scalars").as_string());
  const std::string key = "relative ";
  EXPECT_EQ(text.rfind(key, 0), 0u) << text;
  return std::stod(text.substr(key.size()));
}

double largest(const torch::Tensor& vector) { return vector.abs().max().item<double>(); }

void expect_scalars(const json::object& one, std::size_t t, const Optimizer& optimizer, double tolerance,
                    const std::string& where) {
  const auto got = optimizer.scalars();
  for (const auto& scalar : one.at("scalars").as_object()) {
    std::string name(scalar.key());
    if (name == "d_next") name = "d";
    const double wanted = as_double(scalar.value().as_array().at(t));
    const auto found = got.find(name);
    if (found == got.end()) {
      EXPECT_TRUE(std::isnan(wanted)) << where << " reports no " << name;
      continue;
    }
    EXPECT_TRUE(near(found->second, wanted, tolerance, 1e-300))
        << where << ' ' << name << ": " << found->second << ", wanted " << wanted;
  }
}

void expect_recorded_steps(const json::object& file, const json::object& one, const std::string& where) {
  auto setting = setting_of(file, one);
  if (one.contains("free_step_params")) setting.options["free_step"] = true;
  auto made = make_optimizer(setting.optimizer, setting.options);
  ASSERT_TRUE(made) << where << ": " << made.error().message;
  auto& optimizer = **made;
  const double tolerance = as_double(file.at("tolerance").as_object().at("params"));
  const double tolerance_of_scalars = scalar_tolerance(file);
  const auto& grads = one.at("grads").as_array();
  auto x = vector_of(one.at("x0"));
  double scale = largest(x);
  optimizer.begin(x, layout_of(file), setting.constants);
  torch::Tensor direction;
  double eta = 1;
  for (std::size_t t = 0; t < grads.size(); ++t) {
    const double lr = as_double(one.at("lr_per_step").as_array().at(t));
    optimizer.advance(vector_of(grads[t]), x, lr, direction);
    eta = optimizer.owns_step_size() ? 1 : lr;
    x = x.sub(direction, eta);
    const auto wanted = vector_of(one.at("params").as_array().at(t));
    scale = std::max({1e-300, scale, largest(wanted)});
    const std::string at = where + " step " + std::to_string(t);
    ASSERT_LE(largest(x.sub(wanted)) / scale, tolerance) << at;
    expect_scalars(one, t, optimizer, tolerance_of_scalars, at);
    if (const auto* averages = one.if_contains("avg")) {
      const auto average = vector_of(averages->as_array().at(t));
      ASSERT_LE(largest(optimizer.evaluation_parameters().sub(average)) / scale, tolerance)
          << at << " average";
    }
  }
  if (const auto* wanted = one.if_contains("free_step_params")) {
    ASSERT_TRUE(optimizer.free_direction().defined()) << where;
    const auto after = x.sub(optimizer.free_direction(), eta);
    EXPECT_LE(largest(after.sub(vector_of(*wanted))) / scale, tolerance) << where << " free step";
  }
}

TEST_F(ReferenceOptimizersTraces, AreMatched) {
  for (const auto& file : files_of("optimizer-trace/1")) {
    for (const auto& one : file.content.at("cases").as_array()) {
      ++count_;
      expect_recorded_steps(file.content, one.as_object(),
                            file.name + " " + std::string(one.at("name").as_string()));
    }
  }
}

}  // namespace
}  // namespace hyfreedp::optimizers::reference
