// A table as LaTeX with booktabs: a complete document for pdflatex, or the tables alone for \input.
//
// The tables alone need \usepackage{booktabs,array,graphicx} and \usepackage[utf8]{inputenc}
// (the default since 2018). A table that is too wide or too long for a page is divided into several
// with the same heads; one that is slightly too wide is scaled down. Footnotes are a numbered list
// beneath. A character without a LaTeX command is written as [U+XXXX], so that the result always
// compiles.
#pragma once

#include <string>

#include "results/document.h"

namespace hyfreedp::results {

enum class LatexPart { document, tables };

std::string latex_text(const Document& document, LatexPart part = LatexPart::document);

// Text for a paragraph or a cell.
std::string latex_escaped(const std::string& text);

}  // namespace hyfreedp::results
