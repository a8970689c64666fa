#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <png.h>

#include "datasets/image/codecs.h"

namespace hyfreedp::datasets {
namespace {

// libpng reports errors by longjmp, which skips destructors and forgets local variables that live
// in registers. So the functions with a setjmp have no local object with a destructor, and what
// must survive a jump is in here, in the caller's frame.
struct Reader {
  std::string_view rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::array<char, 200> problem{};  // libpng's message

  Reader() = default;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
};

void read_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto& rest = static_cast<Reader*>(png_get_io_ptr(png))->rest;
  if (rest.size() < count) png_error(png, "it ends too early");
  std::memcpy(out, rest.data(), count);
  rest.remove_prefix(count);
}

void on_error(png_structp png, png_const_charp message) {
  auto& problem = static_cast<Reader*>(png_get_error_ptr(png))->problem;
  std::snprintf(problem.data(), problem.size(), "%s", message);
  png_longjmp(png, 1);
}

// Warnings are about chunks that do not change the pixels.
void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

// Reads up to the first byte of pixels. False on an error.
bool read_header(Reader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_read_fn(reader.png, &reader, read_bytes);
  // Text, profiles and the like may expand a thousandfold and change no pixel: left unread.
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(reader.png, reader.info);
  return true;
}

// Asks libpng for 8-bit RGB. False on an error.
bool ask_for_rgb(Reader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  const int colour = png_get_color_type(reader.png, reader.info);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
  if ((colour & PNG_COLOR_MASK_COLOR) == 0) {
    png_set_expand_gray_1_2_4_to_8(reader.png);
    png_set_gray_to_rgb(reader.png);
  }
  png_set_strip_16(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

// Reads the pixels and the rest of the file into `out`, [height, row]. False on an error.
bool read_pixels(Reader& reader, std::uint8_t* out, std::size_t row) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  const int passes = png_get_interlace_type(reader.png, reader.info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
  const auto height = png_get_image_height(reader.png, reader.info);
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < height; ++y) png_read_row(reader.png, out + y * row, nullptr);
  }
  png_read_end(reader.png, nullptr);
  return true;
}

}  // namespace

Result<Image> decode_png(std::string_view bytes, const ImageLimits& limits) {
  Reader reader;
  reader.rest = bytes;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning);
  if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return error("libpng cannot be set up (out of memory, or another version).");
  const auto damaged = [&reader] {
    return error(
        fmt::format("cannot be decoded ({}); the file is damaged. Fetch it again.", reader.problem.data()));
  };

  if (!read_header(reader)) return damaged();
  const std::int64_t height = png_get_image_height(reader.png, reader.info);
  const std::int64_t width = png_get_image_width(reader.png, reader.info);
  if (!fits(height, width, limits)) return too_large(height, width, limits);
  if (png_get_bit_depth(reader.png, reader.info) == 16 &&
      png_get_color_type(reader.png, reader.info) == PNG_COLOR_TYPE_GRAY) {
    return error("is 16-bit grey, for which PIL's conversion to RGB clips at 255. Convert it to 8 bits.");
  }
  // Deflate makes at most 1,032 bytes of one: a file that is too short needs no memory to be
  // refused.
  const auto packed = static_cast<std::size_t>(height) * png_get_rowbytes(reader.png, reader.info);
  if (packed / 1032 > bytes.size()) {
    return error(
        fmt::format("declares {} x {} pixels, which its {} bytes cannot hold; the file is truncated. Fetch "
                    "it again.",
                    width, height, bytes.size()));
  }

  if (!ask_for_rgb(reader)) return damaged();
  const auto row = static_cast<std::size_t>(width) * 3;
  HYFREEDP_CHECK(png_get_rowbytes(reader.png, reader.info) == row, "libpng does not give RGB");
  Image image{.height = height, .width = width, .pixels = std::vector<std::uint8_t>(bytes_of(height, width))};
  if (!read_pixels(reader, image.pixels.data(), row)) return damaged();
  return image;
}

}  // namespace hyfreedp::datasets
