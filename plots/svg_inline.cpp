#include "plots/svg_inline.h"

#include <fmt/format.h>
#include <regex>

#include "results/table/html_writer.h"

namespace hyfreedp::plots {
namespace {

std::string replaced(const std::string& text, const char* pattern, const std::string& with) {
  return std::regex_replace(text, std::regex(pattern), with);
}

}  // namespace

std::string inline_svg(const std::string& svg, const std::string& name, const std::string& description,
                       double width, double height) {
  const auto begin = svg.find("<svg");
  if (begin == std::string::npos) return "";
  const auto head_end = svg.find('>', begin);
  const auto body_end = svg.rfind("</svg>");
  if (head_end == std::string::npos || body_end == std::string::npos) return "";
  std::string body = svg.substr(head_end + 1, body_end - head_end - 1);
  body = replaced(body, "<title>[^<]*</title>", "");
  body = replaced(body, "<desc>[^<]*</desc>", "");
  body = replaced(body, "\\bid=(['\"])([^'\"]*)['\"]", "id=\"" + name + "-$2\"");
  body = replaced(body, "xlink:href=(['\"])#([^'\"]*)['\"]", "href=\"#" + name + "-$2\"");
  body = replaced(body, "url\\(#([^)]*)\\)", "url(#" + name + "-$1)");
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"" +
         results::html_escaped(description) + fmt::format("\" viewBox=\"0 0 {:g} {:g}\">", width, height) +
         body + "</svg>";
}

}  // namespace hyfreedp::plots
