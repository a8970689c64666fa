#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <sstream>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/base/text.h"
#include "harness/cli/check/audit_request.h"
#include "harness/cli/common/command.h"
#include "harness/runner/executors/local_executor.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp audit: trains small models with canaries and tries to refute the epsilon that is claimed.

  hyfreedp audit
  hyfreedp audit --hyfreedp paper --epsilon 8

The second line audits the accounting of the paper, whose claim does not hold. It ends like this,
with exit code 1:
  ledger    REFUTED  simulated delta: delta at epsilon 8 is 0.00454 and at least 0.000675 in 3750
                     simulated runs (8.53e-05 is claimed, remove direction)
  verdict   REFUTED
Without the flags it looks at this program's own accounting, and accepts it with exit code 0.

It reads what the optimizer and the learning-rate controller are handed, and compares it with sums
computed anew: the noise's scale, mean, shape and independence; canaries in the batches; the booked
events against those that happened, and their delta by simulation; which records the sampler takes;
guesses from the final weights. harness/audit/README.md says what each test can and cannot see.
An audit looks at raw values: it runs on generated data, never on yours.
Exit code: 0 accepted, 1 a claim is refuted, 2 bad input or no answer from the worker.)";

constexpr std::size_t kTextWidth = 96;
constexpr std::size_t kIndent = 21;

struct Answer {
  json::object object;
  audit::Report report;
};

// Breaks `text` between words; continuation lines begin with `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kTextWidth) {
      lines += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line;
}

std::string shown(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_double()) return short_number(value.get_double(), 6);
  return canonical_json(value);
}

// Shows what the worker says on the way: "run 3 of 66" and what follows it on one line of a
// terminal, elsewhere every tenth of them; all else as it comes.
class Relay {
 public:
  explicit Relay(std::ostream& err)
      : err_(err), overwrites_(&err == &std::cerr && ::isatty(STDERR_FILENO) != 0) {}
  ~Relay() { end_line(); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void show(const std::string& line) {
    int done = 0, all = 0;
    if (std::sscanf(line.c_str(), "run %d of %d", &done, &all) != 2) {
      end_line();
      err_ << line << std::endl;
    } else if (overwrites_) {
      err_ << "\r\x1b[K" << line << std::flush;
      is_open_ = true;
    } else if (done % kShownRuns == 0 || done == all) {
      err_ << line << std::endl;
    }
  }

 private:
  static constexpr int kShownRuns = 10;

  void end_line() {
    if (is_open_) err_ << std::endl;
    is_open_ = false;
  }

  std::ostream& err_;
  bool overwrites_;
  bool is_open_ = false;
};

Result<Answer> read_answer(const std::string& path, const ProgramEnd& end, const std::string& said) {
  if (end.exit_code != 0) {
    const auto last_words = end.last_words();
    return error(fmt::format(
        "The worker at {} exited with status {} and sent no report{}", path, end.exit_code,
        last_words.empty() ? "; build the target hyfreedp-worker again if it is older than this program."
                           : ": " + last_words));
  }
  const auto value = parse_json(said, "The worker's answer");
  if (!value || !value->is_object() || !value->get_object().contains("report")) {
    return error("The worker at " + path +
                 " does not support audits. Build the target hyfreedp-worker again, so that it has this "
                 "program's version.");
  }
  auto report = from_json<audit::Report>(value->get_object().at("report"), "The worker's report");
  if (!report) return report.error();
  return Answer{value->get_object(), std::move(*report)};
}

// What the worker says on the way goes to `err`.
Result<Answer> audit_by_worker(const audit::Request& request, std::ostream& err) {
  const auto path = runner::find_worker();
  if (!path) return path.error();
  std::string said;
  Relay relay(err);
  const auto end =
      runner::run_worker(*path, {.program = {},
                                 .arguments = {"--audit"},
                                 .input = canonical_json(as_json(request)) + "\n",
                                 .on_output =
                                     [&](const std::string& line) {
                                       said += line + "\n";
                                       return true;
                                     },
                                 .on_errors = [&](const std::string& line) { relay.show(line); }});
  if (!end) return end.error();
  return read_answer(*path, *end, said);
}

// `setting`: names and values of what the worker trained.
void print_audit(const audit::Report& report, const json::object& setting, double seconds,
                 std::ostream& out) {
  out << fmt::format("claim     epsilon {:.6g} at delta {:.4g} ({})\n", report.claim.epsilon,
                     report.claim.delta, report.claim.by);
  for (const auto& member : setting) {
    out << fmt::format("{:<9} {}\n", std::string_view(member.key()), shown(member.value()));
  }
  if (report.confidence > 0) {
    out << fmt::format("audited   epsilon >= {:.4g} with confidence {:.6g}\n", report.audited_epsilon,
                       report.confidence);
  } else {
    out << "audited   there are no canaries, so there is no lower bound\n";
  }
  out << '\n';
  std::size_t refuted = 0;
  for (const auto& finding : report.findings) {
    if (finding.refuted) ++refuted;
    out << fmt::format("{:<9} {:<8} {}\n", finding.group, finding.refuted ? "REFUTED" : "ok",
                       wrapped(finding.name + ": " + finding.text, kIndent - 2));
  }
  out << fmt::format("\nverdict   {}\n", refuted > 0 ? "REFUTED" : "accepted");
  out << fmt::format(
      "          {} of {} findings refute; a correct mechanism is refuted with probability at most {:g}; "
      "{}\n",
      refuted, report.findings.size(), report.false_alarm, human_duration(seconds));
}

Outcome run_audit(const AuditRequest& request, std::ostream& out, std::ostream& err) {
  const auto asked = asked_of_worker(request);
  if (!asked) return asked.error();
  const auto answer = audit_by_worker(*asked, err);
  if (!answer) return answer.error();
  if (request.report) {
    const auto written = write_named_file(*request.report, pretty_json(answer->object));
    if (!written) return written.error();
  }
  if (request.json) {
    out << pretty_json(answer->object);
  } else {
    const auto* setting = answer->object.if_contains("setting");
    print_audit(answer->report,
                setting != nullptr && setting->is_object() ? setting->get_object() : json::object(),
                double_or(answer->object, "seconds", 0), out);
  }
  return answer->report.refuted() ? 1 : 0;
}

}  // namespace

Command audit_command() {
  return {"audit", kText, action<AuditRequest>(run_audit),
          "tries to refute the claimed epsilon on the real training path",
          "hyfreedp audit --hyfreedp paper --epsilon 8"};
}

}  // namespace hyfreedp::cli
