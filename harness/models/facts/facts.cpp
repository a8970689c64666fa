#include "harness/models/facts/facts.h"

#include "harness/base/text.h"
#include "harness/models/facts/blueprint.h"

namespace hyfreedp::models {
namespace {

OptionSpec count(std::string name, json::value default_value, double max, std::string help) {
  return {.name = std::move(name),
          .type = OptionType::integer,
          .default_value = std::move(default_value),
          .help = std::move(help),
          .min = 1,
          .max = max};
}

OptionSpec choice(std::string name, json::value default_value, std::string help,
                  std::vector<std::string> choices) {
  return {.name = std::move(name),
          .type = OptionType::choice,
          .default_value = std::move(default_value),
          .help = std::move(help),
          .choices = std::move(choices)};
}

OptionSpec text(std::string name, std::string help) {
  return {
      .name = std::move(name), .type = OptionType::text, .default_value = nullptr, .help = std::move(help)};
}

OptionSpec sparse(OptionSpec option) {
  option.stored_always = false;
  return option;
}

OptionSpec trainable(std::vector<std::string> choices) {
  return choice("trainable", "full",
                "which parameters are trained; the others keep their values and cost no gradient",
                std::move(choices));
}

OptionSpec pattern() {
  return sparse(text(
      "trainable_pattern",
      "regular expression: with trainable full or lora, only parameters in whose name it is found train"));
}

// Of the networks whose sizes are options: a folder that `hyfreedp run --keep-weights` wrote.
std::vector<OptionSpec> with_weights(std::vector<OptionSpec> own) {
  own.push_back(sparse(text("weights",
                            "folder with config.json and model.safetensors of the same network (hyfreedp run "
                            "--keep-weights), with which it begins")));
  own.push_back(sparse(text("weights_sha256", "checksum of that folder; filled in when a spec is read")));
  return own;
}

// Of networks that may read what a saved program gives.
std::vector<OptionSpec> with_program(std::vector<OptionSpec> own) {
  own.push_back(sparse(text("program",
                            "file of torch.jit.save, a frozen network of your own that gives the features of "
                            "each sample, in $HYFREEDP_DATA or the working folder")));
  own.push_back(
      sparse(count("program_features", nullptr, 1e6, "numbers that the program gives of a sample")));
  own.push_back(sparse(text("program_sha256", "checksum of that file; filled in when a spec is read")));
  return own;
}

OptionSpec last_layer() {
  return choice("last_layer", "zero", "initial weights of the last layer; the others are always drawn",
                {"zero", "he"});
}

// Options of the networks that start from weights files and may have adapters.
std::vector<OptionSpec> pretrained(std::vector<OptionSpec> own, const std::string& targets, bool new_head) {
  own.push_back(trainable(
      {"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head", "lora", "lora-head"}));
  own.push_back(pattern());
  own.push_back(count("lora_rank", 8, 4096, "rank of the adapters, where they train"));
  own.push_back({.name = "lora_alpha",
                 .type = OptionType::real,
                 .default_value = nullptr,
                 .help = "adapters are scaled by alpha / rank (default: the rank)",
                 .min = 0,
                 .max = 1e6});
  own.push_back(
      text("lora_targets", "layers that get an adapter, separated by commas (default: " + targets + ")"));
  own.push_back(
      text("weights",
           "folder with config.json and model.safetensors or pytorch_model.bin, in $HYFREEDP_DATA or the "
           "working folder"));
  own.push_back(text("weights_sha256", "checksum of that folder; filled in when a spec is read"));
  own.push_back(sparse(text("adapter",
                            "folder with peft's adapter_config.json, which sets rank, alpha and targets, and "
                            "adapter_model.safetensors, which has the adapters' initial values")));
  own.push_back(sparse(text("adapter_sha256", "checksum of that folder; filled in when a spec is read")));
  if (new_head) {
    own.push_back(
        choice("head", "new", "with a weights folder: draw a new head, or take the file's", {"new", "file"}));
  }
  return own;
}

Facts linear() {
  return {.name = "linear",
          .title = "linear head",
          .source = "multinomial logistic regression on fixed features",
          .options = with_program(
              with_weights({choice("init", "zero", "initial weights: all zero, or He-normal", {"zero", "he"}),
                            sparse({.name = "bias",
                                    .type = OptionType::boolean,
                                    .default_value = true,
                                    .help = "whether each class has a bias"})})),
          .example = {.dataset_options = {{"features", 11}}}};
}

Facts mlp() {
  return {.name = "mlp",
          .title = "multi-layer perceptron",
          .source = "fully connected layers with one activation between them",
          .options = with_program(with_weights(
              {{.name = "hidden",
                .type = OptionType::integer_list,
                .default_value = json::array{128},
                .help = "width of each hidden layer",
                .min = 1,
                .max = 65536},
               choice("activation", "tanh", "activation between the layers", {"tanh", "relu"}),
               last_layer(),
               sparse(trainable({"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head"})),
               pattern()})),
          .example = {.dataset_options = {{"features", 11}}, .options = {{"hidden", json::array{7, 5}}}}};
}

Facts cnn() {
  return {.name = "cnn",
          .title = "tanh convolutional network",
          .source = "two convolutions and two linear layers, as in Papernot et al., arXiv:2007.14191",
          .options = with_weights(
              {count("channels", 1, 1024,
                     "channels of the input image; its features are in the order channel, row, column"),
               {.name = "filters",
                .type = OptionType::integer_list,
                .default_value = json::array{16, 32},
                .help = "number of filters of the first and the second convolution",
                .min = 1,
                .max = 4096},
               count("hidden", 32, 65536, "width of the linear layer before the last"),
               sparse(last_layer()),
               trainable({"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head"}),
               pattern()}),
          .example = {.dataset_options = {{"features", 196}}}};
}

json::object small_images() { return {{"channels", 2}, {"side", 8}, {"train", 600}}; }

Facts resnet() {
  return {.name = "resnet",
          .title = "residual network with GroupNorm",
          .source = "He et al., arXiv:1512.03385, with Wu & He, arXiv:1803.08494, for BatchNorm",
          .options = with_weights(
              {{.name = "widths",
                .type = OptionType::integer_list,
                .default_value = json::array{16, 32, 64},
                .help = "channels of each stage; every stage but the first halves the image",
                .min = 1,
                .max = 4096},
               count("blocks", 1, 100, "blocks of each stage, with two convolutions each"),
               count("groups", 8, 1024, "number of groups of every GroupNorm"),
               sparse(last_layer()),
               trainable({"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head"}),
               pattern()}),
          .microbatch = 256,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_images(),
                      .options = {{"widths", json::array{4, 8}}, {"groups", 2}}}};
}

Facts wide_resnet() {
  return {.name = "wrn-16-4",
          .title = "wide residual network 16-4, GroupNorm, standardised weights",
          .source = "De et al., arXiv:2204.13650; Zagoruyko & Komodakis, arXiv:1605.07146",
          .options = with_weights(
              {count("depth", 16, 1000, "6 n + 4: n blocks a stage"),
               count("widen", 4, 64, "channels are 16, 32 and 64 times this"),
               count("groups", 16, 1024, "number of groups of every GroupNorm"), sparse(last_layer()),
               trainable({"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head"}),
               pattern()}),
          .microbatch = 32,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_images(),
                      .options = {{"depth", 10}, {"widen", 1}, {"groups", 4}}}};
}

OptionSpec list_of(std::string name, double max, std::string help) {
  return {.name = std::move(name),
          .type = OptionType::integer_list,
          .default_value = nullptr,
          .help = std::move(help),
          .min = 1,
          .max = max};
}

// Of the networks of images that come in one family; `files` ends "folder with config.json and".
void add_trained_options(std::vector<OptionSpec>& options, const std::string& files) {
  options.push_back(trainable({"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head"}));
  options.push_back(pattern());
  options.push_back(text("weights", "folder with config.json and " + files +
                                        ", or one that hyfreedp run --keep-weights wrote; in $HYFREEDP_DATA "
                                        "or the working folder"));
  options.push_back(text("weights_sha256", "checksum of that folder; filled in when a spec is read"));
  options.push_back(
      choice("head", "new", "with a weights folder: draw a new head, or take the file's", {"new", "file"}));
}

Facts squeezenet() {
  Facts facts{
      .name = "squeezenet",
      .title = "SqueezeNet 1.1",
      .source = "Iandola et al., arXiv:1602.07360, version 1.1 of its authors; names of torchvision",
      .options = {text("size", "squeezenet1.1 (the default, unless other sizes are given)"),
                  list_of("widths", 65536,
                          "channels of the stem and of each branch of the eight fire modules"),
                  list_of("squeeze", 65536, "channels that each of the eight fire modules squeezes to")},
      .microbatch = 32,
      .example = {.dataset = "synthetic-images",
                  .dataset_options = {{"channels", 3}, {"side", 26}, {"train", 600}},
                  // So wide that no module's ReLUs are all at zero: each layer has a gradient.
                  .options = {{"widths", json::array{6, 6, 6, 7, 7, 8, 8, 8, 8}},
                              {"squeeze", json::array{6, 6, 6, 7, 6, 8, 7, 8}}}}};
  add_trained_options(facts.options, "weights.pkl or pytorch_model.bin as published");
  return facts;
}

Facts efficientnet_lite() {
  Facts facts{
      .name = "efficientnet-lite",
      .title = "EfficientNet-Lite",
      .source = "Tan & Le, arXiv:1905.11946, and TensorFlow's Lite variant; names of timm",
      .options = {text("size", "efficientnet-lite0 (the default, unless other sizes are given)"),
                  list_of("widths", 65536, "channels of the stem, of the seven stages and of the top"),
                  list_of("blocks", 1000, "blocks of each of the seven stages")},
      .microbatch = 32,
      .example = {.dataset = "synthetic-images",
                  .dataset_options = {{"channels", 3}, {"side", 34}, {"train", 600}},
                  .options = {{"widths", json::array{4, 3, 4, 4, 5, 4, 4, 5, 12}},
                              {"blocks", json::array{1, 2, 1, 1, 1, 1, 1}}}}};
  add_trained_options(facts.options, "pytorch_model.bin as published");
  return facts;
}

Facts resnet_imagenet() {
  Facts facts{
      .name = "resnet-imagenet",
      .title = "residual network for ImageNet or CIFAR, BatchNorm folded into its convolutions",
      .source = "He et al., arXiv:1512.03385; names and weights of torchvision and timm",
      .options =
          {text("size",
                "resnet18 (the default, unless other sizes are given), resnet34, resnet50, resnet101 or "
                "resnet152; of CIFAR's images: resnet20, resnet32, resnet44 or resnet56"),
           list_of("widths", 65536, "channels of the stem and of each of the four stages"),
           list_of("blocks", 1000, "blocks of each of the four stages"),
           choice("block", nullptr,
                  "basic: two 3x3 convolutions (the default); bottleneck: 1x1, 3x3, and a 1x1 to four "
                  "times the stage's channels",
                  {ResnetImagenetShape::kBasic, ResnetImagenetShape::kBottleneck})},
      .microbatch = 32,
      .example = {.dataset = "synthetic-images",
                  .dataset_options = {{"channels", 3}, {"side", 34}, {"train", 600}},
                  .options = {{"widths", json::array{6, 3, 4, 5, 6}},
                              {"blocks", json::array{1, 2, 1, 1}},
                              {"block", "bottleneck"}}}};
  add_trained_options(facts.options, "model.safetensors or pytorch_model.bin as published");
  return facts;
}

Facts convnext() {
  return {.name = "convnext",
          .title = "ConvNeXt, convolutional with LayerNorm",
          .source = "Liu et al., arXiv:2201.03545; names and weights of timm",
          .options =
              pretrained({text("size",
                               "convnext_tiny (the default, unless other sizes are given), convnext_small, "
                               "convnext_base, convnext_large or convnext_xlarge"),
                          list_of("widths", 65536, "channels of each of the four stages"),
                          list_of("blocks", 1000, "blocks of each of the four stages")},
                         "mlp.fc1,mlp.fc2", true),
          .microbatch = 16,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = {{"channels", 3}, {"side", 34}, {"train", 600}},
                      .options = {{"widths", json::array{4, 3, 5, 6}}, {"blocks", json::array{1, 2, 1, 1}}}}};
}

// Of vision transformers; `sizes` are the names of sizes, `pool` says what is the default, and
// `targets` which layers have adapters by default.
Facts vision_transformer(const std::string& sizes, const std::string& pool,
                         const std::string& targets = "attn.qkv") {
  return {.options = pretrained(
              {text("size", sizes + "; the image is the dataset's"),
               count("patch", nullptr, 1024, "pixels a side of a patch (default 4)"),
               count("width", nullptr, 65536, "width of the tokens (default 64)"),
               count("depth", nullptr, 1000, "blocks (default 4)"),
               count("heads", nullptr, 1024, "attention heads (default 4)"),
               choice("pool", nullptr,
                      "what the head reads: class token, or mean of the patches" + pool +
                          "; or, joined from every block, its class token or the means of four quarters of "
                          "its patches",
                      {"token", "mean", "block-tokens", "block-quarters"})},
              targets, true),
          .microbatch = 16,
          .example = {.dataset = "synthetic-images",
                      .dataset_options = small_images(),
                      .options = {{"width", 16}, {"depth", 2}, {"heads", 2}}}};
}

Facts vit() {
  auto facts = vision_transformer("vit_{tiny|small|base|large}_patch{P}_{image}", "");
  facts.name = "vit";
  facts.title = "vision transformer";
  facts.source = "Dosovitskiy et al., arXiv:2010.11929; names and weights of timm";
  return facts;
}

Facts beit() {
  auto facts = vision_transformer("{beit|beitv2}_{base|large}_patch{P}_{image}", " (the default)");
  facts.name = "beit";
  facts.title = "BEiT and BEiTv2, vision transformers with relative positions";
  facts.source = "Bao et al., arXiv:2106.08254; Peng et al., arXiv:2208.06366; names and weights of timm";
  return facts;
}

Facts clip() {
  auto facts = vision_transformer(
      "vit_{base|large|huge|giant|gigantic}_patch{P}_clip_{image}, or with clip_quickgelu_{image} OpenAI's",
      "");
  facts.name = "clip";
  facts.title = "image towers of CLIP, vision transformers with a norm before the blocks";
  facts.source =
      "Radford et al., arXiv:2103.00020; Cherti et al., arXiv:2212.07143; names and weights of timm";
  return facts;
}

Facts eva02() {
  auto facts =
      vision_transformer("eva02_{base|large}_patch{P}_{image}", " (the default)", "attn.q_proj,attn.v_proj");
  facts.name = "eva02";
  facts.title = "EVA-02, vision transformers with rotations by place and gated layers";
  facts.source = "Fang et al., arXiv:2303.11331; names and weights of timm";
  return facts;
}

json::object small_tokens() { return {{"vocabulary", 12}, {"length", 6}, {"train", 600}}; }

Facts gpt2() {
  return {.name = "gpt2",
          .title = "GPT-2",
          .source = "Radford et al., 2019; names and weights of Hugging Face",
          .options = pretrained({text("size", "gpt2, gpt2-medium, gpt2-large, gpt2-xl or distilgpt2"),
                                 count("width", nullptr, 65536, "width of the tokens (default 64)"),
                                 count("depth", nullptr, 1000, "blocks (default 2)"),
                                 count("heads", nullptr, 1024, "attention heads (default 4)")},
                                "attn.c_attn", false),
          .microbatch = 16,
          .example = {.dataset = "synthetic-tokens",
                      .dataset_options = small_tokens(),
                      .options = {{"width", 8}, {"heads", 2}}}};
}

Facts llama() {
  return {.name = "llama",
          .title = "Llama",
          .source = "Touvron et al., arXiv:2302.13971; names and weights of Hugging Face",
          .options = pretrained(
              {text("size", "llama-3.2-1b or llama-3.2-3b"),
               count("width", nullptr, 65536, "width of the tokens (default 64)"),
               count("depth", nullptr, 1000, "blocks (default 2)"),
               count("heads", nullptr, 1024, "query heads (default 4)"),
               count("kv_heads", nullptr, 1024, "key and value heads (default: as the query heads)"),
               count("hidden", nullptr, 1 << 20, "width of the gated layer (default: 3 times the width)")},
              "self_attn.q_proj,self_attn.v_proj", false),
          .microbatch = 16,
          .example = {.dataset = "synthetic-tokens",
                      .dataset_options = small_tokens(),
                      .options = {{"width", 8}, {"heads", 2}, {"kv_heads", 1}}}};
}

}  // namespace

const std::vector<Facts>& model_facts() {
  static const std::vector<Facts> facts = {linear(),      mlp(),
                                           cnn(),         resnet(),
                                           wide_resnet(), efficientnet_lite(),
                                           squeezenet(),  resnet_imagenet(),
                                           convnext(),    vit(),
                                           beit(),        clip(),
                                           eva02(),       gpt2(),
                                           llama()};
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
                                     const ModelInput& input) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  return plan->trainable_count();
}

Result<std::int64_t> weight_uses(const std::string& name, const json::object& options,
                                 const ModelInput& input) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  return graph::weight_uses(plan->graph, input);
}

Result<StepMemory> step_memory(const std::string& name, const json::object& options, const ModelInput& input,
                               bool on_cpu) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  return graph::step_memory(plan->graph, plan->trainable, input, on_cpu);
}

Result<std::int64_t> feature_width(const std::string& name, const json::object& options,
                                   const ModelInput& input) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  for (const auto& parameter : plan->parameters) {
    if (plan->graph.head.empty() || parameter.name != plan->graph.head + "weight") continue;
    if (parameter.shape.size() == 2) return parameter.shape.at(1);
    return error("model " + name +
                 ": the head of its weights file is a convolution, which reads places and no features. Leave "
                 "'head: file' out.");
  }
  return error("model " + name +
               ": its output projection is tied to the token embedding, so it has no head before which "
               "features could be taken. Use a model with a head of its own.");
}

}  // namespace hyfreedp::models
