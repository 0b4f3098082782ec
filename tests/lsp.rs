//! The server of editors, as an editor meets it: the program, over stdin and stdout, beside a git repository.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Nothing takes so long unless something is wrong.
const DEADLINE: Duration = Duration::from_secs(60);

/// A directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lsp").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}

fn git(directory: &Path, args: &[&str]) {
    let status = Command::new("git")
        .current_dir(directory)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {args:?}");
}

fn write(directory: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// A repository with one commit.
fn repository(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = directory(name);
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    write(&path, files);
    git(&path, &["add", "--all"]);
    git(&path, &["commit", "--quiet", "--message=first"]);
    path
}

/// An editor.
struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    kept: VecDeque<Value>,
    asked: u64,
    root: PathBuf,
}

impl Editor {
    fn start(root: &Path) -> Editor {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keepstate"))
            .args(["lsp", "--stdio"])
            .current_dir(root)
            .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            while let Some(message) = receive(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Editor { child, stdin, messages, kept: VecDeque::new(), asked: 0, root: root.to_owned() }
    }

    /// An editor that can do everything and has said hello.
    fn open(root: &Path, options: Value) -> Editor {
        let capabilities = json!({
            "textDocument": {
                "publishDiagnostics": { "relatedInformation": true },
                "codeAction": { "codeActionLiteralSupport": {} },
                "hover": { "contentFormat": ["markdown", "plaintext"] },
            },
            "window": { "showDocument": { "support": true } },
            "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
        });
        Editor::open_as(root, options, capabilities)
    }

    fn open_as(root: &Path, options: Value, capabilities: Value) -> Editor {
        let mut editor = Editor::start(root);
        let params = json!({
            "processId": null,
            "rootUri": uri(root),
            "workspaceFolders": [{ "uri": uri(root), "name": "w" }],
            "capabilities": capabilities,
            "initializationOptions": options,
        });
        let answer = editor.ask("initialize", params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "keepstate", "{answer}");
        editor.notify("initialized", json!({}));
        editor
    }

    fn uri(&self, file: &str) -> String {
        uri(&self.root.join(file))
    }

    fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    fn send_text(&mut self, body: &str) {
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    fn send_all(&mut self, messages: &[Value]) {
        let bodies = messages.iter().map(Value::to_string);
        let all: String = bodies.map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len())).collect();
        self.send_raw(all.as_bytes());
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send_text(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = json!(self.asked);
        self.send_text(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(&id)
    }

    fn answer(&mut self, id: &Value) -> Value {
        self.wait(&format!("the answer to {id}"), |m| m.get("method").is_none() && m["id"] == *id)
    }

    /// The first message of a kind, of those that came and those that will.
    fn wait(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&is) {
            return self.kept.remove(at).unwrap();
        }
        let end = Instant::now() + DEADLINE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let message = message.unwrap_or_else(|e| panic!("{what} did not come ({e}); there are {:?}", self.kept));
            if is(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    fn did_open(&mut self, file: &str, text: &str) {
        let document = json!({ "uri": self.uri(file), "languageId": "sql", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn did_change(&mut self, file: &str, version: i32, changes: Value) {
        let document = json!({ "uri": self.uri(file), "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    fn diagnostics(&mut self, file: &str, version: i32) -> Vec<Value> {
        let uri = self.uri(file);
        let published = |m: &Value| {
            m["method"] == "textDocument/publishDiagnostics"
                && m["params"]["uri"] == uri
                && m["params"]["version"] == version
        };
        let message = self.wait(&format!("what is said of {file}, version {version}"), published);
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn at(&mut self, method: &str, file: &str, line: u32, character: u32) -> Value {
        let params =
            json!({ "textDocument": { "uri": self.uri(file) }, "position": { "line": line, "character": character } });
        self.ask(method, params)["result"].take()
    }

    fn actions(&mut self, file: &str, range: &Value) -> Vec<Value> {
        let params =
            json!({ "textDocument": { "uri": self.uri(file) }, "range": range, "context": { "diagnostics": [] } });
        self.ask("textDocument/codeAction", params)["result"].as_array().unwrap().clone()
    }

    /// Says good-bye as it should be done; the exit status.
    fn leave(mut self) -> Option<i32> {
        assert_eq!(self.ask("shutdown", Value::Null)["result"], Value::Null);
        self.notify("exit", Value::Null);
        self.exit()
    }

    fn exit(mut self) -> Option<i32> {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the server does not leave");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn receive(stream: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}

fn uri(path: &Path) -> String {
    let mut out = "file://".to_owned();
    for byte in path.to_str().unwrap().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } })
}

fn point(line: u32, character: u32) -> Value {
    range(line, character, character)
}

/// The diagnostics of a rule or kind of error.
fn of<'d>(diagnostics: &'d [Value], code: &str) -> Vec<&'d Value> {
    diagnostics.iter().filter(|d| d["code"] == code).collect()
}

fn one<'d>(diagnostics: &'d [Value], code: &str) -> &'d Value {
    let found = of(diagnostics, code);
    assert_eq!(found.len(), 1, "{code}: {diagnostics:#?}");
    found[0]
}

const OLD: &str = include_str!("../examples/top_products/old.sql");
const RULE: &str = "window-top-n-n-changed";

/// The line of the example that limits the rank, counted from 0, and the columns of the condition on it.
fn limit() -> (u32, u32, u32) {
    let line = OLD.lines().position(|l| l.starts_with("WHERE place <= 2")).unwrap();
    (line as u32, 6, 16)
}

#[test]
fn an_edit_is_judged_accepted_and_taken_back() {
    let root = repository("edit", &[("jobs/top products.sql", OLD)]);
    let mut editor = Editor::open(&root, json!({ "virtualDocuments": true }));
    let file = "jobs/top products.sql";
    let (line, from, to) = limit();
    editor.did_open(file, OLD);
    let unchanged = editor.diagnostics(file, 1);
    assert!(of(&unchanged, RULE).is_empty(), "{unchanged:#?}");

    editor.did_change(file, 2, json!([{ "range": range(line, to - 1, to), "text": "3" }]));
    let found = editor.diagnostics(file, 2);
    let finding = one(&found, RULE);
    assert_eq!((&finding["range"], &finding["severity"]), (&range(line, from, to), &1.into()));
    assert_eq!(finding["source"], "keepstate");
    assert!(finding["codeDescription"]["href"].as_str().unwrap().starts_with("https://"));
    let message = finding["message"].as_str().unwrap();
    assert!(
        message.contains("from 2 to 3") && message.contains("\nstate: ") && message.contains("\nhelp: "),
        "{message}"
    );
    let related = &finding["relatedInformation"][0];
    let old = related["location"]["uri"].as_str().unwrap().to_owned();
    assert!(old.starts_with("keepstate://old/HEAD/") && old.ends_with("/jobs/top%20products.sql"), "{old}");
    assert_eq!(related["location"]["range"], range(line, from, to));

    // The old side: where it is, and its text.
    let places = editor.at("textDocument/definition", file, line, from + 1);
    assert_eq!(places, json!([related["location"]]));
    for method in ["keepstate/oldText", "workspace/textDocumentContent"] {
        // Editors encode as they please.
        for address in [old.clone(), old.replace("%20", " "), old.replace("HEAD", "%48EAD")] {
            assert_eq!(editor.ask(method, json!({ "uri": address }))["result"]["text"], OLD);
        }
    }

    let hover = editor.at("textDocument/hover", file, line, from + 1);
    let text = hover["contents"]["value"].as_str().unwrap();
    for part in ["**incompatible**", RULE, "WindowRank", "window_rank", "place <= 2"] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let actions = editor.actions(file, &finding["range"]);
    let titles: Vec<&str> = actions.iter().map(|a| a["title"].as_str().unwrap()).collect();
    assert_eq!(
        titles,
        [
            "Accept window-top-n-n-changed here, with a reason",
            "Explain window-top-n-n-changed",
            "Show what stood here before",
            "Open the page that window-top-n-n-changed comes from",
        ]
    );
    let edit = &actions[0]["edit"]["changes"][editor.uri(file)][0];
    assert_eq!(edit["range"], point(line, 0));
    let comment = edit["newText"].as_str().unwrap();
    assert_eq!(comment, format!("-- keepstate: allow {RULE} reason=\"TODO: why is this safe?\"\n"));
    editor.did_change(file, 3, json!([{ "range": edit["range"], "text": comment }]));
    let accepted = editor.diagnostics(file, 3);
    let finding = one(&accepted, RULE);
    assert_eq!((&finding["range"], &finding["severity"]), (&range(line + 1, from, to), &4.into()));
    assert!(finding["message"].as_str().unwrap().contains("TODO: why is this safe?"));
    assert!(of(&accepted, "config").is_empty());

    // Without its cause the comment is one too many.
    editor.did_change(file, 4, json!([{ "range": range(line + 1, to - 1, to), "text": "2" }]));
    let back = editor.diagnostics(file, 4);
    assert!(of(&back, RULE).is_empty());
    assert_eq!((&one(&back, "note")["tags"], &one(&back, "note")["severity"]), (&json!([1]), &4.into()));

    for command in &actions[1..] {
        let call = &command["command"];
        let params = json!({ "command": call["command"], "arguments": call["arguments"] });
        assert!(editor.ask("workspace/executeCommand", params)["result"].is_string());
        let shown = editor.wait("a document to show", |m| m["method"] == "window/showDocument");
        assert!(shown["params"]["uri"].is_string());
    }
    let page = editor.ask("keepstate/oldText", json!({ "uri": format!("keepstate://rules/{RULE}.md") }));
    assert!(page["result"]["text"].as_str().unwrap().starts_with(&format!("# {RULE}\n")));
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_commit_moves_the_old_side() {
    let root = repository("commit", &[("a.sql", OLD)]);
    let capabilities =
        json!({ "workspace": { "textDocumentContent": {} }, "window": { "showDocument": { "support": true } } });
    let mut editor = Editor::open_as(&root, Value::Null, capabilities);
    let text = |n: u32| OLD.replace("<= 2", &format!("<= {n}"));
    editor.did_open("a.sql", &text(3));
    one(&editor.diagnostics("a.sql", 1), RULE);
    write(&root, &[("a.sql", &text(4))]);
    git(&root, &["commit", "--quiet", "--all", "--message=second"]);
    editor.did_change("a.sql", 2, json!([{ "text": text(5) }]));
    let found = editor.diagnostics("a.sql", 2);
    assert!(one(&found, RULE)["message"].as_str().unwrap().contains("from 4 to 5"), "{found:#?}");
    let (line, from, _) = limit();
    let old = editor.at("textDocument/definition", "a.sql", line, from)[0]["uri"].clone();
    let refreshed = editor.wait("a refresh", |m| m["method"] == "workspace/textDocumentContent/refresh");
    assert_eq!(refreshed["params"]["uri"], old);
    assert_eq!(editor.ask("workspace/textDocumentContent", json!({ "uri": old }))["result"]["text"], text(4));
    assert_eq!(editor.leave(), Some(0));
}

/// The example with a line before the condition that counts differently in every encoding.
fn with_unicode(text: &str) -> String {
    text.replace("WHERE place", "\tWHERE '😀e\u{301}' <> '' /* 猫 */ AND place").replace('\n', "\r\n")
}

#[test]
fn positions_are_counted_as_agreed() {
    let text = with_unicode(OLD);
    let root = repository("units", &[("a.sql", &text)]);
    let (line, ..) = limit();
    let written = text.lines().nth(line as usize).unwrap();
    let before = &written[..written.find("place").unwrap()];
    let length = "place <= 2".len() as u32;
    let units = [("utf-16", before.encode_utf16().count() as u32), ("utf-8", before.len() as u32)];
    for (encoding, from) in units {
        let capabilities = match encoding {
            "utf-8" => json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } }),
            _ => json!({ "textDocument": { "codeAction": { "codeActionLiteralSupport": {} } } }),
        };
        let mut editor = Editor::open_as(&root, Value::Null, capabilities);
        editor.did_open("a.sql", &text);
        editor.diagnostics("a.sql", 1);
        // The last character of the line goes, then another one comes, then everything is sent.
        let end = from + length;
        let changes = json!([
            { "range": range(line, end - 1, end), "text": "" },
            { "range": point(line, end - 1), "text": "4" },
        ]);
        editor.did_change("a.sql", 2, changes);
        let found = editor.diagnostics("a.sql", 2);
        assert_eq!(one(&found, RULE)["range"], range(line, from, end), "{encoding}: {found:#?}");
        assert!(one(&found, RULE)["message"].as_str().unwrap().contains("from 2 to 4"));
        editor.did_change("a.sql", 3, json!([{ "text": text.replace("<= 2", "<= 5") }]));
        assert!(one(&editor.diagnostics("a.sql", 3), RULE)["message"].as_str().unwrap().contains("from 2 to 5"));
        if encoding == "utf-16" {
            let actions = editor.actions("a.sql", &point(line, end));
            let inserted = actions[0]["edit"]["changes"][editor.uri("a.sql")][0]["newText"].as_str().unwrap();
            assert!(inserted.starts_with("\t-- keepstate") && inserted.ends_with("\"\r\n"), "{inserted:?}");
        }
        assert_eq!(editor.leave(), Some(0));
    }
}

const DDL: &str = "CREATE TABLE s (a INT, b BIGINT) WITH ('connector' = 'datagen');\n";
const SUM: &str = "SELECT a, SUM(b) AS total\nFROM s\nGROUP BY a;\n";

#[test]
fn ddl_beside_a_script_matters_to_both() {
    let other = "SELECT a, MAX(b) FROM s GROUP BY a;\n";
    let root = repository("ddl", &[("jobs/tables.sql", DDL), ("jobs/sum.sql", SUM), ("jobs/max.sql", other)]);
    let mut editor = Editor::open(&root, json!({ "lint": false }));
    editor.did_open("jobs/sum.sql", SUM);
    assert!(editor.diagnostics("jobs/sum.sql", 1).is_empty());
    editor.did_open("jobs/tables.sql", DDL);
    assert!(editor.diagnostics("jobs/tables.sql", 1).is_empty());
    let column = DDL.find("a INT").unwrap() as u32;
    editor.did_change("jobs/tables.sql", 2, json!([{ "range": range(0, column, column + 5), "text": "a STRING" }]));
    // The file says what its jobs say of it, the same once; those that are open are looked at again, with the tables as they are in the
    // editor and not on disk.
    let found = editor.diagnostics("jobs/tables.sql", 2);
    let rule = "source-column-of-a-key";
    let finding = one(&found, rule);
    assert_eq!(finding["range"], range(0, column, column + 8), "{finding:#?}");
    assert!(finding["message"].as_str().unwrap().ends_with("\njobs: max, sum"), "{finding:#?}");
    let of_script = loop {
        let found = editor.diagnostics("jobs/sum.sql", 1);
        if !found.is_empty() {
            break found;
        }
    };
    let finding = one(&of_script, rule);
    assert_eq!((&finding["range"], &finding["severity"]), (&range(0, 0, 25), &1.into()));
    let related = finding["relatedInformation"].as_array().unwrap();
    let changed = related.iter().find(|r| r["location"]["uri"] == editor.uri("jobs/tables.sql")).unwrap();
    assert_eq!(changed["location"]["range"], range(0, column, column + 8));
    // Where a comment in the script would not reach, none is offered.
    let actions = editor.actions("jobs/sum.sql", &point(0, 0));
    assert!(actions.iter().all(|a| a.get("edit").is_none()), "{actions:#?}");
    assert!(editor.actions("jobs/tables.sql", &point(0, column))[0]["edit"].is_object());

    // A table that goes is an error of the script, not of the file that it was in.
    editor.did_change("jobs/tables.sql", 3, json!([{ "text": "CREATE TABLE other (a INT);" }]));
    assert!(editor.diagnostics("jobs/tables.sql", 3).is_empty());
    let error = loop {
        let found = editor.diagnostics("jobs/sum.sql", 1);
        if let Some(error) = found.iter().find(|d| d["code"] == "plan") {
            break error.clone();
        }
    };
    assert_eq!((&error["range"]["start"]["line"], &error["severity"]), (&1.into(), &1.into()));
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn errors_stand_where_they_are() {
    let root = repository("errors", &[("a.sql", "SELECT 1;\n"), ("keepstate.toml", "")]);
    let mut editor = Editor::open(&root, json!({ "base": "HEAD" }));
    editor.did_open("a.sql", "SELECT 1;\nSELEC 2;\nSELECT x FROM;\n");
    let found = editor.diagnostics("a.sql", 1);
    let lines: Vec<&Value> = of(&found, "parse").iter().map(|d| &d["range"]["start"]["line"]).collect();
    assert_eq!(lines, [1, 2], "{found:#?}");
    assert!(found.iter().all(|d| d["severity"] == 1), "{found:#?}");

    // What the old side gets wrong is no mistake of the script; that nothing can be compared is said.
    let bad = repository("errors-old", &[("a.sql", "SELEC 1;\n")]);
    let mut other = Editor::open(&bad, Value::Null);
    other.did_open("a.sql", "SELECT 1;\n");
    let found = other.diagnostics("a.sql", 1);
    assert!(found.iter().all(|d| d["severity"] == 2) && !found.is_empty(), "{found:#?}");
    assert!(found[0]["message"].as_str().unwrap().contains("HEAD:a.sql:1"), "{found:#?}");
    assert_eq!(other.leave(), Some(0));

    // A configuration that is wrong is said in the document, too, and noticed when it is saved.
    std::fs::write(root.join("keepstate.toml"), "tarjet = \"vvr\"\n").unwrap();
    editor.did_change("a.sql", 2, json!([{ "text": "SELECT 1;\n" }]));
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    let found = editor.diagnostics("a.sql", 2);
    assert!(one(&found, "config")["message"].as_str().unwrap().contains("tarjet"), "{found:#?}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn without_git_there_are_errors_and_lints() {
    let root = directory("nogit");
    write(&root, &[("tables.sql", DDL)]);
    let mut editor = Editor::open(&root, Value::Null);
    editor.did_open("sum.sql", SUM);
    let found = editor.diagnostics("sum.sql", 1);
    assert!(!found.is_empty() && found.iter().all(|d| d["severity"] == 3), "{found:#?}");
    let hover = editor.at("textDocument/hover", "sum.sql", 2, 0);
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("**GroupAggregate** keeps state.\n") && text.contains("accState"), "{text}");
    // What a lint finds is accepted like what a check finds.
    let actions = editor.actions("sum.sql", &found[0]["range"]);
    let edit = &actions[0]["edit"]["changes"][editor.uri("sum.sql")][0];
    editor.did_change("sum.sql", 2, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    let accepted = editor.diagnostics("sum.sql", 2);
    let rule = found[0]["code"].as_str().unwrap();
    assert_eq!(one(&accepted, rule)["severity"], 4, "{accepted:#?}");
    // A document that was never saved.
    let document = json!({ "uri": "untitled:Untitled-1", "languageId": "sql", "version": 1, "text": "SELECT FROM" });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let said = editor.wait("what is said of it", |m| m["params"]["uri"] == "untitled:Untitled-1");
    assert_eq!(said["params"]["diagnostics"][0]["code"], "parse");
    assert_eq!(editor.leave(), Some(0));

    // A revision that does not exist is told once, and the rest goes on.
    let root = repository("norev", &[("a.sql", SUM)]);
    let mut editor = Editor::open(&root, json!({ "base": "no-such-branch" }));
    editor.did_open("a.sql", "SELEC");
    assert_eq!(editor.diagnostics("a.sql", 1)[0]["code"], "parse");
    let told = editor.wait("a message", |m| m["method"] == "window/showMessage");
    assert!(told["params"]["message"].as_str().unwrap().contains("no-such-branch"));
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_lock_can_be_the_old_side() {
    let root = directory("lock");
    write(&root, &[("a.sql", OLD)]);
    let lock = Command::new(env!("CARGO_BIN_EXE_keepstate")).current_dir(&root).arg("lock").output().unwrap();
    assert!(lock.status.success(), "{}", String::from_utf8_lossy(&lock.stdout));
    let mut editor = Editor::open(&root, json!({ "lock": "keepstate.lock", "virtualDocuments": true }));
    editor.did_open("a.sql", &OLD.replace("<= 2", "<= 3"));
    let found = editor.diagnostics("a.sql", 1);
    let old = one(&found, RULE)["relatedInformation"][0]["location"]["uri"].as_str().unwrap().to_owned();
    assert!(old.starts_with("keepstate://old/keepstate.lock/"), "{old}");
    assert!(editor.ask("keepstate/oldText", json!({ "uri": old }))["result"]["text"].is_string());
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn what_is_closed_is_silent_and_settings_may_change() {
    let root = repository("closed", &[("a.sql", OLD)]);
    let new = OLD.replace("<= 2", "<= 3");
    write(&root, &[("a.sql", &new)]);
    git(&root, &["commit", "--quiet", "--all", "--message=second"]);
    let mut editor = Editor::open(&root, Value::Null);
    editor.did_open("a.sql", &new);
    assert!(of(&editor.diagnostics("a.sql", 1), RULE).is_empty());
    let settings = json!({ "settings": { "keepstate": { "base": "HEAD~1" } } });
    editor.notify("workspace/didChangeConfiguration", settings);
    let found = editor.diagnostics("a.sql", 1);
    assert!(one(&found, RULE)["message"].as_str().unwrap().contains("from 2 to 3"), "{found:#?}");
    editor.did_change("a.sql", 2, json!([{ "text": "SELEC" }]));
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": editor.uri("a.sql") } }));
    let closed = editor.wait("what is said last", |m| {
        m["method"] == "textDocument/publishDiagnostics" && m["params"].get("version").is_none()
    });
    assert_eq!(closed["params"]["diagnostics"], json!([]));
    assert_eq!(editor.at("textDocument/hover", "a.sql", 0, 0), Value::Null);
    // Texts of the old side and of other programs are not looked at.
    let document = json!({ "uri": "git:/a.sql", "languageId": "sql", "version": 1, "text": "SELEC" });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    editor.did_open("a.sql", &new);
    one(&editor.diagnostics("a.sql", 1), RULE);
    assert!(editor.kept.iter().all(|m| m["params"]["uri"] != "git:/a.sql"));
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn secrets_of_the_old_side_stay_there() {
    let ddl = |topic: &str| {
        let options = format!("'connector' = 'kafka', 'topic' = '{topic}', 'properties.password' = 'geheimé'");
        format!("CREATE TABLE s (a INT) WITH ({options}); SELECT a, COUNT(*) FROM s GROUP BY a;\n")
    };
    let root = repository("secrets", &[("a.sql", &ddl("one"))]);
    let mut editor = Editor::open(&root, json!({ "virtualDocuments": true }));
    editor.did_open("a.sql", &ddl("two").replace("COUNT(*)", "MAX(a)"));
    let found = editor.diagnostics("a.sql", 1);
    let mut places = found.iter().filter_map(|d| d["relatedInformation"][0]["location"]["uri"].as_str());
    let old = places.find(|uri| uri.starts_with("keepstate:")).unwrap().to_owned();
    let text = editor.ask("keepstate/oldText", json!({ "uri": old }))["result"]["text"].take();
    let text = text.as_str().unwrap();
    assert!(text.contains("'topic' = 'one'") && text.contains("***") && !text.contains("geheim"), "{text}");
    assert!(!json!(found).to_string().contains("geheim"), "{found:#?}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn an_editor_that_can_do_little_gets_what_it_can_show() {
    let root = repository("little", &[("a.sql", OLD)]);
    let mut editor = Editor::open_as(&root, Value::Null, json!({}));
    editor.did_open("a.sql", &OLD.replace("<= 2", "<= 3"));
    let found = editor.diagnostics("a.sql", 1);
    let finding = one(&found, RULE).clone();
    assert!(finding.get("relatedInformation").is_none());
    let (line, from, _) = limit();
    let hover = editor.at("textDocument/hover", "a.sql", line, from);
    assert_eq!(hover["contents"]["kind"], "plaintext");
    assert!(hover["contents"]["value"].as_str().unwrap().contains("before, in HEAD:a.sql"));
    assert_eq!(editor.at("textDocument/definition", "a.sql", line, from), json!([]));
    assert!(editor.actions("a.sql", &finding["range"]).is_empty());
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn what_is_out_of_turn_is_refused() {
    let root = directory("turn");
    let mut editor = Editor::start(&root);
    let code = |answer: Value| answer["error"]["code"].as_i64();
    assert_eq!(code(editor.ask("textDocument/hover", json!({}))), Some(-32002));
    editor.notify("textDocument/didOpen", json!({ "textDocument": 1 }));
    let answer = editor.ask("initialize", json!({ "capabilities": {}, "initializationOptions": { "bsae": "x" } }));
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-16");
    let told = editor.wait("a message", |m| m["method"] == "window/showMessage");
    assert!(told["params"]["message"].as_str().unwrap().contains("bsae"));
    assert_eq!(code(editor.ask("initialize", json!({ "capabilities": {} }))), Some(-32600));
    assert_eq!(code(editor.ask("textDocument/rename", json!({}))), Some(-32601));
    assert_eq!(code(editor.ask("textDocument/hover", json!({ "position": 1 }))), Some(-32602));
    assert_eq!(code(editor.ask("keepstate/oldText", json!({ "uri": "keepstate://old/x" }))), Some(-32602));
    assert_eq!(code(editor.ask("workspace/executeCommand", json!({ "command": "rm" }))), Some(-32602));
    editor.notify("$/anything", json!({}));
    editor.notify("textDocument/didChange", json!({ "textDocument": {} }));

    // No JSON, no object, no text, no header: answered, and the conversation goes on.
    editor.send_text("{nonsense");
    assert_eq!(code(editor.answer(&Value::Null)), Some(-32700));
    editor.send_text("[]");
    assert_eq!(code(editor.answer(&Value::Null)), Some(-32600));
    editor.send_raw(b"Content-Length: 2\r\n\r\n\xff\xfe");
    assert_eq!(code(editor.answer(&Value::Null)), Some(-32700));
    editor.send_raw(b"Content-Lenght: 2\r\n\r\n");
    assert_eq!(code(editor.answer(&Value::Null)), Some(-32700));
    assert_eq!(editor.ask("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(code(editor.ask("textDocument/hover", json!({}))), Some(-32600));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit(), Some(0));

    let mut editor = Editor::open(&root, Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit(), Some(1), "without a shutdown");
    let mut editor = Editor::open(&root, Value::Null);
    editor.stdin = None;
    assert_eq!(editor.exit(), Some(1), "the client is gone");
}

/// The settings of the extension and those of the guide are those of the server.
#[test]
fn the_settings_are_the_same_everywhere() {
    let package: Value = serde_json::from_str(include_str!("../editors/vscode/package.json")).unwrap();
    let guide = include_str!("../docs/editors.md");
    let readme = include_str!("../editors/vscode/README.md");
    let mut options = json!({});
    for (name, property) in package["contributes"]["configuration"]["properties"].as_object().unwrap() {
        assert!(readme.contains(&format!("| `{name}` |")), "{name}");
        let name = name.strip_prefix("keepstate.").unwrap();
        if name != "path" {
            assert!(guide.contains(&format!("| `{name}` |")), "{name}");
            options[name] = property["default"].clone();
        }
    }
    for line in guide.lines().filter_map(|l| l.strip_prefix("| `")) {
        let name = line.split('`').next().unwrap();
        assert!(options.get(name).is_some() || name == "virtualDocuments", "{name}");
    }
    let root = directory("settings");
    let mut editor = Editor::open(&root, options.clone());
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "keepstate": options } }));
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "keepstate": { "debounce": "long" } } }));
    let told = editor.wait("a message", |m| m["method"] == "window/showMessage");
    assert!(told["params"]["message"].as_str().unwrap().contains("long"), "only this one is wrong: {told}");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_large_file_holds_nothing_up() {
    let root = repository("large", &[("a.sql", OLD)]);
    let mut editor = Editor::open(&root, json!({ "lint": false }));
    let column = |i: usize| format!("  SUM(CASE WHEN a = {i} THEN b ELSE {i} END) AS c{i}");
    let columns: Vec<String> = (0..3000).map(column).collect();
    let large = format!("{DDL}SELECT a,\n{}\nFROM s GROUP BY a;\n", columns.join(",\n"));
    let document = json!({ "uri": editor.uri("large.sql"), "languageId": "sql", "version": 1, "text": large });
    let hover =
        json!({ "textDocument": { "uri": editor.uri("large.sql") }, "position": { "line": 2, "character": 3 } });
    // The server answers meanwhile, and a request that waits can be taken back. Sent at once, so that no check is done in between.
    editor.send_all(&[
        json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } }),
        json!({ "id": "taken back", "method": "textDocument/hover", "params": hover }),
        json!({ "id": "other", "method": "no/such" }),
        json!({ "method": "$/cancelRequest", "params": { "id": "taken back" } }),
    ]);
    assert_eq!(editor.answer(&json!("other"))["error"]["code"], -32601);
    assert_eq!(editor.answer(&json!("taken back"))["error"]["code"], -32800);
    let mut edits = vec![json!({ "id": "late", "method": "textDocument/hover", "params": hover })];
    edits.extend((2..12).map(|version| {
        let document = json!({ "uri": editor.uri("large.sql"), "version": version });
        let changes = json!([{ "range": point(0, 0), "text": "-- x\n" }]);
        json!({ "method": "textDocument/didChange", "params": { "textDocument": document, "contentChanges": changes } })
    }));
    editor.send_all(&edits);
    assert_eq!(editor.answer(&json!("late"))["error"]["code"], -32801);
    // A small file is not behind the large one.
    editor.did_open("a.sql", "SELEC");
    assert_eq!(editor.diagnostics("a.sql", 1)[0]["code"], "parse");
    // The newest text is judged, not each that there was.
    editor.diagnostics("large.sql", 11);
    let stale = |m: &&Value| m["params"]["uri"] == editor.uri("large.sql");
    assert!(editor.kept.iter().filter(stale).count() <= 1);
    assert_eq!(editor.leave(), Some(0));
}
