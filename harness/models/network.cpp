#include "harness/models/network.h"

#include <algorithm>
#include <numeric>

#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor view_of(const Tensor& storage, const Slice& slice) {
  return storage.narrow(0, slice.offset, slice.size).view(slice.shape);
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Slice& append(std::vector<Slice>& layout, std::string name, std::vector<std::int64_t> shape) {
  const auto offset = layout.empty() ? 0 : layout.back().offset + layout.back().size;
  const auto size = element_count(shape);
  return layout.emplace_back(Slice{std::move(name), std::move(shape), offset, size});
}

std::int64_t total(const std::vector<Slice>& layout) {
  return layout.empty() ? 0 : layout.back().offset + layout.back().size;
}

}  // namespace

Result<Network> Network::make(std::vector<Place> places, const torch::TensorOptions& options,
                              const Trainable& trainable) {
  Network network;
  for (auto& place : places) {
    const auto known = std::find_if(network.owners_.begin(), network.owners_.end(),
                                    [&](const Owner& owner) { return owner.layer == place.layer; });
    if (known != network.owners_.end()) {
      network.sequence_.push_back(static_cast<std::size_t>(known - network.owners_.begin()));
      continue;
    }
    for (const auto& owner : network.owners_) {
      if (owner.name == place.name) return error("model: two layers are called '" + place.name + "'");
    }
    network.sequence_.push_back(network.owners_.size());
    network.owners_.push_back({place.name, std::move(place.layer), {}, {}, false});
  }
  network.bind_parameters(options, trainable);
  if (auto covered = network.check_coverage(); !covered) return covered.error();
  return network;
}

void Network::bind_parameters(const torch::TensorOptions& options, const Trainable& trainable) {
  for (auto& owner : owners_) {
    for (auto& spec : owner.layer->parameters()) {
      const auto name = owner.name + "." + spec.name;
      const bool trains = !trainable || trainable(name);
      append(trains ? layout_ : frozen_layout_, name, std::move(spec.shape));
      owner.slices.push_back(trains ? static_cast<std::ptrdiff_t>(layout_.size()) - 1 : -1);
      owner.trains = owner.trains || trains;
    }
  }
  parameters_ = torch::zeros({total(layout_)}, options);
  frozen_ = torch::zeros({total(frozen_layout_)}, options);
  for (auto& owner : owners_) {
    std::vector<BoundParameter> bound;
    for (const auto& spec : owner.layer->parameters()) {
      const bool trains = owner.slices[bound.size()] >= 0;
      bound.push_back({tensor(owner.name + "." + spec.name), trains});
    }
    owner.layer->bind(std::move(bound));
  }
}

Result<void> Network::check_coverage() const {
  std::map<std::string, int> rules;
  for (const auto& owner : owners_) {
    for (const auto& name : owner.layer->ruled_parameters()) ++rules[owner.name + "." + name];
  }
  std::vector<std::string> bad;
  for (const auto& slice : layout_) {
    if (rules[slice.name] != 1) bad.push_back(slice.name);
  }
  if (bad.empty()) return {};
  return error("model: no per-sample gradient rule covers the trainable parameter(s) " + join(bad, ", ") +
               ", so their gradients could not be clipped. Freeze them, or give their layer a rule "
               "(harness/models/layer.h).");
}

Tensor Network::tensor(const std::string& name) const {
  const auto named = [&](const Slice& slice) { return slice.name == name; };
  if (auto found = std::find_if(layout_.begin(), layout_.end(), named); found != layout_.end()) {
    return view_of(parameters_, *found);
  }
  if (auto found = std::find_if(frozen_layout_.begin(), frozen_layout_.end(), named);
      found != frozen_layout_.end()) {
    return view_of(frozen_, *found);
  }
  return {};
}

Tensor Network::forward(const Tensor& input) const {
  Tensor value = input;
  for (const auto place : sequence_) value = owners_[place].layer->forward(value);
  return value;
}

Tensor Network::record(const Tensor& input) {
  for (auto& owner : owners_) owner.uses.clear();
  Tensor value = input;
  for (const auto place : sequence_) {
    auto& owner = owners_[place];
    auto output = owner.layer->forward(value);
    owner.uses.push_back({value, output, {}});
    value = std::move(output);
  }
  return value;
}

void Network::backward(const Tensor& logit_gradient) {
  const auto lowest = std::find_if(sequence_.begin(), sequence_.end(),
                                   [&](std::size_t place) { return owners_[place].trains; }) -
                      sequence_.begin();
  std::vector<std::size_t> remaining(owners_.size());
  for (std::size_t i = 0; i < owners_.size(); ++i) remaining[i] = owners_[i].uses.size();
  Tensor gradient = logit_gradient;
  for (auto at = static_cast<std::ptrdiff_t>(sequence_.size()) - 1; at >= lowest; --at) {
    auto& owner = owners_[sequence_[static_cast<std::size_t>(at)]];
    auto& use = owner.uses[--remaining[sequence_[static_cast<std::size_t>(at)]]];
    use.output_gradient = gradient;
    if (at > lowest) gradient = owner.layer->input_gradient(use);
  }
}

Tensor Network::squared_norms() const {
  Tensor norms;
  for (const auto& owner : owners_) {
    if (!owner.trains || owner.uses.empty()) continue;
    if (!norms.defined()) {
      const auto& gradient = owner.uses.front().output_gradient;
      norms = torch::zeros({gradient.size(0)}, gradient.options().dtype(torch::kFloat64));
    }
    owner.layer->add_squared_norms(owner.uses, norms);
  }
  HYFREEDP_CHECK(norms.defined(), "norms were asked for before a recorded pass, or nothing trains");
  return norms;
}

void Network::add_clipped_sum(const Tensor& factors, Tensor& sum) const {
  HYFREEDP_CHECK(sum.numel() == parameters_.numel(), "the sum has another size than the parameters");
  for (const auto& owner : owners_) {
    if (!owner.trains || owner.uses.empty()) continue;
    std::vector<Tensor> views;
    for (const auto slice : owner.slices) {
      views.push_back(slice < 0 ? Tensor() : view_of(sum, layout_[static_cast<std::size_t>(slice)]));
    }
    owner.layer->add_clipped_sums(owner.uses, factors, views);
  }
}

void Network::drop_samples(const Tensor& rows) {
  for (auto& owner : owners_) {
    for (auto& use : owner.uses) {
      for (auto* recorded : {&use.input, &use.output, &use.output_gradient}) {
        if (!recorded->defined()) continue;
        std::vector<std::int64_t> shape(static_cast<std::size_t>(recorded->dim()), 1);
        shape[0] = rows.size(0);
        *recorded = recorded->masked_fill(rows.view(shape), 0);
      }
    }
  }
}

}  // namespace hyfreedp::models
