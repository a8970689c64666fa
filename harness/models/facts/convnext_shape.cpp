#include "harness/models/facts/convnext_shape.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "harness/base/text.h"
#include "harness/models/facts/config_keys.h"
#include "harness/models/facts/size_lists.h"

namespace hyfreedp::models {
namespace {

using Shape = ConvnextShape;
using Sizes = std::array<std::int64_t, Shape::kStages>;

struct Size {
  const char* name;  // here and in a config.json
  Sizes widths;
  Sizes blocks;
};
constexpr Size kSizes[] = {{"convnext_tiny", {96, 192, 384, 768}, {3, 3, 9, 3}},
                           {"convnext_small", {96, 192, 384, 768}, {3, 3, 27, 3}},
                           {"convnext_base", {128, 256, 512, 1024}, {3, 3, 27, 3}},
                           {"convnext_large", {192, 384, 768, 1536}, {3, 3, 27, 3}},
                           {"convnext_xlarge", {256, 512, 1024, 2048}, {3, 3, 27, 3}}};

constexpr std::int64_t kMostChannels = 65536;
constexpr std::int64_t kMostBlocks = 1000;

Result<void> set_sizes(Sizes& sizes, const json::array& numbers, std::int64_t most, const std::string& what) {
  const auto read = sizes_from(numbers, Shape::kStages, most, what);
  if (!read) return read.error();
  std::copy_n(read->begin(), Shape::kStages, sizes.begin());
  return {};
}

}  // namespace

std::int64_t Shape::stage_side(std::size_t stage) const {
  auto places = side / kStemKernel;
  for (std::size_t s = 0; s < stage; ++s) places /= kDownsampleKernel;
  return places;
}

Result<Shape> Shape::named(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& size : kSizes) {
    // What follows a point says how the weights were trained.
    if (name.substr(0, name.find('.')) == size.name) {
      Shape shape;
      shape.widths = size.widths;
      shape.blocks = size.blocks;
      return shape;
    }
    names.emplace_back(size.name);
  }
  return error(fmt::format("{}: architecture '{}' is no ConvNeXt that is known here.{} Sizes: {}.", where,
                           name, did_you_mean(name, names), join(names, ", ")));
}

Result<void> Shape::set_widths(const json::array& numbers, const std::string& where) {
  return set_sizes(widths, numbers, kMostChannels, where + ": 'widths' (of each stage)");
}

Result<void> Shape::set_blocks(const json::array& numbers, const std::string& where) {
  return set_sizes(blocks, numbers, kMostBlocks, where + ": 'blocks' (of each stage)");
}

Result<Shape> Shape::from_json(const json::object& config, const std::string& where) {
  const auto architecture = timm_architecture(config);
  auto shape = named(architecture, where);
  if (!shape) return shape;
  if (auto known = check_keys(ConfigKeys::timm, config, where); !known) return known.error();
  const auto args = timm_arguments(config);
  const auto inside = where + ": model_args";
  if (auto known = check_keys(ConfigKeys::convnext_arguments, args, inside); !known) return known.error();
  const auto set = [&](const char* key, Sizes& sizes, std::int64_t most) -> Result<void> {
    if (!args.contains(key)) return {};
    const auto list = list_at(args, key, inside);
    if (!list) return list.error();
    return set_sizes(sizes, **list, most, fmt::format("{}: '{}'", inside, key));
  };
  if (auto done = set("dims", shape->widths, kMostChannels); !done) return done.error();
  if (auto done = set("depths", shape->blocks, kMostBlocks); !done) return done.error();
  shape->classes = int_or(args, "num_classes", int_or(config, "num_classes", shape->classes));
  return shape;
}

}  // namespace hyfreedp::models
