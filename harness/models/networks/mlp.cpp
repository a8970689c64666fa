#include "harness/models/networks/mlp.h"

#include <fmt/format.h>

#include "harness/models/networks/options.h"
#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

// The saved program whose features the network reads, where the options name one.
Result<void> read_program(const Request& request, MlpShape& shape) {
  const auto& options = request.options;
  const bool has_width = given(options, "program_features");
  if (given(options, "program") != has_width) {
    return error(fmt::format(
        "{}: 'program' and 'program_features', the numbers that it gives of a sample, need each other.",
        request.where()));
  }
  if (!has_width) return {};
  shape.program = string_or(options, "program", "");
  shape.program_sha256 = string_or(options, "program_sha256", "");
  shape.image = request.input.image;
  shape.inputs = request.input.features;
  shape.features = int_or(options, "program_features", 0);
  return {};
}

// Describes both models: `linear` has no hidden layers and no activation.
Result<Description> describe(const Request& request) {
  const auto& options = request.options;
  if (auto vectors = need_vectors(request); !vectors) return vectors.error();
  MlpShape shape{.features = request.input.features, .hidden = {}, .classes = request.input.classes};
  shape.bias = bool_or(options, "bias", true);
  shape.relu = string_or(options, "activation", "tanh") == "relu";
  if (const auto* hidden = options.if_contains("hidden")) {
    for (const auto& width : hidden->as_array()) shape.hidden.push_back(width.to_number<std::int64_t>());
  }
  if (auto read = read_program(request, shape); !read) return read.error();
  auto description = description_of(shape);
  description.has_sizes_of_folder = false;
  return description;
}

}  // namespace

Result<graph::Graph> graph_of(const MlpShape& shape, const std::optional<Lora>& lora) {
  using Kind = graph::Activation::Kind;
  graph::Builder net(lora);
  auto width = shape.features;
  if (!shape.program.empty())
    net.add("program", graph::Program{shape.program, shape.image, shape.inputs, width});
  int number = 1;
  for (const auto next : shape.hidden) {
    const auto name = "fc" + std::to_string(number);
    net.block(name);
    net.linear(name, {.inputs = width, .outputs = next, .weight = he_normal(width)}, net.last());
    net.add("activation" + std::to_string(number), graph::Activation{shape.relu ? Kind::relu : Kind::tanh});
    width = next;
    ++number;
  }
  const auto last = number == 1 ? std::string("fc") : "fc" + std::to_string(number);
  net.linear(last, {.inputs = width, .outputs = shape.classes, .with_bias = shape.bias}, net.last());
  net.head(last);
  return net.finish();
}

json::object model_config(const MlpShape& shape) {
  json::object config{{"model_type", "hyfreedp-mlp"},
                      {"features", shape.features},
                      {"hidden", numbers(shape.hidden)},
                      {"classes", shape.classes},
                      {"activation", shape.relu ? "relu" : "tanh"},
                      {"bias", shape.bias}};
  if (!shape.program.empty()) config["program_sha256"] = shape.program_sha256;
  return config;
}

Facts linear_facts() {
  return {.name = "linear",
          .title = "linear head",
          .source = "multinomial logistic regression on fixed features",
          .options = with_program(
              with_weights({choice("init", "zero", "initial weights: all zero, or He-normal", {"zero", "he"}),
                            sparse({.name = "bias",
                                    .type = OptionType::boolean,
                                    .default_value = true,
                                    .help = "whether each class has a bias"})})),
          .example = {.dataset_options = {{"features", 11}}},
          .describe = describe};
}

Facts mlp_facts() {
  return {.name = "mlp",
          .title = "multi-layer perceptron",
          .source = "fully connected layers with one activation between them",
          .options = with_program(
              with_weights({{.name = "hidden",
                             .type = OptionType::integer_list,
                             .default_value = json::array{128},
                             .help = "width of each hidden layer",
                             .min = 1,
                             .max = 65536},
                            choice("activation", "tanh", "activation between the layers", {"tanh", "relu"}),
                            last_layer(),
                            sparse(trainable_part()),
                            trainable_pattern()})),
          .example = {.dataset_options = {{"features", 11}}, .options = {{"hidden", json::array{7, 5}}}},
          .describe = describe};
}

}  // namespace hyfreedp::models
