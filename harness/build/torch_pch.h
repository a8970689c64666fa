// Precompiled once for every target that uses LibTorch; a file that includes <torch/types.h> alone costs 10 s.
#pragma once
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <string>
#include <torch/types.h>
#include <vector>
