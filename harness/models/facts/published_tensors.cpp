#include "harness/models/facts/published_tensors.h"

#include <algorithm>

namespace hyfreedp::models {
namespace {

bool is_of(const NormedNetwork& /*network*/, const TensorShapes& file) {
  return std::ranges::any_of(file, [](const auto& one) { return one.first.ends_with(".running_var"); });
}

bool is_of(const CaffeNetwork& network, const TensorShapes& file) {
  return file.contains(network.convolutions.front().file + ".0");
}

std::string head_of(const NormedNetwork& network) { return network.head_file + "."; }

std::string head_of(const CaffeNetwork& network) { return network.convolutions.back().file + "."; }

Result<void> check(const NormedNetwork& network, const TensorShapes& file, bool with_head) {
  if (!network.refused.empty() && file.contains(network.refused)) return error(network.refusal);
  TensorShapes wanted;
  for (const auto& one : network.convolutions) {
    wanted[one.file + ".weight"] = one.shape;
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"})
      wanted[one.norm + part] = {one.shape.front()};
  }
  if (with_head) {
    wanted[network.head_file + ".weight"] = network.head_shape;
    wanted[network.head_file + ".bias"] = {network.head_shape.front()};
  }
  Misfits misfits;
  misfits.compare(file, wanted, [&](const std::string& name) {
    return name.ends_with(".num_batches_tracked") ||
           (!with_head && name.starts_with(network.head_file + "."));
  });
  return misfits.result();
}

Result<void> check(const CaffeNetwork& network, const TensorShapes& file, bool with_head) {
  TensorShapes wanted;
  for (const auto& one : network.convolutions) {
    if (!with_head && &one == &network.convolutions.back()) continue;
    wanted[one.file + ".0"] = {one.kernel, one.kernel, one.inputs, one.outputs};
    wanted[one.file + ".1"] = {one.outputs};
  }
  Misfits misfits;
  misfits.compare(file, wanted,
                  [&](const std::string& name) { return !with_head && name.starts_with(head_of(network)); });
  return misfits.result();
}

// Calls `visit` with the form and returns its answer; `otherwise` if there is no form.
template <class Answer, class Visit>
Answer of_form(const PublishedForm& form, Answer otherwise, const Visit& visit) {
  if (const auto* const normed = std::get_if<NormedNetwork>(&form)) return visit(*normed);
  if (const auto* const caffe = std::get_if<CaffeNetwork>(&form)) return visit(*caffe);
  return otherwise;
}

}  // namespace

bool is_published(const PublishedForm& form, const TensorShapes& file) {
  return of_form(form, false, [&](const auto& network) { return is_of(network, file); });
}

Result<void> check_published(const PublishedForm& form, const TensorShapes& file, bool with_head) {
  return of_form(form, Result<void>(), [&](const auto& network) { return check(network, file, with_head); });
}

std::string head_in_file(const PublishedForm& form) {
  return of_form(form, std::string(), [](const auto& network) { return head_of(network); });
}

}  // namespace hyfreedp::models
