#include "harness/models/networks/options.h"

#include <fmt/format.h>

namespace hyfreedp::models {
namespace {

// Adds options that are members of SharedOptions.
std::vector<OptionSpec> with_shared(std::vector<OptionSpec> own, std::vector<OptionSpec> shared) {
  for (auto& option : options_of<SharedOptions>(std::move(shared), {.head = "new"}))
    own.push_back(std::move(option));
  return own;
}

OptionSpec new_head() {
  return choice_option("head", {"new", "file"}, "with a weights folder: draw a new head, or take the file's");
}

// The checksum of what the option `key` names.
OptionSpec checksum(const std::string& key, const std::string& kind = "folder") {
  return plain_option(key + "_sha256", "checksum of that " + kind + "; filled in when a spec is read");
}

// Adds a folder that `hyfreedp run --keep-weights` wrote.
std::vector<OptionSpec> with_weights(std::vector<OptionSpec> own) {
  return with_shared(std::move(own),
                     {later_option(plain_option(
                          "weights",
                          "folder with config.json and model.safetensors of the same network (hyfreedp run "
                          "--keep-weights), with which it begins")),
                      later_option(checksum("weights"))});
}

}  // namespace

OptionSpec count(std::string name, double max, std::string help) {
  return ranged_option(std::move(name), 1, max, std::move(help));
}

OptionSpec trainable_part() {
  return choice_option("trainable",
                       {"full", "head", "last-block", "first-last-block", "bitfit", "bitfit-head"},
                       "which parameters are trained; the others keep their values and cost no gradient");
}

OptionSpec trainable_pattern() {
  return later_option(plain_option(
      "trainable_pattern",
      "regular expression: with trainable full or lora, only parameters in whose name it is found train"));
}

OptionSpec last_layer() {
  return plain_option("last_layer", "initial weights of the last layer; the others are always drawn");
}

std::vector<OptionSpec> with_parts(std::vector<OptionSpec> own) {
  return with_weights(
      with_shared(std::move(own), {later_option(last_layer()), trainable_part(), trainable_pattern()}));
}

std::vector<OptionSpec> with_program(std::vector<OptionSpec> own) {
  return with_shared(
      with_weights(std::move(own)),
      {later_option(
           plain_option("program",
                        "file of torch.jit.save, a frozen network of your own that gives the features of "
                        "each sample, in $HYFREEDP_DATA or the working folder")),
       later_option(count("program_features", 1e6, "numbers that the program gives of a sample")),
       later_option(checksum("program", "file"))});
}

std::vector<OptionSpec> with_published(std::vector<OptionSpec> own, const std::string& files) {
  return with_shared(
      options_of<ListedOptions>(std::move(own)),
      {trainable_part(), trainable_pattern(),
       plain_option("weights", "folder with config.json and " + files +
                                   ", or one that hyfreedp run --keep-weights wrote; in $HYFREEDP_DATA or "
                                   "the working folder"),
       checksum("weights"), new_head()});
}

std::vector<OptionSpec> with_adapters(std::vector<OptionSpec> own, const std::string& targets,
                                      bool has_new_head) {
  auto part = trainable_part();
  part.choices.insert(part.choices.end(), {"lora", "lora-head"});
  std::vector<OptionSpec> shared = {
      part,
      trainable_pattern(),
      count("lora_rank", 4096, "rank of the adapters, where they train"),
      ranged_option("lora_alpha", 0, 1e6, "adapters are scaled by alpha / rank (default: the rank)"),
      plain_option("lora_targets",
                   "layers that get an adapter, separated by commas (default: " + targets + ")"),
      plain_option("weights",
                   "folder with config.json and model.safetensors or pytorch_model.bin, in $HYFREEDP_DATA "
                   "or the working folder"),
      checksum("weights"),
      later_option(
          plain_option("adapter",
                       "folder with peft's adapter_config.json, which sets rank, alpha and targets, and "
                       "adapter_model.safetensors, which has the adapters' initial values")),
      later_option(checksum("adapter"))};
  if (has_new_head) shared.push_back(new_head());
  return with_shared(std::move(own), std::move(shared));
}

std::vector<OptionSpec> block_table(const std::string& sizes, const std::string& heads) {
  return {plain_option("size", sizes), count("width", 65536, "width of the tokens"),
          count("depth", 1000, "blocks"), count("heads", 1024, heads)};
}

std::vector<OptionSpec> may_be_absent(std::vector<OptionSpec> sizes) {
  for (auto& size : sizes) {
    if (!size.default_value.is_int64()) continue;
    size.help += fmt::format(" (default {})", size.default_value.get_int64());
    size.default_value = nullptr;
  }
  return sizes;
}

std::vector<OptionSpec> with_blocks(const std::string& sizes, const std::string& targets) {
  return with_adapters(may_be_absent(options_of<BlockOptions>(block_table(sizes))), targets, false);
}

json::object small_images() { return {{"channels", 2}, {"side", 8}, {"train", 600}}; }

json::object small_colour_images(std::int64_t side) {
  return {{"channels", 3}, {"side", side}, {"train", 600}};
}

json::object small_tokens() { return {{"vocabulary", 12}, {"length", 6}, {"train", 600}}; }

}  // namespace hyfreedp::models
