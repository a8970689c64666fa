#include <algorithm>

#include "harness/accounting/accountant.h"
#include "harness/accounting/mechanism.h"

namespace hyfreedp::accounting {
namespace {

bool has_selection(const std::vector<Event>& events) {
  return std::any_of(events.begin(), events.end(), [](const Event& event) {
    if (std::holds_alternative<Selection>(event.what)) return true;
    const auto* repeat = std::get_if<Repeat>(&event.what);
    return repeat != nullptr && has_selection(repeat->base);
  });
}

}  // namespace

Result<ReportedEpsilon> report_epsilon(const Events& events, double delta) {
  const auto rdp = epsilon_rdp(events, delta);
  if (!rdp) return rdp.error();
  ReportedEpsilon report;
  report.delta = delta;
  report.rdp = rdp->epsilon;
  report.rdp_order = rdp->order;
  report.epsilon = rdp->epsilon;
  report.accountant = rdp->accountant;
  report.note = rdp->note;
  report.splits = rdp->splits;
  if (has_selection(events.events)) return report;  // only RDP prices it
  const auto pld = epsilon_pld(events, delta);
  if (!pld) return pld.error();
  report.pld = pld->epsilon;
  report.epsilon_lower = pld->epsilon_lower;
  if (pld->epsilon <= report.epsilon) {
    report.epsilon = pld->epsilon;
    report.accountant = pld->accountant;
    report.note = pld->note;
    report.splits = pld->splits;
  }
  return report;
}

}  // namespace hyfreedp::accounting
