// Nights drawn from distributions that are known, with as many cells and tests as
// experiments/nightly.yaml has.
#pragma once

#include <cmath>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

#include "results/regress/regress.h"

namespace hyfreedp::simulated {

using results::Night;
using results::NightCell;
using results::NightRun;

struct World {
  std::size_t cells = 12;
  std::int64_t seeds = 6;
  double accuracy_sd = 0.4;  // between seeds, percentage points
  double loss_sd = 0.01;
  double norm_sd = 0.01;  // of a log norm
  double own_share =
      1;  // of each sd that a night draws anew; the rest is the seed's own, the same in all nights
  double noise_values = 50000;  // residuals a run
  std::string noise_seed = "s";
  std::uint64_t seed = 1;  // of the drawing
};

// What was done to a night.
struct Change {
  double accuracy = 0;
  double eta = 1;
  double noise = 1;
  bool frozen = false;
};

inline const std::vector<std::string>& tensors() {
  static const std::vector<std::string> names{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};
  return names;
}

inline results::Setting setting_at(const std::string& rate) {
  return {{"controller.name", "\"constant\""}, {"controller.options.lr", rate}, {"steps", "100"}};
}

class Source {
 public:
  explicit Source(const World& world) : world_(world), random_(world.seed), own_(1000 + world.seed) {}

  Night night(const Change& change = {}) {
    Night night{.spec = "nightly", .hash = "0123456789abcdef", .version = "0", .cells = {}};
    own_.seed(7);  // the seeds' own part is the same in every night
    own_normal_.reset();
    for (std::size_t c = 0; c < world_.cells; ++c) {
      NightCell cell{.panel = "p", .row = fmt::format("row-{}", c), .title = "Row", .epsilon = 3, .runs = {}};
      for (std::int64_t seed = 0; seed < world_.seeds; ++seed) cell.runs.push_back(run(seed, change));
      night.cells.push_back(std::move(cell));
    }
    return night;
  }

 private:
  double draw(double sd) {
    const double own = own_normal_(own_), anew = normal_(random_);
    return sd * (std::sqrt(1 - world_.own_share) * own + std::sqrt(world_.own_share) * anew);
  }

  NightRun run(std::int64_t seed, const Change& change) {
    NightRun run;
    run.seed = seed;
    run.state = NightRun::State::value;
    run.setting = setting_at("0.01");
    run.asked = {run.setting};
    run.noise_seed = world_.noise_seed;
    run.machine = "machine";
    run.hashes = {fmt::format("{}", random_())};
    run.accuracy = 80 + change.accuracy + draw(world_.accuracy_sd);
    run.loss = 0.6 + draw(world_.loss_sd);
    run.metrics = {{"accuracy", *run.accuracy}};
    run.epsilon = 2.999;
    run.norms["gradient norm"] = change.noise * std::exp(draw(world_.norm_sd));
    run.norms["update norm"] = change.eta * std::exp(draw(world_.norm_sd));
    for (const auto& name : tensors()) {
      const double norm = change.eta * std::exp(draw(world_.norm_sd));
      run.norms["update of " + name] = change.frozen && name == "fc1.weight" ? 0.0 : norm;
    }
    std::gamma_distribution<double> half_chi(world_.noise_values / 2, 2.0);
    run.noise = results::NoiseSeen{change.noise * change.noise * half_chi(random_), world_.noise_values};
    run.seconds = 1;
    return run;
  }

  World world_;
  std::mt19937_64 random_;
  std::mt19937_64 own_;
  std::normal_distribution<double> normal_;
  std::normal_distribution<double> own_normal_;  // holds a draw of its own
};

}  // namespace hyfreedp::simulated
