#include "harness/models/layers/network.h"

#include <algorithm>
#include <numeric>

#include "harness/base/text.h"
#include "harness/models/layers/activation_records.h"
#include "harness/models/layers/samples.h"
#include "harness/models/layers/tf32.h"

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

std::string full_name(const std::string& layer, const std::string& parameter) {
  return layer.empty() ? parameter : layer + "." + parameter;
}

std::int64_t total(const std::vector<Slice>& layout) {
  return layout.empty() ? 0 : layout.back().offset + layout.back().size;
}

// A tensor of the same sizes that holds one number.
Tensor sizes_only(const Tensor& tensor) { return torch::zeros({1}, tensor.options()).expand(tensor.sizes()); }

// Lets go of what the clipped sum will not read, after the norm rule has run.
void keep_for_sum(std::vector<ActivationRecord>& records, const Tensors& formed,
                  const std::vector<std::ptrdiff_t>& slices) {
  bool all = formed.size() >= slices.size();
  for (std::size_t p = 0; all && p < slices.size(); ++p) all = slices[p] < 0 || formed[p].defined();
  for (auto& record : records) {
    record.output = Tensor();
    if (!all) continue;
    for (auto& input : record.inputs) input = sizes_only(input);
    record.output_gradient = sizes_only(record.output_gradient);
    record.saved.clear();
  }
}

}  // namespace

Result<Network> Network::make(std::vector<Place> places, const torch::TensorOptions& options,
                              const Trainable& trainable, std::optional<torch::ScalarType> compute) {
  Network network;
  std::vector<std::size_t> records;
  for (auto& place : places) {
    if (place.layer->mixes_samples()) {
      return error("model: layer '" + place.name +
                   "' mixes the samples of a batch (as BatchNorm does), so no sample has a gradient of its "
                   "own that could be "
                   "clipped. Use GroupNorm or LayerNorm instead.");
    }
    const auto known = std::find_if(network.owners_.begin(), network.owners_.end(),
                                    [&](const Owner& owner) { return owner.layer == place.layer; });
    const auto index = static_cast<std::size_t>(known - network.owners_.begin());
    network.steps_.push_back({.owner = index,
                              .record = 0,
                              .inputs = {},
                              .needs_gradient = false,
                              .passes_on = {},
                              .last_reader = 0});
    if (known != network.owners_.end()) {
      network.steps_.back().record = records[index]++;
      continue;
    }
    for (const auto& owner : network.owners_) {
      if (owner.name == place.name && !place.name.empty()) {
        return error("model: two layers are called '" + place.name + "'");
      }
    }
    records.push_back(1);
    network.owners_.push_back({place.name, place.layer, {}, {}, false});
  }
  const auto type = options.dtype().toScalarType();
  network.bind_parameters(options, trainable, compute.value_or(type));
  if (auto connected = network.connect(places); !connected) return connected.error();
  if (auto covered = network.check_coverage(); !covered) return covered.error();
  network.set_compute_type(compute.value_or(type));
  return network;
}

Result<void> Network::connect(const std::vector<Place>& places) {
  for (std::size_t at = 0; at < places.size(); ++at) {
    auto& step = steps_[at];
    step.inputs = places[at].inputs;
    if (step.inputs.empty()) step.inputs = {static_cast<int>(at) - 1};
    step.needs_gradient = owners_[step.owner].trains;
    step.last_reader = places.size();
    for (const int input : step.inputs) {
      if (input < kMask || input >= static_cast<int>(at)) {
        return error("model: place '" + places[at].name +
                     "' takes the output of a place that is not before it");
      }
      step.passes_on.push_back(input >= 0 && steps_[static_cast<std::size_t>(input)].needs_gradient);
      if (input < 0) continue;
      auto& producer = steps_[static_cast<std::size_t>(input)];
      producer.last_reader = at;
      step.needs_gradient = step.needs_gradient || producer.needs_gradient;
    }
  }
  return {};
}

void Network::bind_parameters(const torch::TensorOptions& options, const Trainable& trainable,
                              torch::ScalarType frozen) {
  for (auto& owner : owners_) {
    for (auto& spec : owner.layer->parameters()) {
      const auto name = full_name(owner.name, spec.name);
      const bool trains = !trainable || trainable(name);
      append(trains ? layout_ : frozen_layout_, name, std::move(spec.shape));
      owner.slices.push_back(trains ? static_cast<std::ptrdiff_t>(layout_.size()) - 1 : -1);
      owner.trains = owner.trains || trains;
    }
  }
  parameters_ = torch::zeros({total(layout_)}, options);
  frozen_ = torch::zeros({total(frozen_layout_)}, options.dtype(frozen));
  compute_type_ = parameters_.scalar_type();
  for (auto& owner : owners_) {
    owner.own = bound(owner, parameters_, frozen_);
    owner.layer->bind(owner.own);
  }
}

std::vector<BoundParameter> Network::bound(const Owner& owner, const Tensor& trainable,
                                           const Tensor& frozen) const {
  std::vector<BoundParameter> found;
  for (const auto& spec : owner.layer->parameters()) {
    const bool trains = owner.slices[found.size()] >= 0;
    found.push_back({tensor_in(trainable, frozen, full_name(owner.name, spec.name)), trains});
  }
  return found;
}

std::vector<BoundParameter> Network::in_full(const Owner& owner) const {
  auto found = owner.own;
  for (auto& one : found) one.value = one.value.to(parameters_.scalar_type());
  return found;
}

void Network::make_narrow_copies(torch::ScalarType type) {
  narrow_parameters_ = torch::empty_like(parameters_, parameters_.options().dtype(type));
  narrow_frozen_ = frozen_.to(type);
  for (auto& owner : owners_) owner.narrow = bound(owner, narrow_parameters_, narrow_frozen_);
}

void Network::set_compute_type(torch::ScalarType type) {
  if (type == compute_type_) return;
  compute_type_ = type;
  if (is_narrow() && (!narrow_parameters_.defined() || narrow_parameters_.scalar_type() != type)) {
    make_narrow_copies(type);
  }
  for (auto& owner : owners_) owner.layer->bind(is_narrow() ? owner.narrow : in_full(owner));
}

Tensors Network::prepared(const Tensors& inputs) const {
  if (!is_narrow()) return inputs;
  narrow_parameters_.copy_(parameters_);
  Tensors found;
  for (const auto& input : inputs)
    found.push_back(input.is_floating_point() ? input.to(compute_type_) : input);
  return found;
}

void Network::with_records(const Owner& owner, std::span<const ActivationRecord> own, torch::ScalarType type,
                           const Rule& rule) const {
  const Tf32 refused(false);
  const FusedProducts fused(is_narrow());
  if (compute_type_ == type) return rule(own);
  if (is_narrow()) owner.layer->bind(owner.own);
  rule(in_type(own, type));
  if (is_narrow()) owner.layer->bind(owner.narrow);
}

Result<void> Network::check_coverage() const {
  std::map<std::string, int> rules;
  for (const auto& owner : owners_) {
    for (const auto& name : owner.layer->ruled_parameters()) ++rules[full_name(owner.name, name)];
  }
  std::vector<std::string> bad;
  for (const auto& slice : layout_) {
    if (rules[slice.name] != 1) bad.push_back(slice.name);
  }
  if (bad.empty()) return {};
  return error("model: no per-sample gradient rule covers the trainable parameter(s) " + join(bad, ", ") +
               ", so their gradients could not be clipped. Freeze them, or give their layer a rule "
               "(harness/models/layers/layer.h).");
}

Tensor Network::tensor_in(const Tensor& trainable, const Tensor& frozen, const std::string& name) const {
  const auto named = [&](const Slice& slice) { return slice.name == name; };
  if (auto found = std::find_if(layout_.begin(), layout_.end(), named); found != layout_.end()) {
    return view_of(trainable, *found);
  }
  if (auto found = std::find_if(frozen_layout_.begin(), frozen_layout_.end(), named);
      found != frozen_layout_.end()) {
    return view_of(frozen, *found);
  }
  return {};
}

Tensor Network::tensor(const std::string& name) const { return tensor_in(parameters_, frozen_, name); }

Tensors Network::inputs_of(const Step& step, const Tensors& values, const Tensors& inputs) const {
  Tensors found;
  for (const int from : step.inputs) {
    const auto index = static_cast<std::size_t>(from >= 0 ? from : -1 - from);
    HYFREEDP_CHECK(from >= 0 || index < inputs.size(), "the network takes one more input");
    found.push_back(from >= 0 ? values[index] : inputs[index]);
  }
  return found;
}

Tensors Network::values_before(std::size_t end, const Tensors& inputs, const Apply& apply) const {
  Tensors values(steps_.size());
  for (std::size_t at = 0; at < end; ++at) {
    values[at] = apply(at, inputs_of(steps_[at], values, inputs));
    for (const int from : steps_[at].inputs) {
      if (from >= 0 && steps_[static_cast<std::size_t>(from)].last_reader == at) {
        values[static_cast<std::size_t>(from)] = Tensor();
      }
    }
  }
  return values;
}

Tensors Network::values_before(std::size_t end, const Tensors& inputs) const {
  return values_before(end, inputs, [this](std::size_t at, const Tensors& own) {
    return owners_[steps_[at].owner].layer->forward_recorded(own, nullptr);
  });
}

Tensor Network::next_logits(const Tensor& ids, const Tensor& counts, Reading& reading) const {
  const auto inputs = prepared({ids});
  const auto last = steps_.size() - 1;
  const auto reach = reading.lengths.max().item<std::int64_t>() + ids.size(1);
  HYFREEDP_CHECK(reach <= reading.capacity, "a text comes to be longer than was said");
  const NextTokens tokens{.positions = reading.lengths.unsqueeze(1) + at::arange(ids.size(1), ids.options()),
                          .reach = reach,
                          .capacity = reading.capacity};
  reading.past.resize(steps_.size());
  const auto values = values_before(last, inputs, [&](std::size_t at, const Tensors& own) {
    return owners_[steps_[at].owner].layer->forward_next(own, tokens, reading.past[at]);
  });
  // The last layer, which is the widest, computes each text's last token alone.
  Tensors own;
  for (const auto& value : inputs_of(steps_[last], values, inputs)) {
    const auto at = (counts - 1).view({-1, 1, 1}).expand({-1, 1, value.size(2)});
    own.push_back(value.gather(1, at));
  }
  reading.lengths = reading.lengths + counts;
  const auto logits = owners_[steps_[last].owner].layer->forward_recorded(own, nullptr);
  return logits.squeeze(1).to(parameters_.scalar_type());
}

Tensor Network::forward(const Tensors& given) const {
  return values_before(steps_.size(), prepared(given)).back().to(parameters_.scalar_type());
}

void Network::set_head(const std::string& layer) {
  const auto found = std::find_if(steps_.begin(), steps_.end(),
                                  [&](const Step& step) { return owners_[step.owner].name == layer; });
  HYFREEDP_CHECK(found != steps_.end(),
                 "the network has no layer called '" + layer + "' that could be its head");
  head_ = static_cast<std::size_t>(found - steps_.begin());
}

Tensor Network::features(const Tensors& given) const {
  HYFREEDP_CHECK(has_head(), "features were asked for of a network without a head of its own");
  const auto inputs = prepared(given);
  const auto values = values_before(head_, inputs);
  return inputs_of(steps_[head_], values, inputs).front().to(parameters_.scalar_type());
}

// `output` is exchanged for its sizes in the record where no gradient reads its values.
ActivationRecord Network::recorded(const Step& step, Tensors inputs, Tensor* output) const {
  const auto& owner = owners_[step.owner];
  ActivationRecord record{.inputs = std::move(inputs), .output = {}, .saved = {}, .output_gradient = {}};
  *output = owner.layer->forward_recorded(record.inputs, step.needs_gradient ? &record.saved : nullptr);
  if (!step.needs_gradient) return {};
  const bool passes = std::find(step.passes_on.begin(), step.passes_on.end(), true) != step.passes_on.end();
  const auto reads = owner.layer->gradient_reads();
  record.output = passes && reads.output ? *output : sizes_only(*output);
  const bool ruled = owner.trains && owner.layer->rules_read_inputs();
  if (ruled || (passes && reads.inputs)) return record;
  for (auto& input : record.inputs) input = sizes_only(input);
  return record;
}

void Network::forget() {
  for (auto& owner : owners_) {
    owner.records.clear();
    owner.squared_norms = {};
    owner.formed.clear();
  }
  for (auto& block : blocks_) block.values.clear();
  recorded_inputs_.clear();
}

void Network::set_blocks(std::vector<graph::Span> blocks) {
  std::size_t next = 0;
  for (const auto& [first, last] : blocks) {
    HYFREEDP_CHECK(next <= first && first <= last && last < steps_.size(),
                   "the blocks are not in their order, or have common places");
    next = last + 1;
  }
  spans_ = std::move(blocks);
}

void Network::checkpoint_blocks(bool on) {
  forget();
  blocks_.clear();
  for (const auto& span : spans_) {
    if (on && steps_[span.last].needs_gradient) blocks_.push_back({span, {}});
  }
}

void Network::record_again(Block& block) {
  Tensors values(steps_.size());
  for (auto& [at, value] : block.values) values[at] = std::move(value);
  block.values.clear();
  for (auto at = block.span.first; at <= block.span.last; ++at) {
    const auto& step = steps_[at];
    owners_[step.owner].records[step.record] =
        recorded(step, inputs_of(step, values, recorded_inputs_), &values[at]);
    for (const int from : step.inputs) {
      if (from >= 0 && steps_[static_cast<std::size_t>(from)].last_reader == at)
        values[static_cast<std::size_t>(from)] = Tensor();
    }
  }
}

Tensor Network::record(const Tensors& given, std::int64_t copies) {
  const auto inputs = prepared(given);
  copies_ = copies;
  forget();
  if (!blocks_.empty()) recorded_inputs_ = inputs;
  auto block = blocks_.begin();
  Tensors values(steps_.size());
  for (std::size_t at = 0; at < steps_.size(); ++at) {
    const auto& step = steps_[at];
    auto own = inputs_of(step, values, inputs);
    if (block != blocks_.end() && at > block->span.last) ++block;
    auto& owner = owners_[step.owner];
    if (block != blocks_.end() && at >= block->span.first) {
      for (const int from : step.inputs) {
        const auto index = static_cast<std::size_t>(from);
        if (from >= 0 && index < block->span.first) block->values[index] = values[index];
      }
      values[at] = owner.layer->forward_recorded(own, nullptr);
      owner.records.emplace_back();
    } else {
      owner.records.push_back(recorded(step, std::move(own), &values[at]));
    }
    for (const int from : step.inputs) {
      if (from >= 0 && steps_[static_cast<std::size_t>(from)].last_reader == at) {
        values[static_cast<std::size_t>(from)] = Tensor();
      }
    }
  }
  return values.back().to(parameters_.scalar_type());
}

void Network::pass_on(const Step& step, Tensors found, Tensors& gradients) {
  for (std::size_t i = 0; i < step.passes_on.size(); ++i) {
    if (!step.passes_on[i] || !found[i].defined()) continue;
    auto& total = gradients[static_cast<std::size_t>(step.inputs[i])];
    if (!total.defined()) {
      total = std::move(found[i]);
    } else if (is_own(total)) {
      total.add_(found[i]);
    } else {
      total = total + found[i];
    }
  }
}

void Network::walk_back(Tensor logit_gradient, const std::function<void(Owner&, const Step&)>& done) {
  Tensors gradients(steps_.size());
  gradients.back() = logit_gradient.to(compute_type_);
  logit_gradient.reset();
  auto block = blocks_.rbegin();
  for (std::size_t at = steps_.size(); at-- > 0;) {
    const auto& step = steps_[at];
    if (block != blocks_.rend() && at == block->span.last) record_again(*block++);
    if (!step.needs_gradient) continue;
    auto& owner = owners_[step.owner];
    auto& record = owner.records[step.record];
    record.output_gradient = gradients[at].defined()
                                 ? std::move(gradients[at])
                                 : torch::zeros(record.output.sizes(), record.output.options());
    gradients[at] = Tensor();
    if (std::find(step.passes_on.begin(), step.passes_on.end(), true) != step.passes_on.end()) {
      auto found = owner.layer->input_gradients(record, step.passes_on);
      if (!owner.trains) record = {};
      pass_on(step, std::move(found), gradients);
    }
    if (owner.trains) done(owner, step);
  }
}

void Network::backward(Tensor logit_gradient) {
  walk_back(std::move(logit_gradient), [this](Owner& owner, const Step& step) {
    if (step.record > 0) return;  // an earlier record's gradient is still to come
    if (copies_ > 1) owner.records = by_copies(owner.records, copies_);
    const auto& gradient = owner.records.front().output_gradient;
    const auto none = torch::zeros({gradient.size(0)}, gradient.options().dtype(torch::kFloat64));
    owner.squared_norms = {none, none.clone()};
    const bool as_recorded = is_narrow() && owner.layer->norm_rule_reads_narrow(owner.records);
    with_records(owner, owner.records, as_recorded ? compute_type_ : parameters_.scalar_type(),
                 [&](std::span<const ActivationRecord> records) {
                   owner.formed = owner.layer->add_squared_norms(records, owner.squared_norms);
                 });
    keep_for_sum(owner.records, owner.formed, owner.slices);
  });
}

void Network::backward_sum(Tensor logit_gradient, Tensor& sum) {
  HYFREEDP_CHECK(sum.numel() == parameters_.numel(), "the sum has another size than the parameters");
  walk_back(std::move(logit_gradient), [&](Owner& owner, const Step& step) {
    auto slices = views(owner, sum);
    with_records(owner, {&owner.records[step.record], 1}, sum.scalar_type(),
                 [&](std::span<const ActivationRecord> records) {
                   owner.layer->add_clipped_sums(records, {}, {}, slices);
                 });
    owner.records[step.record] = {};
  });
}

Tensors Network::squared_norms_of_layers(bool bounds) const {
  Tensors norms;
  for (const auto& owner : owners_) {
    if (!owner.trains) continue;
    HYFREEDP_CHECK(owner.squared_norms.estimates.defined(), "norms were asked for before a recorded pass");
    norms.push_back(bounds ? owner.squared_norms.bounds() : owner.squared_norms.estimates);
  }
  HYFREEDP_CHECK(!norms.empty(), "norms were asked for of a network that does not train");
  return norms;
}

namespace {

Tensor added_up(const Tensors& norms) {
  auto total = norms.front().clone();
  for (std::size_t l = 1; l < norms.size(); ++l) total.add_(norms[l]);
  return total;
}

}  // namespace

Tensor Network::squared_norms() const { return added_up(squared_norms_of_layers(false)); }

Tensor Network::squared_norm_bounds() const { return added_up(squared_norms_of_layers(true)); }

Tensors Network::views(const Owner& owner, const Tensor& vector) const {
  Tensors found;
  for (const auto slice : owner.slices) {
    found.push_back(slice < 0 ? Tensor() : view_of(vector, layout_[static_cast<std::size_t>(slice)]));
  }
  return found;
}

void Network::add_clipped_sum_of(const Owner& owner, const Tensor& factors, Tensor& sum) const {
  if (!owner.trains || owner.records.empty()) return;
  auto slices = views(owner, sum);
  const auto type = sum.scalar_type();
  with_records(owner, owner.records, type, [&](std::span<const ActivationRecord> records) {
    owner.layer->add_clipped_sums(records, in_type(owner.formed, type), factors, slices);
  });
}

void Network::add_clipped_sum(const Tensor& factors, Tensor& sum) const {
  HYFREEDP_CHECK(sum.numel() == parameters_.numel(), "the sum has another size than the parameters");
  for (const auto& owner : owners_) add_clipped_sum_of(owner, factors, sum);
}

std::vector<TrainableLayer> Network::trainable_layers() const {
  std::vector<TrainableLayer> layers;
  for (const auto& owner : owners_) {
    if (!owner.trains) continue;
    auto& layer = layers.emplace_back();
    for (const auto index : owner.slices) {
      if (index < 0) continue;
      const auto& slice = layout_[static_cast<std::size_t>(index)];
      layer.parameters.push_back(slice.name);
      layer.size += slice.size;
    }
  }
  return layers;
}

// [L, B]
Tensor Network::squared_norms_by_layer() const { return at::stack(squared_norms_of_layers(false)); }

Tensor Network::squared_norm_bounds_by_layer() const { return at::stack(squared_norms_of_layers(true)); }

void Network::add_clipped_sum_by_layer(const Tensor& factors, Tensor& sum) const {
  HYFREEDP_CHECK(sum.numel() == parameters_.numel(), "the sum has another size than the parameters");
  std::int64_t row = 0;
  for (const auto& owner : owners_) {
    if (owner.trains) add_clipped_sum_of(owner, factors.select(0, row++), sum);
  }
  HYFREEDP_CHECK(row == factors.size(0), "there is one row of factors for each layer that trains");
}

void Network::take_clipped_sum(const Tensor& factors, Tensor& sum) {
  HYFREEDP_CHECK(sum.numel() == parameters_.numel(), "the sum has another size than the parameters");
  const bool by_layer = factors.defined() && factors.dim() == 2;
  auto row = by_layer ? factors.size(0) : 0;
  for (auto owner = owners_.rbegin(); owner != owners_.rend(); ++owner) {
    if (!owner->trains) continue;
    HYFREEDP_CHECK(!owner->records.empty(), "the clipped sum was taken already, or nothing was recorded");
    add_clipped_sum_of(*owner, by_layer ? factors.select(0, --row) : factors, sum);
    owner->records.clear();
    owner->formed.clear();
  }
  HYFREEDP_CHECK(row == 0, "there is one row of factors for each layer that trains");
}

std::int64_t Network::activation_records() const {
  std::int64_t count = 0;
  for (const auto& owner : owners_) {
    count += std::count_if(owner.records.begin(), owner.records.end(),
                           [](const ActivationRecord& record) { return !record.inputs.empty(); });
  }
  return count;
}

void Network::drop_samples(const Tensor& rows) {
  const auto drop = [&](Tensor& recorded) {
    if (!recorded.defined()) return;
    std::vector<std::int64_t> shape(static_cast<std::size_t>(recorded.dim()), 1);
    shape[0] = rows.size(0);
    recorded = recorded.masked_fill(rows.view(shape), 0);
  };
  for (auto& owner : owners_) {
    for (auto& gradient : owner.formed) drop(gradient);
    for (auto& record : owner.records) {
      for (auto* group : {&record.inputs, &record.saved}) {
        for (auto& recorded : *group) drop(recorded);
      }
      drop(record.output);
      drop(record.output_gradient);
    }
  }
}

}  // namespace hyfreedp::models
