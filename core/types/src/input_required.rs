//! Results by which a server requests input from the client before it completes a request. Specification:
//! basic/patterns/mrtr.

use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::Extra;
use crate::json::Json;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, ReadError, Reader};

/// Maximum number of inputs that one result may request: 1,024. Without a maximum, a small message could occupy much
/// memory, because an input occupies more bytes in memory than in JSON.
const MAX_INPUTS: usize = 1024;

/// Result of a request that the server cannot complete without more input from the client (`InputRequiredResult`).
///
/// The engine reports each requested input as an [`Event::ServerRequest`](crate::Event::ServerRequest). When the client
/// has answered all of them, the engine resends the original request with the answers.
///
/// Deserialization fails even if only one input is invalid, because the client must answer all inputs.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// The inputs that the server requests. Empty if the server sent only `request_state`.
    pub input_requests: Vec<InputRequest>,
    /// State that only the server interprets, a JSON string. The client returns it unchanged when it resends the
    /// request. `None` if the server sent none.
    pub request_state: Option<Json>,
    /// Additional metadata of the result (`_meta`).
    pub meta: Option<Json>,
    /// Members of the result that this version of the library does not define.
    pub extra: Extra,
}

/// An input that a server requests: the method and parameters of a request, without its JSON-RPC envelope.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequest {
    /// Name of the input, chosen by the server. The client sends its answer under the same name.
    pub name: String,
    /// Method that requests the input: `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// Parameters of the method. `None` if the server sent none.
    pub params: Option<Json>,
}

impl InputRequiredResult {
    /// Parses an `inputRequests` object, whose keys are the names of the inputs.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem if an input is invalid, if two inputs have the same name, or if there are
    /// more than 1,024 inputs.
    pub fn inputs(object: &Json) -> Result<Vec<InputRequest>, String> {
        let mut inputs = Vec::new();
        match read_inputs(&mut inputs, &mut Reader::new(object.get())) {
            Ok(()) => Ok(inputs),
            Err(error) => Err(error.reason().into()),
        }
    }
}

impl FromJson for InputRequiredResult {
    const EXPECTED: &'static str = "an object";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'{') {
            return from_json::skip_mismatch(reader).map(Err);
        }
        let mut result = InputRequiredResult::default();
        reader.members(&mut |name, reader| match name {
            "inputRequests" if reader.next_byte() == Some(b'n') => reader.skip(),
            "inputRequests" => read_inputs(&mut result.input_requests, reader),
            "requestState" => {
                result.request_state = match reader.raw()? {
                    "null" => None,
                    text if text.starts_with('"') => Some(Json::trusted(text)),
                    _ => return Err(ReadError::new("`requestState` is no string")),
                };
                Ok(())
            }
            "resultType" => reader.skip(),
            "_meta" => from_json::optional_member(&mut result.meta, reader),
            _ => result.extra.read(name, reader),
        })?;
        if result.input_requests.is_empty() && result.request_state.is_none() {
            let reason = "a result of type \"input_required\" with neither `inputRequests` nor `requestState`";
            return Ok(Err(Mismatch::object(reason)));
        }
        Ok(Ok(result))
    }
}

from_json::impl_deserialize!(InputRequiredResult);

fn read_inputs(inputs: &mut Vec<InputRequest>, reader: &mut Reader<'_>) -> read::Result<()> {
    if reader.next_byte() != Some(b'{') {
        return Err(ReadError::new("`inputRequests` is no object"));
    }
    inputs.clear();
    reader.members(&mut |name, reader| {
        if inputs.len() == MAX_INPUTS {
            return Err(ReadError::new(alloc::format!("more than {MAX_INPUTS} inputs at once")));
        }
        if inputs.iter().any(|input| input.name == name) {
            return Err(ReadError::new("two inputs of the same name"));
        }
        let mut input = InputRequest { name: name.into(), ..InputRequest::default() };
        let mut method = None;
        if reader.next_byte() != Some(b'{') {
            return Err(ReadError::new("an input that is no object"));
        }
        reader.members(&mut |name, reader| match name {
            "method" => from_json::optional_member(&mut method, reader),
            "params" => from_json::optional_member(&mut input.params, reader),
            _ => reader.skip(),
        })?;
        input.method = method.ok_or_else(|| ReadError::new("an input without a `method`"))?;
        inputs.push(input);
        Ok(())
    })
}

impl Serialize for InputRequiredResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("resultType", "input_required")?;
        if !self.input_requests.is_empty() {
            map.serialize_entry("inputRequests", &Inputs(&self.input_requests))?;
        }
        if let Some(state) = &self.request_state {
            map.serialize_entry("requestState", state)?;
        }
        if let Some(meta) = &self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        for (name, value) in self.extra.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Serializes inputs as an object whose keys are the names of the inputs.
struct Inputs<'a>(&'a [InputRequest]);

impl Serialize for Inputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|input| (&input.name, input)))
    }
}

impl Serialize for InputRequest {
    /// Serializes the method and the parameters, but not the name. The caller writes the name as the object's key.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", &self.method)?;
        if let Some(params) = &self.params {
            map.serialize_entry("params", params)?;
        }
        map.end()
    }
}
