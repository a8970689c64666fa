// The answers of calibrations, each computed once for a spec. Calibrating noise takes a good part
// of a second and a plan asks for the same answer in every cell, so all cells of a spec share one
// such object (Cell::calibrations). Without it every call computes.
//
// The function is a plain one (a pointer, so it captures nothing) and every argument of the call is
// in the key: an answer cannot depend on anything that the key leaves out. A key is the canonical
// JSON of all arguments. A type of argument is admitted by a specialisation of KeyOf, which must
// tell apart all that the type can hold. That of an aggregate binds all its members
// (a structured binding that forgets one does not compile) and names them to key_of_members().
#pragma once

#include <any>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

template <class T>
struct KeyOf;

template <>
struct KeyOf<double> {
  static json::value of(double value) { return number(value); }
};
template <>
struct KeyOf<std::int64_t> {
  static json::value of(std::int64_t value) { return value; }
};
template <>
struct KeyOf<std::string> {
  static json::value of(const std::string& value) { return json::value(value); }
};
template <>
struct KeyOf<trial::PrivacyPlan> {
  static json::value of(const trial::PrivacyPlan& plan) { return plan.to_json(); }
};
template <class T>
struct KeyOf<std::vector<T>> {
  static json::value of(const std::vector<T>& values) {
    json::array list;
    for (const auto& value : values) list.push_back(KeyOf<T>::of(value));
    return list;
  }
};

template <class... Members>
json::value key_of_members(const Members&... members) {
  json::array list;
  (list.push_back(KeyOf<Members>::of(members)), ...);
  return list;
}

class Calibrations {
 public:
  template <class Answer, class... Arguments>
  Result<Answer> answer(Result<Answer> (*function)(const Arguments&...),
                        const std::type_identity_t<Arguments>&... arguments) {
    const Key key{reinterpret_cast<void (*)()>(function), canonical_json(key_of_members(arguments...))};
    const std::lock_guard lock(mutex_);
    auto known = answers_.find(key);
    if (known == answers_.end()) known = answers_.emplace(key, function(arguments...)).first;
    return std::any_cast<const Result<Answer>&>(known->second);
  }

 private:
  using Key = std::pair<void (*)(), std::string>;

  std::mutex mutex_;
  std::map<Key, std::any> answers_;
};

// The answer of `function`, computed unless the cell's calibrations have it already.
template <class Answer, class... Arguments>
Result<Answer> calibrated(const Cell& cell, Result<Answer> (*function)(const Arguments&...),
                          const std::type_identity_t<Arguments>&... arguments) {
  return cell.calibrations ? cell.calibrations->answer(function, arguments...) : function(arguments...);
}

}  // namespace hyfreedp::baselines
