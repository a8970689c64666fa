// The items, one file each; analytic.cpp puts them into the registry.
#pragma once

#include "harness/analytic/analytic.h"

namespace hyfreedp::analytic {

Item mohapatra_table_1();

}  // namespace hyfreedp::analytic
