// A cache of a pure function: same request, same answer. Calibrating noise takes a good part of a second and
// the planner asks for the same answer in every cell, so each request is computed once per process.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "harness/base/result.h"

namespace hyfreedp::baselines {

template <class T>
class Memo {
 public:
  // `request` must name everything the answer depends on.
  Result<T> get(const std::string& request, const std::function<Result<T>()>& compute) {
    const std::lock_guard lock(mutex_);
    const auto known = answers_.find(request);
    if (known != answers_.end()) return known->second;
    return answers_.emplace(request, compute()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Result<T>> answers_;
};

}  // namespace hyfreedp::baselines
