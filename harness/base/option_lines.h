// Options declared in one line each, for the tables of registry entries.
#pragma once

#include "harness/base/options.h"

namespace hyfreedp {

// The first choice is the default.
OptionSpec choice_option(std::string name, std::vector<std::string> choices, std::string help);
// Options for members of a described struct: type and default are the member's (options_of of
// describe.h).
OptionSpec plain_option(std::string name, std::string help);
OptionSpec ranged_option(std::string name, double min, double max, std::string help, std::string unit = {});
// `one`, left out of the resolved object where it has its default (OptionSpec::stored_always).
OptionSpec later_option(OptionSpec one);
// `one`, read only where the option `other` is `choice` (OptionSpec::read_with).
OptionSpec only_with(std::string other, std::string choice, OptionSpec one);
// The same where `other` is not `choice`.
OptionSpec only_without(std::string other, std::string choice, OptionSpec one);
// The same where the number `other`, or the length of that list, is above `bound`.
OptionSpec only_above(std::string other, double bound, OptionSpec one);
// The tables' options, one table after the other.
std::vector<OptionSpec> joined(const std::vector<std::vector<OptionSpec>>& tables);

}  // namespace hyfreedp
