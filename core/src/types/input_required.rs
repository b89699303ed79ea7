//! What a server wants before it can answer (2026-07-28, basic/patterns/mrtr).

use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Extra;
use crate::json::Json;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, ReadError, Reader};

/// The most inputs that one result may want. Whoever is asked is asked one by one, and each costs more memory than the few
/// bytes that it takes to ask.
const MAX_INPUTS: usize = 1024;

/// The answer to a request that the server cannot complete without more input (`InputRequiredResult`).
///
/// The engine answers it by itself: what is asked for becomes an [`Event::Ask`](crate::Event::Ask) each, and the request is
/// sent again with the answers. As nothing of it may be left out, it is read strictly.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// What is asked for.
    pub input_requests: Vec<InputRequest>,
    /// What is to be sent back as it is: a JSON string, as it stood in the message. It means nothing to a client.
    pub request_state: Option<Json>,
    /// Metadata.
    pub meta: Option<Json>,
    /// Members that this version of the library does not know.
    pub extra: Extra,
}

/// One of the inputs that a server wants: a request as it would be sent, but for the envelope (`InputRequest`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequest {
    /// The name that its answer is to have.
    pub name: String,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// The details.
    pub params: Option<Json>,
}

impl InputRequiredResult {
    /// The inputs of an object of them.
    pub(crate) fn inputs(object: &Json) -> Result<Vec<InputRequest>, String> {
        let mut list = Vec::new();
        match inputs(&mut list, &mut Reader::new(object.get())) {
            Ok(()) => Ok(list),
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
            "inputRequests" => inputs(&mut result.input_requests, reader),
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
            _ => result.extra.keep(name, reader),
        })?;
        if result.input_requests.is_empty() && result.request_state.is_none() {
            let reason = "a result of type \"input_required\" with neither `inputRequests` nor `requestState`".into();
            return Ok(Err(Mismatch::Object { reason, name: None }));
        }
        Ok(Ok(result))
    }
}

fn inputs(inputs: &mut Vec<InputRequest>, reader: &mut Reader<'_>) -> read::Result<()> {
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

from_json::impl_deserialize!(InputRequiredResult);

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

struct Inputs<'a>(&'a [InputRequest]);

impl Serialize for Inputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|input| (&input.name, input)))
    }
}

impl Serialize for InputRequest {
    /// Without its name, which is the key that it stands under.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", &self.method)?;
        if let Some(params) = &self.params {
            map.serialize_entry("params", params)?;
        }
        map.end()
    }
}
