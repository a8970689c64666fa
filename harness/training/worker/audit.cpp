#include "harness/training/worker/audit.h"

#include <ATen/Parallel.h>
#include <chrono>
#include <fmt/format.h>
#include <iostream>
#include <iterator>

#include "harness/base/files.h"
#include "harness/training/audit/collect.h"
#include "harness/training/worker/outbox.h"
#include "harness/training/worker/session.h"

namespace hyfreedp::worker {
namespace {

// Longer than any request: what is no request is not read to its end.
constexpr std::size_t kLongestRequest = 1 << 20;

Result<std::string> read_request(const std::string& file) {
  if (!file.empty()) return read_file(file);
  std::string text;
  for (std::istreambuf_iterator<char> next(std::cin), end; next != end && text.size() <= kLongestRequest;
       ++next) {
    text.push_back(*next);
  }
  if (text.size() > kLongestRequest)
    return error("standard input: an audit request has at most one megabyte.");
  return text;
}

Result<audit::Request> parse_request(const std::string& file) {
  const std::string where = file.empty() ? "standard input" : file;
  const auto text = read_request(file);
  if (!text) return text.error();
  const auto value = parse_json(*text, where);
  if (!value) return value.error();
  return audit::request_from_json(*value, where);
}

std::string runs_text(const audit::Request& request, const audit::Observations& observed) {
  const auto asked = static_cast<std::size_t>(request.runs);
  std::string text = std::to_string(asked);
  if (observed.runs.size() > asked)
    text += fmt::format(", {} on a small population", observed.runs.size() - asked);
  if (!observed.one_run.empty()) text += fmt::format(", {} for guessing", observed.one_run.size());
  return text;
}

std::string clipping_text(const trial::Clipping& clipping) {
  if (!clipping.per_layer()) return name_of(clipping.rule);
  return fmt::format("{} {} ({})", name_of(clipping.rule), name_of(clipping.groups),
                     name_of(clipping.shares));
}

json::object describe(const audit::Request& request, const audit::Observations& observed) {
  const auto d = observed.residuals.empty() ? std::size_t{0} : observed.residuals.front().gradient.size();
  const bool follows_losses = request.plan.released == trial::Released::loss_change;
  json::object setting{
      {"model", follows_losses ? fmt::format("{}, changes of losses along random directions, clipping {}",
                                             request.model, clipping_text(request.plan.clipping))
                               : fmt::format("{}, {} parameters, clipping {}", request.model, d,
                                             clipping_text(request.plan.clipping))},
      {"data", fmt::format("{} generated records, {} of them canaries, sampled at rate {}",
                           request.plan.population, request.canaries, request.plan.sample_rate)},
      {"runs", fmt::format("{}, {} steps each, gradient noise {:.5g}", runs_text(request, observed),
                           request.steps, request.plan.gradient_noise)},
      {"keys", request.seed ? "from a seed" : "from the system's entropy"}};
  if (const auto& probe = request.plan.probe) {
    setting["probes"] = fmt::format("{}, {} losses every {} steps, loss noise {:.5g}",
                                    request.plan.accounting, probe->points, probe->interval, probe->noise);
  }
  return setting;
}

int fail(const Error& problem, int status) {
  std::cerr << "hyfreedp-worker: " << problem.message << "\n";
  return status;
}

}  // namespace

int run_audit(const std::string& file, const training::Parts& parts) {
  const auto begin = std::chrono::steady_clock::now();
  Outbox outbox;
  // Threads are for whole runs.
  at::set_num_threads(1);
  const auto request = parse_request(file);
  if (!request) return fail(request.error(), kBadInput);
  const auto observed = training::collect(
      *request, [](const std::string& line) { std::cerr << line << "\n"; }, parts);
  if (!observed) return fail(observed.error(), kAuditFailed);
  std::cerr << "judging\n";
  const auto report = audit::judge(*observed, request->claim, request->false_alarm);
  if (!report) return fail(report.error(), kAuditFailed);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const bool heard = outbox.send({{"report", audit::to_json(*report)},
                                  {"setting", describe(*request, *observed)},
                                  {"seconds", taken.count()}});
  return heard ? kAudited : kNobodyReads;
}

}  // namespace hyfreedp::worker
