// The items, one file each (differences of printed columns share one); analytic.cpp puts them into
// the registry. The options of each are a described struct in its file.
#pragma once

#include "harness/analytic/analytic.h"
#include "harness/base/describe.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::analytic {

Item mohapatra_table_1();
Item mohapatra_figure_1();
Item mohapatra_theorems();

Item hyfreedp_figure_3();
Item hyfreedp_figure_6();
Item hyfreedp_figure_7();
Item hyfreedp_table_8();
Item hyfreedp_theorem_2();
Item hyfreedp_table_2_contradictions();

Item panda_noise();
Item panda_imagenet_composition();
Item panda_table_1();
Item panda_table_3();
Item panda_table_4();
Item panda_table_6();
Item panda_table_8();
Item panda_table_11();
Item panda_table_12();
Item panda_table_16();
Item panda_table_17();

Item gendp_fit();

}  // namespace hyfreedp::analytic
