#include "harness/models/networks/mlp.h"

#include <fmt/format.h>

#include "harness/models/networks/requests.h"

namespace hyfreedp::models {
namespace {

// The saved program whose features the network reads, where the options name one.
Result<void> read_program(const Request& request, const SharedOptions& shared, MlpShape& shape) {
  if (shared.program.has_value() != shared.program_features.has_value()) {
    return error(fmt::format(
        "{}: 'program' and 'program_features', the numbers that it gives of a sample, need each other.",
        request.where()));
  }
  if (!shared.program) return {};
  shape.program = *shared.program;
  shape.program_sha256 = shared.program_sha256.value_or("");
  shape.image = request.input.image;
  shape.inputs = request.input.features;
  shape.features = *shared.program_features;
  return {};
}

Result<Description> describe(const Request& request) {
  if (auto numbers = need_numbers(request); !numbers) return numbers.error();
  const auto own = read_options<MlpOptions>(request.options);
  MlpShape shape{.features = request.input.features,
                 .hidden = own.hidden,
                 .classes = request.input.classes,
                 .relu = own.activation == MlpActivation::relu,
                 .bias = own.bias};
  if (auto read = read_program(request, own.shared, shape); !read) return read.error();
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
              options_of<MlpOptions>({plain_option("init", "initial weights: all zero, or He-normal"),
                                      later_option(plain_option("bias", "whether each class has a bias"))})),
          .example = {.dataset_options = {{"features", 11}}},
          .describe = describe};
}

Facts mlp_facts() {
  return {.name = "mlp",
          .title = "multi-layer perceptron",
          .source = "fully connected layers with one activation between them",
          .options = with_program(
              options_of<MlpOptions>({count("hidden", 65536, "width of each hidden layer"),
                                      plain_option("activation", "activation between the layers"),
                                      last_layer(), later_option(trainable_part()), trainable_pattern()},
                                     {.hidden = {128}})),
          .example = {.dataset_options = {{"features", 11}}, .options = {{"hidden", json::array{7, 5}}}},
          .describe = describe};
}

}  // namespace hyfreedp::models
