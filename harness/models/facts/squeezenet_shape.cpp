#include "harness/models/facts/squeezenet_shape.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/facts/config_keys.h"
#include "harness/models/facts/size_lists.h"

namespace hyfreedp::models {
namespace {

using Shape = SqueezeNetShape;

constexpr const char* kName = "squeezenet1.1";
constexpr const char* kArchitecture = "squeezenet1_1";  // in a config.json
constexpr std::int64_t kMostChannels = 65536;
// Numbers of the modules in torchvision's list of layers, where the pools count too.
constexpr std::array<int, Shape::kModules> kNumbers{3, 4, 6, 7, 9, 10, 11, 12};
constexpr std::array<bool, Shape::kModules> kPoolBefore{true, false, true, false, true, false, false, false};
constexpr const char* kLinearHead = "linear";
constexpr const char* kConvolutionHead = "convolution";

}  // namespace

std::vector<Shape::Module> Shape::list_modules() const {
  std::vector<Module> list;
  auto from = stem;
  auto at = stem_side();
  for (std::size_t i = 0; i < kModules; ++i) {
    // A window of three that moves by two: rounded up, as the last may reach beyond the image.
    if (kPoolBefore[i]) at = (at - 2) / 2 + 1;
    list.push_back({.name = fmt::format("features.{}", kNumbers[i]),
                    .pool = kPoolBefore[i] ? fmt::format("features.{}", kNumbers[i] - 1) : std::string(),
                    .side = at,
                    .inputs = from,
                    .squeeze = squeezes[i],
                    .branch = branches[i]});
    from = list.back().outputs();
  }
  return list;
}

Result<Shape> Shape::named(const std::string& name, const std::string& where) {
  if (name == kName) return Shape{};
  return error(fmt::format("{}: the size '{}' is not known.{} Sizes: {}.", where, name,
                           did_you_mean(name, {kName}), kName));
}

Result<void> Shape::set_widths(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, kModules + 1, kMostChannels,
                               where + ": 'widths' (of the stem and of each module's two branches)");
  if (!read) return read.error();
  stem = read->front();
  std::copy_n(read->begin() + 1, kModules, branches.begin());
  return {};
}

Result<void> Shape::set_squeezes(const json::array& numbers, const std::string& where) {
  const auto read = sizes_from(numbers, kModules, kMostChannels, where + ": 'squeeze' (of each module)");
  if (!read) return read.error();
  std::copy_n(read->begin(), kModules, squeezes.begin());
  return {};
}

Result<Shape> Shape::from_json(const json::object& config, const std::string& where) {
  Shape shape;
  if (is_kept(config, kOwnType)) {
    if (auto known = check_keys(ConfigKeys::kept_squeezenet, config, where); !known) return known.error();
    const auto widths = list_at(config, "widths", where);
    if (!widths) return widths.error();
    const auto squeeze = list_at(config, "squeeze", where);
    if (!squeeze) return squeeze.error();
    if (auto set = shape.set_widths(**widths, where); !set) return set.error();
    if (auto set = shape.set_squeezes(**squeeze, where); !set) return set.error();
    const auto head = string_or(config, "head", "");
    if (head != kLinearHead && head != kConvolutionHead) {
      return error(fmt::format("{}: 'head' is '{}', where '{}' or '{}' is expected.", where, head,
                               kLinearHead, kConvolutionHead));
    }
    shape.head = head == kLinearHead ? Head::mean_then_linear : Head::convolution;
    shape.classes = int_or(config, "classes", shape.classes);
    return shape;
  }
  const auto architecture = timm_architecture(config);
  if (architecture != kArchitecture)
    return unknown_architecture(where, architecture, "SqueezeNet", {kArchitecture}, kOwnType);
  if (auto known = check_keys(ConfigKeys::timm, config, where); !known) return known.error();
  shape.head = Head::convolution;
  return shape;
}

}  // namespace hyfreedp::models
