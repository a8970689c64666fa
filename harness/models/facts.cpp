#include "harness/models/facts.h"

#include "harness/base/text.h"

namespace hyfreedp::models {

const std::vector<Facts>& model_facts() {
  static const std::vector<Facts> facts = {
      {.name = "linear",
       .title = "linear head",
       .source = "multinomial logistic regression on fixed features",
       .options = {{.name = "init",
                    .type = OptionType::choice,
                    .otherwise = "zero",
                    .help = "initial weights: all zero, or He-normal",
                    .choices = {"zero", "he"}}}},
      {.name = "mlp",
       .title = "multi-layer perceptron",
       .source = "fully connected layers with one activation between them",
       .options = {{.name = "hidden",
                    .type = OptionType::integer_list,
                    .otherwise = json::array{128},
                    .help = "width of each hidden layer",
                    .min = 1,
                    .max = 65536},
                   {.name = "activation",
                    .type = OptionType::choice,
                    .otherwise = "tanh",
                    .help = "between the layers",
                    .choices = {"tanh", "relu"}},
                   {.name = "last_layer",
                    .type = OptionType::choice,
                    .otherwise = "zero",
                    .help = "initial weights of the last layer; the others are always drawn",
                    .choices = {"zero", "he"}}}},
  };
  return facts;
}

Result<const Facts*> find_model(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& facts : model_facts()) {
    if (facts.name == name) return &facts;
    names.push_back(facts.name);
  }
  return error("unknown model '" + name + "'." + did_you_mean(name, names) +
               " Known models: " + join(names, ", ") + ".");
}

Result<std::int64_t> parameter_count(const std::string& name, const json::object& options,
                                     std::int64_t features, std::int64_t classes) {
  auto found = find_model(name);
  if (!found) return found.error();
  if (name == "linear") return (features + 1) * classes;
  std::int64_t total = 0;
  std::int64_t width = features;
  for (const auto& hidden : options.at("hidden").as_array()) {
    const auto next = hidden.to_number<std::int64_t>();
    total += (width + 1) * next;
    width = next;
  }
  return total + (width + 1) * classes;
}

}  // namespace hyfreedp::models
