#include "harness/models/networks/requests.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/models/networks/registry.h"

namespace hyfreedp::models {

bool given(const json::object& options, std::string_view key) {
  const auto* value = options.if_contains(key);
  return value != nullptr && !value->is_null();
}

Result<void> decides_alone(const std::string& where, const json::object& options, const char* decides,
                           const std::vector<const char*>& others) {
  if (!given(options, decides)) return {};
  for (const std::string_view other : others) {
    if (other == decides || !given(options, other)) continue;
    return error(fmt::format("{}: '{}' decides this; leave '{}' out.", where, decides, other));
  }
  return {};
}

Result<void> decided_once(const Request& request, const std::vector<const char*>& sizes) {
  auto once = decides_alone(request.where(), request.options, "weights", sizes);
  return once ? decides_alone(request.where(), request.options, "size", sizes) : once;
}

namespace {

// The models for that, as they follow "Use".
std::string models_that_read(Reads what) {
  std::string names;
  for (const auto& facts : model_facts()) {
    if (facts.reads != what) continue;
    names += (names.empty() ? "" : " or ") + facts.name;
  }
  return names;
}

}  // namespace

Result<void> need_numbers(const Request& request) {
  if (!request.input.is_sequence()) return {};
  const auto what = request.input.predicts_tokens() ? Reads::sequences : Reads::classified_sequences;
  return error(fmt::format("{}: it takes numbers, but the dataset has sequences of tokens. Use {}.",
                           request.where(), models_that_read(what)));
}

Result<void> need_sequence(const Request& request) {
  if (request.input.predicts_tokens()) return {};
  if (request.input.is_sequence()) {
    return error(
        fmt::format("{}: it predicts tokens, but the dataset has one class for each sequence. Use {}.",
                    request.where(), models_that_read(Reads::classified_sequences)));
  }
  return error(request.where() + ": the dataset has no sequences of tokens. Use one that has.");
}

Result<void> need_classes_of_sequences(const Request& request) {
  if (request.input.is_sequence() && !request.input.predicts_tokens()) return {};
  return error(request.where() +
               ": it takes sequences of tokens with one class each, and the dataset has none. Use one that "
               "has, or another model.");
}

Result<void> fits_sequence(const Request& request, std::int64_t vocabulary, std::int64_t positions) {
  const auto& input = request.input;
  if (vocabulary < input.vocabulary) {
    return error(fmt::format("{}: its vocabulary of {} is smaller than the dataset's {}.", request.where(),
                             vocabulary, input.vocabulary));
  }
  if (positions < input.length) {
    return error(fmt::format("{}: its {} positions are fewer than the dataset's {} tokens.", request.where(),
                             positions, input.length));
  }
  return {};
}

Result<void> need_square_images(const Request& request) {
  if (request.input.is_image() && request.input.image[1] == request.input.image[2]) return {};
  return error(request.where() + ": the dataset has no square images. Use one that has, or its pixels.");
}

Result<void> need_images(const Request& request, std::int64_t channels, std::int64_t least_side) {
  if (auto square = need_square_images(request); !square) return square;
  const auto& image = request.input.image;
  if (image[0] == channels && image[1] >= least_side) return {};
  return error(
      fmt::format("{}: it takes images of {} channels and at least {} pixels a side, the dataset has {} "
                  "channel(s) and {} pixels. Use the dataset's 'side', or another model.",
                  request.where(), channels, least_side, image[0], image[1]));
}

Result<NamedSize> named_size(std::span<const NamedSize> sizes, const std::string& name,
                             const std::string& where) {
  std::vector<std::string> names;
  for (const auto& size : sizes) {
    if (name == size.name) return size;
    names.emplace_back(size.name);
  }
  return error(fmt::format("{}: size '{}' is not known.{} Sizes: {}.", where, name, did_you_mean(name, names),
                           join(names, ", ")));
}

Result<void> read_sizes(const json::object& config, const std::string& where,
                        std::initializer_list<std::pair<const char*, std::int64_t*>> sizes) {
  for (const auto& [key, target] : sizes) {
    const auto value = get_int(config, key, where);
    if (!value) return value.error();
    if (*value < 1) return error(where + ": '" + key + "' must be at least 1");
    *target = *value;
  }
  return {};
}

json::array numbers(const std::vector<std::int64_t>& values) {
  return json::array(values.begin(), values.end());
}

}  // namespace hyfreedp::models
