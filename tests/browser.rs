//! The page of `--format html` in a real browser: Chromium, which chromedriver drives. Ignored where they are missing; `.ci/run` runs it.

#[path = "browser/webdriver.rs"]
mod webdriver;

use std::path::PathBuf;

use keepstate::check::{Options, Text, check};
use keepstate::report::format::Format;
use keepstate::report::human::Style;
use serde_json::{Value, json};
use webdriver::Browser;

const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';
const TAB: char = '\u{e004}';

/// The page of two scripts as a file.
fn page(browser: &Browser, name: &str, old: &str, new: &str) -> PathBuf {
    let checked = check(Text::new("old.sql", old), Text::new("new.sql", new), &Options::default());
    assert!(checked.report.errors.is_empty(), "{:?}", checked.report.errors);
    let file = browser.directory().join(format!("{name}.html"));
    std::fs::write(&file, checked.render(Format::Html, Style::default())).unwrap();
    file
}

fn top_products(browser: &Browser) -> PathBuf {
    let script = |side: &str| std::fs::read_to_string(format!("examples/top_products/{side}.sql")).unwrap();
    page(browser, "top_products", &script("old"), &script("new"))
}

/// Several sinks over shared joins: more operators than fit beside each other.
fn wide(browser: &Browser) -> PathBuf {
    let script = |aggregate: &str| {
        let mut text = String::from(
            "CREATE TABLE o (id BIGINT, k STRING, v INT) WITH ('connector' = 'kafka', 'topic' = 'o', 'format' = 'json');\n\
             CREATE TABLE p (id BIGINT, w INT) WITH ('connector' = 'kafka', 'topic' = 'p', 'format' = 'json');\n",
        );
        for n in 0..6 {
            text += &format!(
                "CREATE TABLE s{n} (k STRING, n BIGINT, x INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = \
                 's{n}', 'key.format' = 'json', 'value.format' = 'json');\n"
            );
        }
        text += "CREATE TEMPORARY VIEW j AS SELECT o.k, o.v, p.w FROM o JOIN p ON o.id = p.id;\nBEGIN STATEMENT SET;\n";
        for n in 0..6 {
            let call = if n == 3 { aggregate } else { "SUM" };
            text += &format!(
                "INSERT INTO s{n} SELECT a.k, a.n, b.x FROM (SELECT k, COUNT(*) AS n FROM j WHERE v > {n} GROUP BY k) AS a LEFT JOIN \
                 (SELECT k, {call}(w) AS x FROM j GROUP BY k) AS b ON a.k = b.k;\n"
            );
        }
        text + "END;\n"
    };
    page(browser, "wide", &script("SUM"), &script("MIN"))
}

/// How many panels are to be seen.
const PANELS: &str =
    "return [...document.querySelectorAll('.operator')].filter(e => e.getClientRects().length > 0).length";

#[test]
#[ignore = "needs chromium and chromedriver; .ci/run runs it"]
fn it_opens_from_a_file_without_a_complaint_or_a_request() {
    let browser = Browser::start();
    for file in [top_products(&browser), wide(&browser)] {
        browser.open(&file);
        assert_eq!(browser.complaints(), Vec::<String>::new());
        assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);
        assert_eq!(browser.run("return document.compatMode"), "CSS1Compat");
        assert_eq!(browser.run("return document.documentElement.classList.contains('scripted')"), true);
        let background = browser.run("return getComputedStyle(document.querySelector('.finding')).borderLeftWidth");
        assert_eq!(background, "5px", "the style is not let in");
    }
    // Complaints would be seen: a script that the policy does not name does not run, and that is said.
    let file = browser.directory().join("more.html");
    let page = std::fs::read_to_string(top_products(&browser)).unwrap();
    std::fs::write(&file, page.replace("</main>", "</main><script>document.title = 'let in'</script>")).unwrap();
    browser.open(&file);
    assert!(browser.complaints().iter().any(|c| c.contains("Content Security Policy")));
    assert_eq!(browser.run("return document.title"), "keepstate: incompatible");
}

#[test]
#[ignore = "needs chromium and chromedriver; .ci/run runs it"]
fn a_click_on_an_operator_shows_its_state() {
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(&top_products(&browser));
    assert_eq!(browser.run(PANELS), 0);
    browser.click("a.node.changed");
    assert_eq!(browser.run(PANELS), 1);
    let shown = browser.run("return document.querySelector('.operator.chosen').innerText");
    for words in ["WindowRank", "window_rank", "rankEnd=3", "finding 1"] {
        assert!(shown.as_str().unwrap().contains(words), "{shown}");
    }
    let seen = "const r = document.querySelector('.operator.chosen').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight + 1";
    assert_eq!(browser.run(seen), true, "it is shown where it cannot be seen");
    let marked =
        "return [...document.querySelectorAll('a.node.chosen')].map(a => a.getAttribute('aria-current')).join()";
    assert_eq!(browser.run(marked), "true,true", "both sides of it are marked");
    browser.click(".operator.chosen .close");
    assert_eq!(browser.run(PANELS), 0);
    // All at once, and one by a link from elsewhere.
    browser.run("[...document.querySelectorAll('.tools button')].find(b => b.textContent.startsWith('List')).click()");
    assert_eq!(browser.run(PANELS), 10);
    let id = browser.run("return document.querySelector('.operator.changed').id");
    browser.open_at(&top_products(&browser), "");
    browser.run(&format!("location.hash = '#' + {id}"));
    assert_eq!(browser.run("return document.querySelector('.operator.chosen').id"), id);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs chromium and chromedriver; .ci/run runs it"]
fn the_keyboard_is_enough() {
    let browser = Browser::start();
    browser.open(&top_products(&browser));
    assert_eq!(browser.run("return document.activeElement.localName"), "body");
    browser.press(TAB);
    assert_eq!(browser.run("return document.activeElement.className"), "skip");
    for _ in 0..60 {
        if browser.run("return document.activeElement.matches('a.node.changed')") == true {
            break;
        }
        browser.press(TAB);
    }
    assert_eq!(browser.run("return document.activeElement.matches('a.node.changed')"), true, "it cannot be reached");
    let ring = "const b = getComputedStyle(document.activeElement.querySelector('.box')); return b.strokeWidth";
    assert_eq!(browser.run(ring), "4px", "the focus cannot be seen");
    browser.press(ENTER);
    assert_eq!(browser.run(PANELS), 1);
    assert_eq!(browser.run("return document.activeElement.matches('.operator.chosen')"), true);
    browser.press(ESCAPE);
    assert_eq!(browser.run(PANELS), 0);
    assert_eq!(browser.run("return document.activeElement.matches('a.node.changed')"), true, "the focus is lost");
    let (role, name) = browser.spoken("a.node.changed");
    assert_eq!(
        (role.as_str(), name.as_str()),
        ("link", "WindowRank, operator 3 of the old plan, changed, 4 state entries")
    );
    assert_eq!(browser.spoken("nav, main").0, "main");
}

#[test]
#[ignore = "needs chromium and chromedriver; .ci/run runs it"]
fn without_scripts_everything_is_there() {
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.tools("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.open(&top_products(&browser));
    assert_eq!(browser.run("return document.documentElement.className"), "");
    assert_eq!(browser.run(PANELS), 10);
    assert_eq!(browser.run("return document.querySelector('noscript').getClientRects().length > 0 || document.body.innerText.includes('All operators follow here')"), true);
    browser.click("a.node.changed");
    let seen = "const e = document.querySelector('.operator:target'); const r = e.getBoundingClientRect(); \
                return e.innerText.includes('window_rank') && r.top < innerHeight && r.bottom > 0";
    assert_eq!(browser.run(seen), true, "a link does not lead to the state");
}

/// The worst contrast of any text with what is behind it, and the text.
const CONTRAST: &str = r"
const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m.slice(0, 3); };
const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b; };
const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c) return c; } };
let worst = [99, ''];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let n; (n = walk.nextNode());) {
  const e = n.parentElement;
  if (!n.data.trim() || e.getClientRects().length === 0 || ['script', 'style', 'title', 'noscript'].includes(e.localName)) continue;
  const svg = e.closest('text');
  const fore = parse(svg ? getComputedStyle(e).fill : getComputedStyle(e).color);
  const box = svg && (svg.parentElement.querySelector('rect'));
  const back = box ? parse(getComputedStyle(box).fill) : behind(e);
  const [a, b] = [light(fore), light(back)].sort((x, y) => y - x);
  const ratio = (a + .05) / (b + .05);
  if (ratio < worst[0]) worst = [ratio, n.data.trim().slice(0, 60)];
}
return worst;";

#[test]
#[ignore = "needs chromium and chromedriver; .ci/run runs it"]
fn it_is_readable_in_light_and_dark() {
    let browser = Browser::start();
    let mut backgrounds: Vec<Value> = Vec::new();
    for scheme in ["light", "dark"] {
        browser.media("screen", scheme);
        for file in [top_products(&browser), wide(&browser)] {
            browser.open(&file);
            browser.run("document.querySelectorAll('.operators').forEach(e => e.classList.add('all'))");
            browser.run("document.querySelectorAll('details').forEach(e => { e.open = true })");
            let worst = browser.run(CONTRAST);
            assert!(worst[0].as_f64().unwrap() >= 4.5, "{scheme}: {worst}");
        }
        backgrounds.push(browser.run("return getComputedStyle(document.body).backgroundColor"));
        let picture = browser.picture();
        assert!(picture.starts_with("iVBORw0KGgo") && picture.len() > 20_000, "no picture");
    }
    assert_ne!(backgrounds[0], backgrounds[1]);
}

#[test]
#[ignore = "needs chromium and chromedriver; .ci/run runs it"]
fn it_fits_screens_of_every_width() {
    let browser = Browser::start();
    for file in [top_products(&browser), wide(&browser)] {
        for width in [360, 800, 1440] {
            browser.resize(width, 900);
            browser.open(&file);
            browser.run("document.querySelectorAll('.operators').forEach(e => e.classList.add('all'))");
            let across = browser.run("return document.scrollingElement.scrollWidth - innerWidth");
            assert!(across.as_i64().unwrap() <= 0, "{width}: {across} too wide");
        }
    }
    // On paper nothing is hidden.
    browser.media("print", "light");
    assert!(browser.run(PANELS).as_u64().unwrap() > 70);
}

#[test]
#[ignore = "needs chromium and chromedriver; .ci/run runs it"]
fn operators_do_not_overlap_and_names_fit_into_them() {
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.open(&wide(&browser));
    let overlaps = browser.run(
        "let n = 0; for (const svg of document.querySelectorAll('.graph > .scroll > svg')) { \
         const boxes = [...svg.querySelectorAll('.box')].map(b => b.getBoundingClientRect()); \
         for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1)) \
         if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) n++; } return n",
    );
    assert_eq!(overlaps, 0);
    let outside = browser.run(
        "return [...document.querySelectorAll('.node')].filter(a => { const box = a.querySelector('.box').getBoundingClientRect(); \
         const state = a.querySelector('.state rect'); \
         return a.querySelector('.kind').getBoundingClientRect().right > box.right || a.querySelector('.summary').getBoundingClientRect().right > \
         (state ? state.getBoundingClientRect().left : box.right); }).map(a => a.textContent)",
    );
    assert_eq!(outside, json!([]));
    // Matched operators stand in one row on the screen, too.
    let rows = browser.run(
        "const at = {}; for (const a of document.querySelectorAll('.node')) { const y = Math.round(a.querySelector('.box').getBoundingClientRect().top); \
         (at[a.getAttribute('href')] ??= []).push(y); } return Object.values(at).filter(ys => Math.max(...ys) - Math.min(...ys) > 1).length",
    );
    assert_eq!(rows, 0);
}
