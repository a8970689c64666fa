#include "datasets/weights_notes.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/models/facts/catalogue.h"

namespace hyfreedp::datasets {
namespace {

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

}  // namespace

std::string overlap_note(const Facts& facts, const std::string& weights) {
  return note_of_overlap(facts, weights, "ε does not cover what the weights had seen of them");
}

std::string seen_test_note(const Facts& facts, const std::string& weights) {
  return note_of_overlap(facts, weights, "the accuracy on them is not that on images new to the weights");
}

std::string scale_note(const Facts& facts, const json::object& options, const std::string& weights) {
  const auto* const known = models::find_pretrained(weights);
  const auto option = std::ranges::find(facts.options, "normalise", &OptionSpec::name);
  if (known == nullptr || option == facts.options.end()) return {};
  const auto given = string_or(options, "normalise", std::string(option->default_value.as_string()));
  if (given == known->normalise) return {};
  return fmt::format(
      "The weights '{}' were trained on images with normalise: {}; the dataset gives them with normalise: "
      "{}.",
      weights, known->normalise, given);
}

}  // namespace hyfreedp::datasets
