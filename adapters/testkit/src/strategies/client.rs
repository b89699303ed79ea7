//! Strategies for the requests of servers to clients (elicitation, sampling, roots), and for the answers of clients.

use mcpwire_driver::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, FormSchema, ListRootsResult, ProtocolVersion,
    Root, SamplingContent, SamplingMessage,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::values::{Object, V11, parsed, schema_of};
use super::{meta, name, text};

/// Generates the schema of an elicitation form with up to three fields (from revision 2025-06-18).
pub fn form_schema() -> impl Strategy<Value = FormSchema> {
    let field = || Object::new(ProtocolVersion::LATEST).optional("title", text()).optional("description", text());
    let string = || field().member("type", Just("string"));
    let field = prop_oneof![
        string().optional("default", text()).generate::<Value>(),
        string().member("format", select(vec!["email", "uri", "date", "date-time"])).generate(),
        string().member("enum", vec(name(), 1..4)).generate(),
        field().member("type", Just("boolean")).optional("default", any::<bool>()).generate(),
        field()
            .member("type", select(vec!["integer", "number"]))
            .optional("minimum", 0..10)
            .optional("maximum", 10..20)
            .generate(),
    ];
    btree_map(name(), (field, any::<bool>()), 0..4).prop_map(|fields| parsed(schema_of(&fields)))
}

/// Generates the parameters of `elicitation/create` (from revision 2025-06-18): a form or, from revision 2025-11-25 on, a URL.
pub fn elicit_params(version: ProtocolVersion) -> BoxedStrategy<ElicitParams> {
    let message = || Object::new(version).member("message", text());
    let form = message().member("requestedSchema", form_schema()).generate();
    if version < V11 {
        return form;
    }
    let url = name().prop_map(|path| format!("https://example.com/{path}"));
    let mut url = message().member("mode", Just("url")).member("url", url);
    if version == V11 {
        url = url.member("elicitationId", name());
    }
    prop_oneof![form, url.generate()].boxed()
}

/// Generates a client's answer to `elicitation/create`: content, a refusal or a cancellation. The content does not match a
/// particular form.
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

/// Generates a text message of a conversation with a language model, for `sampling/createMessage`.
pub fn sampling_message(version: ProtocolVersion) -> impl Strategy<Value = SamplingMessage> {
    Object::new(version)
        .member("role", select(vec!["user", "assistant"]))
        .member("content", text().prop_map(|text| json!({ "type": "text", "text": text })))
        .since(V11, "_meta", meta())
        .generate()
}

/// Generates the parameters of `sampling/createMessage`, with one to three messages.
pub fn create_message_params(version: ProtocolVersion) -> impl Strategy<Value = CreateMessageParams> {
    Object::new(version)
        .member("messages", vec(sampling_message(version), 1..4))
        .optional("systemPrompt", text())
        .member("maxTokens", 1..10_000_u64)
        .optional("temperature", 0.0..1.0)
        .member("stopSequences", vec(text(), 0..2))
        .generate()
}

/// Generates a client's answer to `sampling/createMessage`: a text and the name of the model.
pub fn create_message_result() -> impl Strategy<Value = CreateMessageResult> {
    (name(), text()).prop_map(|(model, text)| CreateMessageResult::new(model, SamplingContent::text(text)))
}

/// Generates a root: the `file` URI of a directory that a client offers to servers, sometimes with a name.
pub fn root() -> impl Strategy<Value = Root> {
    ("[a-z]{1,8}", option::of(text())).prop_map(|(path, name)| {
        let mut root = Root::new(format!("file:///{path}"));
        root.name = name;
        root
    })
}

/// Generates a client's answer to `roots/list`, with up to two roots.
pub fn list_roots_result() -> impl Strategy<Value = ListRootsResult> {
    vec(root(), 0..3).prop_map(ListRootsResult::new)
}
