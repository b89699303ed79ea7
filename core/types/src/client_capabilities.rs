//! Methods that build and query [`ClientCapabilities`].

use alloc::string::String;

use crate::ClientCapabilities;
use crate::elicitation::FORM;
use mcpwire_text::json::object::to_json;
use mcpwire_text::json::{Extra, Json, JsonText, scan};

/// Method by which a server requests input from the user.
pub(crate) const ELICIT: &str = "elicitation/create";

/// Method by which a server sends a request to the client's language model.
pub(crate) const SAMPLE: &str = "sampling/createMessage";

/// Method by which a server requests the list of the client's root directories.
pub(crate) const LIST_ROOTS: &str = "roots/list";

impl ClientCapabilities {
    /// Declares that the client supports elicitation: servers may ask the user to fill in a form (if `form` is `true`)
    /// or to visit a URL (if `url` is `true`).
    ///
    /// `false` does not revoke what an earlier call declared. If neither is declared, servers assume forms.
    /// Specification: client/elicitation, "Capabilities".
    #[must_use]
    pub fn with_elicitation(mut self, form: bool, url: bool) -> Self {
        // An empty object means form mode, but some servers do not know that. So `form` is always written.
        let had_form = self.elicitation.as_ref().is_some_and(|declared| allows_mode(declared, FORM));
        self.elicitation = Some(declare(self.elicitation.as_ref(), [("form", form || had_form), ("url", url)]));
        self
    }

    /// Declares that the client supports sampling: servers may send requests to the client's language model.
    ///
    /// If `tools` is `true`, a request may offer tools to the model. If `context` is `true`, a request may ask the
    /// client to add information from its MCP servers to the prompt (`includeContext`). `false` does not revoke an
    /// option that an earlier call declared.
    ///
    /// The specification deprecates sampling from revision 2026-07-28 on. Specification: client/sampling,
    /// "Capabilities".
    #[must_use]
    pub fn with_sampling(mut self, tools: bool, context: bool) -> Self {
        self.sampling = Some(declare(self.sampling.as_ref(), [("tools", tools), ("context", context)]));
        self
    }

    /// Declares that the client supports roots: servers may request the client's root directories.
    ///
    /// If `list_changed` is `true`, also declares that the client notifies servers when its roots change. `false` does
    /// not revoke an earlier declaration.
    ///
    /// From revision 2026-07-28 on, the specification deprecates roots and has no such notification.
    ///
    /// Specification of revision 2025-11-25: client/roots, "Capabilities".
    #[must_use]
    pub fn with_roots(mut self, list_changed: bool) -> Self {
        if list_changed {
            let mut roots = members_without(self.roots.as_ref(), "listChanged");
            roots.push("listChanged", Json::trusted("true"));
            self.roots = Some(to_json(&roots));
        } else if self.roots.is_none() {
            self.roots = Some(Json::trusted("{}"));
        }
        self
    }

    /// Returns whether the client declares that it notifies servers when its root directories change
    /// (`roots.listChanged`).
    pub fn declares_roots_list_changed(&self) -> bool {
        self.roots.as_ref().and_then(|roots| roots.member_text("listChanged")) == Some("true")
    }

    /// Returns the settings that the client declares for the extension `name`: a JSON object, which is often empty.
    ///
    /// Returns `None` if the client does not declare the extension, or if the settings are not an object.
    pub fn extension(&self, name: &str) -> Option<Json> {
        crate::apps::extension(self.extensions.as_ref(), name)
    }

    /// Declares that the client supports the extension `name`. `settings` must be a JSON object; `{}` means no
    /// settings.
    ///
    /// Replaces earlier settings of the same extension.
    pub fn declare_extension(&mut self, name: &str, settings: Json) {
        let mut extensions = members_without(self.extensions.as_ref(), name);
        extensions.push(name, settings);
        self.extensions = Some(to_json(&extensions));
    }
}

/// Returns whether the client supports the elicitation mode `mode`, which is `form` or `url`. `declared` is the
/// client's `elicitation` capability.
///
/// A capability that names neither mode means `form`, because protocol revision 2025-06-18 has only forms and no modes.
pub(crate) fn allows_mode(declared: &Json, mode: &str) -> bool {
    has_member(declared, mode) || mode == FORM && !has_member(declared, "url")
}

/// Returns whether `object` has the member `name` with a value other than `null`.
pub(crate) fn has_member(object: &Json, name: &str) -> bool {
    object.member_text(name).is_some_and(|text| text != "null")
}

/// Returns a copy of the object `before`, with an added member `{}` for each name whose flag is `true`. Existing
/// members are left unchanged.
fn declare<const N: usize>(before: Option<&Json>, names: [(&str, bool); N]) -> Json {
    let mut object = members_without(before, "");
    for (name, wanted) in names {
        if wanted && object.get(name).is_none() {
            object.push(name, Json::trusted("{}"));
        }
    }
    to_json(&object)
}

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
