//! Building the capabilities of a client, part by part.

use alloc::string::String;

use super::elicitation::FORM;
use super::{ClientCapabilities, Extra};
use crate::json::{Json, scan};

/// The method by which a server asks the user.
pub(crate) const ELICIT: &str = "elicitation/create";

/// The method by which a server asks a language model.
pub(crate) const SAMPLE: &str = "sampling/createMessage";

/// The method by which a server asks for the root folders.
pub(crate) const LIST_ROOTS: &str = "roots/list";

impl ClientCapabilities {
    /// Declares that the user can be asked by forms, by URLs to visit, or both (2026-07-28, client/elicitation,
    /// "Capabilities").
    ///
    /// Adds to what was declared before.
    #[must_use]
    pub fn with_elicitation(mut self, form: bool, url: bool) -> Self {
        // An empty object means forms, but not every server knows that: `form` is always written.
        let had_form = self.elicitation.as_ref().is_some_and(|declared| allows_mode(declared, FORM));
        self.elicitation = Some(declare(self.elicitation.as_ref(), [("form", form || had_form), ("url", url)]));
        self
    }

    /// Declares that a language model can be asked (2026-07-28, client/sampling, "Capabilities").
    ///
    /// With `tools`, requests may offer tools to the model. With `context`, requests may ask to include context of MCP
    /// servers. Adds to what was declared before. The protocol deprecates sampling from 2026-07-28 on.
    #[must_use]
    pub fn with_sampling(mut self, tools: bool, context: bool) -> Self {
        self.sampling = Some(declare(self.sampling.as_ref(), [("tools", tools), ("context", context)]));
        self
    }

    /// Declares that the client has root folders (2025-11-25, client/roots, "Capabilities").
    ///
    /// With `list_changed`, legacy servers are notified when the roots change. The protocol deprecates roots from 2026-07-28
    /// on.
    #[must_use]
    pub fn with_roots(mut self, list_changed: bool) -> Self {
        if list_changed {
            let mut roots = members_without(self.roots.as_ref(), "listChanged");
            roots.push("listChanged", Json::trusted("true"));
            self.roots = Some(roots.to_json());
        } else if self.roots.is_none() {
            self.roots = Some(Json::trusted("{}"));
        }
        self
    }

    /// Returns whether the client declares that it notifies servers when its roots change.
    pub fn tells_roots_changes(&self) -> bool {
        self.roots.as_ref().and_then(|roots| roots.member("listChanged")).unwrap_or(false)
    }

    /// Returns the settings of an extension that the client declares, or `None` if it does not declare the extension.
    pub fn extension(&self, name: &str) -> Option<Json> {
        super::apps::extension(self.extensions.as_ref(), name)
    }

    /// Declares an extension with its settings, an object. Replaces earlier settings of the same extension.
    pub fn declare_extension(&mut self, name: &str, settings: Json) {
        let mut extensions = members_without(self.extensions.as_ref(), name);
        extensions.push(name, settings);
        self.extensions = Some(extensions.to_json());
    }
}

/// Returns whether a client with this `elicitation` capability can be asked in `mode`. An empty object means forms, as before
/// 2025-11-25.
pub(crate) fn allows_mode(declared: &Json, mode: &str) -> bool {
    let has = |name| declared.member_text(name).is_some_and(|text| text != "null");
    has(mode) || mode == FORM && !has("url")
}

/// Adds to an object an empty member for each name that is wanted and absent.
fn declare<const N: usize>(before: Option<&Json>, names: [(&str, bool); N]) -> Json {
    let mut object = members_without(before, "");
    for (name, wanted) in names {
        if wanted && object.get(name).is_none() {
            object.push(name, Json::trusted("{}"));
        }
    }
    object.to_json()
}

/// Returns the members of an object, except the one called `left_out`.
fn members_without(object: Option<&Json>, left_out: &str) -> Extra {
    let mut members = Extra::default();
    for member in object.iter().flat_map(|object| scan::members(object.get().as_bytes())) {
        if let Ok(value) = core::str::from_utf8(member.value)
            && !member.is(left_out)
        {
            members.push(String::from(member.key()), Json::trusted(value));
        }
    }
    members
}
