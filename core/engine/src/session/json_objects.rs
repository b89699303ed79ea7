//! Builds JSON objects from the members of other objects.

use mcpwire_types::Extra;
use mcpwire_types::json::Json;
use mcpwire_types::json::scan::{self, Member};

/// Returns a copy of a JSON object without the member `name`.
pub(super) fn without(object_text: &Json, name: &str) -> Json {
    let mut members = scan::members(object_text.get().as_bytes());
    object(&mut || members.find(|member| !member.is(name)))
}

/// Returns a JSON object with the members of both objects. If both have a member with the same name, uses the one from
/// `first`.
pub(super) fn merged(first: &Json, second: &Json) -> Json {
    let of_first = || scan::members(first.get().as_bytes());
    let (mut firsts, mut seconds) = (of_first(), scan::members(second.get().as_bytes()));
    object(&mut || match firsts.next() {
        Some(member) => Some(member),
        None => seconds.find(|member| of_first().all(|other| other.key() != member.key())),
    })
}

pub(super) fn object<'m>(next: &mut dyn FnMut() -> Option<Member<'m>>) -> Json {
    let mut object = Extra::default();
    while let Some(member) = next() {
        let value = core::str::from_utf8(member.value).ok().and_then(|text| Json::parse(text).ok());
        object.push(member.key(), value.unwrap_or_default());
    }
    object.to_json()
}
