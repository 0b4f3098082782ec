//! How the rules are combined: overriding, echoes, whole jobs, columns.

use keepstate::diff::change::{
    AggregatesChange, Change, ChangeKind, ColumnFate, Facts, Fate, Item, JobDiff, KeysChange, OperatorRef, WindowChange,
};
use keepstate::exec::NodeId;
use keepstate::rules::RuleBook;
use keepstate::rules::judge::{Judgement, judge};
use keepstate::rules::verdict::{Basis, Verdict};
use keepstate::target::Target;

fn change(kind: ChangeKind, item: Item, context: Facts) -> Change {
    let operator = OperatorRef {
        kind: "GlobalWindowAggregate",
        path: "Sink(top)/GlobalWindowAggregate".to_owned(),
        sinks: vec!["top".to_owned()],
        old: Some(NodeId(2)),
        new: Some(NodeId(2)),
        state: vec!["window-aggs".to_owned()],
    };
    Change {
        kind,
        operator: Some(operator),
        context,
        args: Vec::new(),
        item,
        old: None,
        new: None,
        beside: None,
        spots: Vec::new(),
        chain: Vec::new(),
        echoes: Vec::new(),
    }
}

fn aggregates(kind: AggregatesChange, family: &'static str) -> Change {
    change(ChangeKind::Aggregates(kind), Item::Aggregates, vec![("family", family.into())])
}

fn judged(changes: Vec<Change>) -> Judgement {
    judge(RuleBook::embedded(), Target::Vvr, &JobDiff { changes, ..Default::default() })
}

fn rules(judgement: &Judgement) -> Vec<&str> {
    judgement.findings.iter().map(|f| f.rule.as_str()).collect()
}

fn one_added() -> AggregatesChange {
    AggregatesChange { old: 2, new: 3, survivors: 2, added: 1, ..Default::default() }
}

#[test]
fn no_change_is_compatible() {
    let judgement = judged(Vec::new());
    assert_eq!((judgement.verdict, judgement.findings.len()), (Verdict::Compatible, 0));
}

#[test]
fn several_rules_may_speak_of_one_change() {
    let kind = AggregatesChange { old: 3, new: 2, survivors: 2, removed: 1, moved: true, ..Default::default() };
    let judgement = judged(vec![aggregates(kind, "window-aggregate")]);
    assert_eq!(judgement.verdict, Verdict::Compatible);
    assert_eq!(rules(&judgement), ["window-tvf-aggregate-deleted", "window-tvf-aggregates-moved"]);
}

#[test]
fn an_overriding_rule_drops_the_milder_ones() {
    let kind = AggregatesChange { old: 1, new: 1, changed: 1, ..Default::default() };
    let judgement = judged(vec![aggregates(kind, "window-aggregate")]);
    assert_eq!(rules(&judgement), ["window-tvf-only-aggregate-changed"]);
    // The milder row says `partially-compatible`, which would be wrong here: it is not cited. The equal one is.
    assert_eq!(judgement.findings[0].documented, ["WTVF-16", "WTVF-17"]);
}

#[test]
fn a_rule_overrides_on_the_whole_operator() {
    let input = ChangeKind::InputColumns(KeysChange { added: 1, ..Default::default() });
    let input = change(input, Item::Other, vec![("family", "over-aggregate".into())]);
    let judgement = judged(vec![aggregates(one_added(), "over-aggregate"), input]);
    assert_eq!(rules(&judgement), ["over-input-columns-changed"]);
    assert_eq!(judgement.findings[0].documented, ["OA-07"]);
    assert_eq!(judgement.findings[0].related.len(), 1);
}

#[test]
fn echoes_add_documents_but_no_findings() {
    let key = ChangeKind::GroupKeys(KeysChange { added: 1, ..Default::default() });
    let mut key = change(key, Item::Other, vec![("family", "group-aggregate".into())]);
    let input = ChangeKind::InputColumns(KeysChange { added: 1, ..Default::default() });
    key.echoes.push(change(input, Item::Other, vec![("family", "rank".into())]));
    let judgement = judged(vec![key]);
    assert_eq!(rules(&judgement), ["group-aggregate-keys-changed"]);
    assert_eq!(judgement.findings[0].documented, ["GA-08", "TN-07"]);
    assert_eq!(judgement.findings[0].related.len(), 1);
}

#[test]
fn an_echo_that_is_worse_than_its_cause_decides() {
    let mut added = aggregates(one_added(), "group-aggregate");
    let input = ChangeKind::InputColumns(KeysChange { added: 1, ..Default::default() });
    added.echoes.push(change(input, Item::Other, vec![("family", "rank".into())]));
    let judgement = judged(vec![added]);
    assert_eq!(judgement.verdict, Verdict::Incompatible);
    assert_eq!(rules(&judgement), ["top-n-input-columns"]);
    assert_eq!(judgement.findings[0].documented, ["GA-01", "GA-07", "TN-07"]);
}

#[test]
fn several_items_are_unknown_unless_one_is_incompatible() {
    let sink = ChangeKind::Sink { renamed: true, connector: false, options: 0 };
    let sink = change(sink, Item::Sink, vec![("family", "sink".into())]);
    let added = aggregates(one_added(), "window-aggregate");
    let judgement = judged(vec![added.clone(), sink.clone()]);
    assert_eq!(judgement.verdict, Verdict::Unknown);
    assert_eq!(judgement.findings[0].rule, "several-items-changed");
    assert!(judgement.findings[0].message.contains("the aggregates and the sinks"));

    let window = ChangeKind::Window(WindowChange { size: true, ..Default::default() });
    let window = change(window, Item::Other, vec![("family", "window-aggregate".into())]);
    let judgement = judged(vec![added.clone(), sink, window]);
    assert_eq!(judgement.verdict, Verdict::Incompatible);
    assert!(!rules(&judgement).contains(&"several-items-changed"));

    let filter = ChangeKind::Filter { below_stateful: true, added: 1, removed: 0, ignored: true, having: false };
    let judgement = judged(vec![added, change(filter, Item::Filter, Vec::new())]);
    assert_eq!(judgement.findings[0].documented, ["OL-03", "WH-04"]);
}

#[test]
fn a_part_that_no_rule_speaks_of_is_unknown() {
    let option = ChangeKind::JobOption { key: "table.exec.mini-batch.enabled".to_owned() };
    let judgement = judged(vec![change(option, Item::Other, Vec::new())]);
    assert_eq!((judgement.verdict, rules(&judgement)), (Verdict::Unknown, vec!["no-rule"]));
    assert_eq!(judgement.findings[0].basis, Basis::Undocumented);
    assert!(judgement.findings[0].message.contains("`table.exec.mini-batch.enabled`"));

    // The order of partition keys is free, that of stored columns is written nowhere.
    let moved = ChangeKind::InputColumns(KeysChange { moved: true, ..Default::default() });
    let judgement = judged(vec![change(moved, Item::Other, vec![("family", "over-aggregate".into())])]);
    assert_eq!(rules(&judgement), ["no-rule"]);

    // For another engine there are no rules yet, and that is no pass.
    let diff = JobDiff { changes: vec![aggregates(one_added(), "group-aggregate")], ..Default::default() };
    assert_eq!(judge(RuleBook::embedded(), Target::Flink120, &diff).verdict, Verdict::Unknown);
}

#[test]
fn an_incompatible_finding_takes_the_columns_of_its_sink() {
    let column = |sink: &str| ColumnFate { sink: sink.to_owned(), name: "n".to_owned(), fate: Fate::Kept };
    let window = ChangeKind::Window(WindowChange { size: true, ..Default::default() });
    let diff = JobDiff {
        changes: vec![change(window, Item::Other, vec![("family", "window-aggregate".into())])],
        columns: vec![column("top"), column("other")],
        ..Default::default()
    };
    let fates: Vec<Fate> =
        judge(RuleBook::embedded(), Target::Vvr, &diff).columns.into_iter().map(|c| c.fate).collect();
    assert_eq!(fates, [Fate::Undetermined, Fate::Kept]);
}
