// Writes a document (results/table/document.h) as LaTeX with booktabs: a complete file for
// pdflatex, or the tables alone for \input.
//
// The tables alone need \usepackage{booktabs,array,graphicx} and UTF-8 input, which is LaTeX's
// default since 2018. A table that is too wide or too long for a page is divided into several with
// the same column titles; one that is slightly too wide is scaled down. Footnotes are a numbered
// list after the tables. A character without a LaTeX command is written as [U+XXXX], so that the
// result always compiles.
#pragma once

#include <string>

#include "results/table/document.h"

namespace hyfreedp::results {

// document: a complete file; tables: without preamble, title and description.
enum class LatexPart { document, tables };

// The document as LaTeX. A confidential one has a warning at the beginning and at the end.
std::string latex_text(const Document& document, LatexPart part = LatexPart::document);

// `text` for a paragraph or a table cell, with LaTeX's special characters escaped.
std::string latex_escaped(const std::string& text);

}  // namespace hyfreedp::results
