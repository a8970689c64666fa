// Counts of a controller's decisions by name, and the last one; saved and restored with the
// controller's scalars.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hyfreedp::optimizers {

class DecisionLog {
 public:
  explicit DecisionLog(std::vector<std::string> names) : names_(std::move(names)) { clear(); }

  void clear() {
    last_.clear();
    for (const auto& name : names_) counts_[name] = 0;
  }
  void record(const std::string& name) {
    counts_.at(name) += 1;
    last_ = name;
  }
  const std::string& last() const { return last_; }
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }
  std::int64_t count(const std::string& name) const { return counts_.at(name); }
  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const auto& [name, count] : counts_) sum += count;
    return sum;
  }

  void save(std::map<std::string, double>& scalars) const {
    double last = -1;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      scalars["count." + names_[i]] = double(counts_.at(names_[i]));
      if (names_[i] == last_) last = double(i);
    }
    scalars["last_decision"] = last;
  }
  void restore(const std::map<std::string, double>& scalars) {
    for (const auto& name : names_) counts_[name] = std::int64_t(scalars.at("count." + name));
    const auto last = std::int64_t(scalars.at("last_decision"));
    last_ = last < 0 ? "" : names_.at(std::size_t(last));
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::int64_t> counts_;
  std::string last_;
};

}  // namespace hyfreedp::optimizers
