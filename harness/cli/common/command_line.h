// How every command reads its arguments and refuses bad ones.
//
// Long names are written out, never guessed from a beginning. A refusal is one sentence, on one
// line, on the error stream (of a spec: a line for each of its mistakes), and exit code 2; nothing
// is on the output stream then.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::cli {

struct CommandLine {
  std::string command;  // "epsilon", "export rows"
  // Printed above the options by --help.
  std::string usage;
  // That --help shows; must hold "help".
  boost::program_options::options_description options{"Options"};
  std::string positional =
      {};  // name under which the first argument without -- is given, if the command takes one
  std::vector<std::string> more_positional = {};  // the same for the second, third, ...
  // Name of the list (vector<string>) of all further arguments without --, if the command takes any
  // number.
  std::string list = {};
  // What the first argument without -- may be, where that is one of a few words.
  std::vector<std::string> words = {};
};

// The one argument by which a command says what it takes, for `hyfreedp completion`, instead of
// doing anything: a line each, of
//   word NAME            a word that may come first: of a command of several parts, one of these
//   file                 arguments without -- that may be files
//   flag --NAME          an option without a value
//   value --NAME VALUE   an option with one, and how --help calls it: "DIR", "cpu|cuda"
inline constexpr const char* kDescribe = "--describe-arguments";

// Fills `given` and the bound variables. Returns the exit code if the command is done: 0 after
// --help, 2 after an error.
std::optional<int> read_command_line(const CommandLine& line, const std::vector<std::string>& arguments,
                                     boost::program_options::variables_map& given, std::ostream& out,
                                     std::ostream& err);

// A command of several parts, `hyfreedp data fetch`: the part that the first argument names, with
// the further arguments.
struct Part {
  std::string name;
  std::function<int(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err)> run;
};
// Runs it. Without a part, --help prints `usage`.
int run_part(const std::string& command, const std::string& usage, const std::vector<Part>& parts,
             const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// Prints "hyfreedp COMMAND: message" as one line and returns 2. Control characters of the input are
// escaped, long quotations are cut, and the line ends with a full stop.
int refused(const std::string& command, const Error& failure, std::ostream& err);
// The same for a message that may have several lines, each fit to be shown: the mistakes of a spec
// (runner::load_spec).
int refused_lines(const std::string& command, const Error& failure, std::ostream& err);

// All of `text` as a number, "nan" and "inf" included; nothing if it is not a number or beyond a
// double's range.
std::optional<double> parsed_number(std::string_view text);

// The value of an option that is declared as text, so that its error is one of ours: "--steps is
// '5.5'; it must be a whole number from 1 to 100." The option must have been given. The value may
// be "nan" or "inf"; the caller checks its range.
Result<double> number_given(const boost::program_options::variables_map& given, const std::string& name);
// The same for whole numbers, also in the notation of reals (1e5).
Result<std::int64_t> count_given(const boost::program_options::variables_map& given, const std::string& name,
                                 std::int64_t largest);

}  // namespace hyfreedp::cli
