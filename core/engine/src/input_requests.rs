//! Results by which a server requests input from the client before it completes a request. Specification:
//! basic/patterns/mrtr.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};

use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::object::read_extra;
use mcpwire_text::json::read::{self, ReadError, Reader};
use mcpwire_text::json::{Extra, Json, JsonText};

/// Maximum number of inputs that a server may request in one result. Limits memory, because parsed inputs need more
/// bytes than their JSON text.
const MAX_INPUTS: usize = 1024;

/// The result by which a server asks for more input before it completes a request.
///
/// The engine reports each requested input as an `Event::ServerRequest`. When the client
/// has answered all of them, the engine sends the original request again, together with the answers.
///
/// A result with an invalid input cannot be deserialized, because the client must answer all inputs.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// The inputs that the server requests, such as a form for the user to fill in. Empty if the server sent only
    /// `request_state`.
    pub input_requests: Vec<InputRequest>,
    /// State of the server as a JSON string, which the client sends back unchanged when it sends the original request
    /// again. `None` if the server sent none.
    pub request_state: Option<Json>,
    /// Metadata that the server attached to this result (`_meta`). `None` if the server sent none.
    pub meta: Option<Json>,
    /// Members of the `input_required` result that this version of the library does not define.
    pub extra: Extra,
}

/// An input that a server requests from the client, such as a form for the user to fill in.
///
/// It has a method and parameters like a JSON-RPC request, but a name instead of an `id`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[doc(alias = "InputRequests")]
pub struct InputRequest {
    /// Name that the server chose for the requested input. The client sends its response under the same name.
    pub name: String,
    /// Method that specifies the kind of requested input: `elicitation/create`, `sampling/createMessage` or
    /// `roots/list`.
    pub method: String,
    /// Parameters for [`InputRequest::method`], such as the form to fill in. `None` if the server sent none.
    pub params: Option<Json>,
}

impl InputRequiredResult {
    /// Parses the member `inputRequests` of a result: a JSON object with the names of the requested inputs as keys.
    ///
    /// # Errors
    ///
    /// Returns an error message if `object` is not an object, an input is invalid, two inputs have the same name, or
    /// there are more than 1,024 inputs.
    pub fn inputs(object: &Json) -> Result<Vec<InputRequest>, String> {
        read_inputs(&mut Reader::new(object.get())).map_err(|error| error.reason().into())
    }
}

impl FromJson for InputRequiredResult {
    const EXPECTED: &'static str = "an object";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'{') {
            return from_json::skip_mismatch(reader).map(Err);
        }
        let mut result = InputRequiredResult::default();
        let (mut inputs, mut inputs_start, mut state) = ("null", 0, "null");
        reader.members(&mut |name, reader| match name {
            "inputRequests" => {
                reader.next_byte();
                inputs_start = reader.position();
                inputs = reader.raw()?;
                Ok(())
            }
            "requestState" => reader.raw().map(|raw| state = raw),
            "resultType" => reader.skip(),
            "_meta" => from_json::optional_member(&mut result.meta, reader),
            _ => read_extra(&mut result.extra, name, reader),
        })?;
        if inputs != "null" {
            let mut inner = Reader::new(inputs);
            let read = read_inputs(&mut inner);
            result.input_requests = read.map_err(|error| inner.locate(error).moved(inputs_start))?;
        }
        result.request_state = match state {
            "null" => None,
            text if text.starts_with('"') => Some(Json::trusted(text)),
            _ => return Ok(Err(Mismatch::member("`requestState` is no string", "requestState"))),
        };
        if result.input_requests.is_empty() && result.request_state.is_none() {
            let reason = "a result of type \"input_required\" with neither `inputRequests` nor `requestState`";
            return Ok(Err(Mismatch::object(reason)));
        }
        Ok(Ok(result))
    }
}

mcpwire_text::impl_deserialize!(InputRequiredResult);

fn read_inputs(reader: &mut Reader<'_>) -> read::Result<Vec<InputRequest>> {
    let mut inputs: Vec<InputRequest> = Vec::new();
    if reader.next_byte() != Some(b'{') {
        return Err(ReadError::new("`inputRequests` is no object"));
    }
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
    })?;
    Ok(inputs)
}

impl Serialize for InputRequiredResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("resultType", "input_required")?;
        if !self.input_requests.is_empty() {
            let inputs: BTreeMap<_, _> = self.input_requests.iter().map(|input| (&input.name, input)).collect();
            map.serialize_entry("inputRequests", &inputs)?;
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

impl Serialize for InputRequest {
    // The name is left out, because it is the key of this object in `inputRequests`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", &self.method)?;
        if let Some(params) = &self.params {
            map.serialize_entry("params", params)?;
        }
        map.end()
    }
}
