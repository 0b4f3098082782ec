//! Sinks whose key is not that of the changes they get.

use super::Observer;
use super::observation::ObservationKind;
use crate::exec::{NodeId, Operator};
use crate::logical::rex::Origins;

impl Observer<'_> {
    /// A sink in front of which changes are brought into order by its primary key.
    pub(super) fn sink(&mut self, id: NodeId) {
        let plan = self.plan;
        let Operator::Sink(sink) = &plan.node(id).op else { return };
        let (Some(table), true, Some(&input)) = (&sink.table, sink.upsert_materialize, plan.node(id).inputs.first())
        else {
            return;
        };
        let option = plan.options.get("table.exec.sink.upsert-materialize");
        let keys = &plan.node(input).upsert_keys;
        let key = table.primary_key.iter().flat_map(|k| &k.columns).map(|c| format!("`{}`", table.columns[*c].name));
        let mut args = vec![("sink", format!("`{}`", sink.name)), ("key", key.collect::<Vec<_>>().join(", "))];
        if let Some(key) = keys.iter().min_by_key(|k| k.len()) {
            args.push(("changes_key", self.names(input, key.iter().copied())));
        }
        let kind = ObservationKind::SinkKey {
            key_known: !keys.is_empty(),
            forced: option.is_some_and(|o| o.eq_ignore_ascii_case("FORCE")),
        };
        self.add(kind, id, args, &Origins::none());
    }
}
