//! Listed values: `enum` and `const`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::forms::{any, is_any, or_null};
use crate::docs::markdown;
use crate::names;

/// Maximum number of values of an enum. Beyond that, the values are no longer a choice that a programmer makes.
const MOST_VALUES: usize = 200;

/// Returns the schema of these constant values.
pub(super) fn of_values(values: &[Value]) -> Value {
    let others: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    let is_nullable = others.len() < values.len();
    let mut simple = if others.is_empty() {
        return json!({ "type": "null" });
    } else if let Some(texts) = others.iter().map(|value| value.as_str()).collect::<Option<Vec<_>>>() {
        of_texts(&texts)
    } else if others.iter().all(|value| value.is_boolean()) {
        json!({ "type": "boolean" })
    } else if others.iter().all(|value| value.is_i64()) {
        json!({ "type": "integer", "format": "int64" })
    } else if others.iter().all(|value| value.is_number()) {
        json!({ "type": "number" })
    } else {
        any("")
    };
    if simple.get("enum").is_none() && !is_any(&simple) || others.len() > 1 && is_any(&simple) {
        let list = others.iter().take(20).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let note = if others.len() == 1 { "Always " } else { "One of " };
        let more = if others.len() > 20 { ", ..." } else { "." };
        simple["description"] = Value::String(markdown(&format!("{note}{list}{more}")));
    }
    if is_nullable { or_null(simple) } else { simple }
}

/// Returns the schema of an enum, or of any text if its values cannot be the names of variants.
fn of_texts(texts: &[&str]) -> Value {
    let mut distinct = texts.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() > MOST_VALUES || !are_distinct(&distinct) {
        return json!({ "type": "string" });
    }
    let mut seen = BTreeSet::new();
    let in_order: Vec<&str> = texts.iter().copied().filter(|text| seen.insert(*text)).collect();
    json!({ "type": "string", "enum": in_order })
}

/// Returns whether these texts have different names as variants of an enum.
pub(super) fn are_distinct(texts: &[&str]) -> bool {
    let mut variants = BTreeSet::new();
    texts.iter().all(|text| {
        let variant = names::variant(text);
        text.is_ascii() && text.len() <= names::LONGEST && !variant.is_empty() && variants.insert(variant)
    })
}
