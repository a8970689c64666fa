// The same method has the same colour in every figure; rows of one method differ in dash and
// marker.
//
// A method that has no line in palette.cpp gets a colour that no listed method has and no other
// method of the same table, without an edit: its name chooses among the further colours, and where
// two names choose one, the later in alphabetical order takes the next that is free. It therefore
// keeps its colour in all figures of a spec, and nearly always between specs.
//
// Colours are those of Okabe & Ito (2008), distinguishable under the common colour-vision
// deficiencies, without their yellow (too light on white) and filled up from Paul Tol's muted
// scheme and a few beside it. Nobody tells twenty colours apart: markers tell lines apart in grey,
// too.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace hyfreedp::plots {

struct LineStyle {
  std::string colour;  // "#RRGGBB"
  int dash = 1;        // gnuplot's dt
  int marker = 7;      // gnuplot's pt
};

// The colours of all methods of a table.
class MethodColours {
 public:
  explicit MethodColours(std::vector<std::string> methods);  // in any order, repeated or not
  // `variant`: the row's index among the rows of its method; `row`: its index in the table.
  LineStyle style(const std::string& method, std::size_t variant, std::size_t row) const;

 private:
  std::map<std::string, std::string> colours_;
};

// Of curves that are no method's: 0, 1, 2, ... in Okabe & Ito's colours, each with a marker of its
// own. From 8 on the colours begin again, with other dashes.
LineStyle style_of_number(int number, bool dashed);

}  // namespace hyfreedp::plots
