// Checks and readers that several networks share to get their sizes from a request (description.h).
#pragma once

#include <initializer_list>
#include <span>

#include "harness/models/networks/options.h"

namespace hyfreedp::models {

bool given(const json::object& options, std::string_view key);
// The option `decides`, where it is given, leaves no room for `others`.
Result<void> decides_alone(const std::string& where, const json::object& options, const char* decides,
                           const std::vector<const char*>& others);
// Nor do a folder and a size by name for `sizes`, of which one may be `size` itself.
Result<void> decided_once(const Request& request, const std::vector<const char*>& sizes);

// Vectors, or pixels of images.
Result<void> need_numbers(const Request& request);
// Sequences each of whose tokens is predicted, or that have a class.
Result<void> need_sequence(const Request& request);
Result<void> need_classes_of_sequences(const Request& request);
Result<void> fits_sequence(const Request& request, std::int64_t vocabulary, std::int64_t positions);
Result<void> need_square_images(const Request& request);
// Square images of so many channels and at least so many pixels a side.
Result<void> need_images(const Request& request, std::int64_t channels, std::int64_t least_side);

// An option that is a list of sizes, and the shape's function that takes it.
template <class Shape>
using SizeList = std::pair<const char*, Result<void> (Shape::*)(const json::array&, const std::string&)>;

// A convolutional network with the sizes of its weights folder, of the option `size`, or of its
// lists.
template <class Shape>
Result<Shape> sized(const Request& request, const std::vector<SizeList<Shape>>& lists) {
  if (auto fits = need_images(request, Shape::kChannels, Shape::kLeastSide); !fits) return fits.error();
  std::vector<const char*> sizes;
  sizes.reserve(lists.size() + 1);
  for (const auto& [name, set] : lists) sizes.push_back(name);
  sizes.push_back("size");
  if (auto once = decided_once(request, sizes); !once) return once.error();
  Result<Shape> shape = Shape();
  if (given(request.options, "weights")) {
    const auto folder = request.folder();
    if (!folder) return folder.error();
    shape = Shape::from_json(folder->config, folder->where);
  } else if (const auto size = read_options<ListedOptions>(request.options).size) {
    shape = Shape::named(*size, request.where());
  }
  if (!shape) return shape;
  for (const auto& [name, set] : lists) {
    if (!given(request.options, name)) continue;
    auto done = (*shape.*set)(request.options.at(name).as_array(), request.where());
    if (!done) return done.error();
  }
  shape->side = request.input.image[1];
  shape->classes = request.input.classes;
  return shape;
}

// The description of a shape that has graph_of() and model_config().
template <class Shape>
Description description_of(const Shape& shape) {
  return {.graph = [shape](const std::optional<Lora>& lora) { return graph_of(shape, lora); },
          .config = model_config(shape)};
}

// A size of a transformer by its name. An error that begins with `where` for another name.
struct NamedSize {
  const char* name;
  std::int64_t width, depth, heads;
};
Result<NamedSize> named_size(std::span<const NamedSize> sizes, const std::string& name,
                             const std::string& where);
// A shape with these blocks, whose layer is four times as wide between its two projections.
template <class Shape, class Blocks>
Shape with_sizes(Shape shape, const Blocks& blocks) {
  shape.width = blocks.width;
  shape.depth = blocks.depth;
  shape.heads = blocks.heads;
  shape.hidden = 4 * blocks.width;
  return shape;
}
// The shape of a size by its name.
template <class Shape>
Result<Shape> shape_named(std::span<const NamedSize> sizes, const std::string& name,
                          const std::string& where) {
  const auto size = named_size(sizes, name, where);
  return size ? with_sizes(Shape(), *size) : Result<Shape>(size.error());
}

// The shape of the weights folder, of the option `size`, or `shape` with the blocks of `width`,
// `depth` and `heads`. `family`: what else its readers take.
template <class Shape, class... Family>
Result<Shape> shape_by_blocks(const Request& request, const Shape& shape, Family... family) {
  const auto own = read_options<BlockOptions>(request.options);
  if (given(request.options, "weights")) {
    const auto folder = request.folder();
    if (!folder) return folder.error();
    // If the weights are not fetched yet, their size is known by its name alone.
    const auto known = string_or(folder->config, "architecture", "");
    return known.empty() ? Shape::from_json(folder->config, folder->where, family...)
                         : Shape::named(known, folder->where, family...);
  }
  if (own.size) return Shape::named(*own.size, request.where(), family...);
  return with_sizes(shape, own);
}

// A network that continues texts, with learned positions. `prefix`: Description::prefix.
template <class Shape>
Result<Description> describe_by_blocks(const Request& request, const char* prefix) {
  if (auto sequence = need_sequence(request); !sequence) return sequence.error();
  if (auto once = decided_once(request, {"width", "depth", "heads", "size"}); !once) return once.error();
  Shape sizes;
  sizes.vocabulary = request.input.vocabulary;
  sizes.positions = request.input.length;
  auto shape = shape_by_blocks(request, sizes);
  if (!shape) return shape.error();
  // Padding lies to the right of the tokens, where a causal network does not look.
  shape->masked = false;
  if (shape->width % shape->heads != 0)
    return error(request.where() + ": 'width' is not a multiple of 'heads'.");
  if (auto fits = fits_sequence(request, shape->vocabulary, shape->positions); !fits) return fits.error();
  auto description = description_of(*shape);
  description.prefix = prefix;
  return description;
}

// Reads whole numbers of config.json, each at least 1.
Result<void> read_sizes(const json::object& config, const std::string& where,
                        std::initializer_list<std::pair<const char*, std::int64_t*>> sizes);

// The list as JSON, for a config.json.
json::array numbers(const std::vector<std::int64_t>& values);

}  // namespace hyfreedp::models
