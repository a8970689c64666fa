#include "harness/cli/print_epsilon.h"

#include <cmath>
#include <fmt/format.h>
#include <ostream>

namespace hyfreedp::cli {
namespace {

using accounting::EpsilonAnswer;
using accounting::Neighbouring;
using accounting::ReportedEpsilon;

void put_epsilon(json::object& object, const char* key, double value) {
  if (std::isfinite(value)) {
    object[key] = value;
  } else {
    object[key] = nullptr;
    object["infinite"] = true;
  }
}

std::string text(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.6g}", epsilon) : "infinite";
}

std::string bracket_text(double upper, double lower) {
  if (!(lower > 0) || lower == upper || !std::isfinite(upper)) return {};
  return fmt::format(" (the true value is at least {:.6g})", lower);
}

}  // namespace

std::string to_string(Neighbouring neighbouring) {
  return neighbouring == Neighbouring::add_remove ? "add-remove" : "replace-one";
}

json::object epsilon_to_json(const EpsilonAnswer& answer) {
  json::object object;
  put_epsilon(object, "epsilon", answer.epsilon);
  object["epsilon_lower"] = number(answer.epsilon_lower);
  object["delta"] = answer.delta;
  object["accountant"] = answer.accountant;
  if (answer.order) object["order"] = *answer.order;
  object["neighbouring"] = to_string(answer.neighbouring);
  if (!answer.note.empty()) object["note"] = answer.note;
  return object;
}

json::object epsilon_to_json(const ReportedEpsilon& report, Neighbouring neighbouring) {
  json::object object;
  put_epsilon(object, "epsilon", report.epsilon);
  object["epsilon_lower"] = number(report.epsilon_lower);
  object["delta"] = report.delta;
  object["accountant"] = report.accountant;
  if (report.pld)
    object["pld"] = std::isfinite(*report.pld) ? json::value(*report.pld) : json::value(nullptr);
  if (report.rdp)
    object["rdp"] = std::isfinite(*report.rdp) ? json::value(*report.rdp) : json::value(nullptr);
  if (report.rdp_order) object["order"] = *report.rdp_order;
  object["neighbouring"] = to_string(neighbouring);
  if (!report.note.empty()) object["note"] = report.note;
  return object;
}

void print_epsilon(const EpsilonAnswer& answer, bool as_json, std::ostream& out) {
  if (as_json) {
    out << pretty_json(epsilon_to_json(answer));
    return;
  }
  out << fmt::format("epsilon  {}{}\n", text(answer.epsilon),
                     bracket_text(answer.epsilon, answer.epsilon_lower));
  out << fmt::format("delta    {:.6g}\n", answer.delta);
  out << "by       " << answer.accountant;
  if (answer.order) out << fmt::format(", order {:.6g}", *answer.order);
  out << ", " << to_string(answer.neighbouring) << " neighbours\n";
  if (!answer.note.empty()) out << "note     " << answer.note << '\n';
}

void print_epsilon(const ReportedEpsilon& report, Neighbouring neighbouring, bool as_json,
                   std::ostream& out) {
  if (as_json) {
    out << pretty_json(epsilon_to_json(report, neighbouring));
    return;
  }
  out << fmt::format("epsilon  {}{}\n", text(report.epsilon),
                     bracket_text(report.epsilon, report.epsilon_lower));
  out << fmt::format("delta    {:.6g}\n", report.delta);
  out << fmt::format("by       {}, {} neighbours\n", report.accountant, to_string(neighbouring));
  if (report.pld && report.rdp) {
    out << fmt::format("beside   PLD {}, RDP {}", text(*report.pld), text(*report.rdp));
    if (report.rdp_order) out << fmt::format(" (order {:.6g})", *report.rdp_order);
    out << '\n';
  } else if (report.rdp_order) {
    out << fmt::format("order    {:.6g}\n", *report.rdp_order);
  }
  if (!report.note.empty()) out << "note     " << report.note << '\n';
}

}  // namespace hyfreedp::cli
