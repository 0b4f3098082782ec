//! JSON paths as Jayway's `JsonPath` compiles and evaluates them.

mod parser;

use self::parser::Parser;
use super::filter::Filter;
use super::value::Json;

/// A compiled path, without its root.
#[derive(Debug, Clone)]
pub struct Path {
    steps: Vec<Step>,
}

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathError {
    /// `InvalidPathException`, which the clauses of the function catch.
    Invalid(String),
    /// A filter for which Flink's jar lacks the classes: nothing catches that.
    Filter,
}

impl From<String> for PathError {
    fn from(message: String) -> PathError {
        PathError::Invalid(message)
    }
}

/// Why a path leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// Jayway's `PathNotFoundException`, which the clauses of the function catch.
    NotFound(String),
    /// So much was looked at that it takes too long. Flink has no such limit.
    TooLong,
}

impl From<String> for Lost {
    fn from(message: String) -> Lost {
        Lost::NotFound(message)
    }
}

/// How many values an evaluation may look at and copy, the paths of its filters included.
#[derive(Debug)]
pub struct Work(std::cell::Cell<u64>);

impl Work {
    /// A few million: more than a path needs that goes over a large document once, less than one that multiplies it by itself.
    pub fn new() -> Work {
        Work(std::cell::Cell::new(4_000_000))
    }

    fn take(&self, amount: u64) -> Result<(), Lost> {
        match self.0.get().checked_sub(amount) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => {
                self.0.set(0);
                Err(Lost::TooLong)
            }
        }
    }

    fn is_done(&self) -> bool {
        self.0.get() == 0
    }
}

/// A step of a path.
#[derive(Debug, Clone)]
enum Step {
    /// `.a`, `['a']`, `['a','b']`
    Properties(Vec<String>),
    /// `.*`, `[*]`
    Wildcard,
    /// `[0]`, `[0,2]`
    Indexes(Vec<i64>),
    /// `[1:3]`, `[:2]`, `[-2:]`
    Slice(Option<i64>, Option<i64>),
    /// `[?(...)]`
    Filter(Filter),
    /// `..`: the next step anywhere below.
    Scan,
    /// `.length()`
    Function(Function),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Length,
    Keys,
    First,
    Last,
    Sum,
    Min,
    Max,
    Avg,
    Stddev,
}

/// Functions by their names.
const FUNCTIONS: &[(&str, Function)] = &[
    ("length", Function::Length),
    ("size", Function::Length),
    ("keys", Function::Keys),
    ("first", Function::First),
    ("last", Function::Last),
    ("sum", Function::Sum),
    ("min", Function::Min),
    ("max", Function::Max),
    ("avg", Function::Avg),
    ("stddev", Function::Stddev),
];

impl Path {
    /// Compiles a path.
    pub fn compile(text: &str) -> Result<Path, PathError> {
        let text = text.trim();
        if text.is_empty() {
            return Err("path can not be null or empty".to_owned().into());
        }
        // A path without a root starts at it.
        let text = if text.starts_with(['$', '@']) { text.to_owned() } else { format!("$.{text}") };
        let chars: Vec<char> = text.chars().collect();
        if chars.last() == Some(&'.') {
            return Err("Path must not end with a '.' or '..'".to_owned().into());
        }
        let mut parser = Parser::new(&chars, 1);
        let mut steps = Vec::new();
        while !parser.at_end() {
            parser.step(&mut steps)?;
        }
        match steps.last() {
            Some(Step::Scan) => Err("Path must not end with a '.' or '..'".to_owned().into()),
            _ => Ok(Path { steps }),
        }
    }

    /// True if the path leads to one value at the most.
    fn definite(&self) -> bool {
        definite(&self.steps)
    }

    /// What the path leads to: a value, or the array of all that an indefinite path finds. `None` is the JSON null, or nothing
    /// in lax mode.
    pub fn read(&self, root: &Json, lax: bool, work: &Work) -> Result<Option<Json>, Lost> {
        let function = self.steps.iter().position(|s| matches!(s, Step::Function(_)));
        let mut walk =
            Walk { root, steps: &self.steps[..function.unwrap_or(self.steps.len())], lax, work, found: Vec::new() };
        walk.go(root, 0, &mut "$".to_owned())?;
        let found = walk.found;
        let definite = function.map_or_else(|| self.definite(), |at| definite(&self.steps[..at]));
        let value = match (definite, found.first()) {
            (false, _) => Json::Array(found),
            (true, Some(value)) => value.clone(),
            (true, None) if lax => return Ok(None),
            (true, None) => return Err(format!("No results for path: {}", shown(&self.steps)).into()),
        };
        let value = match function.map(|at| &self.steps[at]) {
            Some(Step::Function(function)) => function.apply(&value)?,
            _ => value,
        };
        Ok(Some(value).filter(|v| *v != Json::Null))
    }
}

fn definite(steps: &[Step]) -> bool {
    steps.iter().enumerate().all(|(i, step)| match step {
        Step::Properties(names) => names.len() == 1 || i + 1 == steps.len(),
        Step::Indexes(indexes) => indexes.len() == 1,
        Step::Function(_) => true,
        Step::Wildcard | Step::Slice(..) | Step::Filter(_) | Step::Scan => false,
    })
}

/// The path as messages have it: `$['a'][5]`.
fn shown(steps: &[Step]) -> String {
    let steps = steps.iter().map(|step| match step {
        Step::Properties(names) => bracketed(names),
        Step::Wildcard => "[*]".to_owned(),
        Step::Indexes(_) | Step::Slice(..) => step.array_text(),
        Step::Filter(_) => "[?]".to_owned(),
        Step::Scan => "..".to_owned(),
        Step::Function(_) => "()".to_owned(),
    });
    std::iter::once("$".to_owned()).chain(steps).collect()
}

fn bracketed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
    format!("[{}]", names.join(","))
}

impl Step {
    fn array_text(&self) -> String {
        let number = |n: &Option<i64>| n.map_or_else(String::new, |n| n.to_string());
        match self {
            Step::Indexes(list) => format!("[{}]", list.iter().map(i64::to_string).collect::<Vec<_>>().join(",")),
            Step::Slice(from, to) => format!("[{}:{}]", number(from), number(to)),
            _ => String::new(),
        }
    }
}

/// One evaluation of a path.
struct Walk<'a> {
    root: &'a Json,
    steps: &'a [Step],
    lax: bool,
    work: &'a Work,
    found: Vec<Json>,
}

impl<'a> Walk<'a> {
    /// Takes the steps from number `i` on, from `value`, which is at `path`.
    fn go(&mut self, value: &'a Json, i: usize, path: &mut String) -> Result<(), Lost> {
        self.work.take(1)?;
        let Some(step) = self.steps.get(i) else {
            self.keep(value)?;
            return Ok(());
        };
        // A step that does not fit is an error only if the way to it was definite.
        let strict = !self.lax && definite(&self.steps[..i]);
        match step {
            Step::Properties(names) => self.properties(value, names, i, strict, path),
            Step::Wildcard => match value {
                Json::Array(items) => {
                    items.iter().enumerate().try_for_each(|(n, item)| self.below(item, i + 1, path, &format!("[{n}]")))
                }
                Json::Object(members) => {
                    members.iter().try_for_each(|(key, member)| self.below(member, i + 1, path, &format!("['{key}']")))
                }
                _ => Ok(()),
            },
            Step::Indexes(_) | Step::Slice(..) => {
                let items = match value {
                    Json::Array(items) => items,
                    _ if !strict => return Ok(()),
                    Json::Null => return Err(format!("The path {path} is null").into()),
                    other => {
                        let filter = step.array_text();
                        return Err(format!(
                            "Filter: {filter} can only be applied to arrays. Current context is: {other}"
                        )
                        .into());
                    }
                };
                self.places(step, items.len() as i64).into_iter().try_for_each(|place| {
                    let Some(item) = usize::try_from(place).ok().and_then(|p| items.get(p)) else { return Ok(()) };
                    self.below(item, i + 1, path, &format!("[{place}]"))
                })
            }
            Step::Filter(filter) => {
                let candidates = match value {
                    Json::Array(items) => items.as_slice(),
                    other => std::slice::from_ref(other),
                };
                for item in candidates {
                    let accepted = filter.accepts(item, self.root, self.work);
                    if self.work.is_done() {
                        return Err(Lost::TooLong);
                    }
                    if accepted {
                        self.below(item, i + 1, path, "[?]")?;
                    }
                }
                Ok(())
            }
            Step::Scan => self.scan(value, i + 1, path),
            Step::Function(_) => Ok(()),
        }
    }

    /// A value that the path leads to.
    fn keep(&mut self, value: &Json) -> Result<(), Lost> {
        self.pay(value)?;
        self.found.push(value.clone());
        Ok(())
    }

    /// Counts what a copy of a value takes.
    fn pay(&self, value: &Json) -> Result<(), Lost> {
        self.work.take(1)?;
        match value {
            Json::Array(items) => items.iter().try_for_each(|item| self.pay(item)),
            Json::Object(members) => members.iter().try_for_each(|(_, member)| self.pay(member)),
            _ => Ok(()),
        }
    }

    fn below(&mut self, value: &'a Json, i: usize, path: &mut String, step: &str) -> Result<(), Lost> {
        let length = path.len();
        path.push_str(step);
        let result = self.go(value, i, path);
        path.truncate(length);
        result
    }

    fn properties(
        &mut self,
        value: &'a Json,
        names: &[String],
        i: usize,
        strict: bool,
        path: &mut String,
    ) -> Result<(), Lost> {
        let Json::Object(members) = value else {
            if !strict {
                return Ok(());
            }
            return Err(format!(
                "Expected to find an object with property {} in path {path} but found '{}'. This is not a json object \
                 according to the JsonProvider: \
                 'org.apache.flink.table.shaded.com.jayway.jsonpath.spi.json.JacksonJsonProvider'.",
                bracketed(names),
                value.class()
            )
            .into());
        };
        let last = i + 1 == self.steps.len();
        if names.len() > 1 && last {
            names.iter().filter_map(|name| value.get(name)).try_for_each(|v| self.pay(v))?;
            let of = |name: &String| value.get(name).map(|v| (name.clone(), v.clone()));
            self.found.push(Json::Object(names.iter().filter_map(of).collect()));
            return Ok(());
        }
        for name in names {
            let step = format!("['{name}']");
            match members.iter().find(|(key, _)| key == name) {
                Some((_, member)) => self.below(member, i + 1, path, &step)?,
                None if strict && !last && names.len() == 1 => {
                    return Err(format!("Missing property in path {path}{step}").into());
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The places of an array that a step selects, in its order.
    fn places(&self, step: &Step, count: i64) -> Vec<i64> {
        let wrapped = |i: i64| if i < 0 { count + i } else { i };
        match step {
            Step::Indexes(list) => list.iter().map(|i| wrapped(*i)).collect(),
            Step::Slice(Some(from), Some(to)) => {
                (*from..(*to).min(count)).take(count as usize * 2).map(wrapped).collect()
            }
            Step::Slice(Some(from), None) => (wrapped(*from).max(0)..count).collect(),
            Step::Slice(None, Some(to)) => (0..wrapped(*to).min(count)).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes step `i` at `value` and at everything below it, outermost first.
    fn scan(&mut self, value: &'a Json, i: usize, path: &mut String) -> Result<(), Lost> {
        self.work.take(1)?;
        let fits = match (self.steps.get(i), value) {
            (Some(Step::Properties(names)), Json::Object(_)) => names.iter().all(|n| value.get(n).is_some()),
            (Some(Step::Properties(_)), _) => false,
            (Some(Step::Indexes(_) | Step::Slice(..)), value) => matches!(value, Json::Array(_)),
            (Some(Step::Wildcard), _) => true,
            (Some(Step::Filter(_)), value) => !value.is_scalar(),
            _ => false,
        };
        if fits {
            self.go(value, i, path)?;
        }
        match value {
            Json::Array(items) => items.iter().try_for_each(|item| self.scan(item, i, path)),
            Json::Object(members) => members.iter().try_for_each(|(_, member)| self.scan(member, i, path)),
            _ => Ok(()),
        }
    }
}

impl Function {
    fn apply(self, value: &Json) -> Result<Json, String> {
        let items = match value {
            Json::Array(items) => items.as_slice(),
            _ => &[],
        };
        Ok(match self {
            Function::Length => match value {
                Json::Array(items) => Json::Int(items.len() as i64),
                Json::Object(members) => Json::Int(members.len() as i64),
                _ => Json::Null,
            },
            Function::Keys => match value {
                Json::Object(members) => Json::Array(members.iter().map(|(k, _)| Json::String(k.clone())).collect()),
                _ => Json::Null,
            },
            Function::First => items.first().cloned().unwrap_or(Json::Null),
            Function::Last => items.last().cloned().unwrap_or(Json::Null),
            aggregate => {
                let numbers: Vec<f64> = items.iter().filter_map(Json::number).collect();
                if numbers.is_empty() {
                    return Err("Aggregation function attempted to calculate value using empty array".to_owned());
                }
                let (count, sum) = (numbers.len() as f64, numbers.iter().sum::<f64>());
                Json::Double(match aggregate {
                    Function::Sum => sum,
                    Function::Avg => sum / count,
                    Function::Min => numbers.iter().copied().fold(f64::MAX, f64::min),
                    // From `Double.MIN_VALUE` on, which is the least above zero.
                    Function::Max => numbers.iter().copied().fold(f64::from_bits(1), f64::max),
                    _ => {
                        let squares = numbers.iter().map(|n| n * n).sum::<f64>();
                        (squares / count - sum * sum / count / count).sqrt()
                    }
                })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn read(path: &str) -> Result<Option<String>, String> {
        let json = r#"{"a":[3,1,2.5],"b":[{"c":1,"e":"x"},{"c":2}],"d":null,"f":1.50,"a b":7}"#;
        let value = Path::compile(path)
            .map_err(|e| format!("{e:?}"))?
            .read(&parse(json)?, false, &Work::new())
            .map_err(|lost| match lost {
                Lost::NotFound(message) => message,
                Lost::TooLong => "too long".to_owned(),
            })?;
        Ok(value.map(|v| v.text()))
    }

    #[test]
    fn follows_paths() {
        for (path, value) in [
            ("$.f", "1.5"),
            ("f", "1.5"),
            ("$['a b']", "7"),
            ("$.a[-1]", "2.5"),
            ("$.a.[0]", "3"),
            ("$.a[0,2]", "[3,2.5]"),
            ("$.a[1:3]", "[1,2.5]"),
            ("$.a[-2:]", "[1,2.5]"),
            ("$.a[:2]", "[3,1]"),
            ("$.b[*].c", "[1,2]"),
            ("$..c", "[1,2]"),
            ("$['f','zz','a b']", "{\"f\":1.5,\"a b\":7}"),
            ("$.b[?(@.c > 1)]", "[{\"c\":2}]"),
            ("$.b[?(@.e == 'x' || @.c > 1)].c", "[1,2]"),
            ("$.b[?(@.c == 9)]", "[]"),
            ("$.a.length()", "3"),
            ("$.a.max()", "3.0"),
            ("$.b[0].keys()", "[\"c\",\"e\"]"),
            ("$.b[0]..*", "[1,\"x\"]"),
        ] {
            assert_eq!(read(path), Ok(Some(value.to_owned())), "{path}");
        }
        assert_eq!(read("$.d"), Ok(None));
    }

    #[test]
    fn says_what_is_missing() {
        for (path, message) in [
            ("$.zz", "No results for path: $['zz']"),
            ("$.a[7]", "No results for path: $['a'][7]"),
            ("$.zz.yy", "Missing property in path $['zz']"),
            ("$.a[7].yy", "No results for path: $['a'][7]['yy']"),
            ("$.f[0]", "Filter: [0] can only be applied to arrays. Current context is: 1.5"),
        ] {
            assert_eq!(read(path), Err(message.to_owned()), "{path}");
        }
        assert!(read("$.f.x").is_err_and(|e| e.starts_with(
            "Expected to find an object with property ['x'] in path $['f'] but found 'java.lang.Double'."
        )));
    }

    #[test]
    fn nothing_runs_without_a_limit() {
        let deep = parse(&format!("{}{}", "[".repeat(100), "]".repeat(100))).unwrap();
        let wide = parse(&format!("[{}0]", "0,".repeat(5000))).unwrap();
        let read = |path: &str, of: &Json| Path::compile(path).unwrap().read(of, true, &Work::new());
        assert_eq!(read("$..*..*..*..*", &deep), Err(Lost::TooLong));
        assert_eq!(read("$[?($..* == 1)]", &wide), Err(Lost::TooLong));
        assert!(read("$..*..*", &deep).is_ok());
        assert!(read("$..*", &wide).is_ok());
    }

    #[test]
    fn refuses_what_is_no_path() {
        for path in ["", "$.", "$..", "$[", "$a", "$.a[x]", "$['f", "$.f x", "$.a[::2]", "$.a[:]", "$.a[?(@.b)]"] {
            assert!(Path::compile(path).is_err(), "{path}");
        }
    }
}
