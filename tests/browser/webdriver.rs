//! As much of a WebDriver client as the tests of the page need, over a chromedriver of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

/// What WebDriver calls the key of an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// Where Debian puts the browser; elsewhere the driver looks for one itself.
const CHROMIUM: &str = "/usr/bin/chromium";
const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A browser with a profile of its own, which ends with it.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    directory: PathBuf,
}

impl Browser {
    /// Starts chromedriver and a browser.
    pub fn start() -> Browser {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("browser-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver (Debian: chromium-driver) has to be installed");
        let said = BufReader::new(driver.stdout.take().unwrap());
        let port = said.lines().map_while(Result::ok).find_map(|line| {
            let digits = line.split_once("started successfully on port ")?.1;
            digits.trim_end_matches('.').parse().ok()
        });
        let mut browser = Browser { driver, port: port.expect("a port"), session: String::new(), directory };
        let mut arguments: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
        arguments.push(format!("--user-data-dir={}", browser.directory.join("profile").display()));
        let mut options = json!({ "args": arguments });
        if Path::new(CHROMIUM).exists() {
            options["binary"] = CHROMIUM.into();
        }
        let wanted = json!({ "goog:loggingPrefs": { "browser": "ALL" }, "goog:chromeOptions": options });
        let answer = browser.request("POST", "/session", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session = answer["sessionId"].as_str().unwrap().to_owned();
        browser
    }

    /// A directory that is there as long as the browser.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Opens a file.
    pub fn open(&self, file: &Path) {
        self.open_at(file, "");
    }

    /// Opens a file at what a link may lead to.
    pub fn open_at(&self, file: &Path, fragment: &str) {
        self.post("/url", &json!({ "url": format!("file://{}{fragment}", file.display()) }));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What the console, the network and the policy complain of since the last time.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        entries.as_array().unwrap().iter().map(|e| e["message"].to_string()).collect()
    }

    /// A command of the protocol of the developers' tools.
    pub fn tools(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Makes the viewport so wide and high.
    pub fn resize(&self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.tools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// What the page is asked to look like.
    pub fn media(&self, media: &str, scheme: &str) {
        let feature = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.tools("Emulation.setEmulatedMedia", &json!({ "media": media, "features": feature }));
    }

    /// Clicks on the first element of a selector, where a pointer would.
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Presses a key, wherever the focus is.
    pub fn press(&self, key: char) {
        let actions = [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })];
        self.post("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// The role and name that the first element of a selector has for those who do not see it.
    pub fn spoken(&self, selector: &str) -> (String, String) {
        let element = self.element(selector);
        let ask = |what: &str| {
            let answer =
                self.request("GET", &format!("/session/{}/element/{element}/{what}", self.session), &Value::Null);
            answer.as_str().unwrap_or_default().to_owned()
        };
        (ask("computedrole"), ask("computedlabel"))
    }

    /// A picture of what is to be seen, in base64.
    pub fn picture(&self) -> String {
        let answer = self.request("GET", &format!("/session/{}/screenshot", self.session), &Value::Null);
        answer.as_str().unwrap_or_default().to_owned()
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("no {selector}")).to_owned()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", &format!("/session/{}{path}", self.session), body)
    }

    /// The value of an answer. Panics if the driver refuses.
    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let mut answer: Value = serde_json::from_slice(&answer).unwrap();
        let value = answer["value"].take();
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.request("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        // A driver that is told to end takes its browser with it; one that is killed would leave it.
        let stopped = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            write!(stream, "GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port)?;
            stream.read_to_end(&mut Vec::new())
        });
        if stopped.is_err() {
            let _ = self.driver.kill();
        }
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
