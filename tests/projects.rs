//! Checks over whole projects, as people run them: revisions of a real git repository, directories, a lock, a configuration, accepted
//! findings. Everything goes through the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const DDL: &str = "CREATE TABLE orders (customer STRING, price DECIMAL(10, 2), ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'b:9092', 'format' = 'json',
  'properties.sasl.password' = 'hunter2');
CREATE TABLE totals (customer STRING, window_end TIMESTAMP(3), spent DECIMAL(38, 2)) WITH ('connector' = 'print');
";

const TOTALS: &str = "INSERT INTO totals
SELECT customer, window_end, SUM(price) AS spent
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR))
GROUP BY customer, window_start, window_end;
";

const PLAIN: &str = "INSERT INTO totals SELECT customer, ordered_at, price FROM orders;\n";

/// A directory of its own for each test.
struct Project(PathBuf);

impl Project {
    fn new(name: &str) -> Project {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects").join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Project(path)
    }

    /// One with a first commit of two jobs and their DDL.
    fn committed(name: &str) -> Project {
        let project = Project::new(name);
        project.git(&["init", "--quiet", "--initial-branch", "main"]);
        project.write("jobs/ddl.sql", DDL);
        project.write("jobs/totals.sql", TOTALS);
        project.write("jobs/plain.sql", PLAIN);
        project.commit();
        project
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.0.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.0.join(path)).unwrap();
        assert!(text.contains(from), "{path} has no {from}");
        self.write(path, &text.replace(from, to));
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(&self.0)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "x"]);
    }

    fn keepstate_in(&self, directory: &str, args: &[&str], stdin: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keepstate"))
            .args(args)
            .current_dir(self.0.join(directory))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        use std::io::Write;
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn keepstate(&self, args: &[&str]) -> (i32, String) {
        let output = self.keepstate_in("", args, "");
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// The JSON report of a check.
    fn check(&self, args: &[&str]) -> Value {
        self.check_in("", args, "")
    }

    fn check_in(&self, directory: &str, args: &[&str], stdin: &str) -> Value {
        let args: Vec<&str> = ["check", "--format", "json"].iter().chain(args).copied().collect();
        let output = self.keepstate_in(directory, &args, stdin);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
        assert_eq!(report["exit_code"].as_i64(), output.status.code().map(i64::from));
        report
    }
}

/// `name verdict (old > new) rules`, job by job.
fn jobs(report: &Value) -> Vec<String> {
    let side = |v: &Value| v.as_str().unwrap_or("-").to_owned();
    report["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| {
            let rules: Vec<&str> =
                job["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
            let (old, new) = (side(&job["old"]), side(&job["new"]));
            format!("{} {} ({old} > {new}) {}", side(&job["name"]), side(&job["verdict"]), rules.join(" "))
                .trim()
                .to_owned()
        })
        .collect()
}

fn errors(report: &Value) -> Vec<String> {
    let one = |e: &Value| format!("{}; {}", e["message"].as_str().unwrap(), e["help"].as_str().unwrap_or_default());
    report["errors"].as_array().unwrap().iter().map(one).collect()
}

fn notes(report: &Value) -> String {
    let of = |v: &Value| v["notes"].as_array().into_iter().flatten().cloned().collect::<Vec<_>>();
    let mut all = of(report);
    all.extend(report["jobs"].as_array().unwrap().iter().flat_map(of));
    all.iter().map(|n| n["message"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn only_jobs_that_differ_from_a_revision_are_checked() {
    let project = Project::committed("revision");
    let report = project.check(&["--base", "HEAD"]);
    assert_eq!(jobs(&report), [""; 0]);
    assert!(notes(&report).contains("no job differs from HEAD"));
    project.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    let expected = ["totals incompatible (HEAD:jobs/totals.sql > jobs/totals.sql) window-tvf-window-changed"];
    assert_eq!(jobs(&project.check(&["--base", "HEAD"])), expected);
    // From below the root as well, with paths that are taken from there.
    assert_eq!(jobs(&project.check_in("jobs", &["--base", "HEAD", "totals.sql"], "")), expected);
    assert_eq!(jobs(&project.check(&["--base", "HEAD", "jobs"])), expected);
    assert_eq!(jobs(&project.check(&["--base", "HEAD", "jobs/plain.sql"])), [""; 0]);
    project.commit();
    let report = project.check(&["--base", "HEAD~1", "--head", "HEAD"]);
    assert_eq!(
        jobs(&report),
        ["totals incompatible (HEAD~1:jobs/totals.sql > HEAD:jobs/totals.sql) window-tvf-window-changed"]
    );
    assert_eq!(jobs(&project.check(&["--base", "HEAD"])), [""; 0]);
}

#[test]
fn ddl_is_taken_from_the_side_of_its_job() {
    let project = Project::committed("ddl");
    // Both jobs read the table; the window of one of them is not touched by another delay.
    project.edit("jobs/ddl.sql", "INTERVAL '5' SECOND", "INTERVAL '7' SECOND");
    let report = project.check(&["--base", "HEAD"]);
    assert_eq!(
        jobs(&report),
        [
            "plain compatible (HEAD:jobs/plain.sql > jobs/plain.sql) source-watermark-delay",
            "totals compatible (HEAD:jobs/totals.sql > jobs/totals.sql) source-watermark-delay"
        ]
    );
    let place = &report["jobs"][1]["findings"][0];
    assert_eq!(
        (place["old"]["file"].as_str(), place["new"]["file"].as_str()),
        (Some("HEAD:jobs/ddl.sql"), Some("jobs/ddl.sql"))
    );
}

#[test]
fn schema_files_are_taken_from_the_right_revision() {
    let project = Project::committed("schema");
    project.git(&["mv", "jobs/ddl.sql", "tables.ddl.sql"]);
    project.write("keepstate.toml", "[schema]\nfiles = [\"tables.*.sql\"]\n");
    project.commit();
    project.edit("tables.ddl.sql", "price DECIMAL(10, 2)", "price DECIMAL(12, 2)");
    let report = project.check(&["--base", "HEAD"]);
    assert_eq!(report["verdict"], "incompatible", "{report:#}");
    assert_eq!(report["jobs"].as_array().unwrap().len(), 2);
    // By hand: the same file, named.
    std::fs::remove_file(project.0.join("keepstate.toml")).unwrap();
    let by_hand = project.check(&["--base", "HEAD", "--schema", "tables.ddl.sql", "jobs"]);
    assert_eq!(jobs(&by_hand), jobs(&report));
}

#[test]
fn renamed_added_and_deleted_scripts_are_told_apart() {
    let project = Project::committed("renamed");
    project.git(&["mv", "jobs/totals.sql", "jobs/spent.sql"]);
    project.edit("jobs/spent.sql", "SUM(price) AS spent", "MAX(price) AS spent");
    project.git(&["rm", "--quiet", "jobs/plain.sql"]);
    project.write("jobs/fresh.sql", "SELECT COUNT(*) FROM orders;\n");
    let report = project.check(&["--base", "HEAD"]);
    assert_eq!(
        jobs(&report),
        [
            "fresh compatible (- > jobs/fresh.sql)",
            "plain compatible (HEAD:jobs/plain.sql > -)",
            "spent incompatible (HEAD:jobs/totals.sql > jobs/spent.sql) window-tvf-only-aggregate-changed"
        ]
    );
    assert!(notes(&report).contains("starts without state (GroupAggregate)"), "{}", notes(&report));
    assert!(notes(&report).contains("gone on the new side"), "{}", notes(&report));
    // A rename that git has not been told of.
    project.git(&["reset", "--quiet", "--hard"]);
    std::fs::rename(project.0.join("jobs/totals.sql"), project.0.join("jobs/spent.sql")).unwrap();
    project.edit("jobs/spent.sql", "'1' HOUR", "'2' HOUR");
    let report = project.check(&["--base", "HEAD"]);
    assert!(jobs(&report)[1].starts_with("spent incompatible (HEAD:jobs/totals.sql > jobs/spent.sql)"), "{report:#}");
    // A deleted job that kept state says so.
    std::fs::remove_file(project.0.join("jobs/spent.sql")).unwrap();
    let notes = notes(&project.check(&["--base", "HEAD", "jobs/totals.sql"]));
    assert!(
        notes.contains("its state is dropped with it (LocalWindowAggregate, GlobalWindowAggregate)")
            || notes.contains("its state is dropped with it (GlobalWindowAggregate"),
        "{notes}"
    );
}

#[test]
fn what_git_cannot_do_is_said() {
    let project = Project::committed("refused");
    let error = |args: &[&str]| {
        let report = project.check(args);
        assert_eq!(report["exit_code"], 2);
        errors(&report).join("\n")
    };
    assert!(error(&["--base", "nowhere"]).contains("git knows no revision `nowhere`"));
    assert!(error(&["--base", "HEAD", "jobs/total.sql"]).contains("did you mean jobs/totals.sql?"));
    assert!(error(&["--base", "HEAD", "/"]).contains("outside of the work tree"));
    assert!(error(&["HEAD:jobs/total.sql", "jobs/totals.sql"]).contains("did you mean HEAD:jobs/totals.sql?"));
    // A shallow clone does not have the revision.
    project.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    project.commit();
    let source = format!("file://{}", project.0.display());
    let clone = Project::new("shallow");
    clone.git(&["clone", "--quiet", "--depth", "1", &source, "c"]);
    let report = clone.check_in("c", &["--base", "HEAD~1"], "");
    assert!(errors(&report).join("\n").contains("this checkout is shallow"), "{report:#}");
    // A submodule has revisions of its own.
    project.git(&["submodule", "--quiet", "add", &source, "other"]);
    assert!(error(&["--base", "HEAD", "other/jobs"]).contains("is in a submodule"));
    assert!(error(&["--base", "HEAD", "other"]).contains("is in a submodule"));
    assert!(notes(&project.check(&["--base", "HEAD"])).contains("the submodule other differs"));
    let nowhere = Project::new("nowhere");
    let outside = std::env::temp_dir();
    let output =
        Command::new(env!("CARGO_BIN_EXE_keepstate")).args(["check", "--base", "HEAD"]).current_dir(outside).output();
    assert_eq!(output.unwrap().status.code(), Some(2));
    drop(nowhere);
}

#[test]
fn a_file_of_a_revision_is_an_input() {
    let project = Project::committed("input");
    project.write("whole.sql", &format!("{DDL}{TOTALS}"));
    project.commit();
    project.edit("whole.sql", "'1' HOUR", "'2' HOUR");
    let expected = ["whole incompatible (HEAD:whole.sql > whole.sql) window-tvf-window-changed"];
    assert_eq!(jobs(&project.check(&["HEAD:whole.sql", "whole.sql"])), expected);
    let (exit, text) = project.keepstate(&["diff", "HEAD:whole.sql", "whole.sql"]);
    assert!(exit == 0 && text.contains("size=[2 h]"), "{text}");
}

#[test]
fn the_text_of_an_editor_is_compared_with_the_revision_of_its_file() {
    let project = Project::committed("editor");
    let text = TOTALS.replace("'1' HOUR", "'3' HOUR");
    let report = project.check_in("", &["-", "--stdin-path", "jobs/totals.sql"], &text);
    let expected = ["totals incompatible (HEAD:jobs/totals.sql > jobs/totals.sql) window-tvf-window-changed"];
    assert_eq!(jobs(&report), expected);
    let same = project.check_in("jobs", &["-", "--stdin-path", "totals.sql"], TOTALS);
    assert_eq!(jobs(&same), ["totals compatible (HEAD:jobs/totals.sql > totals.sql)"]);
    let fresh = project.check_in("", &["-", "--stdin-path", "jobs/fresh.sql"], PLAIN);
    assert_eq!(jobs(&fresh), ["fresh compatible (- > jobs/fresh.sql)"]);
}

#[test]
fn two_directories_are_compared_file_by_file() {
    let project = Project::committed("directories");
    project.git(&["clone", "--quiet", ".", "before"]);
    project.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    let report = project.check(&["before/jobs", "jobs"]);
    assert_eq!(
        jobs(&report),
        [
            "plain compatible (before/jobs/plain.sql > jobs/plain.sql)",
            "totals incompatible (before/jobs/totals.sql > jobs/totals.sql) window-tvf-window-changed"
        ]
    );
    let refused = project.check(&["before/jobs", "jobs/totals.sql"]);
    assert!(errors(&refused)[0].contains("is a directory"));
}

#[test]
fn a_lock_stands_for_what_is_deployed() {
    let project = Project::committed("lock");
    let (exit, said) = project.keepstate(&["lock"]);
    assert_eq!((exit, said.as_str()), (0, "keepstate.lock: 2 jobs\n"));
    let lock = std::fs::read_to_string(project.0.join("keepstate.lock")).unwrap();
    assert!(!lock.contains("hunter2"), "secrets stay out of it");
    assert!(lock.contains("\"window-aggs\""), "the state is in it");
    assert_eq!(project.keepstate(&["lock", "--check"]).0, 0);
    // The old text is not needed any more; a secret that changes is no change.
    project.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    project.edit("jobs/ddl.sql", "hunter2", "another secret");
    let expected = [
        "plain compatible (keepstate.lock:jobs/plain.sql > jobs/plain.sql)",
        "totals incompatible (keepstate.lock:jobs/totals.sql > jobs/totals.sql) window-tvf-window-changed",
    ];
    assert_eq!(jobs(&project.check(&["--lock", "keepstate.lock"])), expected);
    let below = project.check_in("jobs", &["--lock", "../keepstate.lock", "totals.sql"], "");
    assert_eq!(
        jobs(&below),
        ["totals incompatible (../keepstate.lock:jobs/totals.sql > totals.sql) window-tvf-window-changed"]
    );
    assert_eq!(project.keepstate(&["lock", "--check"]).0, 1);
    // Deployed: the lock follows, job by job.
    let (_, said) = project.keepstate(&["lock", "jobs/totals.sql"]);
    assert_eq!(said, "keepstate.lock: 2 jobs, 0 added, 1 changed, 0 removed\n");
    assert_eq!(project.check(&["--lock", "keepstate.lock"])["verdict"], "compatible");
    // Twice the same is the same file.
    let first = std::fs::read_to_string(project.0.join("keepstate.lock")).unwrap();
    project.keepstate(&["lock", "jobs/totals.sql"]);
    assert_eq!(std::fs::read_to_string(project.0.join("keepstate.lock")).unwrap(), first);
}

#[test]
fn a_lock_that_does_not_fit_is_refused() {
    let project = Project::committed("bad-lock");
    project.keepstate(&["lock"]);
    let lock = std::fs::read_to_string(project.0.join("keepstate.lock")).unwrap();
    let refused = |text: &str, args: &[&str]| {
        project.write("bad.lock", text);
        let report = project.check(&[&["--lock", "bad.lock"], args].concat());
        assert_eq!(report["exit_code"], 2, "{report:#}");
        errors(&report).join("\n")
    };
    assert!(refused("{", &[]).contains("bad.lock is no lock"));
    assert!(refused("{}", &[]).contains("no `schema_version`"));
    assert!(
        refused(&lock.replace("\"schema_version\": 1,", "\"schema_version\": 9,"), &[]).contains("newer keepstate")
    );
    assert!(refused(&lock, &["--target", "flink-2.2"]).contains("was written for vvr, and the check is for flink-2.2"));
    assert!(
        refused(&lock.replace("INTERVAL '1' HOUR", "INTERVAL '2' HOUR"), &[]).contains("not as keepstate wrote it")
    );
    assert!(refused(&lock.replace("\"target\": \"vvr\"", "\"target\": \"vvrr\""), &[]).contains("did you mean `vvr`?"));
    assert!(refused(&lock.replace("\"texts\"", "\"text\""), &[]).contains("unknown field `text`"));
    assert!(refused(&lock.replace("jobs/totals.sql", "/etc/passwd"), &[]).contains("not as keepstate wrote it"));
    assert!(errors(&project.check(&["--lock", "no.lock"]))[0].contains("there is no file no.lock"));
    assert!(
        errors(&project.check(&["--lock", "keepstate.lock", "jobs/total.sql"]))[0]
            .contains("no SQL file at jobs/total.sql")
    );
    // A path that is misspelt does not empty it.
    let (exit, said) = project.keepstate(&["lock", "jobs/total.sql"]);
    assert!(exit == 2 && said.contains("did you mean jobs/totals.sql?"), "{said}");
    assert_eq!(std::fs::read_to_string(project.0.join("keepstate.lock")).unwrap(), lock);
    // One that is gone leaves it.
    std::fs::remove_file(project.0.join("jobs/plain.sql")).unwrap();
    assert_eq!(
        project.keepstate(&["lock", "jobs/plain.sql"]).1,
        "keepstate.lock: 1 job, 0 added, 0 changed, 1 removed\n"
    );
}

#[test]
fn the_configuration_holds_for_what_is_below_it() {
    let project = Project::committed("config");
    project.write("keepstate.toml", "fail-on = \"never\"\n[jobs]\nexclude = [\"jobs/plain.sql\"]\n");
    project.write("other/keepstate.toml", "target = \"flink-2.2\"\n");
    project.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    project.edit("jobs/plain.sql", "price", "price * 2");
    let report = project.check(&["--base", "HEAD"]);
    assert_eq!(report["exit_code"], 0);
    assert_eq!(jobs(&report).len(), 1, "{report:#}");
    // The command line has the last word.
    assert_eq!(project.check(&["--base", "HEAD", "--fail-on", "unknown"])["exit_code"], 1);
    // Another directory has another one; `--config` overrules both.
    project.write("other/a.sql", "SELECT 1;");
    assert_eq!(project.check(&["other/a.sql", "other/a.sql"])["target"], "flink-2.2");
    assert_eq!(project.check(&["--config", "keepstate.toml", "other/a.sql", "other/a.sql"])["target"], "vvr");
    let plan = project.keepstate(&["plan", "--format", "json", "other/a.sql"]).1;
    assert!(plan.contains("\"target\": \"flink-2.2\""), "{plan}");
    // What is misspelt is an error, and nothing is checked.
    project.write("keepstate.toml", "fail_on = \"never\"\n");
    let report = project.check(&["--base", "HEAD"]);
    assert_eq!(report["exit_code"], 2);
    assert!(errors(&report)[0].contains("did you mean `fail-on`?"), "{report:#}");
    assert_eq!(report["errors"][0]["at"]["file"], "keepstate.toml");
    assert!(report["jobs"].as_array().unwrap().is_empty());
}

#[test]
fn defines_and_connectors_come_from_the_configuration() {
    let project = Project::new("defines");
    project.write(
        "keepstate.toml",
        "[defines]\nsize = \"1\"\n[connector.ours]\nsource = { watermark = true, changelog = \"upsert\" }\n",
    );
    let table = "CREATE TABLE s (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'ours');";
    project.write("a.sql", &format!("{table} SELECT k, v FROM s WHERE v > ${{size}};"));
    let plan = project.keepstate(&["plan", "a.sql"]).1;
    assert!(plan.contains("ChangelogNormalize") && plan.contains("(v > 1)"), "{plan}");
    let plan = project.keepstate(&["plan", "--define", "size=2", "a.sql"]).1;
    assert!(plan.contains("(v > 2)"), "{plan}");
    project.write("keepstate.toml", "[connector.ours]\nsource = { watermarks = true }\n");
    let (exit, said) = project.keepstate(&["plan", "a.sql"]);
    assert!(exit == 2 && said.contains("watermarks"), "{said}");
}

const ALLOW: &str = "-- keepstate: allow window-tvf-window-changed reason=\"starts anew\"";

#[test]
fn a_finding_is_accepted_at_its_clause() {
    let project = Project::committed("accepted");
    let accepted = |comment: &str| {
        let text = TOTALS.replace("FROM TABLE", &format!("{comment}\nFROM TABLE")).replace("'1' HOUR", "'2' HOUR");
        project.write("jobs/totals.sql", &text);
        project.check(&["--base", "HEAD"])
    };
    let report = accepted(ALLOW);
    assert_eq!((&report["verdict"], &report["exit_code"]), (&"compatible".into(), &0.into()));
    let finding = &report["jobs"][0]["findings"][0];
    assert_eq!(
        (&finding["verdict"], &finding["suppressed"]["reason"]),
        (&"incompatible".into(), &"starts anew".into())
    );
    assert_eq!(report["jobs"][0]["sinks"][0]["verdict"], "compatible");
    // Until a day, which ends; nothing, another rule, without a reason.
    let until = accepted(&format!("{ALLOW} until=2999-12-31"));
    assert_eq!(until["jobs"][0]["findings"][0]["suppressed"]["until"], "2999-12-31");
    let expired = accepted(&format!("{ALLOW} until=2020-01-31"));
    assert_eq!(expired["exit_code"], 1);
    assert!(notes(&expired).contains("expired on 2020-01-31"));
    let other = accepted("-- keepstate: allow sink-added reason=\"x\"");
    assert_eq!(other["exit_code"], 1);
    assert!(notes(&other).contains("nothing to allow here"));
    let silent = accepted("-- keepstate: allow window-tvf-window-changed");
    assert_eq!(silent["exit_code"], 2);
    assert!(errors(&silent)[0].contains("gives no reason"));
    assert_eq!(jobs(&silent).len(), 1, "the job is judged all the same");
}

#[test]
fn a_finding_in_a_view_is_accepted_from_its_definition_to_its_use() {
    let project = Project::new("view");
    // A comment may stand at each of the marks.
    let script = |marked: usize, least: u32| {
        let mark = |n: usize| {
            if n == marked { "-- keepstate: allow where-below-stateful reason='old rows may stay'\n" } else { "" }
        };
        format!(
            "{DDL}CREATE VIEW pricey AS SELECT * FROM orders\n{}WHERE price > {least};\n\
             CREATE VIEW summed AS\nWITH p AS (SELECT * \n{}FROM pricey)\nSELECT customer, MAX(ordered_at) AS m, SUM(price) AS s\n\
             {}FROM p GROUP BY customer;\nINSERT INTO totals\n{}SELECT customer, m, s\n{}FROM summed;\n",
            mark(1),
            mark(2),
            mark(3),
            mark(4),
            mark(5)
        )
    };
    project.write("old.sql", &script(0, 1));
    for (marked, verdict) in [
        (0, "incompatible"),
        (1, "compatible"),
        (2, "compatible"),
        (3, "compatible"),
        (4, "incompatible"),
        (5, "compatible"),
    ] {
        project.write("new.sql", &script(marked, 2));
        let report = project.check(&["old.sql", "new.sql"]);
        assert_eq!(report["verdict"], verdict, "{marked}: {report:#}");
    }
}

#[test]
fn a_finding_is_accepted_by_the_configuration() {
    let project = Project::committed("allow-list");
    project.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    let found = project.check(&["--base", "HEAD"]);
    let fingerprint = found["jobs"][0]["findings"][0]["fingerprint"].as_str().unwrap().to_owned();
    let with = |text: &str| {
        project.write("keepstate.toml", text);
        project.check(&["--base", "HEAD"])
    };
    let entry = format!("[[allow]]\nfingerprint = \"{fingerprint}\"\nreason = \"agreed\"\n");
    assert_eq!(with(&entry)["verdict"], "compatible");
    let by_rule = "[[allow]]\nrule = \"window-tvf-window-changed\"\njob = \"tot*\"\nreason = \"agreed\"\n";
    assert_eq!(with(by_rule)["verdict"], "compatible");
    let elsewhere = with(&by_rule.replace("tot*", "other"));
    assert_eq!(elsewhere["verdict"], "incompatible");
    assert!(notes(&elsewhere).contains("allows nothing"), "{elsewhere:#}");
    assert_eq!(with("[rules]\nwindow-tvf-window-changed = \"off\"\n")["verdict"], "compatible");
    let warned = with("[rules]\nwindow-tvf-window-changed = \"warn\"\n");
    assert_eq!((&warned["verdict"], &warned["exit_code"]), (&"incompatible".into(), &0.into()));
    let strict = with("fail-on = \"never\"\n[rules]\nwindow-tvf-window-changed = \"error\"\n");
    assert_eq!(strict["exit_code"], 1);
}

#[test]
fn a_script_that_moves_is_followed_wherever_the_old_side_comes_from() {
    let moved = |project: &Project| {
        std::fs::create_dir_all(project.0.join("later")).unwrap();
        for name in ["ddl.sql", "totals.sql", "plain.sql"] {
            std::fs::rename(project.0.join("jobs").join(name), project.0.join("later").join(name)).unwrap();
        }
        // Short enough that most of its lines differ.
        project.write(
            "later/plain.sql",
            "INSERT INTO totals SELECT customer, MAX(ordered_at), MAX(price) FROM orders GROUP BY customer;\n",
        );
        project.edit("later/totals.sql", "'1' HOUR", "'2' HOUR");
    };
    for base in [&["--base", "HEAD"][..], &["--lock", "keepstate.lock"]] {
        let project = Project::committed("moved");
        project.keepstate(&["lock"]);
        moved(&project);
        let report = project.check(base);
        assert_eq!(report["verdict"], "incompatible", "{report:#}");
        assert_eq!(jobs(&report).len(), 2, "{report:#}");
        // By the old path as well as by the new one.
        assert_eq!(jobs(&project.check(&[base, &["jobs/totals.sql"]].concat())).len(), 1);
    }
    let project = Project::committed("moved");
    project.git(&["clone", "--quiet", ".", "before"]);
    std::fs::rename(project.0.join("jobs/totals.sql"), project.0.join("jobs/spent.sql")).unwrap();
    let names = jobs(&project.check(&["before/jobs", "jobs"]));
    assert!(names.iter().any(|n| n.contains("(before/jobs/totals.sql > jobs/spent.sql)")), "{names:?}");
}

#[test]
fn what_would_check_nothing_is_said() {
    let project = Project::committed("nothing");
    project.edit("jobs/ddl.sql", "price DECIMAL(10, 2)", "price DECIMAL(12, 2)");
    // Who names DDL means its jobs.
    let report = project.check(&["--base", "HEAD", "jobs/ddl.sql"]);
    assert_eq!(jobs(&report).len(), 2, "{report:#}");
    assert!(errors(&project.check(&["--base", "HEAD", ""]))[0].contains("one of the paths is empty"));
    project.write("keepstate.toml", "[schema]\nfiles = [\"../shared/*.sql\"]\n");
    let report = project.check(&["--base", "HEAD"]);
    assert!(errors(&report)[0].contains("matches the schema globs"), "{report:#}");
    project.write("keepstate.toml", "[jobs]\nexclude = [\"jobs/plain.sql\"]\n");
    assert!(notes(&project.check(&["--base", "HEAD", "jobs/plain.sql"])).contains("jobs/plain.sql is left out"));
    std::fs::remove_file(project.0.join("keepstate.toml")).unwrap();
    std::fs::create_dir(project.0.join("keepstate.toml")).unwrap();
    assert!(errors(&project.check(&["--base", "HEAD"]))[0].contains("cannot read the configuration"));
    std::fs::remove_dir(project.0.join("keepstate.toml")).unwrap();
    // A job that is gone is no line less.
    std::fs::remove_file(project.0.join("jobs/plain.sql")).unwrap();
    let (_, said) = project.keepstate(&["check", "--base", "HEAD", "--format", "concise", "jobs/plain.sql"]);
    assert!(said.contains("HEAD:jobs/plain.sql: note the job is gone"), "{said}");
    // A lock far from its scripts, and one that would be emptied.
    project.git(&["checkout", "--quiet", "jobs/plain.sql"]);
    project.keepstate(&["lock"]);
    let lock = std::fs::read_to_string(project.0.join("keepstate.lock")).unwrap();
    project.write("far/keepstate.lock", &lock);
    let report = project.check(&["--lock", "far/keepstate.lock"]);
    assert!(errors(&report)[0].contains("none of the 2 jobs"), "{report:#}");
    let output = project.keepstate_in("far", &["lock"], "");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(project.0.join("far/keepstate.lock")).unwrap(), lock);
}

/// A job that cannot be read must not pass as one that is gone.
#[cfg(unix)]
#[test]
fn links_and_odd_names_are_not_taken_for_deleted_scripts() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::committed("links");
    project.write("elsewhere.txt", &TOTALS.replace("'1' HOUR", "'2' HOUR"));
    std::fs::remove_file(project.0.join("jobs/totals.sql")).unwrap();
    std::os::unix::fs::symlink("../elsewhere.txt", project.0.join("jobs/totals.sql")).unwrap();
    let report = project.check(&["--base", "HEAD"]);
    assert!(errors(&report)[0].contains("jobs/totals.sql is a link"), "{report:#}");
    assert_eq!(report["exit_code"], 2);
    let odd = project.0.join("jobs").join(std::ffi::OsStr::from_bytes(b"\xff.sql"));
    std::fs::write(odd, PLAIN).unwrap();
    project.commit();
    let report = project.check(&["--base", "HEAD~1"]);
    assert!(errors(&report).join("\n").contains("is not UTF-8"), "{report:#}");
}

#[test]
fn scripts_are_not_written_over() {
    let project = Project::committed("overwritten");
    let before = std::fs::read_to_string(project.0.join("jobs/totals.sql")).unwrap();
    let (exit, _) = project.keepstate(&["check", "--base", "HEAD", "--format", "json=jobs/totals.sql"]);
    assert_eq!(exit, 2);
    assert_eq!(project.keepstate(&["lock", "--output", "jobs/totals.sql"]).0, 2);
    assert_eq!(std::fs::read_to_string(project.0.join("jobs/totals.sql")).unwrap(), before);
}

/// Sinks by the thousand over one table: matched and judged without walking all of them for each.
#[test]
fn many_inserts_over_one_table_take_no_time_to_speak_of() {
    let script = |call: &str| {
        let tables: String = (0..800)
            .map(|i| format!("CREATE TABLE t{i} (k STRING, n BIGINT) WITH ('connector' = 'print');\n"))
            .collect();
        let inserts: String = (0..800)
            .map(|i| format!("INSERT INTO t{i} SELECT k, {call}(v) FROM s WHERE v > {i} GROUP BY k;\n"))
            .collect();
        format!(
            "CREATE TABLE s (k STRING, v BIGINT) WITH ('connector' = 'kafka');\n{tables}BEGIN STATEMENT SET;\n{inserts}END;"
        )
    };
    let options = keepstate::check::Options::default();
    let text = |name: &str, call: &str| keepstate::check::Text::new(name, script(call));
    let start = std::time::Instant::now();
    let report = keepstate::check::check(text("old.sql", "SUM"), text("new.sql", "MAX"), &options).report;
    assert_eq!(report.jobs[0].findings.len(), 800);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn lints_are_accepted_too_and_directories_are_looked_through() {
    let project = Project::committed("lints");
    let grows = "SELECT customer, COUNT(*) FROM orders GROUP BY customer;\n";
    project.write("jobs/grows.sql", grows);
    project.write("keepstate.toml", "target = \"flink-1.20\"\n");
    let (exit, said) = project.keepstate(&["lint", "jobs"]);
    assert!(exit == 1 && said.contains("group-aggregate-grows"), "{said}");
    assert!(!said.contains("no such table") && !said.contains("error"), "the DDL beside the jobs is seen: {said}");
    let allowed =
        grows.replace("GROUP BY", "\n-- keepstate: allow group-aggregate-grows reason='few customers'\nGROUP BY");
    project.write("jobs/grows.sql", &allowed);
    let (_, said) = project.keepstate(&["lint", "jobs"]);
    assert!(!said.contains("warning group-aggregate-grows") && said.contains("suppressed"), "{said}");
}

#[test]
fn scripts_that_cannot_be_checked_hide_no_others() {
    let project = Project::committed("broken");
    project.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    project.edit("jobs/plain.sql", "SELECT", "SELEC");
    let report = project.check(&["--base", "HEAD"]);
    assert_eq!(report["exit_code"], 2);
    let found = jobs(&report);
    // Nor do files that cannot be read, and those that are as they were do not matter.
    std::fs::write(project.0.join("jobs/binary.sql"), b"\xff\xfe").unwrap();
    let unreadable = project.check(&["--base", "HEAD"]);
    assert!(errors(&unreadable)[0].contains("jobs/binary.sql is not UTF-8"), "{unreadable:#}");
    assert_eq!(jobs(&unreadable), found);
    project.git(&["add", "jobs/binary.sql"]);
    project.git(&["commit", "--quiet", "--message", "binary", "jobs/binary.sql"]);
    assert_eq!(errors(&project.check(&["--base", "HEAD"])).len(), 1);
    assert!(found[0].starts_with("plain unknown") && found[1].starts_with("totals incompatible"), "{found:?}");
    let first = errors(&report);
    assert_eq!(first.len(), 1);
}
