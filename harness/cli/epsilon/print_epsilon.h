// Prints an epsilon, in the same form in every command: one fact a line for people, one JSON object
// for machines.
//
//   epsilon        upper bound; null, with "infinite": true, if there is none
//   epsilon_lower  lower bound on the true value; null if it is infinite
//   delta, accountant, neighbouring, order (RDP), note (if there is one)
#pragma once

#include <iosfwd>

#include "harness/accounting/accountant.h"

namespace hyfreedp::cli {

json::object epsilon_to_json(const accounting::EpsilonAnswer& answer);
// The same members, with "pld" and "rdp" if they were computed.
json::object epsilon_to_json(const accounting::ReportedEpsilon& report,
                             accounting::Neighbouring neighbouring);

void print_epsilon(const accounting::EpsilonAnswer& answer, bool as_json, std::ostream& out);
void print_epsilon(const accounting::ReportedEpsilon& report, accounting::Neighbouring neighbouring,
                   bool as_json, std::ostream& out);

std::string to_string(accounting::Neighbouring neighbouring);

// Six significant digits, rounded in the safe direction: up for an upper bound or a noise that
// meets a target, down for a lower bound. "infinite" for infinity.
std::string rounded_up(double value);
std::string rounded_down(double value);

}  // namespace hyfreedp::cli
