#include "harness/cli/epsilon/print_epsilon.h"

#include <cmath>
#include <fmt/format.h>
#include <ostream>

namespace hyfreedp::cli {
namespace {

using accounting::EpsilonAnswer;
using accounting::Neighbouring;
using accounting::ReportedEpsilon;

json::value finite_or_null(double value) {
  return std::isfinite(value) ? json::value(value) : json::value(nullptr);
}

void put_bracket(json::object& object, double upper, double lower) {
  object["epsilon"] = finite_or_null(upper);
  if (!std::isfinite(upper)) object["infinite"] = true;
  object["epsilon_lower"] = finite_or_null(lower);
}

// The nearest number of six digits, or the next one away from zero or towards it.
std::string rounded(double value, bool up) {
  if (!std::isfinite(value)) return "infinite";
  const auto nearest = fmt::format("{:.6g}", value);
  const double read = std::stod(nearest);
  if (up ? read >= value : read <= value) return nearest;
  const double digit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 5);
  return fmt::format("{:.6g}", read + (up ? digit : -digit));
}

std::string bracket_text(double upper, double lower) {
  if (!(lower > 0) || lower == upper || !std::isfinite(upper)) return {};
  return fmt::format(" (the true value is at least {})", rounded_down(lower));
}

// One split is what everybody expects; of several the answer is the largest, so they are named.
std::string splits_text(const std::vector<std::string>& splits) {
  if (splits.size() < 2) return {};
  return fmt::format("splits   {} disjoint splits: {} costs most\n", splits.size(), splits[0]);
}

void put_splits(json::object& object, const std::vector<std::string>& splits) {
  if (splits.size() > 1) object["splits"] = json::array(splits.begin(), splits.end());
}

}  // namespace

std::string rounded_up(double value) { return rounded(value, true); }
std::string rounded_down(double value) { return rounded(value, false); }

std::string to_string(Neighbouring neighbouring) {
  return neighbouring == Neighbouring::add_remove ? "add-remove" : "replace-one";
}

json::object epsilon_to_json(const EpsilonAnswer& answer) {
  json::object object;
  put_bracket(object, answer.epsilon, answer.epsilon_lower);
  object["delta"] = answer.delta;
  object["accountant"] = answer.accountant;
  if (answer.order) object["order"] = *answer.order;
  object["neighbouring"] = to_string(answer.neighbouring);
  put_splits(object, answer.splits);
  if (!answer.note.empty()) object["note"] = answer.note;
  return object;
}

json::object epsilon_to_json(const ReportedEpsilon& report, Neighbouring neighbouring) {
  json::object object;
  put_bracket(object, report.epsilon, report.epsilon_lower);
  object["delta"] = report.delta;
  object["accountant"] = report.accountant;
  if (report.pld) object["pld"] = finite_or_null(*report.pld);
  if (report.rdp) object["rdp"] = finite_or_null(*report.rdp);
  if (report.rdp_order) object["order"] = *report.rdp_order;
  object["neighbouring"] = to_string(neighbouring);
  put_splits(object, report.splits);
  if (!report.note.empty()) object["note"] = report.note;
  return object;
}

void print_epsilon(const EpsilonAnswer& answer, bool as_json, std::ostream& out) {
  if (as_json) {
    out << pretty_json(epsilon_to_json(answer));
    return;
  }
  out << fmt::format("epsilon  {}{}\n", rounded_up(answer.epsilon),
                     bracket_text(answer.epsilon, answer.epsilon_lower));
  out << fmt::format("delta    {:.6g}\n", answer.delta);
  out << "by       " << answer.accountant;
  if (answer.order) out << fmt::format(", order {:.6g}", *answer.order);
  out << ", " << to_string(answer.neighbouring) << " neighbours\n";
  out << splits_text(answer.splits);
  if (!answer.note.empty()) out << "note     " << answer.note << '\n';
}

void print_epsilon(const ReportedEpsilon& report, Neighbouring neighbouring, bool as_json,
                   std::ostream& out) {
  if (as_json) {
    out << pretty_json(epsilon_to_json(report, neighbouring));
    return;
  }
  out << fmt::format("epsilon  {}{}\n", rounded_up(report.epsilon),
                     bracket_text(report.epsilon, report.epsilon_lower));
  out << fmt::format("delta    {:.6g}\n", report.delta);
  out << fmt::format("by       {}, {} neighbours\n", report.accountant, to_string(neighbouring));
  if (report.pld && report.rdp) {
    out << fmt::format("beside   PLD {}, RDP {}", rounded_up(*report.pld), rounded_up(*report.rdp));
    if (report.rdp_order) out << fmt::format(" (order {:.6g})", *report.rdp_order);
    out << '\n';
  } else if (report.rdp_order) {
    out << fmt::format("order    {:.6g}\n", *report.rdp_order);
  }
  out << splits_text(report.splits);
  if (!report.note.empty()) out << "note     " << report.note << '\n';
}

}  // namespace hyfreedp::cli
