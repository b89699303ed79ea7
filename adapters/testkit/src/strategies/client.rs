//! What servers ask of clients (elicitation, sampling, roots), and the answers of clients.

use mcpwire_driver::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, FormSchema, ListRootsResult, ProtocolVersion,
    Role, Root, SamplingContent, SamplingMessage,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::basic::parsed;
use super::server::to_value;
use super::{meta, name, since, text};

/// Generates the schema of a form with up to four fields (from revision 2025-06-18).
pub fn form_schema() -> impl Strategy<Value = FormSchema> {
    let titles = || (option::of(text()), option::of(text()));
    let string = (option::of(select(vec!["email", "uri", "date", "date-time"])), option::of(text())).prop_map(
        |(format, default)| {
            members(
                json!({ "type": "string" }),
                [
                    ("format", format.map(Value::from)),
                    ("default", default.filter(|_| format.is_none()).map(Value::from)),
                ],
            )
        },
    );
    let number = (select(vec!["integer", "number"]), option::of(0..10), option::of(10..20)).prop_map(
        |(kind, minimum, maximum)| {
            members(
                json!({ "type": kind }),
                [("minimum", minimum.map(Value::from)), ("maximum", maximum.map(Value::from))],
            )
        },
    );
    let boolean = option::of(any::<bool>())
        .prop_map(|default| members(json!({ "type": "boolean" }), [("default", default.map(Value::from))]));
    let choice = vec(name(), 1..4).prop_map(|values| json!({ "type": "string", "enum": values }));
    let field = (prop_oneof![string, number, boolean, choice], titles()).prop_map(|(field, (title, description))| {
        members(field, [("title", title.map(Value::from)), ("description", description.map(Value::from))])
    });
    btree_map(name(), (field, any::<bool>()), 0..4).prop_map(|fields| {
        let required: Vec<_> = fields.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let properties: Map<String, Value> =
            fields.iter().map(|(name, (field, _))| (name.clone(), field.clone())).collect();
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        parsed(schema)
    })
}

/// Generates the parameters of `elicitation/create` (from revision 2025-06-18): a form, and from revision 2025-11-25 on also a URL.
pub fn elicit_params(version: ProtocolVersion) -> BoxedStrategy<ElicitParams> {
    let form = (text(), form_schema())
        .prop_map(|(message, schema)| json!({ "message": message, "requestedSchema": to_value(&schema) }));
    let has_id = version == ProtocolVersion::V2025_11_25;
    let url = (text(), name(), name()).prop_map(move |(message, path, id)| {
        let url = format!("https://example.com/{path}");
        let id = has_id.then(|| Value::from(id));
        members(json!({ "mode": "url", "message": message, "url": url }), [("elicitationId", id)])
    });
    let params = if version < ProtocolVersion::V2025_11_25 { form.boxed() } else { prop_oneof![form, url].boxed() };
    params.prop_map(parsed).boxed()
}

/// Generates an answer to `elicitation/create`. The content fits no particular form.
pub fn elicit_result() -> impl Strategy<Value = ElicitResult> {
    let value =
        prop_oneof![text().prop_map(Value::from), any::<bool>().prop_map(Value::from), (0..100).prop_map(Value::from)];
    let content = btree_map(name(), value, 0..4);
    prop_oneof![
        content.prop_map(|content| parsed(json!({ "action": "accept", "content": content }))),
        Just(ElicitResult::decline()),
        Just(ElicitResult::cancel()),
    ]
}

/// Generates a message of a conversation with a language model, with a text.
pub fn sampling_message(version: ProtocolVersion) -> impl Strategy<Value = SamplingMessage> {
    let meta = since(version, ProtocolVersion::V2025_11_25, meta());
    (select(vec![Role::User, Role::Assistant]), text(), meta).prop_map(|(role, text, meta)| {
        let mut message = SamplingMessage::default();
        (message.role, message.meta) = (role, meta);
        message.content = SamplingContent::text(text).into();
        message
    })
}

/// Generates the parameters of `sampling/createMessage`.
pub fn create_message_params(version: ProtocolVersion) -> impl Strategy<Value = CreateMessageParams> {
    let messages = vec(sampling_message(version), 1..4);
    let limits = (1..10_000_u64, option::of(0.0..1.0), vec(text(), 0..2));
    (messages, option::of(text()), limits).prop_map(|(messages, system_prompt, (max_tokens, temperature, stops))| {
        let mut params = CreateMessageParams::default();
        params.messages = messages.into_iter().collect();
        params.system_prompt = system_prompt;
        params.max_tokens = Some(max_tokens);
        params.temperature = temperature;
        params.stop_sequences = stops;
        params
    })
}

/// Generates an answer to `sampling/createMessage`, with a text.
pub fn create_message_result() -> impl Strategy<Value = CreateMessageResult> {
    (name(), text()).prop_map(|(model, text)| CreateMessageResult::new(model, SamplingContent::text(text)))
}

/// Generates a root.
pub fn root() -> impl Strategy<Value = Root> {
    ("[a-z]{1,8}", option::of(text())).prop_map(|(path, name)| {
        let mut root = Root::new(format!("file:///{path}"));
        root.name = name;
        root
    })
}

/// Generates an answer to `roots/list`.
pub fn list_roots_result() -> impl Strategy<Value = ListRootsResult> {
    vec(root(), 0..3).prop_map(ListRootsResult::new)
}

/// Adds the members that are present to an object.
fn members<const N: usize>(mut object: Value, members: [(&str, Option<Value>); N]) -> Value {
    for (name, value) in members {
        if let Some(value) = value {
            object[name] = value;
        }
    }
    object
}
