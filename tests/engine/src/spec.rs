//! The official schemas and examples, where a test can find them: in the folder that `MCPWIRE_SPEC` names, as
//! `<revision>/schema.json` and `<revision>/examples/<definition>/*.json`.

use std::fs;
use std::path::{Path, PathBuf};

use mcpwire_core::Json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The folder of the specification; says so and gives nothing where there is none.
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("MCPWIRE_SPEC");
    if folder.is_none() {
        println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
    }
    folder.map(PathBuf::from)
}

/// One revision's schema, or that of an extension.
pub struct Schema {
    /// The name of its folder, such as `2025-11-25`.
    pub name: String,
    /// The whole schema.
    pub whole: Value,
    keyword: &'static str,
}

/// All schemas, by name.
///
/// # Panics
///
/// When a schema is not there or is no JSON.
pub fn schemas(folder: &Path) -> Vec<Schema> {
    let mut schemas: Vec<Schema> = folders(folder).iter().map(|path| Schema::read(path)).collect();
    schemas.sort_by(|one, other| one.name.cmp(&other.name));
    schemas
}

impl Schema {
    fn read(folder: &Path) -> Self {
        let whole = read(&folder.join("schema.json"));
        let keyword = if whole.get("$defs").is_some() { "$defs" } else { "definitions" };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Schema { name, whole, keyword }
    }

    /// The definitions by name.
    ///
    /// # Panics
    ///
    /// When there are none.
    pub fn definitions(&self) -> &Map<String, Value> {
        self.whole[self.keyword].as_object().expect("a schema has definitions")
    }

    /// The definition of this name, if there is one.
    pub fn definition(&self, name: &str) -> Option<&Value> {
        self.definitions().get(name)
    }

    /// A schema of its own that asks for one definition.
    #[must_use]
    pub fn only(&self, definition: &str) -> Value {
        let mut schema = json!({"$ref": format!("#/{}/{definition}", self.keyword)});
        schema[self.keyword] = self.whole[self.keyword].clone();
        if let Some(dialect) = self.whole.get("$schema") {
            schema["$schema"] = dialect.clone();
        }
        schema
    }

    /// What a definition asks of the member `name`, wherever in its parts that stands.
    #[must_use]
    pub fn member<'s>(&'s self, schema: &'s Value, name: &str) -> Option<&'s Value> {
        let schema = self.resolve(schema);
        if let Some(found) = schema["properties"].get(name) {
            return Some(found);
        }
        let parts = schema["allOf"].as_array().into_iter().flatten();
        parts.rev().find_map(|part| self.member(part, name))
    }

    /// A value that the definition allows: with all that it may have, or only what it must have. `choice` picks where it
    /// leaves a choice.
    ///
    /// # Panics
    ///
    /// When there is no such definition.
    #[must_use]
    pub fn instance(&self, definition: &str, full: bool, choice: usize) -> Value {
        let schema = self.definition(definition).unwrap_or_else(|| panic!("no definition {definition}"));
        Maker { schema: self, full, choice }.make(schema, 0)
    }

    fn resolve<'s>(&'s self, schema: &'s Value) -> &'s Value {
        match schema["$ref"].as_str() {
            Some(reference) => {
                let name = reference.rsplit('/').next().unwrap_or_default();
                self.resolve(self.definition(name).unwrap_or_else(|| panic!("no definition {name}")))
            }
            None => schema,
        }
    }
}

/// Makes values that a schema allows.
struct Maker<'s> {
    schema: &'s Schema,
    full: bool,
    choice: usize,
}

/// Deeper than any object of the protocol; what refers to itself ends there.
const DEEP: usize = 7;

impl Maker<'_> {
    fn make(&self, schema: &Value, depth: usize) -> Value {
        let schema = self.schema.resolve(schema);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[self.choice % values.len()].clone();
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let mut whole = Map::new();
            for part in parts {
                let Value::Object(members) = self.make(part, depth) else { continue };
                whole.extend(members);
            }
            return Value::Object(whole);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(parts) = schema[keyword].as_array() {
                let at = if depth > DEEP { 0 } else { self.choice % parts.len() };
                return self.make(&parts[at], depth + 1);
            }
        }
        let kind = match &schema["type"] {
            Value::String(kind) => kind.as_str(),
            Value::Array(kinds) => kinds[self.choice % kinds.len()].as_str().unwrap_or_default(),
            _ if schema.get("properties").is_some() => "object",
            _ => "any",
        };
        match kind {
            "object" => self.object(schema, depth),
            "array" if depth > DEEP || !self.full && schema.get("minItems").is_none() => json!([]),
            "array" => json!([self.make(&schema["items"], depth + 1)]),
            "string" => match schema["format"].as_str() {
                Some("uri") => json!("file:///a"),
                Some("byte") => json!("AA=="),
                _ => json!("text"),
            },
            "integer" | "number" => {
                schema.get("minimum").filter(|least| least.as_f64() >= Some(0.0)).cloned().unwrap_or(json!(1))
            }
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => json!({"any": [1, null]}),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut object = Map::new();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            if required.contains(&name.as_str()) || self.full && depth <= DEEP {
                // Any other type of a result is one that has to be declared.
                let complete = name == "resultType" && member.get("const").is_none();
                let value = if complete { "complete".into() } else { self.make(member, depth + 1) };
                object.insert(name.clone(), value);
            }
        }
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        if let Some(others) = others.filter(|_| self.full && depth <= DEEP) {
            object.insert("other".into(), self.make(others, depth + 1));
        }
        Value::Object(object)
    }
}

/// Reads a value as a `T`, and compares what is written of it with the value.
///
/// # Errors
/// What is different, in words.
pub fn round_trip<T: DeserializeOwned + Serialize>(original: &Value) -> Result<T, String> {
    let read: T = Json::from_value(original).and_then(|json| json.decode()).map_err(|error| error.to_string())?;
    let mut written = serde_json::to_value(&read).map_err(|error| error.to_string())?;
    let mut original = original.clone();
    // What a member stands for when it is absent may be written out, or left out.
    for value in [&mut original, &mut written] {
        drop_defaults(value);
        floats(value);
    }
    if original == written { Ok(read) } else { Err(format!("read    {original}\nwritten {written}")) }
}

fn drop_defaults(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in ["isError", "listChanged", "subscribe", "hasMore", "required"] {
                if members.get(name) == Some(&Value::Bool(false)) {
                    members.remove(name);
                }
            }
            for name in ["arguments", "icons", "sizes", "audience", "required"] {
                if members.get(name) == Some(&json!([])) {
                    members.remove(name);
                }
            }
            members.retain(|name, value| !(name == "resultType" && value == "complete"));
            // A task that is kept for ever.
            members.retain(|name, value| !((name == "ttl" || name == "ttlMs") && value.is_null()));
            members.values_mut().for_each(drop_defaults);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_defaults),
        _ => {}
    }
}

/// Numbers by their value: `50` is `50.0`.
fn floats(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().into(),
        Value::Object(members) => members.values_mut().for_each(floats),
        Value::Array(elements) => elements.iter_mut().for_each(floats),
        _ => {}
    }
}

/// The folders in a folder.
///
/// # Panics
///
/// When it cannot be read.
pub fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).unwrap_or_else(|error| panic!("MCPWIRE_SPEC, {}: {error}", of.display()));
    entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// One example of the newest revision, by its path within the folder of examples.
///
/// # Panics
///
/// When there is none, or it is no JSON.
pub fn example(folder: &Path, path: &str) -> Value {
    read(&folder.join("2026-07-28/examples").join(path))
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The examples of a definition in the revision that has some, by file name.
///
/// # Panics
///
/// When one of them is no JSON.
pub fn examples(folder: &Path, definition: &str) -> Vec<(String, Value)> {
    let mut examples = Vec::new();
    for revision in folders(folder) {
        let entries = fs::read_dir(revision.join("examples").join(definition)).into_iter().flatten();
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file()) {
            examples.push((path.display().to_string(), read(&path)));
        }
    }
    examples.sort_by(|one, other| one.0.cmp(&other.0));
    examples
}
