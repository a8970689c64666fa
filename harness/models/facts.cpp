#include "harness/models/facts.h"

#include <cmath>

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
      {.name = "cnn",
       .title = "tanh convolutional network",
       .source = "two convolutions and two linear layers, as in Papernot et al., arXiv:2007.14191",
       .options = {{.name = "channels",
                    .type = OptionType::integer,
                    .otherwise = 1,
                    .help = "of the input image; its features are channel, row, column",
                    .min = 1,
                    .max = 1024},
                   {.name = "filters",
                    .type = OptionType::integer_list,
                    .otherwise = json::array{16, 32},
                    .help = "of the first and the second convolution",
                    .min = 1,
                    .max = 4096},
                   {.name = "hidden",
                    .type = OptionType::integer,
                    .otherwise = 32,
                    .help = "width of the linear layer before the last",
                    .min = 1,
                    .max = 65536},
                   {.name = "trainable",
                    .type = OptionType::choice,
                    .otherwise = "full",
                    .help = "which parameters train: all, those of the last layer, or the biases",
                    .choices = {"full", "head", "bitfit"}}},
       .example_features = 196},
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

Result<CnnShape> cnn_shape(const json::object& options, std::int64_t features) {
  CnnShape shape;
  shape.channels = int_or(options, "channels", 1);
  shape.hidden = int_or(options, "hidden", 32);
  const auto& filters = options.at("filters").as_array();
  if (filters.size() != 2) return error("model cnn: 'filters' must be two numbers, one a convolution.");
  shape.filters1 = filters[0].to_number<std::int64_t>();
  shape.filters2 = filters[1].to_number<std::int64_t>();
  const auto pixels = features / shape.channels;
  shape.side = std::llround(std::sqrt(static_cast<double>(pixels)));
  if (shape.side * shape.side * shape.channels != features) {
    return error("model cnn: " + std::to_string(features) + " features are no square image of " +
                 std::to_string(shape.channels) + " channel(s). Use a dataset's pixels.");
  }
  const auto first = (shape.side - 2) / 2;  // ((side + 6 - 8) / 2 + 1) - 1
  const auto last = (first - 4) / 2;        // ((first - 4) / 2 + 1) - 1
  if (first < 4 || last < 1) {
    return error("model cnn: an image of " + std::to_string(shape.side) +
                 " pixels a side is too small; 14 are the least.");
  }
  shape.flat = shape.filters2 * last * last;
  return shape;
}

Result<std::int64_t> parameter_count(const std::string& name, const json::object& options,
                                     std::int64_t features, std::int64_t classes) {
  auto found = find_model(name);
  if (!found) return found.error();
  if (name == "linear") return (features + 1) * classes;
  if (name == "cnn") {
    const auto shape = cnn_shape(options, features);
    if (!shape) return shape.error();
    const auto biases = shape->filters1 + shape->filters2 + shape->hidden + classes;
    const auto trainable = string_or(options, "trainable", "full");
    if (trainable == "bitfit") return biases;
    if (trainable == "head") return (shape->hidden + 1) * classes;
    return shape->channels * 64 * shape->filters1 + shape->filters1 * 16 * shape->filters2 +
           shape->flat * shape->hidden + shape->hidden * classes + biases;
  }
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
