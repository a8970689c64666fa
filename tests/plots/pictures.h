// Draws a figure of a test where a person can look at it (the build folder's `pictures`), and
// checks what can be checked.
#pragma once

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "harness/base/files.h"
#include "plots/figures.h"
#include "plots/gnuplot.h"

namespace hyfreedp::plots {

inline std::string pictures_folder() {
  return std::filesystem::weakly_canonical(std::string(HYFREEDP_BIN_DIR) + "/../pictures").string();
}

inline std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The PNG has twice the figure's size, the SVG is well-formed, the script holds every point; says
// loudly what it cannot check.
inline void check_picture(const Figure& figure) {
  if (!find_program("gnuplot")) {
    std::printf("SKIPPED: drawing '%s'. %s\n", figure.name.c_str(), kNoGnuplot);
    return;
  }
  const auto drawn = draw({figure}, pictures_folder());
  ASSERT_TRUE(drawn) << drawn.error().message;
  const auto png = read_file(drawn->front().png);
  ASSERT_TRUE(png && png->size() > 1000) << drawn->front().png;
  EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(big_endian(*png, 16), static_cast<std::uint32_t>(2 * figure.width * figure.scale)) << figure.name;
  EXPECT_EQ(big_endian(*png, 20), static_cast<std::uint32_t>(2 * figure.height * figure.scale))
      << figure.name;
  const auto xmllint = find_program("xmllint");
  if (!xmllint) {
    std::puts("SKIPPED: xmllint is not installed; Debian: apt-get install libxml2-utils");
  } else {
    const auto checked =
        must_succeed({.program = *xmllint, .arguments = {"--noout", "--nonet", drawn->front().svg}});
    EXPECT_TRUE(checked) << checked.error().message;
  }
}

// Roughly: an upright or level text of gnuplot's sans at 12 points is 7 pixels a character wide.
inline void expect_on_canvas(const Figure& figure) {
  for (const auto& box : figure.boxes) {
    EXPECT_GE(box.left, 0) << figure.name;
    EXPECT_GE(box.bottom, 0) << figure.name;
    EXPECT_LE(box.right, figure.width) << figure.name;
    EXPECT_LE(box.top, figure.height) << figure.name;
  }
  for (const auto& text : figure.texts) {
    std::size_t characters = 0;
    for (const char byte : text.text) characters += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
    const double length = 6.2 * text.size / 12 * static_cast<double>(characters);
    const double before = text.align == Text::Align::left     ? 0
                          : text.align == Text::Align::centre ? length / 2
                                                              : length;
    const double at = text.upright ? text.y : text.x;
    EXPECT_GE(at - before, -1) << figure.name << ": " << text.text;
    EXPECT_LE(at - before + length, (text.upright ? figure.height : figure.width) + 1)
        << figure.name << ": " << text.text;
  }
  EXPECT_LE(legend_height(figure.legend, figure.legend_columns), figure.legend_top) << figure.name;
}

}  // namespace hyfreedp::plots
