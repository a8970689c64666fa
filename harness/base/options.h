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
  // {another option, its choice}: the option is read only where the other has that value, and a
  // value beside its default is an error elsewhere. Empty: it is always read.
  std::pair<std::string, std::string> read_with = {};
};

std::string to_string(OptionType type);

// Checks `given` against `table` and fills in the defaults. Errors begin with `where`, a key path
// or file:line; an unknown key is an error that names the nearest valid key.
Result<json::object> resolve_options(const std::vector<OptionSpec>& table, const json::object& given,
                                     const std::string& where);
// One line an option: name, type, range, default, help. For `hyfreedp list`.
std::string describe_options(const std::vector<OptionSpec>& table);

}  // namespace hyfreedp
