//! The server: open documents, their checks in threads of their own, and answers.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::analysis::{Analysis, Task, analyze};
use super::options::Options;
use super::places::Open;
use super::projects::Projects;
use super::protocol::{
    About, AboutPlace, Cancel, Client, CodeActions, Diagnostic, DidChange, DidOpen, DocumentId, Execute, Severity,
    capabilities,
};
use super::text::{Position, Range, replace};
use super::wire::{
    CANCELLED, CONTENT_MODIFIED, Failure, INVALID_PARAMS, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND, NOT_INITIALIZED,
    Writer, read,
};
use super::{actions, explain, hover, uri};
use crate::project::files;

/// Stack of a thread that checks: enough for queries nested as deep as the parser lets through.
const STACK: usize = 256 << 20;

/// So many documents are checked at a time.
const MOST_AT_ONCE: usize = 4;

/// With nothing to do, the server looks up this often.
const IDLE: Duration = Duration::from_secs(3600);

/// Serves one client until it leaves. The result is the exit status: 0 if it said so before, as the protocol wants it.
pub fn serve(input: impl BufRead + Send + 'static, output: impl Write) -> u8 {
    let (sender, receiver) = channel();
    let from_client = sender.clone();
    std::thread::spawn(move || listen(input, &from_client));
    let mut server = Server {
        out: Writer::new(output),
        sender,
        phase: Phase::New,
        client: Client::default(),
        workspace: files::current_directory(),
        folders: Vec::new(),
        options: Arc::new(Options::default()),
        projects: Arc::default(),
        documents: BTreeMap::new(),
        old_texts: HashMap::new(),
        running: 0,
        reasons: Reasons::default(),
        told: Vec::new(),
    };
    // A client that has gone away is not there to be told of it.
    server.run(&receiver).unwrap_or(1)
}

/// What happens to the server.
enum Event {
    Incoming(Incoming),
    /// Nothing comes any more.
    End,
    Done(Done),
}

/// A check that came to its end.
struct Done {
    uri: String,
    generation: u64,
    /// None if keepstate made a mistake.
    analysis: Option<Analysis>,
}

fn listen(mut input: impl BufRead, events: &Sender<Event>) {
    while let Ok(Some(incoming)) = read(&mut input) {
        if events.send(Event::Incoming(incoming)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::End);
}

/// How far the conversation has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing was said.
    New,
    /// Documents are open.
    Running,
    /// The client is about to leave.
    ShutDown,
}

struct Document {
    path: Option<PathBuf>,
    version: Option<i32>,
    text: Arc<str>,
    /// The reason to look at the document anew that came last: reasons are counted over all documents.
    generation: u64,
    /// When it is to be looked at.
    due: Option<Instant>,
    /// The check that is under way.
    running: Option<(u64, Arc<AtomicBool>)>,
    /// What was found, and of which generation.
    analysis: Option<(u64, Analysis)>,
    /// The text has changed since the last check, not only something around it.
    edited: bool,
    /// Requests that wait for a check.
    waiting: Vec<Waiting>,
}

/// Counts the reasons to look at a document anew.
#[derive(Debug, Default)]
struct Reasons(u64);

impl Reasons {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

struct Waiting {
    id: Value,
    question: Question,
}

/// What is asked about a document.
enum Question {
    Hover(Position),
    Definition(Position),
    Actions { range: Range, only: Option<Vec<String>> },
}

struct Server<W: Write> {
    out: Writer<W>,
    sender: Sender<Event>,
    phase: Phase,
    client: Client,
    workspace: PathBuf,
    folders: Vec<PathBuf>,
    options: Arc<Options>,
    projects: Arc<Projects>,
    documents: BTreeMap<String, Document>,
    /// By their addresses, as these are compared.
    old_texts: HashMap<String, Arc<str>>,
    running: usize,
    reasons: Reasons,
    /// What the user was told already.
    told: Vec<String>,
}

impl<W: Write> Server<W> {
    fn run(&mut self, events: &Receiver<Event>) -> io::Result<u8> {
        loop {
            self.start_due();
            let next = self.documents.values().filter(|d| d.running.is_none()).filter_map(|d| d.due).min();
            let wait = match next {
                Some(due) if self.running < MOST_AT_ONCE => due.saturating_duration_since(Instant::now()),
                _ => IDLE,
            };
            match events.recv_timeout(wait) {
                Ok(Event::Incoming(Incoming::Notification { method, .. })) if method == "exit" => {
                    return Ok(u8::from(self.phase != Phase::ShutDown));
                }
                Ok(Event::Incoming(incoming)) => self.incoming(incoming)?,
                Ok(Event::Done(done)) => self.done(done)?,
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => {
                    return Ok(u8::from(self.phase != Phase::ShutDown));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn incoming(&mut self, incoming: Incoming) -> io::Result<()> {
        match incoming {
            Incoming::Answer => Ok(()),
            Incoming::Malformed(failure) => self.out.answer(&Value::Null, Err(failure)),
            Incoming::Notification { method, params } => {
                if self.phase == Phase::Running {
                    self.notification(&method, params)
                } else {
                    Ok(())
                }
            }
            Incoming::Request { id, method, params } => self.request(id, &method, params),
        }
    }

    fn request(&mut self, id: Value, method: &str, params: Value) -> io::Result<()> {
        let result = match (self.phase, method) {
            (Phase::New, "initialize") => Ok(self.initialize(&params)?),
            (Phase::New, _) => Err(Failure::new(NOT_INITIALIZED, "the first request has to be `initialize`")),
            (Phase::ShutDown, _) => Err(Failure::new(INVALID_REQUEST, "the server was shut down")),
            (Phase::Running, "initialize") => Err(Failure::new(INVALID_REQUEST, "the server is initialized already")),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.documents.values().for_each(Document::abandon);
                Ok(Value::Null)
            }
            (Phase::Running, "textDocument/hover") => match parse::<AboutPlace>(params) {
                Ok(about) => return self.ask(id, &about.text_document, Question::Hover(about.position)),
                Err(failure) => Err(failure),
            },
            (Phase::Running, "textDocument/definition") => match parse::<AboutPlace>(params) {
                Ok(about) => return self.ask(id, &about.text_document, Question::Definition(about.position)),
                Err(failure) => Err(failure),
            },
            (Phase::Running, "textDocument/codeAction") => match parse::<CodeActions>(params) {
                Ok(CodeActions { text_document, range, context }) => {
                    return self.ask(id, &text_document, Question::Actions { range, only: context.only });
                }
                Err(failure) => Err(failure),
            },
            (Phase::Running, "workspace/executeCommand") => match parse::<Execute>(params) {
                Ok(execute) => self.execute(&execute)?,
                Err(failure) => Err(failure),
            },
            (Phase::Running, "workspace/textDocumentContent" | "keepstate/oldText") => {
                parse::<DocumentId>(params).and_then(|document| self.content(&document.uri))
            }
            (Phase::Running, _) => Err(Failure::new(METHOD_NOT_FOUND, format!("there is no method {method}"))),
        };
        self.out.answer(&id, result)
    }

    fn initialize(&mut self, params: &Value) -> io::Result<Value> {
        let folder = |value: &Value| uri::to_path(value.as_str()?);
        let folders = params["workspaceFolders"].as_array().into_iter().flatten();
        self.folders = folders.filter_map(|f| folder(&f["uri"])).collect();
        if self.folders.is_empty() {
            self.folders.extend(folder(&params["rootUri"]));
        }
        if let Some(first) = self.folders.first() {
            self.workspace.clone_from(first);
        }
        self.phase = Phase::Running;
        let refused = self.configure(&params["initializationOptions"]);
        self.client = Client::of(&params["capabilities"], self.options.virtual_documents);
        if let Err(message) = refused {
            self.tell(&message)?;
        }
        Ok(capabilities(&self.client))
    }

    /// Takes over options; those that cannot be read leave what holds.
    fn configure(&mut self, value: &Value) -> Result<(), String> {
        match Options::read(value, &self.workspace) {
            Ok(options) => {
                self.options = Arc::new(options);
                Ok(())
            }
            Err(message) => {
                if *self.options == Options::default() {
                    self.options = Arc::new(Options::read(&Value::Null, &self.workspace).unwrap_or_default());
                }
                Err(message)
            }
        }
    }

    fn notification(&mut self, method: &str, params: Value) -> io::Result<()> {
        // What a notification gets wrong cannot be answered; it is logged.
        let result = match method {
            "initialized" => return self.initialized(),
            "textDocument/didOpen" => parse(params).map(|p| self.opened(p)),
            "textDocument/didChange" => match parse(params) {
                Ok(change) => return self.changed(change),
                Err(failure) => Err(failure),
            },
            "textDocument/didClose" => match parse::<About>(params) {
                Ok(about) => return self.closed(&about.text_document.uri),
                Err(failure) => Err(failure),
            },
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.refresh();
                Ok(())
            }
            "workspace/didChangeWorkspaceFolders" => Ok(()),
            "workspace/didChangeConfiguration" => {
                let settings = params.pointer("/settings/keepstate").cloned().unwrap_or(Value::Null);
                if settings.is_null() {
                    return Ok(());
                }
                let refused = self.configure(&settings);
                self.refresh();
                return refused.or_else(|message| self.tell(&message));
            }
            "$/cancelRequest" => match parse::<Cancel>(params) {
                Ok(cancel) => return self.cancel(&cancel.id),
                Err(failure) => Err(failure),
            },
            _ => Ok(()),
        };
        match result {
            Ok(()) => Ok(()),
            Err(failure) => self.log(&format!("{method}: {}", failure.message)),
        }
    }

    fn initialized(&mut self) -> io::Result<()> {
        if !self.client.watches {
            return Ok(());
        }
        let watched = ["**/*.sql", "**/keepstate.toml", "**/keepstate.lock", "**/.git/HEAD"];
        let watchers: Vec<Value> = watched.iter().map(|glob| json!({ "globPattern": glob })).collect();
        let registration = json!({
            "id": "keepstate-files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.out.ask("client/registerCapability", json!({ "registrations": [registration] }))
    }

    fn opened(&mut self, DidOpen { text_document: opened }: DidOpen) {
        let path = uri::to_path(&opened.uri).map(|path| files::normal(&path));
        // Texts of the old side and of other programs are not for this server.
        if path.is_none() && !opened.uri.starts_with("untitled:") {
            return;
        }
        let document = Document {
            path,
            version: Some(opened.version),
            text: opened.text.into(),
            generation: self.reasons.next(),
            due: Some(Instant::now()),
            running: None,
            analysis: None,
            edited: true,
            waiting: Vec::new(),
        };
        if let Some(before) = self.documents.insert(opened.uri, document) {
            before.abandon();
        }
    }

    fn changed(&mut self, DidChange { text_document, content_changes }: DidChange) -> io::Result<()> {
        let encoding = self.client.encoding;
        let debounce = self.options.debounce;
        let Some(document) = self.documents.get_mut(&text_document.uri) else { return Ok(()) };
        let mut text = document.text.to_string();
        for edit in content_changes {
            match edit.range {
                Some(range) => replace(&mut text, range, &edit.text, encoding),
                None => text = edit.text,
            }
        }
        document.text = text.into();
        document.version = text_document.version.or(document.version);
        document.edited = true;
        document.look_again(self.reasons.next(), Instant::now() + debounce);
        let waiting = std::mem::take(&mut document.waiting);
        for Waiting { id, .. } in waiting {
            self.out.answer(&id, Err(Failure::new(CONTENT_MODIFIED, "the text has changed")))?;
        }
        Ok(())
    }

    fn closed(&mut self, uri: &str) -> io::Result<()> {
        let Some(document) = self.documents.remove(uri) else { return Ok(()) };
        document.abandon();
        for Waiting { id, .. } in document.waiting {
            self.out.answer(&id, Ok(Value::Null))?;
        }
        // What was edited and not saved holds no longer.
        self.refresh();
        self.out.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }))
    }

    /// Looks at everything anew, since something on disk or in the settings has changed.
    fn refresh(&mut self) {
        self.projects.forget();
        let due = Instant::now() + self.options.debounce;
        for document in self.documents.values_mut() {
            document.look_again(self.reasons.next(), due);
        }
    }

    fn cancel(&mut self, id: &Value) -> io::Result<()> {
        let mut cancelled = false;
        for document in self.documents.values_mut() {
            let before = document.waiting.len();
            document.waiting.retain(|w| w.id != *id);
            cancelled |= document.waiting.len() < before;
        }
        // What was answered already needs no second answer.
        if cancelled { self.out.answer(id, Err(Failure::new(CANCELLED, "cancelled"))) } else { Ok(()) }
    }

    /// Starts the checks whose time has come.
    fn start_due(&mut self) {
        let now = Instant::now();
        while self.running < MOST_AT_ONCE {
            let ready = |d: &Document| d.running.is_none() && d.due.is_some_and(|due| due <= now);
            let next = self.documents.iter().filter(|(_, d)| ready(d)).min_by_key(|(_, d)| d.due);
            let Some(uri) = next.map(|(uri, _)| uri.clone()) else { return };
            self.start(&uri);
        }
    }

    fn start(&mut self, uri: &str) {
        let open = self.documents.iter().filter_map(|(uri, document)| {
            let path = document.path.clone()?;
            Some(Open { uri: uri.clone(), path, text: Arc::clone(&document.text) })
        });
        let open = open.collect();
        let Some(document) = self.documents.get_mut(uri) else { return };
        let outdated = Arc::new(AtomicBool::new(false));
        document.due = None;
        document.running = Some((document.generation, Arc::clone(&outdated)));
        self.running += 1;
        let task = Task {
            uri: uri.to_owned(),
            path: document.path.clone(),
            text: Arc::clone(&document.text),
            open,
            folders: self.folders.clone(),
            options: Arc::clone(&self.options),
            client: self.client,
            projects: Arc::clone(&self.projects),
            outdated,
        };
        let (sender, generation) = (self.sender.clone(), document.generation);
        let work = move || {
            let uri = task.uri.clone();
            let analysis = catch_unwind(AssertUnwindSafe(|| analyze(&task))).ok();
            let _ = sender.send(Event::Done(Done { uri, generation, analysis }));
        };
        let started = std::thread::Builder::new().name("keepstate-check".to_owned()).stack_size(STACK).spawn(work);
        if started.is_err() {
            let done = Done { uri: uri.to_owned(), generation, analysis: None };
            let _ = self.sender.send(Event::Done(done));
        }
    }

    fn done(&mut self, Done { uri, generation, analysis }: Done) -> io::Result<()> {
        self.running -= 1;
        let Some(document) = self.documents.get_mut(&uri) else { return Ok(()) };
        // That of a document which was closed and opened again is not this one's.
        if document.running.as_ref().is_none_or(|(running, _)| *running != generation) {
            return Ok(());
        }
        document.running = None;
        if document.generation != generation {
            return Ok(());
        }
        let analysis = analysis.unwrap_or_else(|| Analysis {
            text: Arc::clone(&document.text),
            diagnostics: vec![mistake()],
            ..Analysis::default()
        });
        let declared = document.analysis.as_ref().is_some_and(|(_, before)| before.declares);
        let others = std::mem::take(&mut document.edited) && (analysis.declares || declared && !has_errors(&analysis));
        let diagnostics: Vec<Value> = analysis.diagnostics.iter().map(|d| d.to_json(&self.client)).collect();
        let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
        if let Some(version) = document.version {
            params["version"] = json!(version);
        }
        let old_texts = analysis.old_texts.clone();
        let trouble = analysis.trouble.clone();
        let waiting = std::mem::take(&mut document.waiting);
        document.analysis = Some((generation, analysis));
        if others && let Some(path) = document.path.clone() {
            self.look_at_others(&path);
        }
        self.out.notify("textDocument/publishDiagnostics", params)?;
        for (address, text) in old_texts {
            self.keep_old(address, text)?;
        }
        if let Some(trouble) = trouble {
            self.tell(&trouble)?;
        }
        for Waiting { id, question } in waiting {
            let answer = self.answer(&uri, &question);
            self.out.answer(&id, Ok(answer))?;
        }
        Ok(())
    }

    /// Keeps a text of the old side. One that is another now, since the revision moved, may be shown somewhere.
    fn keep_old(&mut self, address: String, text: Arc<str>) -> io::Result<()> {
        let before = self.old_texts.insert(uri::plain(&address), Arc::clone(&text));
        if before.is_some_and(|before| before != text) && self.client.refreshes {
            self.out.ask("workspace/textDocumentContent/refresh", json!({ "uri": address }))?;
        }
        Ok(())
    }

    /// Looks anew at the documents that the DDL in a file may matter to.
    fn look_at_others(&mut self, path: &Path) {
        let now = Instant::now();
        for document in self.documents.values_mut().filter(|d| d.path.as_deref().is_some_and(|p| p != path)) {
            document.look_again(self.reasons.next(), now);
        }
    }

    /// Answers a question about a document, at once or after the check that is due.
    fn ask(&mut self, id: Value, DocumentId { uri }: &DocumentId, question: Question) -> io::Result<()> {
        let Some(document) = self.documents.get_mut(uri) else { return self.out.answer(&id, Ok(Value::Null)) };
        if document.is_current() {
            let answer = self.answer(uri, &question);
            return self.out.answer(&id, Ok(answer));
        }
        if document.due.is_some() {
            document.due = Some(Instant::now());
        }
        document.waiting.push(Waiting { id, question });
        Ok(())
    }

    fn answer(&self, uri: &str, question: &Question) -> Value {
        let Some((_, analysis)) = self.documents.get(uri).and_then(|d| d.analysis.as_ref()) else { return Value::Null };
        match question {
            Question::Hover(position) => hover::at(analysis, *position, &self.client).unwrap_or(Value::Null),
            Question::Definition(position) => json!(actions::old_places(analysis, *position, &self.client)),
            Question::Actions { range, only } => actions::at(analysis, uri, *range, only.as_deref(), &self.client),
        }
    }

    fn execute(&mut self, Execute { command, arguments }: &Execute) -> io::Result<Result<Value, Failure>> {
        let text = arguments.first().and_then(Value::as_str);
        let wrong = || Failure::new(INVALID_PARAMS, format!("{command} does not take these arguments"));
        let (shown, answer) = match (command.as_str(), text) {
            (explain::EXPLAIN, Some(rule)) => {
                let Some(page) = explain::page(rule) else { return Ok(Err(wrong())) };
                let address = format!("{}://rules/{}.md", uri::SCHEME, uri::encoded(rule));
                (self.client.virtual_texts.then(|| json!({ "uri": address, "takeFocus": true })), json!(page))
            }
            (explain::OPEN_SOURCE, Some(rule)) => {
                let Some(url) = explain::source(rule) else { return Ok(Err(wrong())) };
                (Some(json!({ "uri": url, "external": true })), json!(url))
            }
            (explain::SHOW_OLD, Some(old)) if self.old_texts.contains_key(&uri::plain(old)) => {
                let mut shown = json!({ "uri": old, "takeFocus": true });
                if let Some(range) = arguments.get(1).filter(|r| r.is_object()) {
                    shown["selection"] = range.clone();
                }
                (self.client.virtual_texts.then_some(shown), json!(old))
            }
            (explain::EXPLAIN | explain::OPEN_SOURCE | explain::SHOW_OLD, _) => return Ok(Err(wrong())),
            _ => return Ok(Err(Failure::new(INVALID_PARAMS, format!("there is no command {command}")))),
        };
        if let Some(shown) = shown.filter(|_| self.client.shows) {
            self.out.ask("window/showDocument", shown)?;
        }
        Ok(Ok(answer))
    }

    /// The text of an address that is no file's.
    fn content(&self, address: &str) -> Result<Value, Failure> {
        let address = uri::plain(address);
        let rule = address.strip_prefix(&format!("{}://rules/", uri::SCHEME)).and_then(|r| r.strip_suffix(".md"));
        let text = match rule {
            Some(rule) => explain::page(rule),
            None => self.old_texts.get(&address).map(|text| text.to_string()),
        };
        match text {
            Some(text) => Ok(json!({ "text": text })),
            None => Err(Failure::new(INVALID_PARAMS, format!("nothing is known under {address}"))),
        }
    }

    /// Tells the user something, once.
    fn tell(&mut self, message: &str) -> io::Result<()> {
        if self.told.iter().any(|told| told == message) {
            return Ok(());
        }
        self.told.push(message.to_owned());
        let message = format!("keepstate: {message}");
        self.out.notify("window/showMessage", json!({ "type": 2, "message": message }))
    }

    fn log(&mut self, message: &str) -> io::Result<()> {
        self.out.notify("window/logMessage", json!({ "type": 2, "message": message }))
    }
}

impl Document {
    fn is_current(&self) -> bool {
        self.analysis.as_ref().is_some_and(|(generation, _)| *generation == self.generation)
    }

    /// What is known or being found out is out of date.
    fn look_again(&mut self, generation: u64, due: Instant) {
        self.generation = generation;
        self.due = Some(due);
        self.abandon();
    }

    /// Tells the check that is under way that nobody waits for it.
    fn abandon(&self) {
        if let Some((_, running)) = &self.running {
            running.store(true, Ordering::Relaxed);
        }
    }
}

fn has_errors(analysis: &Analysis) -> bool {
    analysis.diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// What is said where a check broke off.
fn mistake() -> Diagnostic {
    let start = Position { line: 0, character: 0 };
    let message = "keepstate made a mistake and could not check this document\nhelp: report it, with the script if you may \
                   share it; the reason is in the log of the server";
    let mut diagnostic = Diagnostic::new(Range { start, end: start }, Severity::Error, message);
    diagnostic.code = Some("internal".to_owned());
    diagnostic
}

fn parse<P: DeserializeOwned>(params: Value) -> Result<P, Failure> {
    serde_json::from_value(params).map_err(|error| Failure::new(INVALID_PARAMS, format!("the parameters: {error}")))
}
