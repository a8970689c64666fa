#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
// jpeglib.h uses FILE and size_t, which it does not declare: after <cstdio>.
#include <jpeglib.h>
// jerror.h needs jpeglib.h before it.
#include <jerror.h>

#include "datasets/image/codecs.h"

namespace hyfreedp::datasets {
namespace {

// Each pass over a progressive image costs the time of all its pixels and may take a few bytes;
// encoders write about ten.
constexpr int kMostScans = 100;

// libjpeg reports errors through a function that must not return: it jumps. A jump skips
// destructors and forgets local variables that live in registers. So the functions with a setjmp
// have no local object with a destructor, and what must survive a jump is in here, in the caller's
// frame.
struct Reader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> problem{};  // libjpeg's message
  std::vector<std::uint8_t> row;                // space for one row of pixels

  Reader() = default;
  ~Reader() { jpeg_destroy_decompress(&jpeg); }  // also of one that was never made
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
};

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto& reader = *static_cast<Reader*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, reader.problem.data());
  std::longjmp(reader.back, 1);
}

// libjpeg goes on after damage, with made-up pixels. Level -1 is a warning, others are traces.
void on_message(j_common_ptr jpeg, int level) {
  if (level != -1) return;
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
      on_error(jpeg);
    default:
      break;  // bytes between segments, an odd version: the pixels are whole
  }
}

void on_progress(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  auto& reader = *static_cast<Reader*>(jpeg->client_data);
  std::snprintf(reader.problem.data(), reader.problem.size(), "more than %d scans", kMostScans);
  std::longjmp(reader.back, 1);
}

// False on an error, as the others.
bool read_header(Reader& reader, std::string_view bytes) {
  if (setjmp(reader.back) != 0) return false;
  jpeg_create_decompress(&reader.jpeg);
  reader.jpeg.client_data = &reader;
  reader.jpeg.progress = &reader.progress;
  jpeg_mem_src(&reader.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&reader.jpeg, TRUE);
  return true;
}

// Rows of `bytes` each behind `out`, one after the other by way of `row`, and the file up to its
// end marker. `out` has room for all of them, of which a damaged file costs only what it has.
bool read_pixels(Reader& reader, std::uint8_t* row, std::vector<std::uint8_t>& out, std::size_t bytes) {
  if (setjmp(reader.back) != 0) return false;
  jpeg_start_decompress(&reader.jpeg);
  while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
    jpeg_read_scanlines(&reader.jpeg, &row, 1);
    out.insert(out.end(), row, row + bytes);
  }
  jpeg_finish_decompress(&reader.jpeg);
  return true;
}

// Space for a row that lies off a 32-byte boundary. Onto a boundary libjpeg-turbo writes past the
// cache: reading CIFAR's 60,000 images of 32 x 32 took 0.96 s instead of 0.55 s.
std::uint8_t* row_space(std::vector<std::uint8_t>& space, std::size_t bytes) {
  space.resize(bytes + 32);
  const auto off = reinterpret_cast<std::uintptr_t>(space.data()) % 32;
  return space.data() + (48 - off) % 32;
}

// x * y / 255, rounded, for bytes: PIL's MULDIV255.
constexpr int scaled(int x, int y) {
  const int product = x * y + 128;
  return ((product >> 8) + product) >> 8;
}

// PIL's cmyk2rgb of inverted CMYK, as Adobe's programs store it.
void rgb_of_cmyk(const std::vector<std::uint8_t>& cmyk, std::vector<std::uint8_t>& rgb) {
  for (std::size_t pixel = 0; pixel * 3 < rgb.size(); ++pixel) {
    const int light = cmyk[pixel * 4 + 3];  // 255 - black
    for (std::size_t i = 0; i < 3; ++i) {
      rgb[pixel * 3 + i] = static_cast<std::uint8_t>(light - scaled(255 - cmyk[pixel * 4 + i], light));
    }
  }
}

}  // namespace

Result<Image> decode_jpeg(std::string_view bytes, const ImageLimits& limits) {
  Reader reader;
  reader.jpeg.err = jpeg_std_error(&reader.errors);
  reader.jpeg.client_data = &reader;
  reader.errors.error_exit = on_error;
  reader.errors.emit_message = on_message;
  reader.progress.progress_monitor = on_progress;
  const auto damaged = [&reader] {
    return error(
        fmt::format("cannot be decoded ({}); the file is damaged. Fetch it again.", reader.problem.data()));
  };

  if (!read_header(reader, bytes)) return damaged();
  const std::int64_t height = reader.jpeg.image_height;
  const std::int64_t width = reader.jpeg.image_width;
  if (!fits(height, width, limits)) return too_large(height, width, limits);
  const int channels = reader.jpeg.num_components;
  if (channels != 1 && channels != 3 && channels != 4) {
    return error(fmt::format("has {} channels; 1, 3 and 4 are read. Convert it to RGB.", channels));
  }
  const bool inks = channels == 4;
  reader.jpeg.out_color_space = inks ? JCS_CMYK : JCS_RGB;

  Image image{.height = height, .width = width, .pixels = {}};
  const auto bytes_of_row = static_cast<std::size_t>(width) * (inks ? 4 : 3);
  auto* row = row_space(reader.row, bytes_of_row);
  if (!inks) {
    image.pixels.reserve(bytes_of(height, width));
    if (!read_pixels(reader, row, image.pixels, bytes_of_row)) return damaged();
    return image;
  }
  std::vector<std::uint8_t> cmyk;
  cmyk.reserve(bytes_of_row * static_cast<std::size_t>(height));
  if (!read_pixels(reader, row, cmyk, bytes_of_row)) return damaged();
  image.pixels.resize(bytes_of(height, width));
  rgb_of_cmyk(cmyk, image.pixels);
  return image;
}

}  // namespace hyfreedp::datasets
