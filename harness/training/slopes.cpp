#include "harness/training/slopes.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/base/wide.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/networks/options.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

template <class T>
HYFREEDP_WIDE std::pair<double, double> products(const T* gradient, const T* direction, std::int64_t size) {
  constexpr int kLanes = 8;
  double along[kLanes] = {}, squared[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto u = static_cast<double>(direction[i + lane]);
      along[lane] += static_cast<double>(gradient[i + lane]) * u;
      squared[lane] += u * u;
    }
  }
  for (; i < size; ++i) {
    const auto u = static_cast<double>(direction[i]);
    along[0] += static_cast<double>(gradient[i]) * u;
    squared[0] += u * u;
  }
  double a = 0, s = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    a += along[lane];
    s += squared[lane];
  }
  return {a, s};
}

}  // namespace

Result<std::vector<optimizers::TrainedLayer>> trained_layers(const trial::TrialConfig& config,
                                                             const models::Network& network,
                                                             const models::ModelInput& input) {
  const auto plan = models::blueprint(config.model.name, config.model.options, input);
  if (!plan) return plan.error();
  const auto& task = plan->graph.task.empty() ? plan->graph.head : plan->graph.task;
  const auto options = read_options<models::SharedOptions>(config.model.options);
  const bool has_weights = !options.weights.value_or("").empty();
  std::vector<optimizers::TrainedLayer> layers;
  for (const auto& layer : network.trainable_layers()) {
    const auto& name = layer.parameters.front();
    const bool is_new = !task.empty() && name.starts_with(task);
    layers.push_back(
        {.name = name.substr(0, name.rfind('.')), .size = layer.size, .pretrained = has_weights && !is_new});
  }
  return layers;
}

SlopeMeter::SlopeMeter(const models::Network& network) {
  std::map<std::string, std::size_t> layer_of;
  for (const auto& layer : network.trainable_layers()) {
    for (const auto& name : layer.parameters) layer_of[name] = layers_;
    ++layers_;
  }
  for (const auto& slice : network.layout()) {
    const auto layer = layer_of.at(slice.name);
    if (!ranges_.empty() && ranges_.back().layer == layer && ranges_.back().end == slice.offset) {
      ranges_.back().end += slice.size;
    } else {
      ranges_.push_back({slice.offset, slice.offset + slice.size, layer});
    }
  }
  std::int64_t next_block = 0;
  for (const auto& range : ranges_) {
    for (auto begin = range.begin; begin < range.end;) {
      if (begin == next_block) {
        first_.push_back(pieces_.size());
        next_block += mechanism::kReleaseBlock;
      }
      const auto end = std::min(range.end, next_block);
      pieces_.push_back({begin, end, range.layer});
      begin = end;
    }
  }
  first_.push_back(pieces_.size());
  sums_.resize(pieces_.size());
}

mechanism::PieceWork SlopeMeter::measuring(const Tensor& gradient, const Tensor& direction,
                                           mechanism::PieceWork then) {
  return [this, gradient, direction, then = std::move(then)](std::int64_t begin, std::int64_t end) {
    AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "slopes", [&] {
      const auto* m = gradient.const_data_ptr<scalar_t>();
      const auto* u = direction.const_data_ptr<scalar_t>();
      for (auto i = first_[static_cast<std::size_t>(begin / mechanism::kReleaseBlock)];
           i < pieces_.size() && pieces_[i].begin < end; ++i) {
        const auto& piece = pieces_[i];
        const auto [along, squared] = products(m + piece.begin, u + piece.begin, piece.end - piece.begin);
        sums_[i] = {along, squared};
      }
    });
    then(begin, end);
  };
}

void SlopeMeter::measure(const Tensor& gradient, const Tensor& direction) {
  if (gradient.is_cpu() && gradient.is_contiguous() && direction.is_contiguous()) {
    const auto work = measuring(gradient, direction, [](auto, auto) {});
    const auto blocks = static_cast<std::int64_t>(first_.size()) - 1;
    at::parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto block = begin; block < end; ++block) {
        const auto at = block * mechanism::kReleaseBlock;
        work(at, std::min(gradient.numel(), at + mechanism::kReleaseBlock));
      }
    });
    return;
  }
  // A device is asked once for each layer, and not for each piece.
  std::ranges::fill(sums_, Sums{});
  std::size_t piece = 0;
  for (const auto& range : ranges_) {
    const auto part = [&](const Tensor& vector) {
      return vector.narrow(0, range.begin, range.end - range.begin).to(torch::kFloat64);
    };
    const auto u = part(direction);
    sums_[piece] = {at::dot(part(gradient), u).item<double>(), at::dot(u, u).item<double>()};
    while (piece < pieces_.size() && pieces_[piece].begin < range.end) ++piece;
  }
}

std::vector<optimizers::Slopes::OfLayer> SlopeMeter::by_layer() const {
  std::vector<Sums> sums(layers_);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    auto& sum = sums[pieces_[i].layer];
    sum.along += sums_[i].along;
    sum.squared_length += sums_[i].squared_length;
  }
  std::vector<optimizers::Slopes::OfLayer> slopes;
  slopes.reserve(sums.size());
  for (const auto& sum : sums) slopes.push_back({sum.along, std::sqrt(sum.squared_length)});
  return slopes;
}

}  // namespace hyfreedp::training
