// A cache of a pure function: same arguments, same answer. Calibrating noise takes a good part of a
// second and the planner asks for the same answer in every cell, so each is computed once per
// process.
//
// The function is a plain one (a pointer, so it captures nothing) and every argument of the call is
// in the key: an answer cannot depend on anything that the key leaves out. A key is the canonical
// JSON of all arguments. A type of argument is admitted by a specialisation of MemoKey, which must
// tell apart all that the type can hold. That of an aggregate binds all its members
// (a structured binding that forgets one does not compile) and names them to key_of_members().
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::baselines {

template <class T>
struct MemoKey;

template <>
struct MemoKey<double> {
  static json::value of(double value) { return number(value); }
};
template <>
struct MemoKey<std::int64_t> {
  static json::value of(std::int64_t value) { return value; }
};
template <>
struct MemoKey<std::string> {
  static json::value of(const std::string& value) { return json::value(value); }
};
template <>
struct MemoKey<trial::PrivacyPlan> {
  static json::value of(const trial::PrivacyPlan& plan) { return plan.to_json(); }
};
template <class T>
struct MemoKey<std::vector<T>> {
  static json::value of(const std::vector<T>& values) {
    json::array list;
    for (const auto& value : values) list.push_back(MemoKey<T>::of(value));
    return list;
  }
};

template <class... Members>
json::value key_of_members(const Members&... members) {
  json::array list;
  (list.push_back(MemoKey<Members>::of(members)), ...);
  return list;
}

template <class Answer, class... Arguments>
class Memo {
 public:
  using Function = Result<Answer> (*)(const Arguments&... arguments);
  explicit Memo(Function function) : function_(function) {}

  Result<Answer> operator()(const Arguments&... arguments) {
    const auto key = canonical_json(key_of_members(arguments...));
    const std::lock_guard lock(mutex_);
    const auto known = answers_.find(key);
    if (known != answers_.end()) return known->second;
    return answers_.emplace(key, function_(arguments...)).first->second;
  }

 private:
  Function function_;
  std::mutex mutex_;
  std::map<std::string, Result<Answer>> answers_;
};

}  // namespace hyfreedp::baselines
