//! Small changes of meaning that the state of a job feels. Only places whose results are read are changed, and only in ways
//! that nothing else in the job makes up for.

use std::collections::HashSet;

use super::choices::Choices;
use super::job::*;

/// A changed job, and in words what was changed; nothing if it has no state that can be changed.
pub fn mutated(job: &Job, c: &mut Choices<'_>) -> Option<(Job, String)> {
    let live = live_columns(job);
    let mut count = Walk { live: &live, job, target: None, seen: 0, done: None };
    let mut copy = job.clone();
    count.job_of(&mut copy);
    let sites = count.seen;
    if sites == 0 {
        return None;
    }
    let target = c.below(sites);
    let mut walk = Walk { live: &live, job, target: Some(target), seen: 0, done: None };
    let mut copy = job.clone();
    walk.job_of(&mut copy);
    walk.done.map(|what| (copy, what))
}

/// The columns that are read on the way to a sink.
fn live_columns(job: &Job) -> HashSet<Col> {
    let mut live = HashSet::new();
    for insert in &job.inserts {
        let wanted: Vec<Col> = insert.query.outputs();
        live_query(&insert.query, &wanted, &mut live);
    }
    live
}

fn live_query(query: &Query, wanted: &[Col], live: &mut HashSet<Col>) {
    match query {
        Query::Union(branches) => {
            let places: Vec<usize> = branches[0]
                .outputs()
                .iter()
                .enumerate()
                .filter(|(_, out)| wanted.contains(out))
                .map(|(i, _)| i)
                .collect();
            for branch in branches {
                let outputs = branch.outputs();
                let wanted: Vec<Col> = places.iter().map(|i| outputs[*i]).collect();
                live_query(branch, &wanted, live);
            }
        }
        Query::Select(select) => {
            let mut read = Vec::new();
            for (e, out) in &select.items {
                if wanted.contains(out) || select.distinct {
                    live.insert(*out);
                    columns_of(e, &mut read);
                }
            }
            for e in select.filters.iter().chain(&select.having) {
                columns_of(e, &mut read);
            }
            for key in &select.group {
                match key {
                    Key::Column(c) | Key::Window(_, c) => read.push(*c),
                }
            }
            if let Some(over) = select.over.as_ref().filter(|_| over_is_read(select, live)) {
                read.extend(&over.partition);
                read.push(over.order);
            }
            live.extend(&read);
            live_from(&select.from, &read, live);
        }
    }
}

fn live_from(from: &From, wanted: &[Col], live: &mut HashSet<Col>) {
    match from {
        From::Table(_) => {}
        From::Query(query) => live_query(query, wanted, live),
        From::Tvf(tvf) => {
            let mut wanted = wanted.to_vec();
            wanted.push(tvf.time);
            wanted.extend(&tvf.partition);
            live.extend(&wanted);
            live_from(&tvf.input, &wanted, live);
        }
    }
}

fn over_is_read(select: &Select, live: &HashSet<Col>) -> bool {
    select.items.iter().any(|(e, out)| matches!(e, Expr::Call(c) if c.over) && live.contains(out))
}

/// True if the rows may be unique by some columns.
fn unique_below(from: &From) -> bool {
    match from {
        From::Table(_) => false,
        From::Tvf(tvf) => unique_below(&tvf.input),
        From::Query(query) => match &**query {
            Query::Union(_) => false,
            Query::Select(select) => {
                let ranks = select.filters.iter().any(|e| matches!(e, Expr::RankRange(..)));
                select.distinct || ranks || !select.group.is_empty() || unique_below(&select.from)
            }
        },
    }
}

fn columns_of(e: &Expr, out: &mut Vec<Col>) {
    match e {
        Expr::Column(c) | Expr::RankRange(c, ..) => out.push(*c),
        Expr::Int(_) | Expr::Text(_) | Expr::Interval(_) | Expr::LegacyBound(_) => {}
        Expr::Arithmetic(_, a, b) | Expr::Compare(_, a, b) => {
            columns_of(a, out);
            columns_of(b, out);
        }
        Expr::Or(list) | Expr::Function(_, list) => list.iter().for_each(|e| columns_of(e, out)),
        Expr::Not(e) | Expr::IsNull(e) | Expr::In(e, _) | Expr::Between(e, ..) => columns_of(e, out),
        Expr::Case(a, b, c) => [a, b, c].into_iter().for_each(|e| columns_of(e, out)),
        Expr::Call(call) => call.arg.iter().chain(&call.filter).for_each(|e| columns_of(e, out)),
        Expr::RowNumber(partition, order) => {
            out.extend(partition);
            out.extend(order.iter().map(|(c, _)| c));
        }
    }
}

/// Counts the places that can be changed, and changes the one with number `target`.
struct Walk<'a> {
    live: &'a HashSet<Col>,
    job: &'a Job,
    target: Option<usize>,
    seen: usize,
    done: Option<String>,
}

impl Walk<'_> {
    /// True at the place to change.
    fn here(&mut self, what: &str) -> bool {
        let here = self.target == Some(self.seen);
        self.seen += 1;
        if here {
            self.done = Some(what.to_owned());
        }
        here
    }

    fn job_of(&mut self, job: &mut Job) {
        for insert in &mut job.inserts {
            self.query(&mut insert.query, false);
        }
    }

    /// `stateful`: something above keeps state that depends on these rows.
    fn query(&mut self, query: &mut Query, stateful: bool) {
        match query {
            Query::Union(branches) => branches.iter_mut().for_each(|b| self.query(b, stateful)),
            Query::Select(select) => self.select(select, stateful),
        }
    }

    fn select(&mut self, select: &mut Select, above: bool) {
        let calls = select.items.iter().any(|(e, out)| matches!(e, Expr::Call(_)) && self.live.contains(out));
        let ranks = select.items.iter().any(|(e, out)| matches!(e, Expr::RowNumber(..)) && self.live.contains(out));
        let groups = !select.group.is_empty() && (calls || select.items.iter().any(|(_, out)| self.live.contains(out)));
        let stateful = above || calls || ranks || groups || select.distinct;

        // Conditions below the state. Tables have a column that nothing else filters on.
        if stateful && let From::Table(t) = select.from {
            let mark = self.job.tables[t].columns[4];
            if self.here("a filter below the state") {
                let value = Box::new(Expr::Column(mark));
                select.filters.push(Expr::Compare(Cmp::NotEqual, value, Box::new(Expr::Int(12_345))));
            }
        }
        for (e, out) in &mut select.items {
            if self.live.contains(out) {
                match e {
                    // Over rows that are unique by the group keys Flink computes an aggregate without state.
                    Expr::Call(call) if call.over || !unique_below(&select.from) => self.call(call),
                    Expr::RowNumber(partition, order) => self.row_number(partition, order),
                    _ => {}
                }
            }
        }
        for e in &mut select.filters {
            if let Expr::RankRange(_, from, to) = e {
                if self.here("N") {
                    // A deduplication becomes a Top-N.
                    *to += 2;
                }
                if *from > 1 && self.here("the first rank") {
                    *from -= 1;
                }
            }
        }
        if groups {
            for key in &mut select.group {
                if let Key::Window(window, _) = key {
                    self.window(window);
                }
            }
        }
        if over_is_read(select, self.live)
            && let Some(over) = &mut select.over
        {
            if self.here("the frame") {
                over.frame = match over.frame {
                    Frame::Rows(n) => Frame::Rows(n + 1),
                    Frame::Range(n) => Frame::Range(n + 60_000),
                    Frame::Default => Frame::RowsUnbounded,
                    Frame::RowsUnbounded => Frame::Default,
                };
            }
            if !over.partition.is_empty() && self.here("a partition key of OVER dropped") {
                over.partition.remove(0);
            }
        }
        match &mut select.from {
            From::Table(_) => {}
            From::Query(query) => self.query(query, stateful),
            From::Tvf(tvf) => {
                // Without an aggregate or rank above nothing is kept by a window function.
                if calls || groups || ranks {
                    self.window(&mut tvf.window);
                    if let Some(offset) = &mut tvf.offset
                        && self.here("the window's offset")
                    {
                        *offset += 1_000;
                    }
                }
                if let From::Query(query) = &mut tvf.input {
                    self.query(query, stateful);
                }
            }
        }
    }

    fn window(&mut self, window: &mut Window) {
        if self.here("the window's length") {
            *window = match *window {
                Window::Tumble(size) => Window::Tumble(size * 2),
                Window::Hop(slide, size) => Window::Hop(slide, size + slide),
                Window::Cumulate(step, size) => Window::Cumulate(step, size + step),
                Window::Session(gap) => Window::Session(gap + 1_000),
            };
        }
        if self.here("the window's kind or slide") {
            *window = match *window {
                Window::Tumble(size) => Window::Hop(size / 2, size),
                Window::Hop(slide, size) => Window::Hop(slide / 2, size),
                Window::Cumulate(step, size) => Window::Cumulate(step / 2, size),
                Window::Session(gap) => Window::Session(gap * 2),
            };
        }
    }

    fn call(&mut self, call: &mut Call) {
        let numeric = call.arg.is_some() && matches!(call.function, "SUM" | "MAX" | "MIN" | "AVG");
        if numeric
            && self.here("an argument of an aggregate")
            && let Some(arg) = call.arg.take()
        {
            call.arg = Some(Expr::Arithmetic('+', Box::new(arg), Box::new(Expr::Int(7_777))));
        }
        if !call.over && call.filter.is_none() && self.here("FILTER of an aggregate") {
            if let Some(Expr::Column(c)) = call.arg {
                let value = Box::new(Expr::Column(c));
                call.filter = Some(Expr::Not(Box::new(Expr::Compare(Cmp::Equal, value, Box::new(Expr::Int(4_242))))));
            } else {
                self.done = None;
            }
        }
    }

    fn row_number(&mut self, partition: &mut Vec<Col>, order: &mut [(Col, bool)]) {
        if self.here("the direction of ORDER BY") {
            order[0].1 = !order[0].1;
        }
        // Without a partition key the columns of a window remain.
        let last = partition.len();
        let plain = partition.last().is_some_and(|c| self.job.columns[*c].ty != Ty::Time);
        if plain && self.here("a partition key of a rank dropped") {
            partition.truncate(last - 1);
        }
    }
}
