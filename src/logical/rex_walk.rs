//! Walking and rebuilding expressions one level at a time.

use super::rex::{Function, OverCall, Rex, RexKind, SortExpr};

impl Rex {
    /// Calls `f` with every direct operand.
    pub fn for_each_child<'a>(&'a self, f: &mut dyn FnMut(&'a Rex)) {
        match &self.kind {
            RexKind::Input(_) | RexKind::Literal(_) | RexKind::Outer(_) => {}
            RexKind::Call(_, args) => args.iter().for_each(f),
            RexKind::Cast { operand, .. } | RexKind::Field(operand, _) => f(operand),
            RexKind::Over(over) => {
                over.args.iter().chain(&over.filter).chain(&over.partition_by).for_each(&mut *f);
                over.order_by.iter().for_each(|s| f(&s.expr));
            }
        }
    }

    /// The same expression over other direct operands.
    pub fn map_children(&self, f: &mut dyn FnMut(&Rex) -> Rex) -> Rex {
        let kind = match &self.kind {
            RexKind::Input(_) | RexKind::Literal(_) | RexKind::Outer(_) => return self.clone(),
            RexKind::Call(function, args) => RexKind::Call(function.clone(), args.iter().map(f).collect()),
            RexKind::Cast { operand, is_try } => RexKind::Cast { operand: Box::new(f(operand)), is_try: *is_try },
            RexKind::Field(operand, i) => RexKind::Field(Box::new(f(operand)), *i),
            RexKind::Over(over) => RexKind::Over(Box::new(OverCall {
                function: over.function.clone(),
                args: over.args.iter().map(&mut *f).collect(),
                distinct: over.distinct,
                filter: over.filter.as_ref().map(&mut *f),
                partition_by: over.partition_by.iter().map(&mut *f).collect(),
                partition_origins: over.partition_origins.clone(),
                order_by: over.order_by.iter().map(|s| SortExpr { expr: f(&s.expr), ..s.clone() }).collect(),
                frame: over.frame.clone(),
            })),
        };
        Rex { kind, ty: self.ty.clone(), origins: self.origins.clone() }
    }

    /// True if the same input always gives the same value. User functions are taken to be deterministic, as Flink does.
    pub fn is_deterministic(&self) -> bool {
        let mut all = true;
        self.visit(&mut |r| {
            if let RexKind::Call(Function::Builtin(def), _) = &r.kind {
                all &= def.deterministic;
            }
        });
        all
    }

    /// True if a source can be asked for this condition: built-in functions over its fields.
    pub fn is_pushable(&self) -> bool {
        let mut all = true;
        self.visit(&mut |r| {
            all &= match &r.kind {
                RexKind::Call(Function::Builtin(def), _) => def.deterministic,
                RexKind::Call(Function::User(_), _) | RexKind::Over(_) | RexKind::Outer(_) => false,
                _ => true,
            };
        });
        all
    }
}
