// Colours, dashes and markers of the lines in figures. A method has the same colour in every
// figure; rows of one method differ in dash and marker.
//
// The methods of this program have fixed colours, listed in palette.cpp. Any other method gets one
// of 12 further colours, chosen by a hash of its name. If two such methods of a table get the same
// one, the later in alphabetical order takes the next free colour; from the 13th on colours repeat.
// A method therefore has one colour in all figures of a spec, and nearly always the same in other
// specs.
//
// The colours are those of Okabe and Ito (2008), which people with the common colour-vision
// deficiencies can distinguish, without their yellow (too light on white), and more from Paul Tol's
// muted scheme and elsewhere. Twenty colours are too many to distinguish reliably, and none remain
// in greyscale, so markers differ as well.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace hyfreedp::plots {

// The style of a line, in gnuplot's terms.
struct LineStyle {
  std::string colour;  // "#RRGGBB"
  int dash = 1;        // dashtype (dt)
  int marker = 7;      // pointtype (pt)
};

// Assigns a colour to each method of a table.
class MethodColours {
 public:
  explicit MethodColours(std::vector<std::string> methods);  // in any order; may repeat
  // The style of a row. `method` must be one of those given to the constructor, else it throws
  // std::out_of_range.
  //   variant  the row's index among the rows of its method, which chooses the dash
  //   row      the row's index in the table, which chooses the marker
  LineStyle style(const std::string& method, std::size_t variant, std::size_t row) const;

 private:
  std::map<std::string, std::string> colours_;
};

// The style of curve number 0, 1, 2, ... in a figure whose curves are not methods. The first eight
// differ in colour and marker. Later ones repeat these, and 8 to 15 have another dash. `dashed`:
// the curve is dashed instead of solid.
LineStyle style_of_number(int number, bool dashed);

}  // namespace hyfreedp::plots
