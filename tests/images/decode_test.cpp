// Image files of every kind beside what Pillow makes of them, and files that are broken or hostile.
#include "datasets/image/decode.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
// After <cstdio>.
#include <jpeglib.h>
#include <map>
#include <random>
#include <zlib.h>

#include "harness/base/files.h"
#include "peak_memory.h"

namespace hyfreedp::datasets {
namespace decode_test {

namespace fs = std::filesystem;
using namespace std::string_literals;

const fs::path kFiles = fs::path(HYFREEDP_TEST_DATA) / "images" / "decode";

std::string file(const std::string& name) { return read_file((kFiles / name).string()).value(); }

// The error of bytes that must not decode; it begins with the file's name.
std::string refusal(std::string_view bytes, const ImageLimits& limits = {}) {
  const auto image = decode_image(bytes, "a/file", limits);
  if (image) return "decoded";
  EXPECT_TRUE(image.error().message.starts_with("a/file")) << image.error().message;
  return image.error().message;
}

testing::AssertionResult mentions(const std::string& message, const std::string& what) {
  if (message.find(what) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << what << "' in: " << message;
}

int largest_difference(const Image& a, const Image& b) {
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(int{a.pixels[i]} - int{b.pixels[i]}));
  }
  return largest;
}

TEST(DecodeImage, EveryKindAsPillowDoes) {
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(kFiles)) {
    const auto name = entry.path().filename().string();
    if (entry.path().extension() == ".ppm") continue;
    SCOPED_TRACE(name);
    const auto image = decode_image(file(name), name);
    ASSERT_TRUE(image.has_value()) << image.error().message;
    const auto expected = decode_image(file(entry.path().stem().string() + ".expected.ppm"), "expected");
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    ASSERT_EQ(image->height, expected->height);
    ASSERT_EQ(image->width, expected->width);
    ASSERT_EQ(image->pixels.size(), expected->pixels.size());
    // PNG has one right answer. JPEG leaves the last bit open, and libjpeg's versions may differ.
    EXPECT_LE(largest_difference(*image, *expected), entry.path().extension() == ".png" ? 0 : 1);
    ++cases;
  }
  EXPECT_GE(cases, 28) << kFiles << " lost files";
}

TEST(DecodeImage, PpmByHand) {
  const auto colour =
      decode_image("P6\n# a comment\n2 # another\n1\n255\n\x01\x02\x03\xFD\xFE\xFF and more", "x");
  ASSERT_TRUE(colour.has_value()) << colour.error().message;
  EXPECT_EQ(*colour, (Image{.height = 1, .width = 2, .pixels = {1, 2, 3, 253, 254, 255}}));
  const auto grey = decode_image("P5 1 2 255 \x07\x80", "x");
  ASSERT_TRUE(grey.has_value()) << grey.error().message;
  EXPECT_EQ(*grey, (Image{.height = 2, .width = 1, .pixels = {7, 7, 7, 128, 128, 128}}));
  EXPECT_TRUE(mentions(refusal("P6 2 1 255 \x01\x02\x03\x04\x05"), "5 of 6 bytes"));
  EXPECT_TRUE(mentions(refusal("P6 1 1 65535 \x01\x02\x03\x04\x05\x06"), "65535"));
  EXPECT_TRUE(mentions(refusal("P6 0 1 255 "), "0 x 1"));
  for (const auto* header :
       {"P6", "P6 1", "P6 1 1", "P6 1 1 255", "P6 1 1 255x", "P6 -1 1 255 ", "P6 x",
        "P6 99999999999999999999 1 255 ", "P62 1 255 ", "P6 # no end", "P6 1 1 # 255 "}) {
    EXPECT_TRUE(mentions(refusal(header), "header")) << header;
  }
}

TEST(DecodeImage, OtherFormatsAreNamed) {
  EXPECT_TRUE(mentions(refusal(""), "empty"));
  EXPECT_TRUE(mentions(refusal("GIF89a..."), "GIF"));
  EXPECT_TRUE(mentions(refusal("RIFF....WEBP"), "WebP"));
  EXPECT_TRUE(mentions(refusal("BM......"), "BMP"));
  EXPECT_TRUE(mentions(refusal("II*\0...."s), "TIFF"));
  EXPECT_TRUE(mentions(refusal("\0\0\0\x1C"s + "ftypavif"), "AVIF"));
  EXPECT_TRUE(mentions(refusal("P3 1 1 255 1 2 3"), "text"));
  EXPECT_TRUE(mentions(refusal("\0\0\0\x0CJXL "s), "JPEG XL"));
  EXPECT_TRUE(mentions(refusal("\n<html>"), "a web page or XML"));
  for (const auto* text : {"x", " ", "\xFF\xD8", "\x89PNG"}) {
    EXPECT_TRUE(mentions(refusal(text), "no image of a known format"));
  }
}

TEST(BeginsImage, IsToldFromTheBytesAndTakesNoTextForOne) {
  for (const auto& [name, bytes] :
       std::vector<std::pair<const char*, std::string>>{{"jpeg", file("small.jpg").substr(0, 40)},
                                                        {"png", file("rgb8.png").substr(0, 40)},
                                                        {"ppm", "P6\n# by hand\n3 4\n255\n"},
                                                        {"pgm", "P5 3 4 255 x"}}) {
    EXPECT_TRUE(begins_image(bytes)) << name;
    EXPECT_TRUE(check_format(bytes, "x").has_value()) << name;
  }
  for (const char* text : {"", "P6", "P6 is a format", "P60 1", "GIF89a", "BM", "\xFF\xD8", "id,P6\n"}) {
    EXPECT_FALSE(begins_image(text)) << text;
  }
}

// A JPEG's first segments with an EXIF of one entry.
std::string jpeg_with_exif(std::uint8_t orientation, bool little_endian, bool behind_jfif = true) {
  using std::string_literals::operator""s;
  const auto number = [little_endian](unsigned value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255U);
    if (!little_endian) std::reverse(text.begin(), text.end());
    return text;
  };
  const auto tiff = (little_endian ? "II*\0"s : "MM\0*"s) + number(8, 4) + number(2, 2) + number(0x010F, 2) +
                    number(2, 2) + number(4, 4) + "abc\0"s +  // the maker
                    number(0x0112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + "\0\0"s;
  const auto exif = "Exif\0\0"s + tiff;
  const auto jfif = "\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"s;
  return "\xFF\xD8"s + (behind_jfif ? jfif : ""s) + "\xFF\xE1\0"s + static_cast<char>(exif.size() + 2) + exif;
}

TEST(IsTurnedByExif, ReadsTheOrientationOfEitherByteOrder) {
  for (const bool little : {false, true}) {
    for (const bool behind : {false, true}) {
      for (std::uint8_t orientation = 0; orientation < 12; ++orientation) {
        EXPECT_EQ(is_turned_by_exif(jpeg_with_exif(orientation, little, behind)),
                  orientation >= 2 && orientation <= 8)
            << int{orientation};
      }
    }
  }
  const auto turned = jpeg_with_exif(6, true);
  const auto png = file("rgb8.png");
  const auto tiff = turned.substr(turned.find("II*"));
  const auto chunk = std::string{0, 0, 0, static_cast<char>(tiff.size())} + "eXIf" + tiff + "crc.";
  EXPECT_TRUE(is_turned_by_exif(png.substr(0, 33) + chunk + png.substr(33)));
  EXPECT_FALSE(is_turned_by_exif(png));
  EXPECT_FALSE(is_turned_by_exif(file("small.jpg")));
  // Cut anywhere, and with any byte changed: an answer.
  std::mt19937 random(3);
  for (std::size_t length = 0; length < turned.size(); ++length) {
    static_cast<void>(is_turned_by_exif(std::string(turned.substr(0, length))));
    auto damaged = turned;
    damaged[length] = static_cast<char>(random());
    static_cast<void>(is_turned_by_exif(damaged));
  }
}

// The first is one that every decoder reads to its end marker.
const std::vector<std::string> kSamples = {
    "small.jpg",      "progressive.jpg", "cmyk.jpg",       "restart.jpg", "rgb8.png",
    "interlaced.png", "palette4.png",    "gamma_text.png", "rgb16.png",   "yuv420.expected.ppm"};

TEST(DecodeImage, EveryTruncationIsAnError) {
  for (const auto& name : kSamples) {
    const auto whole = file(name);
    ASSERT_TRUE(decode_image(whole, name).has_value()) << name;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      // A copy of just that length, so that the sanitizer sees a read beyond it.
      const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_FALSE(decode_image({part.data(), part.size()}, name).has_value())
          << name << " cut at " << length;
    }
  }
}

// Whatever the bytes: an image of the declared size, or an error. The sanitizers watch.
TEST(DecodeImage, DamagedBytesNeverCrash) {
  std::mt19937 random(18);
  std::map<std::string, int> decoded;
  for (const auto& name : kSamples) {
    const auto whole = file(name);
    for (int round = 0; round < 400; ++round) {
      std::vector<char> bytes(whole.begin(), whole.end());
      for (int i = 0; i <= round % 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      const auto image = decode_image({bytes.data(), bytes.size()}, name, {.side = 500, .pixels = 20000});
      if (!image) continue;
      ++decoded[name];
      EXPECT_EQ(image->pixels.size(), bytes_of(image->height, image->width));
    }
  }
  EXPECT_EQ(decoded["rgb8.png"], 0) << "PNG has checksums";
}

// Where libjpeg itself only warns and makes up the rest of the image.
TEST(DecodeImage, DamageThatLibjpegOnlyWarnsOfIsAnError) {
  // The pixels end early, at a proper end marker.
  auto bytes = file("yuv420.jpg");
  const auto scan = bytes.rfind("\xFF\xDA"s);
  ASSERT_NE(scan, std::string::npos);
  EXPECT_TRUE(mentions(refusal(bytes.substr(0, (scan + bytes.size()) / 2) + "\xFF\xD9"), "damaged"));
  // Another restart marker than the next.
  bytes = file("restart.jpg");
  const auto restart = bytes.find("\xFF\xD0"s, bytes.rfind("\xFF\xDA"s));
  ASSERT_NE(restart, std::string::npos);
  bytes[restart + 1] = '\xD6';
  EXPECT_TRUE(mentions(refusal(bytes), "damaged"));
}

TEST(DecodeImage, BytesThatPilPassesOverAreNoDamage) {
  auto bytes = file("small.jpg");
  bytes.insert(bytes.find("\xFF\xC0"), "\x01\x02\x03");  // between two segments
  EXPECT_TRUE(decode_image(bytes, "x").has_value());
  EXPECT_TRUE(decode_image(file("small.jpg") + "after the end", "x").has_value());
  EXPECT_TRUE(decode_image(file("rgb8.png") + "after the end", "x").has_value());
}

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string png_chunk(const std::string& body) {  // the type and what follows
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(body.size()) - 4) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

std::string png_header(std::uint32_t width, std::uint32_t height, char depth, char colour) {
  return "\x89PNG\r\n\x1A\n" +
         png_chunk("IHDR" + big_endian(width) + big_endian(height) + depth + colour + "\0\0\0"s);
}

std::string deflated(const std::string& bytes) {
  uLongf size = ::compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  EXPECT_EQ(::compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                        reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 9),
            Z_OK);
  out.resize(size);
  return out;
}

TEST(DecodeImage, DeclaredSizesAreRefusedBeforeMemoryIsTaken) {
  const PeakMemory memory;
  EXPECT_TRUE(mentions(refusal("P6 100000 1 255 "), "100000 x 1"));
  EXPECT_TRUE(mentions(refusal("P6 999999999 999999999 255 "), "999999999"));
  EXPECT_TRUE(mentions(refusal("P6 8000 4000 255 x"), "1 of 96000000"));
  // A PNG that declares 900,000 x 900,000, one that is only too large together, one within the
  // limits whose few bytes cannot hold it.
  const auto data = png_chunk("IDAT" + deflated("abc"));
  EXPECT_TRUE(mentions(refusal(png_header(900000, 900000, 8, 2) + data), "900000 x 900000"));
  EXPECT_TRUE(mentions(refusal(png_header(60000, 60000, 8, 2) + data), "60000 x 60000"));
  EXPECT_TRUE(mentions(refusal(png_header(8000, 4000, 8, 2) + data), "cannot hold"));
  EXPECT_TRUE(mentions(refusal(png_header(0xFFFFFFFF, 1, 8, 2) + data), "damaged"));
  auto jpeg = file("small.jpg");
  const auto frame = jpeg.find("\xFF\xC0"s);
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xFD\xE8\xFD\xE8");
  EXPECT_TRUE(mentions(refusal(jpeg), "65000 x 65000"));
  jpeg.replace(frame + 5, 4, "\x3E\x80\x3E\x80");  // 16000 x 16000, within the limits
  EXPECT_TRUE(mentions(refusal(jpeg), "damaged"));
  EXPECT_TRUE(mentions(refusal(file("rgb8.png"), {.side = 13, .pixels = 1000}), "at most 13 a side"));
  EXPECT_TRUE(mentions(refusal(file("rgb8.png"), {.side = 14, .pixels = 125}), "125 in all"));
  EXPECT_TRUE(decode_image(file("rgb8.png"), "x", {.side = 14, .pixels = 126}).has_value());
  EXPECT_LE(memory.megabytes(), 20);
}

// Libpng bounds one text at 8 MB, but keeps up to a thousand: 84 MB of text in 84 KB are passed
// over.
TEST(DecodeImage, TextBombsInPngCostNothing) {
  const auto text = png_chunk("zTXt" + "Comment\0\0"s + deflated(std::string(7'000'000, 'a')));
  auto png = file("rgb8.png");
  const PeakMemory memory;
  for (int i = 0; i < 12; ++i) png.insert(33, text);
  EXPECT_TRUE(decode_image(png, "x").has_value());
  EXPECT_LE(memory.megabytes(), 20);
}

// A grey JPEG. `prepare` sets what is not libjpeg's default.
std::string grey_jpeg(unsigned width, unsigned height,
                      const std::function<std::vector<JSAMPLE>(unsigned y)>& row,
                      const std::function<void(jpeg_compress_struct&)>& prepare) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &out, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  prepare(jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  for (unsigned y = 0; y < height; ++y) {
    auto samples = row(y);
    JSAMPROW line = samples.data();
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(out), size);
  std::free(out);
  return bytes;
}

// Its coefficients have a scan each, the first `own` of them in several bits.
std::string progressive_with(int own) {
  std::vector<jpeg_scan_info> scans;
  const auto add = [&scans](int from, int to, int high, int low) {
    scans.push_back(
        {.comps_in_scan = 1, .component_index = {0}, .Ss = from, .Se = to, .Ah = high, .Al = low});
  };
  add(0, 0, 0, 0);
  for (int i = 1; i <= own; ++i) {
    add(i, i, 0, 1);
    add(i, i, 1, 0);
  }
  const auto row = [](unsigned y) {
    const auto sample = static_cast<JSAMPLE>(y);
    return std::vector<JSAMPLE>{0, sample, 20, 3, static_cast<JSAMPLE>(200 - y), 9, sample, 255};
  };
  return grey_jpeg(8, 8, row, [&](jpeg_compress_struct& jpeg) {
    jpeg.scan_info = scans.data();
    jpeg.num_scans = static_cast<int>(scans.size());
  });
}

// Row y is the byte y % 256.
std::string photo(unsigned width, unsigned height) {
  return grey_jpeg(
      width, height, [&](unsigned y) { return std::vector<JSAMPLE>(width, static_cast<JSAMPLE>(y % 256)); },
      [](jpeg_compress_struct& jpeg) { jpeg_set_quality(&jpeg, 100, TRUE); });
}

TEST(DecodeImage, APhotoOf48MegapixelsIsRead) {
  const auto image = decode_image(photo(8064, 6048), "phone.jpg");
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_EQ(image->width, 8064);
  EXPECT_EQ(image->height, 6048);
  EXPECT_NEAR(image->pixels[(std::size_t{1000} * 8064 + 4000) * 3 + 1], 1000 % 256, 1);
  EXPECT_NEAR(image->pixels.back(), 6047 % 256, 1);
}

// Thousands of scans over a large image would take minutes.
TEST(DecodeImage, ProgressiveScansAreBounded) {
  EXPECT_TRUE(decode_image(progressive_with(49), "x").has_value());  // 99 scans
  EXPECT_TRUE(mentions(refusal(progressive_with(63)), "more than 100 scans"));
}

TEST(DecodeImage, SixteenBitGreyIsRefusedByName) {
  const auto png = png_header(1, 1, 16, 0) + png_chunk("IDAT" + deflated("\0\x12\x34"s)) + png_chunk("IEND");
  EXPECT_TRUE(mentions(refusal(png), "16-bit grey"));
}

}  // namespace decode_test
}  // namespace hyfreedp::datasets
