// Which keys a published config.json or adapter_config.json may have.
//
// A key that changes what a network computes and is not read would make another network of the
// weights, without a word. So each reader has a list of every key that it knows (config_keys.cpp
// has all of them):
//   used       the reader takes its value, whose type is checked here
//   only       the network here is that of the listed values: "off", or the default. Of a list,
//              each element must be one of them
//   harmless   it does not change what the network computes. So are dropout rates: there is no
//              dropout here
// Any other key is refused by name.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::models {

enum class ConfigKeys {
  gpt2,
  llama,
  llama_rotary,  // its rope_scaling or rope_parameters
  timm,          // what timm writes around model_args
  vit_arguments,
  beit_arguments,
  clip_arguments,
  eva02_arguments,
  convnext_arguments,
  resnet_arguments,
  efficientnet_lite_arguments,
  kept_resnet,  // by this program
  kept_efficientnet_lite,
  kept_squeezenet,
  adapter,
};

// An error that begins with `where` and names each key that is not known, or has a value that makes
// another network, with its value. A null stands for the default of a key that is used.
Result<void> check_keys(ConfigKeys keys, const json::object& config, const std::string& where);

// The name of the network in timm's config.json; empty where there is none.
std::string timm_architecture(const json::object& config);
// `model_args` of timm's config.json after check_keys(); empty where there are none.
json::object timm_arguments(const json::object& config);

}  // namespace hyfreedp::models
