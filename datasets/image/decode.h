// Image files as RGB bytes: what PIL's Image.open(file).convert("RGB") gives (Pillow 12 and 13).
//
//   JPEG   8 bits; grey, YCbCr, RGB, and CMYK or YCCK as Adobe's programs write them (inverted)
//   PNG    1 to 8 bits grey, palette, grey or colour with alpha, 16-bit colour (its upper bytes).
//          Alpha is dropped, not blended. Refused: 16-bit grey, which PIL clips at 255
//   PPM    binary grey (P5) and colour (P6), with 255 as the largest value
//
// The format is told from the bytes, never from the name. EXIF rotation, gamma and colour profiles
// are ignored, as convert("RGB") ignores them. Bytes after the image's end are ignored too.
//
// Stricter than PIL: every truncation and every damage that the decoder notices is an error, where
// PIL shows what it could read of some; a damaged example should not train a network unnoticed.
// The bytes need no trust: sizes are checked before memory is taken.
#pragma once

#include <string>
#include <string_view>

#include "datasets/image/image.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// True if a file with these first bytes is a JPEG, PNG or PPM. It asks for more of them than
// decode_image, which is given what should be an image, so that no text is taken for one.
bool begins_image(std::string_view head);

// True if a JPEG or PNG with these first bytes says by EXIF that it is to be turned or mirrored
// (orientation 2 to 8), which is ignored.
bool is_turned_by_exif(std::string_view head);

// An error where these first bytes are of no format that decode_image reads.
Result<void> check_format(std::string_view head, const std::string& name);

// `name` is the file's name, with which every error begins. Errors: another format (named when it
// is a known one), what the table above refuses, an image beyond the limits, damage.
Result<Image> decode_image(std::string_view bytes, const std::string& name, const ImageLimits& limits = {});

}  // namespace hyfreedp::datasets
