// Every method, in the order that `hyfreedp list methods` prints. To add one: one include, one
// line; `hyfreedp new baseline NAME` writes both.
#include "baselines/adadp.h"
#include "baselines/d_adaptation.h"
#include "baselines/dog.h"
#include "baselines/dowg.h"
#include "baselines/dp_hyper.h"
#include "baselines/dp_hyper_simulated.h"
#include "baselines/dp_zo.h"
#include "baselines/dpadam.h"
#include "baselines/dpadamwosm.h"
#include "baselines/dpmomentum.h"
#include "baselines/dpsgd.h"
#include "baselines/free_slope.h"
#include "baselines/hyfreedp.h"
#include "baselines/hyfreedp_plus.h"
#include "baselines/linear_scaling.h"
#include "baselines/nondp_gs.h"
#include "baselines/prodigy.h"
#include "baselines/random_search.h"
#include "baselines/single_step.h"
#include "baselines/subset_tuning.h"
#include "baselines/template.h"

namespace hyfreedp::baselines {

const std::vector<Baseline>& registry() {
  // clang-format off
  static const std::vector<Baseline> all = {
      nondp_gs(),
      dp_hyper(),
      dp_hyper_simulated(),
      random_search(),
      subset_tuning(),
      d_adaptation(),
      prodigy(),
      dog(),
      dowg(),
      linear_scaling(),
      dpadamwosm(),
      dpsgd(),
      dpmomentum(),
      dpadam(),
      adadp(),
      dp_zo(),
      single_step(),
      hyfreedp(),
      hyfreedp_plus(),
      fixed_rate(),
      free_slope(),
      // New baselines go above this line.
  };
  // clang-format on
  return all;
}

}  // namespace hyfreedp::baselines
