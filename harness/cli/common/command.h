// A command of `hyfreedp`: a request that is described once, and a function of it.
//
//   struct VerifyRequest {
//     std::optional<std::string> file;
//     bool json = false;
//
//     void describe(Options& options) {
//       options.positional(file, "file", "FILE.json");
//       options.flag(json, "json", "print a JSON object");
//     }
//   };
//
//   Outcome verify(const VerifyRequest& request, std::ostream& out, std::ostream&);
//
//   Command verify_command() {
//     return {"verify", kText, action<VerifyRequest>(verify), "derives ...", "hyfreedp verify c"};
//   }
//
// From the description come the declarations of Boost.Program_options, the reading into the members
// (whose values before that are the defaults), the usage line and the options of --help, and what
// `hyfreedp completion` offers. A request may have `Checked check()`, which looks at it as a whole
// before the command runs; structs that several commands share are bases of their requests.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::cli {

using Arguments = std::vector<std::string>;

// The reason why a command did not do what was asked. Every Error is a refusal of one line with
// exit code 2.
struct Refusal {
  Refusal() = default;
  Refusal(Error failure) : message(std::move(failure.message)) {}  // NOLINT: implicit

  std::string message;
  int code = 2;
  bool in_lines = false;  // the message has lines, each fit to be shown: the mistakes of a spec
  bool see_help = false;  // "; see hyfreedp COMMAND --help." ends it
};
using Outcome = boost::system::result<int, Refusal>;  // the exit code, or the refusal
using Checked = boost::system::result<void, Refusal>;

// A command line that does not say enough, or too much; its --help tells more.
Refusal unusable(const std::string& message);
// The error of runner::load_spec.
Refusal in_lines(const Error& failure);

// A value as it was typed, with the name of its option, for commands whose errors quote both.
struct Given {
  std::string name;
  std::optional<std::string> text;  // none: the option was not given

  explicit operator bool() const { return text.has_value(); }
};

// A condition on a number, and how an error tells it: "--delta must lie in (0, 1)."
struct Allowed {
  bool (*holds)(double) = nullptr;
  const char* must = nullptr;
};
extern const Allowed kPositive, kAtLeastZero, kBetweenZeroAndOne;

// The options of a request, in the order in which --help and the usage line tell them. Binds
// members, which must outlive it. A NAME is "long", or "long,s" with a short form.
class Options {
 public:
  Options();

  // --NAME without a value.
  void flag(bool& member, const char* name, const std::string& help);
  // --NAME VALUE; `shown` is how --help calls the value, which must be the name of a folder where
  // it is "DIR". A default that is not empty is shown; an optional, or Given, has none. A list is
  // of an option that may be repeated.
  template <class T>
  void value(T& member, const char* name, const char* shown, const std::string& help);
  // The same for a double, or an optional one; its default is not shown.
  template <class T>
  void number(T& member, const char* name, const char* shown, const Allowed& allowed,
              const std::string& help);
  // The next argument without --: text, or optional text. `shown`: in the usage line; `words`: what
  // it may be, if these are few. `name` is that of no option.
  template <class T>
  void positional(T& member, const char* name, const std::string& shown, Arguments words = {});
  // All further arguments without --.
  void list(std::vector<std::string>& member, const char* name, const std::string& shown);
  // The options from here on are a group, whose width --help counts apart: a command's own, after
  // those that it shares with others.
  void begin_group() { group_.emplace(); }
  // An option that the usage line shows, such as "--rows SPEC.yaml".
  void in_usage(const std::string& shown) { shown_options_ += " " + shown; }

  // Fills the members. True: --help was asked for.
  Result<bool> read(const std::string& command, const Arguments& arguments);
  // " SPEC ROW COLUMN --output FILE.json"
  std::string usage() const { return shown_arguments_ + shown_options_; }
  boost::program_options::options_description declared() const;
  const Arguments& words() const { return words_; }
  bool takes_files() const { return !shown_arguments_.empty() && words_.empty(); }

 private:
  struct Number {
    std::string name;
    Allowed allowed;
    std::function<void(double)> keep;
  };

  boost::program_options::options_description_easy_init add_options() {
    return (group_ ? *group_ : declared_).add_options();
  }
  Error what_is_wrong(const boost::program_options::error& failure, const std::string& command,
                      const Arguments& arguments) const;
  Result<void> read_numbers(const boost::program_options::variables_map& given) const;

  boost::program_options::options_description declared_{"Options"};  // that --help shows
  std::optional<boost::program_options::options_description> group_;
  boost::program_options::options_description hidden_;
  Arguments positional_;
  std::string list_;
  std::vector<Number> numbers_;
  Arguments words_;
  std::string shown_arguments_, shown_options_;
};

template <class T>
void Options::value(T& member, const char* name, const char* shown, const std::string& help) {
  namespace po = boost::program_options;
  if constexpr (std::is_same_v<T, Given>) {
    member.name = name;
    value(member.text, name, shown, help);
  } else if constexpr (requires { member.value(); }) {
    using Value = typename T::value_type;
    const auto keep = [&member](const Value& given) { member = given; };
    add_options()(name, po::value<Value>()->value_name(shown)->notifier(keep), help.c_str());
  } else {
    auto* bound = po::value(&member)->value_name(shown);
    if constexpr (std::is_same_v<T, Arguments>) {
      bound->composing();
    } else if (std::is_integral_v<T> || member != T()) {
      bound->default_value(member);
    }
    add_options()(name, bound, help.c_str());
  }
}

template <class T>
void Options::number(T& member, const char* name, const char* shown, const Allowed& allowed,
                     const std::string& help) {
  const auto* text = boost::program_options::value<std::string>()->value_name(shown);
  add_options()(name, text, help.c_str());
  numbers_.push_back({name, allowed, [&member](double given) { member = given; }});
}

template <class T>
void Options::positional(T& member, const char* name, const std::string& shown, Arguments words) {
  const auto keep = [&member](const std::string& text) { member = text; };
  hidden_.add_options()(name, boost::program_options::value<std::string>()->notifier(keep));
  positional_.emplace_back(name);
  shown_arguments_ += " " + shown;
  if (!words.empty()) words_ = std::move(words);
}

struct Command;

struct Action {
  std::function<void(Options&)> describe;
  std::function<Outcome(const Command&, const Arguments&, std::ostream& out, std::ostream& err)> run;
};

struct Command {
  std::string name = {};  // "verify"; of a part "data fetch"
  // Printed by --help above the options, after the usage line "hyfreedp NAME ARGUMENTS [options]";
  // one that begins with "hyfreedp " has its own. A line break at its beginning is not printed.
  std::string_view text = {};
  Action action = {};                      // none where there are parts
  std::string summary = {}, example = {};  // of the overview
  std::vector<Command> parts = {};         // of `hyfreedp data fetch`, ...
};

// Reads the request of a command. True: its --help was printed, and nothing is left to do.
Result<bool> read(const Command& command, Options& options, const Arguments& arguments, std::ostream& out);

// `function`: Outcome(const Request&, std::ostream& out, std::ostream& err). Results go to `out`,
// warnings and progress to `err`.
template <class Request, class Function>
Action action(Function function) {
  return {.describe = [](Options& options) { Request{}.describe(options); },
          .run = [function](const Command& command, const Arguments& arguments, std::ostream& out,
                            std::ostream& err) -> Outcome {
            Request request;
            Options options;
            request.describe(options);
            const auto is_done = read(command, options, arguments, out);
            if (!is_done) return is_done.error();
            if (*is_done) return 0;
            if constexpr (requires { request.check(); }) {
              if (auto checked = request.check(); !checked) return checked.error();
            }
            return function(std::as_const(request), out, err);
          }};
}

// Runs it, or the part that the first argument names, and prints what it refuses. Returns the exit
// code.
int run(const Command& command, const Arguments& arguments, std::ostream& out, std::ostream& err);

// Prints "hyfreedp COMMAND: message", as one line unless it is in lines. Control characters of the
// input are escaped, long quotations are cut, and the line ends with a full stop. `run` does it for
// what a command returns.
void print_refusal(const std::string& command, const Refusal& refusal, std::ostream& err);

// All of `text` as a number, "nan" and "inf" included; nothing if it is not a number or beyond a
// double's range.
std::optional<double> parsed_number(std::string_view text);
// The value of an option that was given: "--steps is '5.5'; it must be a whole number from 1 to
// 100." A real may be "nan" or "inf"; a whole number may be in the notation of reals (1e5).
Result<double> number_of(const Given& given);
Result<std::int64_t> count_of(const Given& given, std::int64_t largest);

}  // namespace hyfreedp::cli
