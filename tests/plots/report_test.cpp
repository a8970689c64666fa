// The report as a browser gets it.
#include "plots/report.h"

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>

#include "harness/base/files.h"
#include "plots/gnuplot.h"
#include "plots/svg_inline.h"
#include "tests/results/fake_database.h"

namespace hyfreedp::plots {
namespace {

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
    html_ = *report_html(*store_, table, {figures_, {}, kNoGnuplot});
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
  const auto open = *report_html(*store_, table, {figures_, {}, kNoGnuplot});
  EXPECT_NE(open.find("validation 77.7"), std::string::npos);
  EXPECT_NE(open.find("CONFIDENTIAL"), std::string::npos);
}

TEST_F(Report, IsValidHtml) {
  const auto tidy = find_program("tidy");
  if (!tidy) GTEST_SKIP() << "tidy is not installed. Debian: apt-get install tidy";
  EXPECT_EQ(output_of(*tidy + " -e -q '" + path_ + "'"), "");
}

TEST_F(Report, OpensInABrowserWithoutAnErrorAndFitsANarrowScreen) {
  const auto browser = find_program("chromium");
  if (!browser) GTEST_SKIP() << "chromium is not installed. Debian: apt-get install chromium";
  // The probe writes what it measured into the title; the report itself has no script.
  const std::string probe =
      "<script>addEventListener('load', () => { const f = document.createElement('iframe'); f.style.width = "
      "'400px';"
      "f.srcdoc = document.documentElement.outerHTML.replace(/<script>.*<\\/script>/s, ''); f.onload = () => "
      "{"
      "const d = f.contentDocument.documentElement; document.title = 'narrow ' + d.scrollWidth + ' of ' + "
      "d.clientWidth; };"
      "document.body.append(f); });</script></body>";
  auto page = html_;
  page.replace(page.rfind("</body>"), 7, probe);
  ASSERT_TRUE(write_file_atomically((folder_ / "probe.html").string(), page));
  const auto log = output_of(
      "timeout 60 " + *browser + " --headless --no-sandbox --disable-gpu --enable-logging=stderr --v=0 " +
      "--user-data-dir='" + folder_.string() + "/profile' --virtual-time-budget=4000 --dump-dom 'file://" +
      folder_.string() + "/probe.html'");
  EXPECT_EQ(log.find("CONSOLE"), std::string::npos) << log.substr(0, 2000);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(log, found, std::regex("<title>narrow (\\d+) of (\\d+)</title>")))
      << log.substr(0, 2000);
  EXPECT_LE(std::stoi(found[1]), std::stoi(found[2])) << "the page scrolls sideways at 400 px";
}

TEST(InlineSvg, IdsGetTheirOwnPrefix) {
  const auto text = inline_svg(
      "<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 10 20\" xmlns=\"x\">\n<title>t</title><desc>d</desc>"
      "<g id='a'/><use xlink:href='#a' fill='url(#b)'/></svg>\n",
      "fig", "What \"it\" shows");
  EXPECT_EQ(text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"What &quot;it&quot; shows\" "
            "viewBox=\"0 0 10 20\">"
            "\n<g id=\"fig-a\"/><use href=\"#fig-a\" fill='url(#fig-b)'/></svg>");
}

}  // namespace
}  // namespace hyfreedp::plots
