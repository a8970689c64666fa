// The options of the figure kinds, a struct each: what a spec may set, with its defaults.
// figure_spec.cpp says the rest of each option (help, range), and the builders in plots get the
// struct by read_options (describe.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/describe.h"

namespace hyfreedp::results {

// A box, line or colour stands for a group of rows (a row without a group is one), or for a row.
enum class By { group, row };
BOOST_DESCRIBE_ENUM(By, group, row)

// Most kinds have some of these.
struct MetricOptions {
  std::string metric = "accuracy";
  By by = By::group;

  bool higher_is_better() const { return metric == "accuracy"; }
};
BOOST_DESCRIBE_STRUCT(MetricOptions, (), (metric, by))

struct AccuracyOptions {
  MetricOptions shown;
  std::string setting;
  static constexpr std::array kInlined = {"shown"};
};
BOOST_DESCRIBE_STRUCT(AccuracyOptions, (), (shown, setting))

enum class CurveBand { range, quartiles, none };
BOOST_DESCRIBE_ENUM(CurveBand, range, quartiles, none)

struct CurvesOptions {
  std::string quantities = "step-size";
  CurveBand band = CurveBand::range;
  std::string scale = "auto";
};
BOOST_DESCRIBE_STRUCT(CurvesOptions, (), (quantities, band, scale))

struct ProbeFitOptions {
  std::vector<std::int64_t> at;
  std::optional<std::int64_t> seed;
};
BOOST_DESCRIBE_STRUCT(ProbeFitOptions, (), (at, seed))

struct HeatMapOptions {
  std::string x = "rate", y = "clipping_constant";
  MetricOptions shown;
  bool log_colour = false;
  static constexpr std::array kInlined = {"shown"};
};
BOOST_DESCRIBE_STRUCT(HeatMapOptions, (), (x, y, shown, log_colour))

struct BoxOptions {
  MetricOptions shown;
  std::string marked, starred;
  static constexpr std::array kInlined = {"shown"};
};
BOOST_DESCRIBE_STRUCT(BoxOptions, (), (shown, marked, starred))

struct CandidatesOptions {
  MetricOptions shown;
  std::string band = "bootstrap";
  static constexpr std::array kInlined = {"shown"};
};
BOOST_DESCRIBE_STRUCT(CandidatesOptions, (), (shown, band))

struct ParetoOptions {
  std::string x = "rate * steps";
  MetricOptions shown;
  std::string front = "lower", x_scale = "auto";
  static constexpr std::array kInlined = {"shown"};
};
BOOST_DESCRIBE_STRUCT(ParetoOptions, (), (x, shown, front, x_scale))

struct BarsOptions {
  std::string relative_to, per = "step";
};
BOOST_DESCRIBE_STRUCT(BarsOptions, (), (relative_to, per))

struct EpsilonStepsOptions {
  std::int64_t points = 12;
};
BOOST_DESCRIBE_STRUCT(EpsilonStepsOptions, (), (points))

struct TuningCostOptions {
  std::int64_t most = 100;
};
BOOST_DESCRIBE_STRUCT(TuningCostOptions, (), (most))

}  // namespace hyfreedp::results
