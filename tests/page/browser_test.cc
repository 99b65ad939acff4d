// SPDX-License-Identifier: Apache-2.0
// The pages of `explain --html` in a real browser, at the width of a phone and of a desktop. Skipped where
// there is no chromium.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "page/chart.h"
#include "tests/testing/cli_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What looks at each frame once all are loaded, and writes a line for each.
constexpr char kLooking[] = R"js(
window.onload = () => {
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument, root = page.documentElement, found = [];
    const boxes = Array.from(page.querySelectorAll('.box'));
    if (root.dataset.ready !== 'true') found.push('the script failed');
    if (boxes.length === 0) found.push('no boxes');
    if (root.scrollWidth > frame.clientWidth) found.push('scrolls to ' + root.scrollWidth);
    if (page.querySelectorAll('svg.chart').length < 2) found.push('no charts');
    for (const box of boxes) {
      box.click();
      const panel = box.closest('.icicle').nextElementSibling;
      if (box.getAttribute('aria-pressed') !== 'true') found.push('not chosen');
      if (!panel.textContent.includes(box.getAttribute('aria-label'))) found.push('no details');
      if (panel.scrollWidth > panel.clientWidth) found.push('clipped details');
    }
    for (const text of page.querySelectorAll('svg text')) {
      const at = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
      if (at.left < all.left - 1 || at.right > all.right + 1) found.push('clipped: ' + text.textContent);
    }
    const line = document.createElement('p');
    line.textContent = 'looked: ' + (found.length === 0 ? 'fine' : found.join('; '));
    document.body.append(line);
  }
};
)js";

class BrowserTest : public CliTest {
 protected:
  std::string Page(const std::string& spec, const std::string& options = "") {
    const Outcome outcome = RunKirsch(
        "KIRSCH_CONFIG=none",
        Cat("explain ", spec, " --target skylake-avx512 --no-db ", options, " --html ", Path("p.html")),
        Path(""));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return *ReadFile(Path("p.html"));
  }
};

TEST_F(BrowserTest, APageIsTheSameBytesAndShowsWhatWasMeasured) {
  const std::string plain = Page("'matmul f32 8x8x8'");
  EXPECT_EQ(Page("'matmul f32 8x8x8'"), plain);
  EXPECT_THAT(plain, Not(HasSubstr("peers, measured")));
  ASSERT_TRUE(WriteFile(Path("r.json"),
                        "{\"results\": [{\"spec\": \"matmul f32 8x8x8\", \"name\": \"<b>peer</b>\", "
                        "\"gflops_median\": 50, \"compulsory_bytes\": 768, \"correct\": true}]}")
                  .ok());
  const std::string measured = Page("'matmul f32 8x8x8'", "--measured " + Path("r.json"));
  EXPECT_THAT(measured, HasSubstr("&lt;b&gt;peer&lt;/b&gt;: 50.0, measured"));
  EXPECT_THAT(measured, Not(HasSubstr("<b>")));
}

TEST_F(BrowserTest, BadInputIsRefusedOnOneLineAndNothingIsWritten) {
  const auto refused = [&](const std::string& options, const std::string& message) {
    const std::string arguments =
        Cat("explain 'matmul f32 4x4x4' --no-db --html ", Path("q.html"), " ", options);
    ExpectRefusal(RunKirsch("KIRSCH_CONFIG=none", arguments, Path("")), arguments, message);
    EXPECT_FALSE(std::filesystem::exists(Path("q.html"))) << arguments;
  };
  ASSERT_TRUE(WriteFile(Path("broken.json"), "{\"results\": [").ok());
  ASSERT_TRUE(WriteFile(Path("other.json"), "{\"name\": \"suite\"}").ok());
  ASSERT_TRUE(WriteFile(Path("text.json"), "{\"results\": [{\"spec\": 1}]}").ok());
  ASSERT_TRUE(
      WriteFile(Path("wrong.json"),
                "{\"results\": [{\"spec\": \"matmul f32 5x5x5\", \"name\": \"p\", \"gflops_median\": 1, "
                "\"compulsory_bytes\": 1, \"correct\": true}]}")
          .ok());
  refused("--measured " + Path("none.json"), "No such file or directory");
  refused("--measured " + Path("broken.json"), "broken.json:1:");
  refused("--measured " + Path("other.json"), "other.json:1:1: expected an object with \"results\"");
  refused("--measured " + Path("text.json"), "text.json:1:23: expected a string, got 1");
  refused("--measured " + Path("wrong.json"),
          "expected results of 'matmul f32 4x4x4', got those of 'matmul f32 5x5x5'");
  const std::string nowhere = Cat("explain 'matmul f32 4x4x4' --no-db --html ", Path("no/file"));
  ExpectRefusal(RunKirsch("KIRSCH_CONFIG=none", nowhere, Path("")), nowhere, "No such file or directory");
  const std::string alone = Cat("explain 'matmul f32 4x4x4' --no-db --measured ", Path("wrong.json"));
  ExpectRefusal(RunKirsch("KIRSCH_CONFIG=none", alone, Path("")), alone, "--measured: expected --html");
}

TEST_F(BrowserTest, PagesReadWellAtBothWidths) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no chromium";
  ASSERT_TRUE(
      WriteFile(
          Path("k.kirsch"),
          "kernel mlp(x: f32[32,64], w: f32[64,128], b: f32[128]):\n  return gelu(add(matmul(x, w), b))\n")
          .ok());
  const std::vector<std::string> pages = {
      Page("'matmul f32 200x300x100'", "--best 4"), Page("'matmul f32 1..20x64x64'"),
      Page("'attention f32 heads=2 tokens=64 dim=32'"), Page("-f " + Path("k.kirsch"))};
  std::string frames = "<!DOCTYPE html><meta charset=utf-8><body>";
  for (const std::string& page : pages)
    for (int width : {390, 1280})
      Append(&frames, "<iframe style=\"border:0;height:2000px;width:", width, "px\" srcdoc=\"", Escaped(page),
             "\"></iframe>\n");
  ASSERT_TRUE(WriteFile(Path("all.html"), Cat(frames, "<script>", kLooking, "</script>")).ok());
  const std::string dom = Path("dom"), log = Path("log");
  ASSERT_EQ(std::system(
                Cat("HOME=", Path(""), " chromium --headless=new --no-sandbox --disable-gpu --user-data-dir=",
                    Path("profile"), " --enable-logging=stderr --window-size=1400,1000 ",
                    "--virtual-time-budget=20000 --dump-dom file://", Path("all.html"), " >", dom, " 2>", log)
                    .c_str()),
            0);
  EXPECT_THAT(*ReadFile(log), Not(HasSubstr("CONSOLE")));
  const std::string text = *ReadFile(dom);
  size_t looked = 0;
  for (size_t at = text.find("<p>looked: "); at != std::string::npos; at = text.find("<p>looked: ", at + 1)) {
    EXPECT_EQ(text.substr(at + 11, text.find("</p>", at) - at - 11), "fine") << "frame " << looked;
    ++looked;
  }
  EXPECT_EQ(looked, 2 * pages.size());
}

}  // namespace
}  // namespace kirsch::testing
