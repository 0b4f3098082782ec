//! `plan --format json`: operators in print order with their attributes, inputs, columns and changes.

use serde_json::{Map, Value, json};

use super::{NodeId, Plan, TextContext};

impl Plan {
    /// One document per sink: its name and its operators. An operator that several sinks share is listed with the first.
    /// `facts` are what else is known of an operator.
    pub fn to_json(&self, facts: &dyn Fn(NodeId) -> Vec<(&'static str, Value)>) -> Vec<Value> {
        let mut listed = vec![false; self.nodes.len()];
        self.sinks
            .iter()
            .map(|sink| {
                let mut operators = Vec::new();
                let mut stack = vec![*sink];
                while let Some(id) = stack.pop() {
                    if std::mem::replace(&mut listed[id.index()], true) {
                        continue;
                    }
                    operators.push(self.operator_json(id, facts(id)));
                    stack.extend(self.node(id).inputs.iter().rev());
                }
                json!({ "sink": self.sink_name(*sink), "operators": operators })
            })
            .collect()
    }

    fn operator_json(&self, id: NodeId, facts: Vec<(&'static str, Value)>) -> Value {
        let node = self.node(id);
        let context = TextContext { plan: self, node, input: self.input_columns(id, 0) };
        let attributes: Map<String, Value> = node
            .op
            .node()
            .attributes(&context)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::String(value)))
            .collect();
        let columns: Vec<Value> = node
            .columns
            .iter()
            .map(|c| json!({ "name": &*c.name, "type": c.ty.to_string(), "needed": c.needed }))
            .collect();
        let mut operator = json!({
            "id": id.shown(),
            "kind": node.op.kind(),
            "text": self.text(id),
            "attributes": attributes,
            "inputs": node.inputs.iter().map(|i| i.shown()).collect::<Vec<_>>(),
            "columns": columns,
            "changelog": node.changelog.to_string(),
        });
        facts.into_iter().for_each(|(name, fact)| operator[name] = fact);
        operator
    }

    /// The name of a sink: its table's, or `query1`, `query2`, ...
    pub fn sink_name(&self, sink: NodeId) -> &str {
        match &self.node(sink).op {
            super::Operator::Sink(s) => &s.name,
            _ => "",
        }
    }
}
