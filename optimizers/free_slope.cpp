#include "optimizers/free_slope.h"

#include <algorithm>
#include <cmath>

#include "optimizers/decision_log.h"

namespace hyfreedp::optimizers {
namespace {

// The slope along the last direction, over some of the parameters.
struct Along {
  double slope = 0, squared_length = 0;

  void add(const Slopes::OfLayer& layer) {
    slope += layer.along;
    squared_length += layer.length * layer.length;
  }
};

// Follows the slopes of one group of parameters.
class SlopeTrack {
 public:
  void observe(const Along& now, double noise_sd, double beta) {
    const double variance = noise_sd * noise_sd * now.squared_length;
    square_ = (1 - beta) * now.slope * now.slope + beta * square_;
    weight_ = (1 - beta) + beta * weight_;
    const double square = square_ / weight_;
    const double scale = std::sqrt(square + variance);
    signal_ = square > 0 ? std::max(0.0, square - variance) / square : 0;
    sign_ = scale > 0 ? std::clamp(now.slope / scale, -1.0, 1.0) : 0;
    over_noise_ = variance > 0 ? now.slope / std::sqrt(variance) : 0;
    if (last_ * now.slope < 0) changes_ += 1;
    last_ = now.slope;
  }

  double sign() const { return sign_; }      // z, of its own slope
  double signal() const { return signal_; }  // w
  double over_noise() const { return over_noise_; }
  double changes() const { return changes_; }

  template <class Use>  // use(name, double&)
  void each(const Use& use) {
    use("square", square_);
    use("weight", weight_);
    use("changes", changes_);
    use("last", last_);
    use("over_noise", over_noise_);
  }

 private:
  double square_ = 0, weight_ = 0;  // Q before its bias correction, and what it is divided by
  double changes_ = 0, last_ = 0;   // n; the last slope
  double over_noise_ = 0;
  double sign_ = 0, signal_ = 0;  // of the present step
};

struct Group {
  std::string name;
  std::int64_t size = 0;
  bool pretrained = false;
  SlopeTrack track = {};
  double rate = 0;
};

class FreeSlope final : public LearningRateController {
 public:
  explicit FreeSlope(const FreeSlopeOptions& options) : options_(options) {}

  void begin(const Start& start) override {
    groups_.clear();
    group_of_.clear();
    fresh_ = all_ = {};
    log_.clear();
    const bool has_pretrained = std::ranges::any_of(start.layers, &TrainedLayer::pretrained);
    for (const auto& layer : start.layers) {
      const auto name = group_name(layer, has_pretrained);
      auto found = std::ranges::find(groups_, name, &Group::name);
      if (found == groups_.end()) {
        groups_.push_back({.name = name, .pretrained = layer.pretrained, .rate = options_.eta0});
        found = groups_.end() - 1;
      }
      found->size += layer.size;
      found->pretrained = found->pretrained || layer.pretrained;
      group_of_.push_back(static_cast<std::size_t>(found - groups_.begin()));
    }
  }

  bool follows_slopes() const override { return true; }

  void observe(const Slopes& slopes) override {
    std::vector<Along> along(groups_.size());
    Along fresh, all;
    for (std::size_t i = 0; i < slopes.layers.size(); ++i) {
      const auto& layer = slopes.layers[i];
      if (!std::isfinite(layer.along) || !std::isfinite(layer.length)) {
        log_.record("nonfinite_slope");
        return;
      }
      along.at(group_of_.at(i)).add(layer);
      all.add(layer);
      if (!groups_[group_of_[i]].pretrained) fresh.add(layer);
    }
    all_.observe(all, slopes.noise_sd, options_.beta);
    fresh_.observe(fresh, slopes.noise_sd, options_.beta);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      auto& group = groups_[i];
      group.track.observe(along[i], slopes.noise_sd, options_.beta);
      const double own = group.track.signal();
      const double sign =
          group.pretrained ? group.track.sign() : own * group.track.sign() + (1 - own) * fresh_.sign();
      group.rate *= std::exp(options_.gain * sign / (1 + options_.kesten * group.track.changes()));
    }
    log_.record(all.slope > 0 ? "climbed" : "fell");
  }

  std::vector<double> layer_rates() const override {
    std::vector<double> rates;
    rates.reserve(group_of_.size());
    for (const auto group : group_of_) rates.push_back(groups_[group].rate);
    return rates;
  }
  double learning_rate(std::int64_t) const override {
    const auto largest = std::ranges::max_element(groups_, {}, &Group::size);
    return largest == groups_.end() ? options_.eta0 : largest->rate;
  }

  std::map<std::string, double> state_scalars() const override {
    std::map<std::string, double> scalars;
    auto copy = *this;
    copy.each([&](const std::string& name, double& value) { scalars[name] = value; });
    log_.save(scalars);
    return scalars;
  }
  void restore_scalars(const std::map<std::string, double>& scalars) override {
    each([&](const std::string& name, double& value) { value = scalars.at(name); });
    log_.restore(scalars);
  }
  std::map<std::string, double> scalars() const override {
    std::map<std::string, double> values = {{"slope_over_noise", all_.over_noise()}};
    if (groups_.size() > kShownGroups) return values;
    for (const auto& group : groups_) {
      values["rate." + group.name] = group.rate;
      values["slope_over_noise." + group.name] = group.track.over_noise();
    }
    return values;
  }
  std::map<std::string, std::int64_t> decisions() const override { return log_.counts(); }
  std::string last_decision() const override { return log_.last(); }
  std::string outcome() const override {
    return log_.count("climbed") > 0 && log_.count("fell") == 0 ? "the rate climbed to the end" : "";
  }

 private:
  std::string group_name(const TrainedLayer& layer, bool has_pretrained) const {
    if (options_.groups == SlopeGroups::all) return "all";
    if (options_.groups == SlopeGroups::layers || !has_pretrained) return layer.name;
    return layer.pretrained ? "pretrained" : "new";
  }

  template <class Use>
  void each(const Use& use) {
    const auto of = [&use](const std::string& name, SlopeTrack& track) {
      track.each([&](const char* value, double& number) { use(name + "." + value, number); });
    };
    of("fresh", fresh_);
    of("all", all_);
    for (auto& group : groups_) {
      of("group." + group.name, group.track);
      use("group." + group.name + ".rate", group.rate);
    }
  }

  FreeSlopeOptions options_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // each layer's
  SlopeTrack fresh_, all_;             // what is not pretrained, and all parameters, as one group
  DecisionLog log_{{"climbed", "fell", "nonfinite_slope"}};
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_free_slope(const FreeSlopeOptions& options) {
  return std::unique_ptr<LearningRateController>(new FreeSlope(options));
}

}  // namespace hyfreedp::optimizers
