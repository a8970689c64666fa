#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/base/text.h"
#include "harness/cli/check/audit_request.h"
#include "harness/cli/common/command.h"
#include "harness/runner/executors/local_executor.h"

namespace hyfreedp::cli {
namespace {

namespace process = boost::process;

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

// A worker that ends early must not end this program by the signal of a broken pipe.
class BrokenPipesIgnored {
 public:
  BrokenPipesIgnored() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~BrokenPipesIgnored() { std::signal(SIGPIPE, before_); }
  BrokenPipesIgnored(const BrokenPipesIgnored&) = delete;
  BrokenPipesIgnored& operator=(const BrokenPipesIgnored&) = delete;

 private:
  void (*before_)(int);
};

// Writes to the end, or until nobody reads: a worker that is gone says why itself.
void write_all(const process::pipe& pipe, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(pipe.native_sink(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

struct Said {
  std::string out;         // all of standard output
  std::string last_words;  // last line of standard error
  int code = 0;
};

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

// Runs the worker to its end; its standard error is shown on the way.
Result<Said> ask_worker(const std::string& path, const std::string& request, std::ostream& err) {
  const BrokenPipesIgnored ignored;
  process::environment variables = boost::this_process::environment();
  for (const auto& [name, value] : runner::worker_environment()) variables[name] = value;
  process::pipe input;
  process::ipstream output;
  process::ipstream errors;
  std::error_code failure;
  process::child worker(path, process::args = std::vector<std::string>{"--audit"}, variables,
                        process::std_in<input, process::std_out> output, process::std_err > errors, failure);
  if (failure) return error(path + ": the worker cannot be started (" + failure.message() + ").");
  Said said;
  {
    const std::jthread listener([&] {
      Relay relay(err);
      for (std::string line; std::getline(errors, line);) {
        relay.show(line);
        if (!line.empty()) said.last_words = line;
      }
    });
    write_all(input, request + "\n");
    input.close();
    std::ostringstream all;
    all << output.rdbuf();
    said.out = all.str();
  }
  worker.wait(failure);
  said.code = worker.exit_code();
  return said;
}

Result<Answer> read_answer(const std::string& path, const Said& said) {
  if (said.code != 0) {
    return error(fmt::format(
        "The worker at {} exited with status {} and sent no report{}", path, said.code,
        said.last_words.empty() ? "; build the target hyfreedp-worker again if it is older than this program."
                                : ": " + said.last_words));
  }
  const auto value = parse_json(said.out, "The worker's answer");
  if (!value || !value->is_object() || !value->get_object().contains("report")) {
    return error("The worker at " + path +
                 " does not support audits. Build the target hyfreedp-worker again, so that it has this "
                 "program's version.");
  }
  auto report = from_json<audit::Report>(value->get_object().at("report"), "The worker's report");
  if (!report) return report.error();
  return Answer{value->get_object(), std::move(*report)};
}

Result<Answer> audit_by_worker(const audit::Request& request, std::ostream& err) {
  const auto path = runner::find_worker();
  if (!path) return path.error();
  const auto said = ask_worker(*path, canonical_json(as_json(request)), err);
  if (!said) return said.error();
  return read_answer(*path, *said);
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
