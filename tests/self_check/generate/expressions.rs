//! Conditions and computed columns.

use super::super::job::*;
use super::Generator;

impl Generator<'_, '_> {
    pub(super) fn filters(&mut self, columns: &[Col], rarity: usize) -> Vec<Expr> {
        let mut filters = Vec::new();
        // A condition on a rank number is a rank range of its own; `mark` is for the changes of meaning.
        let columns: Vec<Col> =
            columns.iter().copied().filter(|c| !matches!(self.job.columns[*c].name.as_str(), "rn" | "mark")).collect();
        let columns = &columns[..];
        while !columns.is_empty() && filters.len() < 3 && self.c.one_in(rarity) {
            filters.push(self.condition(columns));
        }
        filters
    }

    pub(super) fn condition(&mut self, columns: &[Col]) -> Expr {
        let column = *self.c.pick(columns);
        let value = Box::new(Expr::Column(column));
        match self.ty(column) {
            Ty::Int | Ty::BigInt | Ty::Double => {
                let n = [10, 20, 7, 0][self.c.below(4)];
                match self.c.below(7) {
                    0 => Expr::Compare(Cmp::Greater, value, Box::new(Expr::Int(n))),
                    1 => Expr::Compare(Cmp::GreaterOrEqual, value, Box::new(Expr::Int(n))),
                    2 => {
                        let op = *self.c.pick(&[Cmp::NotEqual, Cmp::LessOrEqual]);
                        Expr::Compare(op, value, Box::new(Expr::Int(n)))
                    }
                    3 => Expr::In(value, vec![n, n + 3, n + 1]),
                    4 => Expr::Between(value, n, n + 50),
                    // A count is never NULL: such a condition would leave nothing.
                    5 if self.job.columns[column].name != "agg" => Expr::IsNull(value),
                    5 => Expr::Not(Box::new(Expr::In(value, vec![n, n + 5]))),
                    _ => {
                        let more = self.condition(columns);
                        Expr::Or(vec![Expr::Compare(Cmp::Less, value, Box::new(Expr::Int(n))), more])
                    }
                }
            }
            Ty::Text => match self.c.below(3) {
                0 => Expr::Compare(Cmp::Equal, value, Box::new(Expr::Text("x"))),
                1 => Expr::Function("LIKE", vec![*value, Expr::Text("x%")]),
                _ => Expr::Not(Box::new(Expr::IsNull(value))),
            },
            Ty::Time | Ty::Proctime => Expr::Not(Box::new(Expr::IsNull(value))),
        }
    }

    /// An expression that reads a column.
    pub(super) fn scalar(&mut self, column: Col) -> (Expr, Ty) {
        let value = Expr::Column(column);
        let ty = self.ty(column);
        match ty {
            Ty::Int | Ty::BigInt | Ty::Double => match self.c.below(4) {
                0 => (Expr::Arithmetic('+', Box::new(value), Box::new(Expr::Int(1))), ty),
                1 => (Expr::Arithmetic('*', Box::new(value), Box::new(Expr::Int(2))), ty),
                2 => (Expr::Function("ABS", vec![value]), ty),
                _ => {
                    let condition = self.condition(&[column]);
                    (Expr::Case(Box::new(condition), Box::new(value), Box::new(Expr::Int(0))), ty)
                }
            },
            Ty::Text => (Expr::Function("UPPER", vec![value]), ty),
            Ty::Time => (Expr::Arithmetic('+', Box::new(value), Box::new(Expr::Interval(90_000))), ty),
            Ty::Proctime => (Expr::Int(1), Ty::Int),
        }
    }
}
