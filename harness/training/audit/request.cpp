#include "harness/training/audit/request.h"

#include <algorithm>
#include <array>

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
  fields.demand(is_one_of(request.hyfreedp, {"none", "folded", "separate-batch", "paper"}),
                "'hyfreedp' must be none, folded, separate-batch or paper");
  fields.demand(request.clipping != "adaptive",
                "'clipping' adaptive is not audited: what it clips to changes from step to step with its "
                "counts, which the "
                "audit does not follow");
  fields.demand(is_one_of(request.clipping, {"auto-s", "auto-v", "abadi"}),
                "'clipping' must be auto-s, auto-v or abadi");
  fields.demand(is_one_of(request.clipping_groups, {"all", "per-layer"}),
                "'clipping_groups' must be all or per-layer");
  fields.demand(is_one_of(request.clipping_shares, {"uniform", "size"}),
                "'clipping_shares' must be uniform or size");
  fields.demand(is_one_of(request.model, {"linear", "mlp"}), "'model' must be linear or mlp");
  fields.demand(request.population >= 2 && request.population <= 10'000'000,
                "'population' must lie in 2 .. 1e7");
  fields.demand(request.steps >= 1 && request.steps <= 10'000'000, "'steps' must lie in 1 .. 1e7");
  fields.demand(request.interval >= 1, "'interval' must be at least 1");
  fields.demand(request.runs >= 1 && request.runs <= 10'000, "'runs' must lie in 1 .. 10000");
  fields.demand(request.workers >= 1 && request.workers <= 256, "'workers' must lie in 1 .. 256");
  fields.demand(request.canaries >= 0 && request.canaries <= request.population && request.canaries <= 10'000,
                "'canaries' must lie in 0 .. 10000 and be no more than the population");
  fields.demand(request.false_alarm > 0 && request.false_alarm < 1, "'false_alarm' must lie in (0, 1)");
  fields.demand(request.probes == (request.has_probes() ? 3 : 0),
                "'probes' must be 3, or 0 without HyFreeDP: its fit takes three losses");
}

}  // namespace

trial::PrivacyPlan AuditRequest::plan() const {
  trial::PrivacyPlan plan;
  plan.population = population;
  plan.batch_size = batch_size;
  plan.sample_rate = sample_rate;
  plan.clipping = clipping == "abadi"    ? trial::Clipping::abadi
                  : clipping == "auto-v" ? trial::Clipping::auto_v
                                         : trial::Clipping::auto_s;
  plan.clipping_constant = clipping_constant;
  if (clipping_groups == "per-layer") plan.groups = trial::ClippingGroups::per_layer;
  if (clipping_shares == "size") plan.shares = trial::GroupShares::size;
  plan.gradient_noise = sigma_g;
  plan.accounting = has_probes() ? hyfreedp : "plain";
  if (has_probes()) {
    plan.probe = trial::ProbePlan{.separate_batch = hyfreedp == "separate-batch",
                                  .sample_rate = probe_sample_rate,
                                  .batch_size = probe_batch_size,
                                  .noise = sigma_l,
                                  .points = probes,
                                  .interval = interval};
  }
  return plan;
}

Result<AuditRequest> audit_request_from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + ": an audit request must be an object");
  const auto& object = value.get_object();
  AuditRequest request;
  Fields fields(object, where);
  std::int64_t probes = 0;
  fields.read("hyfreedp", request.hyfreedp);
  fields.read("epsilon", request.epsilon);
  fields.read("delta", request.delta);
  fields.read("population", request.population);
  fields.read("sample_rate", request.sample_rate);
  fields.read("batch_size", request.batch_size);
  fields.read("steps", request.steps);
  fields.read("interval", request.interval);
  fields.read("probes", probes);
  fields.read("gamma", request.gamma);
  fields.read("clipping", request.clipping);
  fields.read("clipping_constant", request.clipping_constant);
  fields.read("clipping_groups", request.clipping_groups);
  fields.read("clipping_shares", request.clipping_shares);
  fields.read("sigma_g", request.sigma_g);
  fields.read("sigma_l", request.sigma_l);
  fields.read("probe_sample_rate", request.probe_sample_rate);
  fields.read("probe_batch_size", request.probe_batch_size);
  fields.read("model", request.model);
  fields.read("runs", request.runs);
  fields.read("workers", request.workers);
  fields.read("canaries", request.canaries);
  fields.read("false_alarm", request.false_alarm);
  request.probes = static_cast<int>(std::clamp<std::int64_t>(probes, -1, 1000));
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
  if (auto plan = request.plan().check(); !plan) return in_context(where, plan.error());
  return request;
}

}  // namespace hyfreedp::training
