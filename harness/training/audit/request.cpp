#include "harness/training/audit/request.h"

#include <algorithm>

#include "harness/base/text.h"

namespace hyfreedp::training {
namespace {

// Reads fields one after another and keeps the first complaint.
class Fields {
 public:
  Fields(const json::object& object, std::string where) : object_(object), where_(std::move(where)) {}

  void read(const char* key, double& target) { keep(get_double(object_, key, where_), target); }
  void read(const char* key, std::int64_t& target) { keep(get_int(object_, key, where_), target); }
  void read(const char* key, std::string& target) { keep(get_string(object_, key, where_), target); }
  void demand(bool condition, const char* what) {
    if (!condition && !problem_) problem_ = error(where_ + ": " + what);
  }
  Result<void> result() const {
    if (problem_) return *problem_;
    return {};
  }

 private:
  template <class T>
  void keep(Result<T> found, T& target) {
    if (found) {
      target = std::move(*found);
    } else if (!problem_) {
      problem_ = found.error();
    }
  }

  const json::object& object_;
  std::string where_;
  std::optional<Error> problem_;
};

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check(const AuditRequest& request, Fields& fields) {
  const auto& plan = request.plan;
  fields.demand(plan.is_private, "'plan' must be private");
  fields.demand(plan.clipping != trial::Clipping::adaptive,
                "'clipping' adaptive is not audited: what it clips to changes from step to step with its "
                "counts, which the audit does not follow");
  fields.demand(!plan.feature_mean,
                "'feature_mean' is not audited: the reference knows the features as they are");
  fields.demand(!plan.probe || plan.probe->points == 3,
                "'points' of a probe must be 3: HyFreeDP's fit takes three losses");
  fields.demand(is_one_of(request.model, {"linear", "mlp"}), "'model' must be linear or mlp");
  fields.demand(plan.population >= 2 && plan.population <= 10'000'000, "'population' must lie in 2 .. 1e7");
  fields.demand(request.steps >= 1 && request.steps <= 10'000'000, "'steps' must lie in 1 .. 1e7");
  fields.demand(request.runs >= 1 && request.runs <= 10'000, "'runs' must lie in 1 .. 10000");
  fields.demand(request.workers >= 1 && request.workers <= 256, "'workers' must lie in 1 .. 256");
  fields.demand(request.canaries >= 0 && request.canaries <= plan.population && request.canaries <= 10'000,
                "'canaries' must lie in 0 .. 10000 and be no more than the population");
  fields.demand(request.false_alarm > 0 && request.false_alarm < 1, "'false_alarm' must lie in (0, 1)");
}

}  // namespace

Result<AuditRequest> audit_request_from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + ": an audit request must be an object");
  const auto& object = value.get_object();
  AuditRequest request;
  Fields fields(object, where);
  const auto* plan = object.if_contains("plan");
  if (plan == nullptr || !plan->is_object()) return error(where + ": 'plan' must be an object");
  auto planned = trial::PrivacyPlan::from_json(plan->get_object(), where + ".plan");
  if (!planned) return planned.error();
  request.plan = std::move(*planned);
  fields.read("steps", request.steps);
  fields.read("model", request.model);
  fields.read("runs", request.runs);
  fields.read("workers", request.workers);
  fields.read("canaries", request.canaries);
  fields.read("false_alarm", request.false_alarm);
  const auto* seed = object.if_contains("seed");
  fields.demand(seed != nullptr && (seed->is_null() || seed->is_string()), "'seed' must be a text or null");
  if (seed != nullptr && seed->is_string()) request.seed = std::string(seed->get_string());
  const auto* claim = object.if_contains("claim");
  fields.demand(claim != nullptr && claim->is_object(), "'claim' must be an object");
  check(request, fields);
  if (auto read = fields.result(); !read) return read.error();

  Fields claimed(claim->get_object(), where + ".claim");
  claimed.read("epsilon", request.claim.epsilon);
  claimed.read("delta", request.claim.delta);
  claimed.read("by", request.claim.by);
  if (auto read = claimed.result(); !read) return read.error();
  return request;
}

}  // namespace hyfreedp::training
