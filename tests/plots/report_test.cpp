// The report as a browser gets it.
#include "plots/report.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <tuple>

#include "harness/base/files.h"
#include "plots/gnuplot.h"
#include "plots/report_figure.h"
#include "plots/svg_inline.h"
#include "tests/plots/pictures.h"
#include "tests/results/fake_database.h"

namespace hyfreedp::plots {
namespace report_test {

// Drawn once for all tests of the suite.
class Report : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    store_ = *results::Store::in_memory();
    ASSERT_TRUE(fake::fill(*store_));
    folder_ = std::filesystem::temp_directory_path() / ("hyfreedp-report-" + std::to_string(::getpid()));
    const auto table = *results::build_table(*store_, "fake");
    if (find_program("gnuplot"))
      figures_ = *draw(figures_of(*store_, table)->figures, folder_.string());
    else
      std::printf("SKIPPED: the report's figures. %s\n", kNoGnuplot);
    html_ =
        *report_html(store_.get(), {report_part(table, {figures_, {}, figures_.empty() ? kNoGnuplot : ""})});
    path_ = (folder_ / "report.html").string();
    ASSERT_TRUE(write_file_atomically(path_, html_));
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(folder_);
    store_.reset();
  }

  static bool contains(const std::string& part) { return html_.find(part) != std::string::npos; }

  static inline std::unique_ptr<results::Store> store_;
  static inline std::vector<DrawnFigure> figures_;
  static inline std::filesystem::path folder_;
  static inline std::string html_, path_;
};

// Standard output and error of a shell command.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

TEST_F(Report, HasItsParts) {
  for (const char* part :
       {"id=\"reading\"", "id=\"tables\"", "id=\"figures\"", "id=\"ledger\"", "id=\"failures\"",
        "id=\"provenance\"", "reproducible noise: not a private release", "infeasible-epsilon",
        "0123456789abcdef", "AVX2", "250 × Poisson q = 0.02", "# &lt;made up&gt; &amp; &quot;quoted&quot;",
        "prefers-color-scheme: dark"}) {
    EXPECT_TRUE(contains(part)) << part;
  }
}

TEST_F(Report, AsksNobodyForAnything) {
  const std::regex outside(
      "(src|href|action|poster)\\s*=\\s*[\"']?(https?:|//|file:)|url\\(\\s*[\"']?(https?:|//"
      ")|@import|<script",
      std::regex::icase);
  std::smatch found;
  EXPECT_FALSE(std::regex_search(html_, found, outside)) << found.str();
}

TEST_F(Report, IdsAreUniqueAndLinksHaveTargets) {
  std::map<std::string, int> ids;
  const std::regex id("\\sid=\"([^\"]+)\"");
  for (auto i = std::sregex_iterator(html_.begin(), html_.end(), id); i != std::sregex_iterator(); ++i)
    ++ids[(*i)[1]];
  for (const auto& [name, count] : ids) EXPECT_EQ(count, 1) << name;
  const std::regex link("href=\"#([^\"]+)\"");
  for (auto i = std::sregex_iterator(html_.begin(), html_.end(), link); i != std::sregex_iterator(); ++i) {
    EXPECT_TRUE(ids.contains((*i)[1])) << (*i)[1];
  }
}

TEST_F(Report, ConfidentialValuesNeverLeak) {
  EXPECT_FALSE(contains(fake::kPlantedDigits));
  EXPECT_FALSE(contains("validation 77.7"));
  EXPECT_FALSE(contains("CONFIDENTIAL"));
  const auto table = *results::build_table(*store_, "fake", {.confidential = true});
  const auto open = *report_html(store_.get(), {report_part(table, {})});
  EXPECT_NE(open.find("validation 77.7"), std::string::npos);
  EXPECT_NE(open.find("CONFIDENTIAL"), std::string::npos);
}

TEST_F(Report, IsValidHtml) {
  const auto tidy = find_program("tidy");
  if (!tidy) GTEST_SKIP() << "tidy is not installed. Debian: apt-get install tidy";
  EXPECT_EQ(output_of(*tidy + " -e -q '" + path_ + "'"), "");
}

// Of a spec that trains nothing.
ReportPart values_part() {
  ReportPart values{
      .id = "values", .document = {.title = "The paper's values alone", .panels = {}}, .figures = {}};
  values.document.panels.push_back({.title = "t",
                                    .heads = {"Row"},
                                    .columns = {{"A"}},
                                    .rows = {{.heads = {"r"}, .cells = {{.main = "1.00", .notes = {1}}}}}});
  values.document.footnotes = {"of the paper"};
  values.text = "name: values # <as read>\n";
  return values;
}

TEST(ValuesReport, HasNoDeadLinkAndNoWordOfAccuracy) {
  const auto html = report_html(nullptr, {values_part()});
  ASSERT_TRUE(html) << html.error().message;
  const std::regex link("href=\"#([^\"]+)\"");
  for (auto i = std::sregex_iterator(html->begin(), html->end(), link); i != std::sregex_iterator(); ++i) {
    EXPECT_NE(html->find("id=\"" + (*i)[1].str() + "\""), std::string::npos) << "dead: " << (*i)[1];
  }
  EXPECT_EQ(html->find("accuracy"), std::string::npos) << *html;
  EXPECT_NE(html->find("How to read this"), std::string::npos);
}

TEST_F(Report, OfSeveralSpecsHasContentsAndNoIdTwice) {
  const auto values = values_part();
  const auto table = *results::build_table(*store_, "fake");
  const auto html = report_html(
      store_.get(), {report_part(table, {figures_, {{"grid", "no finished run has it"}}, ""}), values});
  ASSERT_TRUE(html) << html.error().message;
  for (const char* part :
       {"Report of 2 specs", "href=\"#fake\"", "href=\"#values\"", "<article id=\"values\">",
        "id=\"values-note-1\"", "id=\"fake-tables\"", "Not drawn: grid: no finished run has it.",
        "Nothing was trained for this.", "# &lt;as read&gt;"}) {
    EXPECT_NE(html->find(part), std::string::npos) << part;
  }
  std::set<std::string> ids;
  const std::regex id("\\sid=\"([^\"]+)\"");
  for (auto i = std::sregex_iterator(html->begin(), html->end(), id); i != std::sregex_iterator(); ++i) {
    EXPECT_TRUE(ids.insert((*i)[1]).second) << (*i)[1];
  }
  const std::regex link("href=\"#([^\"]+)\"");
  for (auto i = std::sregex_iterator(html->begin(), html->end(), link); i != std::sregex_iterator(); ++i) {
    EXPECT_TRUE(ids.contains((*i)[1])) << (*i)[1];
  }
  if (const auto tidy = find_program("tidy")) {
    const auto path = (folder_ / "several.html").string();
    ASSERT_TRUE(write_file_atomically(path, *html));
    EXPECT_EQ(output_of(fmt::format("{} -e -q '{}'", *tidy, path)), "");
  }
}

// What a browser measured, by a script that the report itself does not have.
struct Measured {
  std::string log;
  int width = 0, client = 0;  // of the page at 400 pixels
  // Footnote numbers at 400 pixels that stand beneath their value instead of beside it.
  int torn = 0;
  int legends = 0;      // of figures, whole and in sight at 400 pixels
  double contrast = 0;  // the least of any text on its ground (WCAG 2)
  std::string of;       // that text
  bool dark = false;
};

constexpr const char* kProbe = R"js(<script>
addEventListener('load', () => {
  const linear = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); };
  const parts = text => text.match(/[0-9.]+/g).map(Number);
  const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const ground = node => {
    for (let at = node; at; at = at.parentElement) {
      const c = parts(getComputedStyle(at).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  let least = 99, which = '';
  for (const node of document.body.querySelectorAll('*')) {
    if (node.closest('svg') || node.tagName === 'SCRIPT') continue;
    const own = [...node.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent.trim()).join('');
    if (!own) continue;
    const a = light(parts(getComputedStyle(node).color)), b = light(ground(node));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) { least = ratio; which = own.slice(0, 40); }
  }
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const frame = document.createElement('iframe');
  frame.style.width = '400px';
  frame.srcdoc = document.documentElement.outerHTML.replace(/<script>.*<\/script>/s, '');
  frame.onload = () => {
    const inside = frame.contentDocument, page = inside.documentElement;
    const torn = [...inside.querySelectorAll('td sup')].filter(sup => {
      const text = inside.createRange();
      text.selectNodeContents(sup.closest('td').querySelector('span, strong').firstChild);
      const lines = [...text.getClientRects()], last = lines[lines.length - 1];
      return sup.getBoundingClientRect().top >= last.bottom;
    }).length;
    const legends = [...inside.querySelectorAll('.legend')].filter(legend => {
      const box = legend.getBoundingClientRect();
      return box.height > 0 && box.left >= 0 && box.right <= page.clientWidth;
    }).length;
    document.title = `measured ${page.scrollWidth} ${page.clientWidth} ${torn} ${legends} ${least.toFixed(2)} ` +
        `${dark} ${which}`;
  };
  document.body.append(frame);
});
</script></body>)js";

class InBrowser : public Report {
 protected:
  void SetUp() override {
    const auto found = find_program("chromium");
    if (!found) GTEST_SKIP() << "chromium is not installed. Debian: apt-get install chromium";
    browser_ = *found;
  }

  static std::string flags(bool dark) {
    return fmt::format(
        "--headless --no-sandbox --disable-gpu --enable-logging=stderr --v=0 --hide-scrollbars "
        "--virtual-time-budget=4000 "
        "--user-data-dir='{}/profile' --blink-settings=preferredColorScheme={}",
        folder_.string(), dark ? 0 : 1);
  }

  Measured measured(bool dark) const {
    auto page = html_;
    page.replace(page.rfind("</body>"), 7, kProbe);
    const auto path = (folder_ / "probe.html").string();
    EXPECT_TRUE(write_file_atomically(path, page));
    Measured seen;
    seen.log = output_of(fmt::format("timeout 60 {} {} --dump-dom 'file://{}'", browser_, flags(dark), path));
    std::smatch found;
    const std::regex title(
        "<title>measured (\\d+) (\\d+) (\\d+) (\\d+) ([0-9.]+) (true|false) ([^<]*)</title>");
    if (!std::regex_search(seen.log, found, title)) return seen;
    seen.width = std::stoi(found[1]);
    seen.client = std::stoi(found[2]);
    seen.torn = std::stoi(found[3]);
    seen.legends = std::stoi(found[4]);
    seen.contrast = std::stod(found[5]);
    seen.dark = found[6] == "true";
    seen.of = found[7];
    return seen;
  }

  // Into the build folder, for a person to look at.
  std::string screenshot(const char* name, bool dark, int width, int height) const {
    std::filesystem::create_directories(pictures_folder());
    const auto path = fmt::format("{}/{}.png", pictures_folder(), name);
    std::filesystem::remove(path);
    output_of(fmt::format("timeout 60 {} {} --window-size={},{} --screenshot='{}' 'file://{}'", browser_,
                          flags(dark), width, height, path, path_));
    return path;
  }

  std::string browser_;
};

constexpr double kReadable = 4.5;  // WCAG 2, level AA

TEST_F(InBrowser, OpensWithoutAnErrorFitsANarrowScreenAndIsReadableInBothSchemes) {
  for (const bool dark : {false, true}) {
    const auto seen = measured(dark);
    ASSERT_GT(seen.client, 0) << seen.log.substr(0, 2000);
    EXPECT_EQ(seen.dark, dark) << "the browser did not take the scheme that was asked for";
    EXPECT_EQ(seen.log.find("CONSOLE"), std::string::npos) << seen.log.substr(0, 2000);
    EXPECT_LE(seen.width, seen.client) << "the page scrolls sideways at 400 px";
    EXPECT_EQ(seen.torn, 0) << "footnote numbers away from their values at 400 px";
    EXPECT_EQ(seen.legends, static_cast<int>(figures_.size()))
        << "figures whose legend is out of sight at 400 px";
    EXPECT_GE(seen.contrast, kReadable) << (dark ? "dark" : "light") << ": " << seen.of;
  }
}

TEST_F(InBrowser, IsPhotographed) {
  for (const auto& [name, dark, width] :
       {std::tuple{"report-light", false, 1200}, std::tuple{"report-dark", true, 1200},
        std::tuple{"report-narrow", false, 500}}) {
    const auto png = read_file(screenshot(name, dark, width, 4200));
    ASSERT_TRUE(png && png->size() > 20000) << name;
    EXPECT_EQ(big_endian(*png, 16), static_cast<std::uint32_t>(width)) << name;
  }
}

TEST(ReportFigure, TheLegendIsTextBesideThePictureUnlessATextReachesIntoItsPlace) {
  const std::string svg = "<svg viewBox=\"0 0 500 400\"></svg>";
  Figure figure{.name = "f", .caption = "what it shows", .width = 500, .height = 400};
  figure.boxes.push_back(
      {.left = 50, .right = 280, .bottom = 200, .top = 380, .x = {}, .y = {}, .lines = {}});
  figure.texts.push_back({165, 150, "step", Text::Align::centre, false, false});
  figure.legend = {{"<mine>", {"#0000FF", 2, 6}, true}, {"yours", {"#00B400", 1, 7}, false}};
  figure.legend_left = 300;
  figure.legend_top = 380;
  const auto html = report_figure(figure, svg, "x-");
  for (const char* part : {"viewBox=\"0 0 296 258\"", "<ul class=\"legend\">", "<span>&lt;mine&gt;</span>",
                           "stroke-dasharray=\"8 7\"", "fill=\"#ffffff\" stroke=\"#0000FF\""}) {
    EXPECT_NE(html.find(part), std::string::npos) << part << "\n" << html;
  }
  auto watermarked = figure;
  watermarked.texts.push_back(
      {10, 390, "CONFIDENTIAL: shows what was not released", Text::Align::left, true, false});
  const auto whole = report_figure(watermarked, svg, "x-");
  EXPECT_NE(whole.find("viewBox=\"0 0 500 400\""), std::string::npos) << whole;
  EXPECT_EQ(whole.find("legend"), std::string::npos) << whole;
  figure.legend_left = 50;  // beneath
  figure.legend_top = 100;
  EXPECT_NE(report_figure(figure, svg, "x-").find("viewBox=\"0 0 500 300\""), std::string::npos);
}

TEST(InlineSvg, IdsGetTheirOwnPrefix) {
  const auto text = inline_svg(
      "<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 10 20\" xmlns=\"x\">\n<title>t</title><desc>d</desc>"
      "<g id='a'/><use xlink:href='#a' fill='url(#b)'/></svg>\n",
      "fig", "What \"it\" shows", 8, 20);
  EXPECT_EQ(text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"What &quot;it&quot; shows\" "
            "viewBox=\"0 0 8 20\">"
            "\n<g id=\"fig-a\"/><use href=\"#fig-a\" fill='url(#fig-b)'/></svg>");
}

}  // namespace report_test
}  // namespace hyfreedp::plots
