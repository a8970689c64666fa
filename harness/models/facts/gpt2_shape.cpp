#include "harness/models/facts/gpt2_shape.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/facts/config_keys.h"

namespace hyfreedp::models {

Result<Gpt2Shape> Gpt2Shape::named(const std::string& name, const std::string& where) {
  struct Size {
    const char* name;
    std::int64_t width, depth, heads;
  };
  static constexpr Size kSizes[] = {{"gpt2", 768, 12, 12},
                                    {"gpt2-medium", 1024, 24, 16},
                                    {"gpt2-large", 1280, 36, 20},
                                    {"gpt2-xl", 1600, 48, 25},
                                    {"distilgpt2", 768, 6, 12}};
  std::vector<std::string> names;
  for (const auto& size : kSizes) {
    names.emplace_back(size.name);
    if (name != size.name) continue;
    Gpt2Shape shape;
    shape.width = size.width;
    shape.depth = size.depth;
    shape.heads = size.heads;
    shape.hidden = 4 * size.width;
    return shape;
  }
  return error(fmt::format("{}: size '{}' is not known.{} Sizes: {}.", where, name, did_you_mean(name, names),
                           join(names, ", ")));
}

Result<Gpt2Shape> Gpt2Shape::from_json(const json::object& config, const std::string& where) {
  if (auto known = check_keys(ConfigKeys::gpt2, config, where); !known) return known.error();
  Gpt2Shape shape;
  for (const auto& [key, target] :
       {std::pair{"vocab_size", &shape.vocabulary}, std::pair{"n_positions", &shape.positions},
        std::pair{"n_embd", &shape.width}, std::pair{"n_layer", &shape.depth},
        std::pair{"n_head", &shape.heads}}) {
    const auto value = get_int(config, key, where);
    if (!value) return value.error();
    if (*value < 1) return error(where + ": '" + key + "' must be at least 1");
    *target = *value;
  }
  if (shape.width % shape.heads != 0) return error(where + ": 'n_embd' is not a multiple of 'n_head'");
  const auto* inner = config.if_contains("n_inner");
  shape.hidden = inner != nullptr && !inner->is_null() ? int_or(config, "n_inner", 0) : 4 * shape.width;
  if (shape.hidden < 1) return error(where + ": 'n_inner' must be at least 1");
  shape.eps = double_or(config, "layer_norm_epsilon", shape.eps);
  shape.tied = bool_or(config, "tie_word_embeddings", true);
  return shape;
}

}  // namespace hyfreedp::models
