// How every command prints an epsilon: for people one fact a line, for machines one JSON object.
//
//   epsilon        upper bound; null beside "infinite": true where there is none
//   epsilon_lower  lower bound on the true value; null where that is infinite
//   delta, accountant, neighbouring, order (RDP), note (when there is one)
#pragma once

#include <iosfwd>

#include "harness/accounting/accountant.h"

namespace hyfreedp::cli {

json::object epsilon_to_json(const accounting::EpsilonAnswer& answer);
// The same members, with "pld" and "rdp" beside them where they were computed.
json::object epsilon_to_json(const accounting::ReportedEpsilon& report,
                             accounting::Neighbouring neighbouring);

void print_epsilon(const accounting::EpsilonAnswer& answer, bool as_json, std::ostream& out);
void print_epsilon(const accounting::ReportedEpsilon& report, accounting::Neighbouring neighbouring,
                   bool as_json, std::ostream& out);

std::string to_string(accounting::Neighbouring neighbouring);

// Six significant digits, rounded so that the text claims no more than the number: up for what must be at least that (an upper
// bound, a noise that meets a target), down for a lower bound. "infinite" where it is.
std::string rounded_up(double value);
std::string rounded_down(double value);

}  // namespace hyfreedp::cli
