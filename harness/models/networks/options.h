// The options that several networks have, for their facts (description.h). Structs have their
// defaults; readers get them by read_options (describe.h).
#pragma once

#include "harness/base/describe.h"
#include "harness/base/option_lines.h"
#include "harness/models/networks/description.h"

namespace hyfreedp::models {

// The initial weights of a last layer.
enum class Start { zero, he };
BOOST_DESCRIBE_ENUM(Start, zero, he)

// Options beside a network's sizes: the files with which it begins, and what of it trains. A model
// has some of them.
struct SharedOptions {
  std::string trainable = "full";
  std::optional<std::string> trainable_pattern = {};
  Start init = Start::zero, last_layer = Start::zero;
  std::int64_t lora_rank = kDefaultRank;
  std::optional<double> lora_alpha = {};
  std::optional<std::string> lora_targets = {};
  std::optional<std::string> weights = {}, weights_sha256 = {};
  std::optional<std::string> adapter = {}, adapter_sha256 = {};
  std::optional<std::string> program = {}, program_sha256 = {};
  std::optional<std::int64_t> program_features = {};
  std::optional<std::string> head = {};  // a model without this option takes the file's

  bool has_adapters() const { return trainable == "lora" || trainable == "lora-head"; }
};
BOOST_DESCRIBE_STRUCT(SharedOptions, (),
                      (trainable, trainable_pattern, init, last_layer, lora_rank, lora_alpha, lora_targets,
                       weights, weights_sha256, adapter, adapter_sha256, program, program_sha256,
                       program_features, head))

// What the head reads, for models with this option.
struct PoolOption {
  std::optional<std::string> pool;
};
BOOST_DESCRIBE_STRUCT(PoolOption, (), (pool))

// Sizes of networks of equal blocks.
struct BlockOptions {
  std::optional<std::string> size = {};
  std::int64_t width = 64, depth = 2, heads = 4;
};
BOOST_DESCRIBE_STRUCT(BlockOptions, (), (size, width, depth, heads))

// Sizes of convolutional networks: a name, or a list for each kind that the network has.
struct ListedOptions {
  std::optional<std::string> size, block;
  std::optional<std::vector<std::int64_t>> widths, blocks, squeeze;
};
BOOST_DESCRIBE_STRUCT(ListedOptions, (), (size, block, widths, blocks, squeeze))

// A number from 1 to `max`, or a list of such, that is a member of a struct.
OptionSpec count(std::string name, double max, std::string help);

OptionSpec trainable_part();  // of networks without adapters
OptionSpec trainable_pattern();
OptionSpec last_layer();

// Adds the options of networks whose sizes are options: how the last layer begins, what trains, and
// a folder that `hyfreedp run --keep-weights` wrote.
std::vector<OptionSpec> with_parts(std::vector<OptionSpec> own);
// Adds such a folder, and what networks have that may read what a saved program gives.
std::vector<OptionSpec> with_program(std::vector<OptionSpec> own);
// Adds those of convolutional networks with published weights, whose own are ListedOptions; `files`
// ends "folder with config.json and".
std::vector<OptionSpec> with_published(std::vector<OptionSpec> own, const std::string& files);
// Adds those of networks that start from weights files and may have adapters.
std::vector<OptionSpec> with_adapters(std::vector<OptionSpec> own, const std::string& targets,
                                      bool has_new_head);

// BlockOptions, for options_of; `sizes`: the names of `size`.
std::vector<OptionSpec> block_table(const std::string& sizes, const std::string& heads = "attention heads");
// Sizes that have their defaults only where neither a folder nor `size` decides them: they may be
// absent, and their help says the default.
std::vector<OptionSpec> may_be_absent(std::vector<OptionSpec> sizes);
// The options of networks of equal blocks that continue texts.
std::vector<OptionSpec> with_blocks(const std::string& sizes, const std::string& targets);

// Datasets of examples.
json::object small_images();
json::object small_colour_images(std::int64_t side);
json::object small_tokens();

}  // namespace hyfreedp::models
