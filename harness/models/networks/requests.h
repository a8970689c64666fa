// Checks and readers that several networks share to get their sizes from a request (description.h).
#pragma once

#include <initializer_list>
#include <span>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

bool given(const json::object& options, const char* key);
// A size by name, or a folder, leaves no room for explicit sizes: the option `decides` for
// `others`.
Result<void> decides_alone(const Request& request, const char* decides,
                           const std::vector<const char*>& others);

Result<void> need_vectors(const Request& request);
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
  const auto& options = request.options;
  if (auto fits = need_images(request, Shape::kChannels, Shape::kLeastSide); !fits) return fits.error();
  Shape shape;
  std::vector<const char*> others;
  others.reserve(lists.size() + 1);
  for (const auto& [name, set] : lists) others.push_back(name);
  if (given(options, "weights")) {
    others.push_back("size");
    if (auto alone = decides_alone(request, "weights", others); !alone) return alone.error();
    const auto folder = request.folder();
    if (!folder) return folder.error();
    const auto read = Shape::from_json(folder->config, folder->where);
    if (!read) return read.error();
    shape = *read;
  } else if (given(options, "size")) {
    if (auto alone = decides_alone(request, "size", others); !alone) return alone.error();
    const auto named = Shape::named(string_or(options, "size", ""), request.where());
    if (!named) return named.error();
    shape = *named;
  }
  for (const auto& [name, set] : lists) {
    if (!given(options, name)) continue;
    if (auto done = (shape.*set)(options.at(name).as_array(), request.where()); !done) return done.error();
  }
  shape.side = request.input.image[1];
  shape.classes = request.input.classes;
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
// The shape of a size by its name, whose layer is four times as wide between its two projections.
template <class Shape>
Result<Shape> shape_named(std::span<const NamedSize> sizes, const std::string& name,
                          const std::string& where) {
  const auto size = named_size(sizes, name, where);
  if (!size) return size.error();
  Shape shape;
  shape.width = size->width;
  shape.depth = size->depth;
  shape.heads = size->heads;
  shape.hidden = 4 * size->width;
  return shape;
}

// A network that continues texts, with learned positions: of its weights folder, of the option
// `size`, or of `width`, `depth` and `heads`. `prefix`: Description::prefix.
template <class Shape>
Result<Description> describe_by_blocks(const Request& request, const char* prefix) {
  if (auto sequence = need_sequence(request); !sequence) return sequence.error();
  const auto& options = request.options;
  const std::vector<const char*> sizes = {"width", "depth", "heads"};
  Shape shape;
  if (given(options, "weights")) {
    auto others = sizes;
    others.push_back("size");
    if (auto alone = decides_alone(request, "weights", others); !alone) return alone.error();
    const auto folder = request.folder();
    if (!folder) return folder.error();
    // If the weights are not fetched yet, their size is known by its name alone.
    const auto known = string_or(folder->config, "architecture", "");
    auto read =
        known.empty() ? Shape::from_json(folder->config, folder->where) : Shape::named(known, folder->where);
    if (!read) return read.error();
    shape = *read;
  } else if (given(options, "size")) {
    if (auto alone = decides_alone(request, "size", sizes); !alone) return alone.error();
    const auto named = Shape::named(string_or(options, "size", ""), request.where());
    if (!named) return named.error();
    shape = *named;
  } else {
    shape.vocabulary = request.input.vocabulary;
    shape.positions = request.input.length;
    shape.width = int_or(options, "width", 64);
    shape.depth = int_or(options, "depth", 2);
    shape.heads = int_or(options, "heads", 4);
    shape.hidden = 4 * shape.width;
  }
  // Padding lies to the right of the tokens, where a causal network does not look.
  shape.masked = false;
  if (shape.width % shape.heads != 0)
    return error(request.where() + ": 'width' is not a multiple of 'heads'.");
  if (auto fits = fits_sequence(request, shape.vocabulary, shape.positions); !fits) return fits.error();
  auto description = description_of(shape);
  description.prefix = prefix;
  return description;
}

// Reads whole numbers of config.json, each at least 1.
Result<void> read_sizes(const json::object& config, const std::string& where,
                        std::initializer_list<std::pair<const char*, std::int64_t*>> sizes);

// The list as JSON, for a config.json.
json::array numbers(const std::vector<std::int64_t>& values);

}  // namespace hyfreedp::models
