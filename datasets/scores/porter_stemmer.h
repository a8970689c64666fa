// The stem of an English word by Porter's algorithm (Program 14, 1980) with the changes of NLTK's
// PorterStemmer in its default mode: sixteen irregular words, and what becomes of -y, -ies, -ied,
// -alli, -fulli and -logi. "generously" and "generous" have the stem "gener".
#pragma once

#include <string>

namespace hyfreedp::scores {

// `word` in small letters (characters.h). Words of one or two characters are their own stems.
std::u32string porter_stem(const std::u32string& word);

}  // namespace hyfreedp::scores
