//! Random jobs that Flink plans.

mod expressions;

use super::choices::Choices;
use super::job::*;

/// A query under construction, and what may be done with its result.
struct Rel {
    from: From,
    columns: Vec<Col>,
    /// It sends updates: no windows over it.
    updating: bool,
    /// Its columns that are event-time attributes.
    rowtime: Vec<Col>,
}

struct Generator<'a, 'c> {
    c: &'a mut Choices<'c>,
    job: Job,
}

/// A job made from decisions.
pub fn job(c: &mut Choices<'_>) -> Job {
    let mut g = Generator { c, job: Job::default() };
    for t in 0..2 {
        g.table(t);
    }
    let inserts = 1 + usize::from(g.c.one_in(4)) + usize::from(g.c.one_in(8));
    for i in 0..inserts {
        let depth = g.c.below(4);
        let rel = g.rel(depth);
        let query = g.last(rel);
        g.job.inserts.push(Insert { sink: format!("sink{i}"), query });
    }
    g.job
}

impl Generator<'_, '_> {
    fn column(&mut self, name: &str, ty: Ty, fixed: bool) -> Col {
        self.job.columns.push(ColumnInfo { name: name.to_owned(), ty, fixed });
        self.job.columns.len() - 1
    }

    fn ty(&self, column: Col) -> Ty {
        self.job.columns[column].ty
    }

    fn table(&mut self, t: usize) {
        let columns = [
            ("a", Ty::Int),
            ("b", Ty::BigInt),
            ("d", Ty::Double),
            ("s", Ty::Text),
            ("mark", Ty::Int),
            ("ts", Ty::Time),
            ("pt", Ty::Proctime),
        ];
        let columns = columns.iter().map(|(name, ty)| self.column(name, *ty, true)).collect();
        let delay = *self.c.pick(&[5_000, 0, 60_000, 1]);
        self.job.tables.push(Table { name: format!("t{t}"), columns, delay });
    }

    fn source(&mut self) -> Rel {
        let t = self.c.below(self.job.tables.len());
        let columns = self.job.tables[t].columns.clone();
        let rowtime = vec![columns[5]];
        Rel { from: From::Table(t), columns, updating: false, rowtime }
    }

    /// A relation; `depth` queries at most stand on each other.
    fn rel(&mut self, depth: usize) -> Rel {
        if depth == 0 {
            return self.source();
        }
        let below = self.rel(depth - 1);
        match self.c.below(12) {
            0 => self.project(below),
            1 => self.group(below),
            2 => self.window_aggregate(below),
            3 => self.legacy_window(below),
            4 => self.over(below),
            5 => self.top_n(below),
            6 => self.deduplicate(below),
            7 => self.window_top_n(below),
            8 => self.union(below),
            9 => self.distinct(below),
            10 => self.window_deduplicate(below),
            _ => self.window_columns(below),
        }
    }

    /// The outermost SELECT: its names are part of its meaning.
    fn last(&mut self, rel: Rel) -> Query {
        let columns: Vec<Col> = rel.columns.iter().copied().filter(|c| self.ty(*c) != Ty::Proctime).collect();
        let mut items = Vec::new();
        for (i, column) in columns.into_iter().enumerate() {
            let (expr, ty) = match self.c.below(4) {
                3 => self.scalar(column),
                _ => (Expr::Column(column), self.ty(column)),
            };
            items.push((expr, self.column(&format!("out{i}"), ty, true)));
        }
        let mut select = Select::new(rel.from, items);
        select.filters = self.filters(&rel.columns, 4);
        Query::Select(Box::new(select))
    }

    fn derived(&mut self, select: Select, updating: bool, rowtime: Vec<Col>) -> Rel {
        let columns = select.items.iter().map(|(_, out)| *out).collect();
        Rel { from: From::Query(Box::new(Query::Select(Box::new(select)))), columns, updating, rowtime }
    }

    /// An item that passes a column on.
    fn pass(&mut self, column: Col) -> (Expr, Col) {
        let ColumnInfo { name, ty, .. } = self.job.columns[column].clone();
        (Expr::Column(column), self.column(&name, ty, false))
    }

    fn passed(&mut self, columns: &[Col]) -> Vec<(Expr, Col)> {
        columns.iter().map(|c| self.pass(*c)).collect()
    }

    /// The outputs of the columns in `of`.
    fn places(items: &[(Expr, Col)], of: &[Col]) -> Vec<Col> {
        items.iter().filter(|(e, _)| matches!(e, Expr::Column(c) if of.contains(c))).map(|(_, out)| *out).collect()
    }

    fn project(&mut self, below: Rel) -> Rel {
        let mut items = self.passed(&below.columns);
        if items.len() > 4 && self.c.one_in(3) {
            items.remove(0);
        }
        if self.c.one_in(2) {
            let column = *self.c.pick(&below.columns);
            let (expr, ty) = self.scalar(column);
            let out = self.column("calc", ty, false);
            items.push((expr, out));
        }
        let rowtime = Self::places(&items, &below.rowtime);
        let mut select = Select::new(below.from, items);
        select.filters = self.filters(&below.columns, 2);
        self.derived(select, below.updating, rowtime)
    }

    fn union(&mut self, below: Rel) -> Rel {
        let columns: Vec<Col> = below.columns.iter().copied().filter(|c| self.ty(*c) != Ty::Proctime).collect();
        let first = self.passed(&columns);
        let outputs: Vec<Col> = first.iter().map(|(_, out)| *out).collect();
        let types: Vec<Ty> = columns.iter().map(|c| self.ty(*c)).collect();
        let other = self.source();
        let mut second = Vec::new();
        for ty in types {
            let column = other.columns.iter().copied().find(|c| self.ty(*c) == ty).expect("every type is in a table");
            second.push((Expr::Column(column), self.column("u", ty, false)));
        }
        // A time attribute stays one only if all branches have it; the generator does not rely on it.
        let mut branch = Select::new(other.from, second);
        branch.filters = self.filters(&other.columns, 2);
        let mut top = Select::new(below.from, first);
        top.filters = self.filters(&below.columns, 3);
        let branches = vec![Query::Select(Box::new(top)), Query::Select(Box::new(branch))];
        Rel {
            from: From::Query(Box::new(Query::Union(branches))),
            columns: outputs,
            updating: below.updating,
            rowtime: Vec::new(),
        }
    }

    fn distinct(&mut self, below: Rel) -> Rel {
        let keys = self.keys(&below.columns, 3);
        let items = self.passed(&keys);
        let mut select = Select::new(below.from, items);
        select.distinct = true;
        select.filters = self.filters(&below.columns, 3);
        self.derived(select, true, Vec::new())
    }

    /// One to `most` different columns to group or partition by.
    fn keys(&mut self, columns: &[Col], most: usize) -> Vec<Col> {
        let good: Vec<Col> =
            columns.iter().copied().filter(|c| !matches!(self.ty(*c), Ty::Time | Ty::Proctime | Ty::Double)).collect();
        let mut keys = Vec::new();
        for _ in 0..=self.c.below(most) {
            if let Some(column) = good.get(self.c.below(good.len())).filter(|c| !keys.contains(*c)) {
                keys.push(*column);
            }
        }
        keys
    }

    fn calls(&mut self, columns: &[Col], over: bool) -> Vec<(Expr, Col)> {
        let mut items = Vec::new();
        for _ in 0..=self.c.below(3) {
            if columns.is_empty() {
                break;
            }
            let mut call = Call { function: "COUNT", distinct: false, arg: None, filter: None, over };
            let mut ty = Ty::BigInt;
            let column = *self.c.pick(columns);
            let numeric = matches!(self.ty(column), Ty::Int | Ty::BigInt | Ty::Double);
            let comparable = numeric || self.ty(column) == Ty::Text;
            match self.c.below(7) {
                1 if comparable => call.arg = Some(Expr::Column(column)),
                2 if comparable && !over => {
                    call.arg = Some(Expr::Column(column));
                    call.distinct = true;
                }
                n @ 3..=6 if numeric => {
                    call.function = ["SUM", "MAX", "MIN", "AVG"][n - 3];
                    let (arg, of) = match self.c.one_in(4) {
                        true if !over => self.scalar(column),
                        _ => (Expr::Column(column), self.ty(column)),
                    };
                    call.arg = Some(arg);
                    ty = of;
                }
                _ => {}
            }
            if !over && self.c.one_in(4) {
                call.filter = Some(self.condition(columns));
            }
            if ty == Ty::Text {
                continue;
            }
            items.push((Expr::Call(Box::new(call)), self.column("agg", ty, false)));
        }
        items
    }

    fn group(&mut self, below: Rel) -> Rel {
        let keys = self.keys(&below.columns, 3);
        let mut items = self.passed(&keys);
        items.extend(self.calls(&below.columns, false));
        if items.is_empty() {
            return self.project(below);
        }
        let having = self.having(&items);
        let mut select = Select::new(below.from, items);
        select.filters = self.filters(&below.columns, 3);
        select.group = keys.into_iter().map(Key::Column).collect();
        // Without keys a HAVING alone would be no aggregate.
        select.having = having;
        if select.group.is_empty() && !select.items.iter().any(|(e, _)| matches!(e, Expr::Call(_))) {
            select.having.clear();
        }
        self.derived(select, true, Vec::new())
    }

    fn having(&mut self, items: &[(Expr, Col)]) -> Vec<Expr> {
        let call = items.iter().find_map(|(e, _)| match e {
            Expr::Call(call) if call.function == "COUNT" => Some(e.clone()),
            _ => None,
        });
        match call {
            Some(call) if self.c.one_in(4) => {
                vec![Expr::Compare(Cmp::Greater, Box::new(call), Box::new(Expr::Int(1)))]
            }
            _ => Vec::new(),
        }
    }

    fn window(&mut self) -> Window {
        let unit = *self.c.pick(&[60_000, 1_000, 3_600_000]);
        match self.c.below(4) {
            0 => Window::Tumble(10 * unit),
            1 => Window::Hop(2 * unit, 10 * unit),
            2 => Window::Cumulate(2 * unit, 10 * unit),
            _ => Window::Session(15 * unit),
        }
    }

    /// A window function over `below`, if that has a time attribute.
    fn tvf(&mut self, below: Rel, session: bool) -> Result<(Tvf, Vec<Col>), Rel> {
        let proctime = below.columns.iter().copied().find(|c| self.ty(*c) == Ty::Proctime);
        let time = match (below.rowtime.first().copied(), proctime) {
            (Some(time), Some(proctime)) => {
                if self.c.one_in(5) {
                    proctime
                } else {
                    time
                }
            }
            (Some(time), None) | (None, Some(time)) => time,
            (None, None) => return Err(below),
        };
        if below.updating {
            return Err(below);
        }
        let mut window = self.window();
        if !session && let Window::Session(gap) = window {
            window = Window::Tumble(gap);
        }
        let bounds_of = if self.ty(time) == Ty::Proctime { Ty::Proctime } else { Ty::Time };
        let bounds = [("window_start", Ty::Time), ("window_end", Ty::Time), ("window_time", bounds_of)];
        let bounds = bounds.map(|(name, ty)| self.column(name, ty, true));
        let partition = match window {
            Window::Session(_) => self.keys(&below.columns, 2),
            _ => Vec::new(),
        };
        let offset = match window {
            Window::Tumble(size) if self.c.one_in(6) => Some(size / 2),
            _ => None,
        };
        // Columns of the same names as the window's are hidden, as Flink refuses them.
        let names = ["window_start", "window_end", "window_time"];
        let columns: Vec<Col> =
            below.columns.iter().copied().filter(|c| !names.contains(&self.job.columns[*c].name.as_str())).collect();
        if columns.len() < below.columns.len() {
            return Err(below);
        }
        Ok((Tvf { window, input: below.from, time, offset, partition, bounds }, columns))
    }

    fn window_aggregate(&mut self, below: Rel) -> Rel {
        let (tvf, columns) = match self.tvf(below, true) {
            Ok(done) => done,
            Err(below) => return self.group(below),
        };
        let mut keys = self.keys(&columns, 2);
        if let Window::Session(_) = tvf.window {
            keys.clone_from(&tvf.partition);
        }
        let mut all = keys.clone();
        all.extend(&tvf.bounds[..2]);
        let with_time = self.c.one_in(3) && self.ty(tvf.time) != Ty::Proctime;
        if with_time {
            all.push(tvf.bounds[2]);
        }
        // GROUP BY window columns may stand before the keys.
        if self.c.one_in(2) {
            all.rotate_left(keys.len());
        }
        let mut items: Vec<(Expr, Col)> = Vec::new();
        for column in &all {
            let (name, ty) = (self.job.columns[*column].name.clone(), self.ty(*column));
            let name = if tvf.bounds.contains(column) { name.replace("window_", "w_") } else { name };
            items.push((Expr::Column(*column), self.column(&name, ty, false)));
        }
        let rowtime = if with_time { Self::places(&items, &tvf.bounds[2..]) } else { Vec::new() };
        items.extend(self.calls(&columns, false));
        let having = self.having(&items);
        let mut select = Select::new(From::Tvf(Box::new(tvf)), items);
        select.filters = self.filters(&columns, 4);
        select.group = all.into_iter().map(Key::Column).collect();
        select.having = having;
        self.derived(select, false, rowtime)
    }

    fn legacy_window(&mut self, below: Rel) -> Rel {
        let proctime = below.columns.iter().copied().find(|c| self.ty(*c) == Ty::Proctime);
        let time = below.rowtime.first().copied().or(proctime);
        let Some(time) = time.filter(|_| !below.updating) else { return self.group(below) };
        let window = match self.window() {
            Window::Cumulate(_, size) => Window::Tumble(size),
            window => window,
        };
        let keys = self.keys(&below.columns, 2);
        let mut items = self.passed(&keys);
        items.extend(self.calls(&below.columns, false));
        for bound in ["START", "END"] {
            if self.c.one_in(2) {
                let out = self.column(if bound == "START" { "w_start" } else { "w_end" }, Ty::Time, false);
                items.push((Expr::LegacyBound(bound), out));
            }
        }
        if items.len() == keys.len() {
            let count = Call { function: "COUNT", distinct: false, arg: None, filter: None, over: false };
            let out = self.column("agg", Ty::BigInt, false);
            items.push((Expr::Call(Box::new(count)), out));
        }
        let mut select = Select::new(below.from, items);
        select.filters = self.filters(&below.columns, 3);
        select.group = keys.into_iter().map(Key::Column).collect();
        let at = self.c.below(select.group.len() + 1);
        select.group.insert(at, Key::Window(window, time));
        self.derived(select, false, Vec::new())
    }

    fn over(&mut self, below: Rel) -> Rel {
        let proctime = below.columns.iter().copied().find(|c| self.ty(*c) == Ty::Proctime);
        let order = below.rowtime.first().copied().or(proctime);
        let Some(order) = order.filter(|_| !below.updating) else { return self.project(below) };
        let frame = match self.c.below(4) {
            0 => Frame::Default,
            1 => Frame::Rows(3),
            2 => Frame::Range(600_000),
            _ => Frame::RowsUnbounded,
        };
        let partition = self.keys(&below.columns, 2);
        let mut items = self.passed(&below.columns);
        if items.len() > 4 && self.c.one_in(2) {
            items.remove(2);
        }
        // Flink refuses an OVER aggregate of the bare result of another one: both are called `w0$o0`.
        let readable: Vec<Col> = below.columns.iter().copied().filter(|c| self.job.columns[*c].name != "agg").collect();
        let calls = self.calls(&readable, true);
        items.extend(calls);
        let rowtime = Self::places(&items, &below.rowtime);
        let mut select = Select::new(below.from, items);
        select.filters = self.filters(&below.columns, 3);
        select.over = Some(Over { partition, order, frame });
        self.derived(select, false, rowtime)
    }

    fn ranked(
        &mut self,
        from: From,
        columns: &[Col],
        partition: Vec<Col>,
        order: Vec<(Col, bool)>,
        range: (i64, i64),
    ) -> Select {
        let mut items = self.passed(columns);
        let number = self.column("rn", Ty::BigInt, false);
        items.push((Expr::RowNumber(partition, order), number));
        let inner: Vec<Col> = items.iter().map(|(_, out)| *out).collect();
        let inner_select = Select::new(from, items);
        let keep_number = self.c.one_in(3);
        let kept = if keep_number { &inner[..] } else { &inner[..inner.len() - 1] };
        let items = self.passed(kept);
        let mut select = Select::new(From::Query(Box::new(Query::Select(Box::new(inner_select)))), items);
        select.filters = vec![Expr::RankRange(number, range.0, range.1)];
        select
    }

    fn top_n(&mut self, below: Rel) -> Rel {
        let order: Vec<Col> =
            below.columns.iter().copied().filter(|c| !matches!(self.ty(*c), Ty::Time | Ty::Proctime)).collect();
        if order.is_empty() {
            return self.project(below);
        }
        let order = vec![(*self.c.pick(&order), self.c.one_in(2))];
        let partition = self.keys(&below.columns, 2);
        let range = *self.c.pick(&[(1, 3), (1, 1), (2, 3), (1, 10)]);
        let select = self.ranked(below.from, &below.columns, partition, order, range);
        self.derived(select, true, Vec::new())
    }

    fn deduplicate(&mut self, below: Rel) -> Rel {
        let proctime = below.columns.iter().copied().find(|c| self.ty(*c) == Ty::Proctime);
        let time = below.rowtime.first().copied().or(proctime);
        let Some(time) = time.filter(|_| !below.updating) else { return self.top_n(below) };
        let order = vec![(time, self.c.one_in(2))];
        let partition = self.keys(&below.columns, 2);
        let select = self.ranked(below.from, &below.columns, partition, order, (1, 1));
        self.derived(select, true, Vec::new())
    }

    fn window_top_n(&mut self, below: Rel) -> Rel {
        // Flink: "processing-time Window Top-N is not supported yet".
        let below_has_time = !below.rowtime.is_empty();
        let rel = self.window_aggregate(below);
        let event_time = |from: &From| match from {
            From::Query(query) => match &**query {
                Query::Select(select) => match &select.from {
                    From::Tvf(tvf) => self.ty(tvf.time) == Ty::Time,
                    _ => false,
                },
                Query::Union(_) => false,
            },
            _ => false,
        };
        if !below_has_time || !event_time(&rel.from) {
            return rel;
        }
        let bound = |g: &Self, name: &str| rel.columns.iter().copied().find(|c| g.job.columns[*c].name == name);
        let (Some(start), Some(end)) = (bound(self, "w_start"), bound(self, "w_end")) else { return rel };
        let order: Vec<Col> = rel.columns.iter().copied().filter(|c| self.ty(*c) != Ty::Time).collect();
        if rel.updating || order.is_empty() {
            return rel;
        }
        let order = vec![(*self.c.pick(&order), self.c.one_in(2))];
        let mut partition = vec![start, end];
        partition.extend(self.keys(&rel.columns, 1).into_iter().filter(|_| order.len() == 1));
        let range = *self.c.pick(&[(1, 3), (1, 1), (1, 10)]);
        let select = self.ranked(rel.from, &rel.columns, partition, order, range);
        self.derived(select, false, Vec::new())
    }

    fn window_deduplicate(&mut self, below: Rel) -> Rel {
        let (tvf, columns) = match self.tvf(below, false) {
            Ok(done) => done,
            Err(below) => return self.deduplicate(below),
        };
        if self.ty(tvf.time) == Ty::Proctime {
            return self.plain_window(tvf, columns);
        }
        let order = vec![(tvf.time, self.c.one_in(2))];
        let mut partition = tvf.bounds[..2].to_vec();
        partition.extend(self.keys(&columns, 2));
        let mut all = columns;
        all.retain(|c| self.ty(*c) != Ty::Proctime);
        all.extend(&tvf.bounds[..2]);
        let mut select = self.ranked(From::Tvf(Box::new(tvf)), &all, partition, order, (1, 1));
        self.rename_bounds(&mut select);
        self.derived(select, false, Vec::new())
    }

    /// Only the window's columns beside the input's.
    fn window_columns(&mut self, below: Rel) -> Rel {
        match self.tvf(below, false) {
            Ok((tvf, columns)) => self.plain_window(tvf, columns),
            Err(below) => self.project(below),
        }
    }

    fn plain_window(&mut self, tvf: Tvf, columns: Vec<Col>) -> Rel {
        let mut all = columns;
        all.retain(|c| self.ty(*c) != Ty::Proctime);
        all.extend(&tvf.bounds[..2]);
        let items = self.passed(&all);
        let mut select = Select::new(From::Tvf(Box::new(tvf)), items);
        self.rename_bounds(&mut select);
        self.derived(select, false, Vec::new())
    }

    /// Gives window columns that are sent on another name, so that another window function can stand above.
    fn rename_bounds(&mut self, select: &mut Select) {
        for (_, out) in &select.items {
            let info = &mut self.job.columns[*out];
            info.name = info.name.replace("window_", "w_");
        }
    }
}
