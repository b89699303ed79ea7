//! Functions for JSON-RPC messages, their parameters and errors, and for random ids.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde_json::{Map, Value, json};

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;

/// A JSON-RPC error, with which the server answers a request that fails.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: i64,
    message: String,
    data: Option<Value>,
}

impl Failure {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::new(PARSE_ERROR, format!("not JSON: {error}"))
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

pub(crate) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(crate) fn error(id: &Value, failure: Failure) -> Value {
    let mut error = json!({ "code": failure.code, "message": failure.message });
    if let Some(data) = failure.data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

pub(crate) fn request(id: &str, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// The parameters of a request, or an object within the parameters.
pub(crate) type Params = Map<String, Value>;

/// Returns a string member of the parameters, or `None` if it is absent. A member of another type is an error.
pub(crate) fn text<'a>(params: &'a Params, name: &str) -> Result<Option<&'a str>, Failure> {
    let value = params.get(name);
    value.map(|value| value.as_str().ok_or_else(|| not_a_string(name))).transpose()
}

/// Returns a required string member of the parameters. An absent member or another type is an error.
pub(crate) fn required_text<'a>(params: &'a Params, name: &str) -> Result<&'a str, Failure> {
    text(params, name)?.ok_or_else(|| not_a_string(name))
}

fn not_a_string(name: &str) -> Failure {
    Failure::invalid_params(format!("{name} must be a string"))
}

/// Returns an object member of the parameters, or an empty object if it is absent. A member of another type is an error.
pub(crate) fn object(params: &Params, name: &str) -> Result<Params, Failure> {
    match params.get(name) {
        None => Ok(Map::new()),
        Some(Value::Object(object)) => Ok(object.clone()),
        Some(_) => Err(Failure::invalid_params(format!("{name} must be an object"))),
    }
}

/// Returns an unguessable id of 128 random bits, for a task or a session. The random keys of the standard library's hash tables
/// provide the bits.
pub(crate) fn random_id() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}
