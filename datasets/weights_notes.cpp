#include "datasets/weights_notes.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "datasets/image_options.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kColours = 3;

// `consequence`: what follows where the weights have seen the records.
std::string note_of_overlap(const Facts& facts, const std::string& weights, const char* consequence) {
  const auto* const known = models::find_pretrained(weights);
  if (known == nullptr) return {};
  if (facts.title == known->trained_on) {
    return fmt::format("The weights '{}' were trained on the records of {}: {}.", weights, facts.title,
                       consequence);
  }
  if (facts.part_of.empty() || facts.part_of != known->trained_on) return {};
  return fmt::format("Records of {} are part of {}, on which the weights '{}' were trained: {}.", facts.title,
                     facts.part_of, weights, consequence);
}

PixelScale scale_named(const std::string& normalise) {
  return image_preparation({{"normalise", normalise}}).scale;
}

bool is_same(const PixelScale& one, const PixelScale& other) {
  constexpr double kRounded = 1e-3;  // folders write three or four digits
  const auto near = [](double a, double b) { return std::abs(a - b) <= kRounded; };
  return std::ranges::equal(one.mean, other.mean, near) &&
         std::ranges::equal(one.deviation, other.deviation, near);
}

std::string shown(const PixelScale& scale, const char* between) {
  return fmt::format("mean {}{}deviation {}", fmt::join(scale.mean, ", "), between,
                     fmt::join(scale.deviation, ", "));
}

// What timm's config.json says of the images, in pretrained_cfg or, of older folders, beside it.
std::optional<PixelScale> scale_of_folder(const std::string& folder) {
  const auto config = models::weights_config(folder);
  if (!config) return std::nullopt;
  const auto* const inside = config->if_contains("pretrained_cfg");
  const auto& said = inside != nullptr && inside->is_object() ? inside->get_object() : *config;
  PixelScale scale;
  for (const auto& [key, values] : {std::pair{"mean", &scale.mean}, std::pair{"std", &scale.deviation}}) {
    const auto* const list = said.if_contains(key);
    if (list == nullptr || !list->is_array() || list->get_array().size() != kColours) return std::nullopt;
    for (const auto& one : list->get_array()) {
      if (!one.is_number()) return std::nullopt;
      values->push_back(one.to_number<double>());
    }
  }
  return scale;
}

// Such weights read images as their own spec gave them.
bool is_kept_by_a_run(const std::string& folder) {
  return std::filesystem::exists(std::filesystem::path(folder) / models::kTrialMetadata);
}

}  // namespace

std::string overlap_note(const Facts& facts, const std::string& weights) {
  return note_of_overlap(facts, weights, "ε does not cover what the weights had seen of them");
}

std::string seen_test_note(const Facts& facts, const std::string& weights) {
  return note_of_overlap(facts, weights, "the accuracy on them is not that on images new to the weights");
}

std::string scale_note(const Facts& facts, const json::object& options, const std::string& network,
                       const std::string& weights) {
  const auto option = std::ranges::find(facts.options, "normalise", &OptionSpec::name);
  if (weights.empty() || option == facts.options.end()) return {};
  const auto given = string_or(options, "normalise", std::string(option->default_value.as_string()));
  // Never a default: whoever writes it wants the plain pixels, as some papers do.
  if (given == "none") return {};
  const auto folder = models::locate_weights(weights);
  if (const auto said = folder ? scale_of_folder(*folder) : std::nullopt) {
    const auto here = scale_named(given);
    if (is_same(*said, here)) return {};
    const auto name = std::ranges::find_if(
        option->choices, [&](const std::string& choice) { return is_same(scale_named(choice), *said); });
    const auto constants =
        name == option->choices.end()
            ? fmt::format("{} (config.json), which no 'normalise' gives", shown(*said, " and "))
            : fmt::format("normalise: {} (config.json: {})", *name, shown(*said, ", "));
    return fmt::format(
        "The weights '{}' were trained on images with {}; the dataset gives them with normalise: {} ({}).",
        weights, constants, given, shown(here, ", "));
  }
  if (const auto* const known = models::find_pretrained(weights)) {
    if (given == known->normalise) return {};
    return fmt::format(
        "The weights '{}' were trained on images with normalise: {}; the dataset gives them with normalise: "
        "{}.",
        weights, known->normalise, given);
  }
  const auto usual = models::usual_normalise(network);
  if (usual.empty() || usual == given || (folder && is_kept_by_a_run(*folder))) return {};
  return fmt::format(
      "Weights of {} were usually trained on images with normalise: {}; the dataset gives them with "
      "normalise: {}. Look what those of '{}' need.",
      network, usual, given, weights);
}

}  // namespace hyfreedp::datasets
