// A method that is one private run whose learning rate is fitted from privatized losses
// (HyFreeDP and HyFreeDP+).
//
// One budget pays for gradients and probes: sigma_g = gamma sigma, and sigma_l follows from what is
// left (Liu & Bu, ICLR 2025, Algorithm 2; mechanism::split_budget). The option `accounting` says
// how it is priced, by the cell's accountant (the last two: by RDP, as they were published):
//   folded          probes on the gradient's own batch, folded before amplification: sound
//   separate-batch  probes on their own Poisson batch: sound
//   laplace         Laplace noise on the losses of all records: sound
//   paper           as published: same batch, priced as if each release had its own. It understates
//                   epsilon: the row claims the target, carries a flag, and its real epsilon is
//                   derived from the executed events
//   paper-appendix  appendix C: two epsilons added; flagged likewise
// In a non-private column the probes are exact.
#pragma once

#include <string>
#include <vector>

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

// Beside the controller's own.
struct ProbingOptions {
  std::string accounting;  // one of the names above
  AccountantOption noise;
  double gamma = 1.01;
  double probe_sample_rate = 0;  // of a separate probe batch; 0: probe_ratio times the gradient's
  double probe_ratio = 1;        // 1 as a method's default: the method has no such option
  double average_part = 0;       // of the steps, over which weights are averaged; likewise 0
  static constexpr std::array kInlined = {"noise"};
};
BOOST_DESCRIBE_STRUCT(ProbingOptions, (),
                      (accounting, noise, gamma, probe_sample_rate, probe_ratio, average_part))

// Sets the baseline's options (the controller's own, and how the budget is divided), next and
// conclude. `pricing` lists the choices of `accounting`; the first is the default. `footnote`, if
// any, stands under every row.
void run_probing_controller(Baseline& baseline, const std::string& controller_name,
                            const std::vector<std::string>& pricing, ProbingOptions defaults = {},
                            const std::string& footnote = "");

}  // namespace hyfreedp::baselines
