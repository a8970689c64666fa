// The options that several networks have, for their facts (description.h).
#pragma once

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

OptionSpec count(std::string name, json::value default_value, double max, std::string help);
OptionSpec choice(std::string name, json::value default_value, std::string help,
                  std::vector<std::string> choices);
OptionSpec text(std::string name, std::string help);
OptionSpec list_of(std::string name, double max, std::string help);
// Stored only where it is given.
OptionSpec sparse(OptionSpec option);

OptionSpec trainable_part();  // of networks without adapters
OptionSpec trainable_pattern();
OptionSpec last_layer();

// Adds the options of networks whose sizes are options: a folder that `hyfreedp run --keep-weights`
// wrote.
std::vector<OptionSpec> with_weights(std::vector<OptionSpec> own);
// Adds those of networks that may read what a saved program gives.
std::vector<OptionSpec> with_program(std::vector<OptionSpec> own);
// Adds those of convolutional networks with published weights; `files` ends "folder with
// config.json and".
std::vector<OptionSpec> with_published(std::vector<OptionSpec> own, const std::string& files);
// Adds those of networks that start from weights files and may have adapters.
std::vector<OptionSpec> with_adapters(std::vector<OptionSpec> own, const std::string& targets,
                                      bool has_new_head);

// The options of networks of equal blocks that continue texts. `sizes`: the names of `size`.
std::vector<OptionSpec> with_blocks(const std::string& sizes, const std::string& targets);

// Datasets of examples.
json::object small_images();
json::object small_colour_images(std::int64_t side);
json::object small_tokens();

}  // namespace hyfreedp::models
