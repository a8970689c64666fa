// The keys that a published config.json or adapter_config.json may have.
//
// A key that changes what a network computes and is not read would make another network of the
// weights, without a word. So each reader has a list of every key that it knows:
//   used       the reader takes its value, whose type is checked here
//   only       the network here is that of the listed values: "off", or the default. Of a list,
//              each element must be one of them
//   harmless   it does not change what the network computes. So are dropout rates: there is no
//              dropout here
// Any other key is refused by name. Lists that several networks have are here, the others beside
// their readers.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::models {

enum class Holds { anything, whole, number, flag, text, list, object };

struct KnownKey {
  std::string name;
  Holds holds = Holds::anything;
  json::array only = {};  // empty: every value
  std::string advice = {};
};
using Keys = std::vector<KnownKey>;

struct ConfigKeys {
  std::string network;  // whose this is, as a message says it
  Keys keys;
  // The advice in the error for a value that makes another network.
  std::string advice = "Use the weights of another network, or another model.";
};
// The known keys of a registered model.
ConfigKeys keys_of_model(const std::string& model, Keys keys);

// An error that begins with `where` and names each key that is not known, or has a value that makes
// another network, with its value. A null stands for the default of a key that is used.
Result<void> check_keys(const ConfigKeys& known, const json::object& config, const std::string& where);

namespace keys {

// `names` are separated by spaces.
Keys used(Holds holds, const char* names);
Keys harmless(const char* names);
// `values`: a list in JSON.
Keys only(const char* values, const char* names, const char* advice = "");
Keys joined(const std::vector<Keys>& lists);

Keys of_transformers();             // of every network of transformers
Keys of_every_timm_network();       // of model_args
Keys of_convolutional_arguments();  // of model_args
Keys of_kept(const char* lists);    // of folders that this program kept, with these lists

}  // namespace keys

// The name of the network in timm's config.json; empty where there is none.
std::string timm_architecture(const json::object& config);
// Checks what timm writes around model_args.
Result<void> check_timm_keys(const json::object& config, const std::string& where);
// Checks that and `model_args`, which it returns; empty where there are none.
Result<json::object> timm_arguments(const ConfigKeys& known, const json::object& config,
                                    const std::string& where);

}  // namespace hyfreedp::models
