#include "harness/runner/executors/worker_process.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <boost/process/async.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <istream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace hyfreedp::runner {
namespace {

namespace process = boost::process;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kTailBytes = 4096;
// The time for which output may still arrive after the exit (something else may hold the pipe), and
// in which a worker without output must exit.
constexpr std::chrono::milliseconds kExitPatience{1000};

// Runs between fork and exec, so it makes only system calls that are safe there.
struct ChildSetup : process::extend::handler {
  template <class Executor>
  void on_exec_setup(Executor&) const {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGPIPE, SIG_DFL);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, SIG_DFL);
  }
};

// No later worker may inherit an end: it would keep the pipe open after this one's death.
void keep_from_children(const process::async_pipe& pipe) {
  for (const int descriptor : {pipe.native_source(), pipe.native_sink()}) {
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
}

}  // namespace

std::string Death::how() const {
  if (by_signal) return fmt::format("was killed by signal {} ({})", code, ::strsignal(code));
  return fmt::format("exited with status {}", code);
}

std::string Death::sentence() const {
  std::string text = "The worker " + how() + ".";
  if (by_signal && code == SIGKILL) text += " The system does that when memory runs out.";
  if (!tail.empty()) text += " Its last output: " + tail;
  return text;
}

struct WorkerProcess::State : std::enable_shared_from_this<WorkerProcess::State> {
  State(boost::asio::io_context& io, Callbacks given)
      : callbacks(std::move(given)), input(io), output(io), errors(io), timer(io) {}

  Callbacks callbacks;
  process::async_pipe input;
  process::async_pipe output;
  process::async_pipe errors;
  boost::asio::steady_timer timer;
  process::child child;
  boost::asio::streambuf lines{kLongestLine};
  std::array<char, 1024> chunk{};
  std::deque<std::string> outbox;
  bool closing = false;
  bool output_over = false;
  bool errors_over = false;
  bool exited = false;
  bool reported = false;
  int status = 0;
  std::string tail;

  Result<void> launch(boost::asio::io_context& io, const std::string& path, const Environment& environment) {
    process::environment variables = boost::this_process::environment();
    for (const auto& [name, value] : environment) variables[name] = value;
    for (const auto* pipe : {&input, &output, &errors}) keep_from_children(*pipe);
    std::error_code failure;
    child = process::child(
        path, variables, process::std_in<input, process::std_out> output, process::std_err > errors, io,
        process::on_exit =
            [self = weak_from_this()](int, const std::error_code&) {
              const auto state = self.lock();
              // on_exit() is not called from here: whoever hears of the exit may start another
              // process, which changes the list of awaited ones that Boost.Process is walking
              // through right now.
              if (state) boost::asio::post(state->timer.get_executor(), [state] { state->on_exit(); });
            },
        ChildSetup{}, failure);
    if (failure) return error(path + ": the worker cannot be started (" + failure.message() + ")");
    return {};
  }

  void on_exit() {
    exited = true;
    status = child.native_exit_code();
    wait_for_the_rest([](State& state) { state.report(); });
    report_when_complete();
  }

  void wait_for_the_rest(void (*then)(State&)) {
    timer.expires_after(kExitPatience);
    timer.async_wait([self = weak_from_this(), then](const boost::system::error_code& failure) {
      if (failure) return;
      if (const auto state = self.lock()) then(*state);
    });
  }

  void report_when_complete() {
    if (exited && output_over && errors_over) report();
  }

  void report() {
    if (reported) return;
    reported = true;
    timer.cancel();
    const bool by_signal = WIFSIGNALED(status);
    while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.pop_back();
    callbacks.on_death(
        {.by_signal = by_signal, .code = by_signal ? WTERMSIG(status) : WEXITSTATUS(status), .tail = tail});
  }

  // An operation under way uses the buffers, so its handler keeps them alive. The destructor of the
  // process ends all of them by closing the pipes.
  void read_output() {
    boost::asio::async_read_until(output, lines, '\n',
                                  [self = shared_from_this()](const boost::system::error_code& failure,
                                                              std::size_t) { self->on_output(failure); });
  }

  void on_output(const boost::system::error_code& failure) {
    if (reported) return;
    if (failure) {
      output_over = true;
      // Its output is closed; a healthy worker is exiting right now.
      if (!exited) wait_for_the_rest([](State& state) { state.kill(SIGKILL); });
      return report_when_complete();
    }
    std::istream stream(&lines);
    std::string line;
    std::getline(stream, line);
    // The callback may destroy the process; `this` is kept by the caller.
    if (!reported) callbacks.on_line(line);
    if (!reported) read_output();
  }

  void read_errors() {
    errors.async_read_some(
        boost::asio::buffer(chunk),
        [self = shared_from_this()](const boost::system::error_code& failure, std::size_t bytes) {
          self->on_errors(failure, bytes);
        });
  }

  void on_errors(const boost::system::error_code& failure, std::size_t bytes) {
    if (reported) return;
    tail.append(chunk.data(), bytes);
    if (tail.size() > kTailBytes) tail.erase(0, tail.size() - kTailBytes);
    if (!failure) return read_errors();
    errors_over = true;
    report_when_complete();
  }

  void write() {
    boost::asio::async_write(input, boost::asio::buffer(outbox.front()),
                             [self = shared_from_this()](const boost::system::error_code& failure,
                                                         std::size_t) { self->on_written(failure); });
  }

  void on_written(const boost::system::error_code& failure) {
    outbox.pop_front();
    if (failure) outbox.clear();  // its death is reported when its exit is
    if (!outbox.empty()) return write();
    if (closing) input.close();
  }

  void kill(int number) {
    // The number may belong to another process once the exit was collected.
    if (!exited && child.id() > 0) ::kill(child.id(), number);
  }
};

WorkerProcess::WorkerProcess(std::shared_ptr<State> state) : state_(std::move(state)) {}

WorkerProcess::~WorkerProcess() {
  state_->reported = true;
  state_->kill(SIGKILL);
  state_->child.detach();
  state_->timer.cancel();
  boost::system::error_code ignored;
  for (auto* pipe : {&state_->input, &state_->output, &state_->errors}) pipe->close(ignored);
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(boost::asio::io_context& io,
                                                            const std::string& path,
                                                            const Environment& environment,
                                                            Callbacks callbacks) {
  try {
    auto state = std::make_shared<State>(io, std::move(callbacks));
    if (auto launched = state->launch(io, path, environment); !launched) return launched.error();
    state->read_output();
    state->read_errors();
    return std::unique_ptr<WorkerProcess>(new WorkerProcess(std::move(state)));
  } catch (const std::exception& failure) {
    return error(path + ": the worker cannot be started (" + failure.what() + ")");
  }
}

void WorkerProcess::send(const std::string& line) {
  state_->outbox.push_back(line + "\n");
  if (state_->outbox.size() == 1) state_->write();
}

void WorkerProcess::close_input() {
  state_->closing = true;
  if (state_->outbox.empty()) state_->input.close();
}

void WorkerProcess::signal(int number) { state_->kill(number); }

int WorkerProcess::id() const { return state_->child.id(); }

}  // namespace hyfreedp::runner
