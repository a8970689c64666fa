// Options are declared once; the command line, YAML, --help, the printed settings and the stored
// row derive from that declaration.
//
// A registry entry (optimizer, controller, model, dataset, baseline) has one table of OptionSpec,
// as a rule made of a described struct, whose members have the defaults (options_of in describe.h).
// resolve_options checks a user's object against the table and returns it with every default filled
// in, so that what is stored and hashed is always complete; read_options gives it as the struct.
// The tables need no LibTorch: `hyfreedp` checks a whole spec before a worker starts.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp {

enum class OptionType { boolean, integer, real, text, choice, real_list, integer_list };

// The condition on another option under which an option is read.
struct ReadWith {
  enum class Rule {
    is,      // `choice`; "none" where it has no value
    is_not,  // anything but `choice`
    above,   // a number, or a list of more entries than, `bound`
  };
  std::string option;  // empty: the option is always read
  Rule rule = Rule::is;
  std::string choice = {};
  double bound = 0;

  bool holds(const json::value& value) const;
  // "'tuning: selection'", "'t_max' above 0", "more than 1 of 'grid'".
  std::string text(bool of_list) const;
};

struct OptionSpec {
  std::string name;
  OptionType type = OptionType::real;
  json::value default_value = {};  // the default; null: the option may be absent ("none")
  std::string help = {};
  std::string unit = {};
  double min = -std::numeric_limits<double>::infinity();  // inclusive, of each number
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // of OptionType::choice
  // False: left out of the resolved object if it has its default, so that a later option does not
  // change the identity of earlier trials. Its default never changes, for these have it unsaid.
  bool stored_always = true;
  // A value beside its default is an error where this does not hold.
  ReadWith read_with = {};
};

std::string to_string(OptionType type);

// Checks `given` against `table` and fills in the defaults. Errors begin with `where`, a key path
// or file:line; an unknown key is an error that names the nearest valid key.
Result<json::object> resolve_options(const std::vector<OptionSpec>& table, const json::object& given,
                                     const std::string& where);
// One line an option: name, type, range, default, help. For `hyfreedp list`.
std::string describe_options(const std::vector<OptionSpec>& table);

}  // namespace hyfreedp
