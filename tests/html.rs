//! The page of `--format html`: read back by a strict parser, and looked over for what a page must and must not hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use keepstate::check::{Batch, Checked, Options, Pair, Text, check, check_all};
use keepstate::lint::{Linted, lint};
use keepstate::report::format::{Format, render_lint};
use keepstate::report::human::Style;
use keepstate::report::model::{Suppressed, SuppressedBy};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use quick_xml::Reader;
use quick_xml::events::Event;

/// What HTML never closes; anything else is never closed in the tag that opens it, except in SVG.
const VOID: [&str; 2] = ["meta", "br"];
const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"' --> ]]> \u{202e}\u{7}\u{ffff} &lt;";

/// An element, with its attributes and the text directly in it.
#[derive(Debug, Clone, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    /// All text below it.
    text: String,
    in_svg: bool,
}

impl Element {
    fn is(&self, class: &str) -> bool {
        self.attribute("class").split(' ').any(|c| c == class)
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// The elements of a page, in the order in which they open. Panics at anything that is not well-formed.
fn elements(page: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(page);
    reader.config_mut().check_end_names = true;
    let (mut all, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().unwrap_or_else(|e| panic!("{e} at {}", reader.error_position()));
        match event {
            Event::Start(ref tag) | Event::Empty(ref tag) => {
                let closed = matches!(event, Event::Empty(_));
                let name = String::from_utf8(tag.name().as_ref().to_vec()).unwrap();
                let in_svg = name == "svg" || open.last().is_some_and(|n| all[*n].in_svg);
                assert!(in_svg || VOID.contains(&name.as_str()) == closed, "<{name}>");
                let mut attributes = BTreeMap::new();
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap();
                    let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                    let value = String::from_utf8(attribute.value.to_vec()).unwrap();
                    let value = quick_xml::escape::unescape(&value).unwrap().into_owned();
                    assert!(attributes.insert(key, value).is_none());
                }
                all.push(Element { name, attributes, in_svg, text: String::new() });
                if !closed {
                    open.push(all.len() - 1);
                }
            }
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => {
                let text = text.decode().unwrap().into_owned();
                open.iter().for_each(|n| all[*n].text.push_str(&text));
            }
            Event::GeneralRef(reference) => {
                let entity = format!("&{};", reference.decode().unwrap());
                let text = quick_xml::escape::unescape(&entity).unwrap().into_owned();
                open.iter().for_each(|n| all[*n].text.push_str(&text));
            }
            Event::DocType(_) => {}
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty());
    all
}

/// Reads a page and asserts what holds for each.
fn sound(page: &str) -> Vec<Element> {
    let all = elements(page);
    let mut ids = BTreeSet::new();
    for element in &all {
        if let Some(id) = element.attributes.get("id") {
            assert!(ids.insert(id.clone()), "{id} twice");
        }
    }
    let mut level = 0;
    for element in &all {
        let Element { name, attributes, .. } = element;
        for (key, value) in attributes {
            assert!(key != "style" && !key.starts_with("on") && key != "src", "{key} of <{name}>");
            let refers = ["aria-labelledby"].contains(&key.as_str());
            assert!(!refers || ids.contains(value), "{key}={value}");
        }
        if let Some(target) = attributes.get("href") {
            let leads = target.strip_prefix('#').map_or(target.starts_with("https://"), |id| ids.contains(id));
            assert!(leads, "{target} leads nowhere");
        }
        assert!(
            !["img", "iframe", "link", "base", "object", "form", "image", "use"].contains(&name.as_str()),
            "{name}"
        );
        if let Some(next) = name.strip_prefix('h').and_then(|n| n.parse::<u32>().ok()) {
            assert!(next <= level + 1, "<h{next}> below <h{level}>: {}", element.text);
            level = next;
        }
    }
    // Drawings have titles of their own.
    let count = |name: &str| all.iter().filter(|e| e.name == name && !e.in_svg).count();
    assert_eq!(["style", "script", "h1", "main", "header", "footer", "title"].map(count), [1; 7]);
    assert!(
        !page.contains(|c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{ffff}'))
    );
    all
}

fn page(checked: &Checked) -> String {
    checked.render(Format::Html, Style::default())
}

fn of_scripts(old: &str, new: &str) -> Checked {
    check(Text::new("old.sql", old), Text::new("new.sql", new), &Options::default())
}

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("examples/{name}")).unwrap()
}

fn top_products() -> Checked {
    of_scripts(&example("top_products/old.sql"), &example("top_products/new.sql"))
}

fn nodes(all: &[Element]) -> Vec<&Element> {
    all.iter().filter(|e| e.name == "a" && e.is("node")).collect()
}

#[test]
fn both_plans_are_drawn_with_matched_operators_in_one_row() {
    let checked = top_products();
    let text = page(&checked);
    let all = sound(&text);
    let drawn = nodes(&all);
    assert_eq!(drawn.len(), 20);
    let changed: Vec<&str> = drawn.iter().filter(|e| e.is("changed")).map(|e| e.attribute("aria-label")).collect();
    assert_eq!(
        changed,
        [
            "WindowRank, operator 3 of the old plan, changed, 4 state entries",
            "WindowRank, operator 3 of the new plan, changed, 4 state entries"
        ]
    );
    // The box that follows each link says where it stands.
    let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (n, element) in all.iter().enumerate().filter(|(_, e)| e.is("node")) {
        let inner = all[n..].iter().find(|e| e.name == "svg").unwrap();
        rows.entry(element.attribute("href")).or_default().push(inner.attribute("y"));
    }
    assert_eq!(rows.len(), 10);
    assert!(rows.values().all(|ys| ys.len() == 2 && ys[0] == ys[1]), "{rows:?}");
    assert_eq!(text, page(&top_products()), "the same report is another page");
}

#[test]
fn an_operator_has_its_state_and_what_it_does_on_both_sides() {
    let all = sound(&page(&top_products()));
    let panel = all.iter().find(|e| e.is("operator") && e.is("changed")).unwrap();
    for words in [
        "WindowRank",
        "old #3, new #3",
        "see finding 1",
        "window_rank",
        "rankEnd=2",
        "rankEnd=3",
        "time to live",
        "none",
    ] {
        assert!(panel.text.to_lowercase().contains(&words.to_lowercase()), "{words}: {}", panel.text);
    }
    let marked: Vec<&str> =
        all.iter().filter(|e| ["ins", "del"].contains(&e.name.as_str())).map(|e| e.text.as_str()).collect();
    assert_eq!(marked, ["rankEnd=2", "rankEnd=3"]);
    // Links into the page lead to panels, whether there is a script or not.
    let panels: BTreeSet<String> =
        all.iter().filter(|e| e.is("operator")).map(|e| format!("#{}", e.attribute("id"))).collect();
    assert!(nodes(&all).iter().all(|node| panels.contains(node.attribute("href"))));
}

const DDL: &str = "CREATE TABLE a (id BIGINT, k STRING, v INT) WITH ('connector' = 'kafka', 'topic' = 'a', 'format' = 'json');\n\
CREATE TABLE b (id BIGINT, w INT) WITH ('connector' = 'kafka', 'topic' = 'b', 'format' = 'json');\n\
CREATE TABLE s (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 's', 'key.format' = 'json', 'value.format' = 'json');\n\
CREATE TABLE t (id BIGINT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'key.format' = 'json', 'value.format' = 'json');\n\
CREATE TEMPORARY VIEW j AS SELECT a.id, a.k, b.w FROM a JOIN b ON a.id = b.id;\n";

/// A job of several sinks over one join, with one of the aggregates another one.
fn shared(aggregate: &str) -> String {
    format!(
        "SET 'table.exec.state.ttl' = '36 h';\n{DDL}BEGIN STATEMENT SET;\nINSERT INTO s SELECT k, {aggregate} FROM j GROUP BY k;\n\
         INSERT INTO t SELECT id, COUNT(k || CAST(w AS STRING)) FROM j GROUP BY id;\nEND;\n"
    )
}

#[test]
fn a_shared_sub_plan_is_drawn_once_with_an_edge_to_each_reader() {
    let checked = of_scripts(&shared("SUM(w + id)"), &shared("COUNT(w + id)"));
    let all = sound(&page(&checked));
    let plan = checked.plans[0].new.as_ref().unwrap();
    let joins = nodes(&all).iter().filter(|e| e.attribute("aria-label").starts_with("Join, operator")).count();
    assert_eq!(joins, 2, "one for each plan");
    let old = checked.plans[0].old.as_ref().unwrap();
    let edges: usize = [plan, old].iter().flat_map(|plan| &plan.nodes).map(|node| node.inputs.len()).sum();
    assert_eq!(all.iter().filter(|e| e.is("edge")).count(), edges);
    assert!(edges > [plan, old].iter().map(|plan| plan.nodes.len() - 2).sum(), "nothing is shared");
    // What only stands on the way to another reader is the same, too.
    assert!(nodes(&all).iter().all(|e| !e.is("added") && !e.is("removed")));
    let ttl: Vec<&str> = all.iter().filter(|e| e.name == "td" && e.text == "36 h").map(|e| e.text.as_str()).collect();
    assert!(!ttl.is_empty());
    // Verdicts of sinks differ, and are told for each.
    let sinks =
        all.iter().filter(|e| e.name == "tr" && e.text.starts_with(['s', 't']) && e.text.contains("ompatible")).count();
    assert_eq!(sinks, 2);
}

/// However many operators a job has, its plans are drawn; only those of further jobs may have to give way.
#[test]
fn a_job_of_hundreds_of_operators_is_drawn() {
    let script = |aggregate: &str| {
        let mut text = String::from(
            "CREATE TABLE o (k STRING, v INT) WITH ('connector' = 'kafka', 'topic' = 'o', 'format' = 'json');\n\
             CREATE TABLE s (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 's', \
             'key.format' = 'json', 'value.format' = 'json');\nBEGIN STATEMENT SET;\n",
        );
        for n in 0..250 {
            let call = if n == 3 { aggregate } else { "COUNT" };
            text += &format!("INSERT INTO s SELECT k, {call}(v + {n}) FROM o WHERE v > {n} GROUP BY k;\n");
        }
        text + "END;\n"
    };
    let job = |name: &str| {
        let text = |call: &str| Some(Text::new(format!("{name}.sql"), script(call)));
        Batch {
            pair: Pair { old: text("COUNT"), new: text("SUM"), ..Pair::default() },
            options: Arc::new(Options::default()),
        }
    };
    let checked = check_all(Target::Vvr, vec![job("a"), job("b")], Vec::new(), SourceMap::new());
    let all = sound(&page(&checked));
    let jobs: Vec<&Element> = all.iter().filter(|e| e.is("job")).collect();
    assert!(!jobs[0].text.contains("plans are not drawn") && jobs[1].text.contains("plans are not drawn"));
    assert!(nodes(&all).len() > 1000, "{}", nodes(&all).len());
}

#[test]
fn a_new_job_says_that_it_is_new() {
    let pair = Pair { new: Some(Text::new("new.sql", example("top_products/new.sql"))), ..Pair::default() };
    let all = sound(&page(&keepstate::check::check_pair(pair, &Options::default())));
    let job = all.iter().find(|e| e.is("job")).unwrap();
    assert!(job.text.contains("new.sql, new") && job.text.contains("starts without state"), "{}", job.text);
}

#[test]
fn hostile_names_are_only_text() {
    let name = HOSTILE.replace('`', "");
    let script = |limit: u32| {
        format!(
            "SET 'pipeline.name' = '{quoted}';\nCREATE TABLE `{name}` (`{name}` STRING, v INT) WITH ('connector' = 'kafka', 'topic' = 'x', \
             'format' = 'json', 'properties.sasl.password' = 'hunter2');\nCREATE TABLE `s{name}` (`{name}` STRING, n BIGINT, \
             PRIMARY KEY (`{name}`) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 's', 'key.format' = 'json', 'value.format' \
             = 'json');\nINSERT INTO `s{name}` SELECT `{name}`, SUM(v) FROM `{name}` /*+ OPTIONS('password' = 'hunter2') */ WHERE `{name}` \
             <> '{quoted}' AND v > {limit} GROUP BY `{name}`;\n",
            quoted = name.replace('\'', "''"),
        )
    };
    let options = Options::default();
    let mut checked = check(
        Text::new(format!("{HOSTILE}.sql"), script(1)),
        Text::new(format!("new{HOSTILE}.sql"), script(2)),
        &options,
    );
    assert!(checked.report.errors.is_empty(), "{:?}", checked.report.errors);
    for finding in &mut checked.report.jobs[0].findings {
        finding.url = Some("https://a.org/\"><script>".to_owned());
    }
    let text = page(&checked);
    let all = sound(&text);
    assert!(!text.contains("hunter2"), "a secret");
    assert!(!nodes(&all).is_empty());
    assert!(
        all.iter().any(|e| e.name == "code" && e.text.contains("</script><script>alert(1)</script><img src=x")),
        "shown as it is"
    );
    let mut bad = checked;
    bad.report.jobs[0].findings[0].url = Some("javascript:alert(1)".to_owned());
    assert!(!page(&bad).contains("javascript:"));
}

#[test]
fn jobs_whose_plans_were_let_go_say_so() {
    let pair = |name: &str, old: String, new: String| {
        let text = |script: String| Some(Text::new(name, script));
        Batch {
            pair: Pair { old: text(old), new: text(new), ..Pair::default() },
            options: Arc::new(Options::default()),
        }
    };
    let same = || example("top_products/old.sql");
    let batch = vec![pair("same.sql", same(), same()), pair("other.sql", same(), example("top_products/new.sql"))];
    let checked = check_all(Target::Vvr, batch, Vec::new(), SourceMap::new());
    let all = sound(&page(&checked));
    let jobs: Vec<&Element> = all.iter().filter(|e| e.is("job")).collect();
    assert_eq!(jobs.len(), 2);
    assert!(!jobs[0].text.contains("plans are not drawn") && jobs[1].text.contains("plans are not drawn"));
    // The state is still told.
    assert!(jobs[1].text.contains("window_rank"));
    assert_eq!(nodes(&all).len(), 20);
    assert_eq!(all.iter().filter(|e| e.name == "nav").count(), 1);
}

#[test]
fn of_many_jobs_those_without_findings_are_only_listed() {
    let same = example("top_products/old.sql");
    let options = Arc::new(Options::default());
    let job = |n: usize| {
        let new = if n == 7 { example("top_products/new.sql") } else { same.clone() };
        let text = |script: &str| Some(Text::new(format!("{n}.sql"), script));
        Batch { pair: Pair { old: text(&same), new: text(&new), ..Pair::default() }, options: Arc::clone(&options) }
    };
    let checked = check_all(Target::Vvr, (0..30).map(job).collect(), Vec::new(), SourceMap::new());
    let text = page(&checked);
    let all = sound(&text);
    assert_eq!(all.iter().filter(|e| e.is("job")).count(), 1);
    assert!(text.contains("29 jobs are not shown in detail"));
    assert_eq!(nodes(&all).len(), 20);
}

#[test]
fn suppressed_and_compatible_findings_are_folded_away() {
    let mut checked = top_products();
    let finding = &mut checked.report.jobs[0].findings[0];
    finding.suppressed = Some(Suppressed {
        reason: "agreed with `sales`".to_owned(),
        until: Some("2027-01-31".to_owned()),
        by: SuppressedBy::Comment,
    });
    let folded = |text: &str| {
        sound(text).iter().any(|e| e.name == "details" && e.text.contains("agreed with sales (until 2027-01-31)"))
    };
    assert!(folded(&page(&checked)));
    let verbose = checked.render(Format::Html, Style { verbose: true, ..Style::default() });
    assert!(folded(&verbose) && verbose.contains("<details open=\"\">"));
    let quiet = checked.render(Format::Html, Style { quiet: true, ..Style::default() });
    assert!(!folded(&quiet) && nodes(&sound(&quiet)).is_empty());
}

#[test]
fn errors_and_lints_are_pages_too() {
    let wrong = of_scripts(&example("wrong_sql/old.sql"), &example("wrong_sql/new.sql"));
    let all = sound(&page(&wrong));
    assert!(all.iter().any(|e| e.name == "mark" && e.text == "custommer"));
    let text = example("order_totals/new.sql").replace("TUMBLE", "tumble")
        + "SELECT product, COUNT(*) FROM orders GROUP BY product;\n";
    let Linted { report, sources } = lint([Text::new(format!("{HOSTILE}.sql"), text)], &Options::default());
    sound(&render_lint(Format::Html, &report, &sources, Style::default()));
    let failed = Checked::failed(Target::Vvr, vec![]);
    sound(&page(&failed));
}

/// The script and the style stand in the page as files, and the policy lets in nothing else.
#[test]
fn the_policy_names_what_the_page_holds() {
    let all = sound(&page(&top_products()));
    let policy = all.iter().find(|e| e.attribute("http-equiv") == "Content-Security-Policy").unwrap();
    assert!(policy.attribute("content").starts_with("default-src 'none'; style-src 'sha256-"));
    let file = |name: &str| std::fs::read_to_string(format!("src/report/html/{name}")).unwrap().replace('\r', "");
    let text = |name: &str| all.iter().find(|e| e.name == name && !e.in_svg).unwrap().text.clone();
    assert_eq!((text("style"), text("script")), (file("page.css"), file("page.js")));
}
