#include "harness/models/networks/options.h"

namespace hyfreedp::models {
namespace {

OptionSpec trainable(std::vector<std::string> choices) {
  return choice("trainable", "full",
                "which parameters are trained; the others keep their values and cost no gradient",
                std::move(choices));
}

OptionSpec new_head() {
  return choice("head", "new", "with a weights folder: draw a new head, or take the file's", {"new", "file"});
}

}  // namespace

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

OptionSpec list_of(std::string name, double max, std::string help) {
  return {.name = std::move(name),
          .type = OptionType::integer_list,
          .default_value = nullptr,
          .help = std::move(help),
          .min = 1,
          .max = max};
}

OptionSpec sparse(OptionSpec option) {
  option.stored_always = false;
  return option;
}

OptionSpec trainable_part() {
  return trainable({"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head"});
}

OptionSpec trainable_pattern() {
  return sparse(text(
      "trainable_pattern",
      "regular expression: with trainable full or lora, only parameters in whose name it is found train"));
}

OptionSpec last_layer() {
  return choice("last_layer", "zero", "initial weights of the last layer; the others are always drawn",
                {"zero", "he"});
}

std::vector<OptionSpec> with_weights(std::vector<OptionSpec> own) {
  own.push_back(sparse(text("weights",
                            "folder with config.json and model.safetensors of the same network (hyfreedp run "
                            "--keep-weights), with which it begins")));
  own.push_back(sparse(text("weights_sha256", "checksum of that folder; filled in when a spec is read")));
  return own;
}

std::vector<OptionSpec> with_program(std::vector<OptionSpec> own) {
  own.push_back(sparse(text("program",
                            "file of torch.jit.save, a frozen network of your own that gives the features of "
                            "each sample, in $HYFREEDP_DATA or the working folder")));
  own.push_back(
      sparse(count("program_features", nullptr, 1e6, "numbers that the program gives of a sample")));
  own.push_back(sparse(text("program_sha256", "checksum of that file; filled in when a spec is read")));
  return own;
}

std::vector<OptionSpec> with_published(std::vector<OptionSpec> own, const std::string& files) {
  own.push_back(trainable_part());
  own.push_back(trainable_pattern());
  own.push_back(
      text("weights",
           "folder with config.json and " + files +
               ", or one that hyfreedp run --keep-weights wrote; in $HYFREEDP_DATA or the working folder"));
  own.push_back(text("weights_sha256", "checksum of that folder; filled in when a spec is read"));
  own.push_back(new_head());
  return own;
}

std::vector<OptionSpec> with_adapters(std::vector<OptionSpec> own, const std::string& targets,
                                      bool has_new_head) {
  own.push_back(trainable(
      {"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head", "lora", "lora-head"}));
  own.push_back(trainable_pattern());
  own.push_back(count("lora_rank", kDefaultRank, 4096, "rank of the adapters, where they train"));
  own.push_back({.name = "lora_alpha",
                 .type = OptionType::real,
                 .default_value = nullptr,
                 .help = "adapters are scaled by alpha / rank (default: the rank)",
                 .min = 0,
                 .max = 1e6});
  own.push_back(
      text("lora_targets", "layers that get an adapter, separated by commas (default: " + targets + ")"));
  own.push_back(text("weights",
                     "folder with config.json and model.safetensors or pytorch_model.bin, in $HYFREEDP_DATA "
                     "or the working folder"));
  own.push_back(text("weights_sha256", "checksum of that folder; filled in when a spec is read"));
  own.push_back(sparse(text("adapter",
                            "folder with peft's adapter_config.json, which sets rank, alpha and targets, and "
                            "adapter_model.safetensors, which has the adapters' initial values")));
  own.push_back(sparse(text("adapter_sha256", "checksum of that folder; filled in when a spec is read")));
  if (has_new_head) own.push_back(new_head());
  return own;
}

std::vector<OptionSpec> with_blocks(const std::string& sizes, const std::string& targets) {
  return with_adapters(
      {text("size", sizes), count("width", nullptr, 65536, "width of the tokens (default 64)"),
       count("depth", nullptr, 1000, "blocks (default 2)"),
       count("heads", nullptr, 1024, "attention heads (default 4)")},
      targets, false);
}

json::object small_images() { return {{"channels", 2}, {"side", 8}, {"train", 600}}; }

json::object small_colour_images(std::int64_t side) {
  return {{"channels", 3}, {"side", side}, {"train", 600}};
}

json::object small_tokens() { return {{"vocabulary", 12}, {"length", 6}, {"train", 600}}; }

}  // namespace hyfreedp::models
