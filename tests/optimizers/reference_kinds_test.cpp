// Every reference file of the room is of a kind that some test reads; a new kind must not pass
// unnoticed.
#include <set>

#include "tests/optimizers/reference_files.h"

namespace hyfreedp::optimizers::reference {
namespace {

const std::set<std::string> kRead = {"optimizer-trace/1", "quadratic-fit/1", "hyfreedp-controller/1",
                                     "hyfreedp-logreg/1"};
// Clipping and loss release belong to training, the rest to accounting and baselines.
const std::set<std::string> kReadByOtherRooms = {"quantile-clipping/1", "hyfreedp-losses/1",
                                                 "hyfreedp-noise/1", "linear-scaling/1", "dp-hyper/1"};

class ReferenceOptimizersKinds : public Suite {
 protected:
  ReferenceOptimizersKinds() : Suite("files") {}
};

TEST_F(ReferenceOptimizersKinds, AreKnown) {
  for (const auto& file : all_files()) {
    ++count_;
    if (!file.content.contains("cases")) continue;
    EXPECT_TRUE(kRead.contains(file.schema) || kReadByOtherRooms.contains(file.schema))
        << file.name << " has the unknown kind '" << file.schema << "'";
  }
}

}  // namespace
}  // namespace hyfreedp::optimizers::reference
