// SentencePiece's models, the files tokenizer.model (https://github.com/google/sentencepiece,
// sentencepiece_model.proto), as values: read, checked and written, without that library.
//
// Its library trusts what it is given: a damaged table of characters makes it read beyond its
// memory, and what it calls impossible ends the program. So a file is read here first, and the
// library gets what serialize_piece_model writes of a model that has passed every check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::models {

struct Piece {
  enum class Kind { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

  std::string text = {};  // UTF-8, with U+2581 for a blank; a byte's is "<0x0A>"
  float score = 0;
  Kind kind = Kind::normal;
};

struct PieceModel {
  enum class Kind { unigram = 1, pairs = 2 };  // pairs: byte-pair encoding

  Kind kind = Kind::unigram;
  std::vector<Piece> pieces = {};  // by their ids
  bool byte_fallback = false;      // what has no piece is its bytes
  // The normalisation of a text before it is split into pieces.
  std::string character_map = {};  // `precompiled_charsmap`; empty: characters stay
  bool add_blank = true;           // a blank before the text, or after it
  bool blank_is_last = false;      // `treat_whitespace_as_suffix`
  bool merge_blanks = true;        // runs become one, and those at the ends none
  bool escape_blanks = true;       // as U+2581
};

// The model of a file's bytes; `where` begins messages. Refused: what is no such file, a model of
// another kind (words, characters), no or more than 2^22 pieces, and what check_piece_model
// refuses. Fields that do not change ids (of training, of decoding) are passed over.
Result<PieceModel> parse_piece_model(std::string_view bytes, const std::string& where);

// An error where SentencePiece's library would not read the model, or could not be trusted with it:
// a piece that is empty, longer than 1,024 bytes, not UTF-8, with a NUL, twice there, or without a
// finite score; a mark of one character among pairs; no piece for what is unknown, or two; bytes
// without `byte_fallback`, or not all 256 with it; more than 64 user-defined pieces that begin one
// another; a table of characters of more than 16 MiB, or that leads outside itself, in circles, or
// to more than 1,024 bytes.
Result<void> check_piece_model(const PieceModel& model, const std::string& where);

// The bytes of a file that SentencePiece reads as this model.
std::string serialize_piece_model(const PieceModel& model);

}  // namespace hyfreedp::models
