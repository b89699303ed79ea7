//! What a client says that it can do, in words; and what servers may ask of one that said so.

use alloc::string::String;
use alloc::vec::Vec;

use super::elicitation::{FORM, mode_of};
use super::{ClientCapabilities, CreateMessageParams, Extra};
use crate::json::Json;
use crate::printable;
use crate::rpc::RpcError;

/// The methods of the protocol that servers ask for, and the capability that each of them needs.
pub(crate) const ELICIT: &str = "elicitation/create";
pub(crate) const SAMPLE: &str = "sampling/createMessage";
pub(crate) const LIST_ROOTS: &str = "roots/list";

impl ClientCapabilities {
    /// Adds that a person can be asked (2026-07-28, client/elicitation, "Capabilities"): by forms, by addresses to visit, or
    /// both. What was declared before stays.
    #[must_use]
    pub fn with_elicitation(mut self, form: bool, url: bool) -> Self {
        // Said in full: an empty object means forms only, and not to every server.
        let before = self.elicitation.as_ref().is_some_and(|before| allows_mode(before, FORM));
        let modes = [("form", form || before), ("url", url)];
        let modes = modes.into_iter().filter(|(_, has)| *has).map(|(name, _)| name);
        self.elicitation = Some(declared(self.elicitation.as_ref(), modes));
        self
    }

    /// Adds that a language model can be asked (2026-07-28, client/sampling, "Capabilities"); with `tools` it may call tools,
    /// with `context` what other servers said may be added. Deprecated with sampling as a whole, from 2026-07-28 on.
    #[must_use]
    pub fn with_sampling(mut self, tools: bool, context: bool) -> Self {
        let parts = [("tools", tools), ("context", context)];
        let parts = parts.into_iter().filter(|(_, has)| *has).map(|(name, _)| name);
        self.sampling = Some(declared(self.sampling.as_ref(), parts));
        self
    }

    /// Adds that there are root folders; with `list_changed`, legacy servers are told when they change (2025-11-25,
    /// client/roots, "Capabilities"). Deprecated with roots as a whole, from 2026-07-28 on.
    #[must_use]
    pub fn with_roots(mut self, list_changed: bool) -> Self {
        if list_changed {
            let mut roots = members(self.roots.as_ref(), "listChanged");
            roots.push("listChanged", Json::trusted("true"));
            self.roots = Some(roots.to_json());
        } else if self.roots.is_none() {
            self.roots = Some(Json::trusted("{}"));
        }
        self
    }

    /// Whether it is declared that servers are told when the roots change.
    pub fn tells_roots_changes(&self) -> bool {
        self.roots.as_ref().and_then(|roots| roots.member("listChanged")).unwrap_or(false)
    }

    /// Whether a server that was told of these capabilities may ask this.
    ///
    /// Methods that are not of the protocol may be asked; whether they are answered is up to
    /// [`Config::answers`](crate::Config::answers).
    ///
    /// # Errors
    /// What the server is answered if it may not: [`RpcError::METHOD_NOT_FOUND`] for a capability that was not declared,
    /// [`RpcError::INVALID_PARAMS`] for a part of one (2025-11-25, client/elicitation and client/sampling, "Error Handling").
    pub fn allow(&self, method: &str, params: Option<&Json>) -> Result<(), RpcError> {
        let undeclared = |what: &str| {
            let message = alloc::format!("this client has not declared the capability `{what}`");
            Err(RpcError::new(RpcError::METHOD_NOT_FOUND, message))
        };
        match (method, &self.elicitation, &self.sampling, &self.roots) {
            (ELICIT, None, ..) => undeclared("elicitation"),
            (SAMPLE, _, None, _) => undeclared("sampling"),
            (LIST_ROOTS, .., None) => undeclared("roots"),
            (ELICIT, Some(declared), ..) => allow_elicitation(declared, params),
            (SAMPLE, _, Some(declared), _) => allow_sampling(declared, params),
            _ => Ok(()),
        }
    }
}

fn allow_elicitation(declared: &Json, params: Option<&Json>) -> Result<(), RpcError> {
    let mode = params.map_or_else(|| String::from(FORM), mode_of);
    if allows_mode(declared, &mode) {
        return Ok(());
    }
    let message = alloc::format!("this client has not declared elicitation of the mode `{}`", printable(&mode));
    Err(RpcError::new(RpcError::INVALID_PARAMS, message))
}

/// An empty object, as before 2025-11-25, means forms.
fn allows_mode(declared: &Json, mode: &str) -> bool {
    let has = |name| declared.member_text(name).is_some_and(|text| text != "null");
    has(mode) || mode == FORM && !has("url")
}

fn allow_sampling(declared: &Json, params: Option<&Json>) -> Result<(), RpcError> {
    let invalid = |message: String| RpcError::new(RpcError::INVALID_PARAMS, message);
    let params = params.and_then(|params| params.decode::<CreateMessageParams>().ok());
    // What cannot be read is refused by whoever is to answer it, with what is wrong.
    let Some(params) = params else { return Ok(()) };
    if params.has_tools() && declared.member_text("tools").is_none_or(|text| text == "null") {
        return Err(invalid("this client has not declared `sampling.tools`".into()));
    }
    params.check().map_err(invalid)
}

/// An object that has these members, and those that it had.
fn declared<'a>(before: Option<&Json>, names: impl Iterator<Item = &'a str>) -> Json {
    let names: Vec<&str> = names.collect();
    let mut object = members(before, "");
    for name in names {
        if object.get(name).is_none() {
            object.push(name, Json::trusted("{}"));
        }
    }
    object.to_json()
}

/// The members of an object but one.
fn members(object: Option<&Json>, but: &str) -> Extra {
    let mut members = Extra::default();
    for member in object.iter().flat_map(|object| crate::json::scan::members(object.get().as_bytes())) {
        if let Ok(value) = core::str::from_utf8(member.value)
            && !member.is(but)
        {
            members.push(member.key(), Json::trusted(value));
        }
    }
    members
}
