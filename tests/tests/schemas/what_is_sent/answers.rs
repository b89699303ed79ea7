//! Answers to what servers ask: in the legacy era to requests of theirs, later within the request that is sent again.

use std::collections::BTreeMap;

use mcpwire_core::{
    AudioContent, CallTool, CallToolParams, Config, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult,
    Event, GetPrompt, GetPromptParams, ImageContent, Json, ListRootsResult, ProtocolVersion, ReadResource,
    ReadResourceParams, Root, RpcError, SamplingContent, ServerRequest, ServerRequestKind, StopReason, ToolUseContent,
};
use mcpwire_engine_tests::sim::Pair;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::{Revision, Words, faults, object, open, revision, revisions, send, text, uri, words};

/// A field of a form, and what is filled in, if anything is.
#[derive(Clone, Debug)]
struct Field {
    since: ProtocolVersion,
    schema: Value,
    filled: Option<Value>,
}

fn field() -> impl Strategy<Value = Field> {
    use ProtocolVersion::{V2025_06_18, V2025_11_25};
    let of = |since, schema: Value| move |filled: Option<Value>| Field { since, schema: schema.clone(), filled };
    let named = json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]});
    let many = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "default": ["c"]});
    // The schemas have no numbers among the answers but whole ones.
    let whole = -(1_i64 << 53)..1 << 53;
    prop_oneof![
        text().prop_map(|text| Some(text.into())).prop_map(of(V2025_06_18, json!({"type": "string"}))),
        Just(None).prop_map(of(V2025_11_25, json!({"type": "string", "default": "given"}))),
        whole.prop_map(|n| Some(n.into())).prop_map(of(V2025_06_18, json!({"type": "integer"}))),
        Just(None).prop_map(of(V2025_11_25, json!({"type": "number", "default": 7}))),
        option::of(any::<bool>().prop_map(Value::from))
            .prop_map(of(V2025_06_18, json!({"type": "boolean", "default": true}))),
        option::of(select(vec!["a", "b"]).prop_map(Value::from)).prop_map(of(V2025_06_18, named)),
        option::of(vec(select(vec!["a", "b"]), 0..3).prop_map(Value::from)).prop_map(of(V2025_11_25, many)),
    ]
}

/// What a language model says.
fn content() -> impl Strategy<Value = (ProtocolVersion, SamplingContent)> {
    use ProtocolVersion::{V2024_11_05, V2025_03_26, V2025_11_25};
    let image = |data: String| {
        let mut image = ImageContent::default();
        (image.data, image.mime_type) = (data, "image/png".into());
        (V2024_11_05, SamplingContent::Image(image))
    };
    let audio = |data: String| {
        let mut audio = AudioContent::default();
        (audio.data, audio.mime_type) = (data, "audio/wav".into());
        (V2025_03_26, SamplingContent::Audio(audio))
    };
    let call = |(id, name, input): (String, String, Value)| {
        let mut call = ToolUseContent::default();
        (call.id, call.name, call.input) = (id, name, Json::from_value(&input).expect("it is JSON"));
        (V2025_11_25, SamplingContent::ToolUse(Box::new(call)))
    };
    prop_oneof![
        text().prop_map(|text| (V2024_11_05, SamplingContent::text(text))),
        "([A-Za-z0-9+/]{4}){0,3}".prop_map(image),
        "([A-Za-z0-9+/]{4}){0,3}".prop_map(audio),
        (text(), text(), object()).prop_map(call),
    ]
}

/// What servers ask for, and what they are answered.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    fields: BTreeMap<String, Field>,
    form: ElicitAction,
    visit: ElicitAction,
    said: Vec<(ProtocolVersion, SamplingContent)>,
    stop: Option<StopReason>,
    roots: Vec<(String, Option<String>)>,
}

pub(crate) fn talk() -> impl Strategy<Value = Talk> {
    let action = || select(vec![ElicitAction::Accept, ElicitAction::Decline, ElicitAction::Cancel]);
    let stop = select(vec!["endTurn", "stopSequence", "maxTokens", "toolUse", "other"]).prop_map(StopReason::from);
    let roots = vec((uri(), option::of(text())), 0..4);
    (btree_map(text(), field(), 0..5), action(), action(), vec(content(), 1..4), option::of(stop), roots)
        .prop_map(|(fields, form, visit, said, stop, roots)| Talk { fields, form, visit, said, stop, roots })
}

impl Talk {
    /// What can be asked in a revision: the name of the answer's definition, the method and its parameters.
    fn questions(&self, version: ProtocolVersion) -> Vec<(&'static str, &'static str, Value)> {
        let messages = json!([{"role": "user", "content": {"type": "text", "text": "?"}}]);
        let sample = json!({"messages": messages, "maxTokens": 100});
        let mut questions = vec![
            ("ListRootsResult", "roots/list", json!({})),
            ("CreateMessageResult", "sampling/createMessage", sample),
        ];
        if version >= ProtocolVersion::V2025_06_18 {
            let fields = self.fields.iter().filter(|(_, field)| field.since <= version);
            let fields: Map<String, Value> = fields.map(|(name, field)| (name.clone(), field.schema.clone())).collect();
            let schema = json!({"type": "object", "properties": fields, "required": fields.keys().collect::<Vec<_>>()});
            questions.push(("ElicitResult", "elicitation/create", json!({"message": "?", "requestedSchema": schema})));
        }
        if version >= ProtocolVersion::V2025_11_25 {
            let visit = json!({"mode": "url", "message": "?", "url": "https://a.example/x", "elicitationId": "e"});
            questions.push(("ElicitResult", "elicitation/create", visit));
        }
        if version == ProtocolVersion::V2025_11_25 {
            // What belongs to a task is answered so.
            for (_, _, params) in &mut questions {
                params["_meta"] = json!({"io.modelcontextprotocol/related-task": {"taskId": "t"}});
            }
        }
        questions
    }

    /// What all of that is as the inputs that a server wants.
    pub(crate) fn inputs(&self, version: ProtocolVersion) -> Value {
        let questions = self.questions(version).into_iter().enumerate();
        questions.map(|(n, (_, method, params))| (n.to_string(), json!({"method": method, "params": params}))).collect()
    }

    /// What is wrong with the answers to these inputs.
    pub(crate) fn fault(&self, revision: &Revision, answers: &Value) -> Option<String> {
        let questions = self.questions(revision.version);
        let answered = answers.as_object().map_or(0, Map::len);
        if answered != questions.len() {
            return Some(format!("{answered} answers to {} questions: {answers}", questions.len()));
        }
        let mut each = questions.iter().enumerate();
        let fault = each.find_map(|(n, (definition, ..))| revision.other(&[definition], &answers[n.to_string()]));
        fault.or_else(|| revision.other(&["InputResponses"], answers))
    }

    fn answer(&self, ask: &ServerRequest, version: ProtocolVersion) -> Result<Json, RpcError> {
        match ask.request()? {
            ServerRequestKind::Elicit(ElicitParams::Form(form)) => form.answer(match &self.form {
                ElicitAction::Accept => {
                    let asked = self.fields.iter().filter(|(_, field)| field.since <= version);
                    let filled: Map<String, Value> =
                        asked.filter_map(|(name, field)| Some((name.clone(), field.filled.clone()?))).collect();
                    // A choice of the oldest form has no default.
                    let open = form.requested_schema.fields().filter(|(field, _)| {
                        field.schema.default_value().is_none() && !filled.contains_key(&field.name)
                    });
                    let chosen: Vec<_> = open.map(|(field, _)| (field.name.clone(), json!("a"))).collect();
                    ElicitResult::accept(&filled.into_iter().chain(chosen).collect::<Map<_, _>>()).expect("it is JSON")
                }
                other => ElicitResult::of(other.clone()),
            }),
            ServerRequestKind::Elicit(ElicitParams::Url(url)) => url.answer(self.visit.clone()),
            ServerRequestKind::Sample(_) => {
                let said = self.said.iter().filter(|(since, _)| *since <= version).map(|(_, said)| said.clone());
                let mut said: Vec<SamplingContent> = said.collect();
                if version < ProtocolVersion::V2025_11_25 {
                    // Only one piece, and always one.
                    said.push(SamplingContent::text("?"));
                    said.truncate(1);
                }
                let mut result = CreateMessageResult::new("model", said);
                result.stop_reason.clone_from(&self.stop);
                result.answer()
            }
            ServerRequestKind::ListRoots => {
                let root = |(uri, name): &(String, Option<String>)| {
                    let mut root = Root::new(uri);
                    root.name.clone_from(name);
                    root
                };
                ListRootsResult::new(self.roots.iter().map(root)).answer()
            }
            other => panic!("{other:?}"),
        }
    }

    /// Answers all that was asked; how much that was.
    pub(crate) fn answer_all(&self, pair: &mut Pair, version: ProtocolVersion) -> usize {
        let events = std::mem::take(&mut pair.events).into_iter();
        let asks: Vec<ServerRequest> = events
            .filter_map(|(_, event)| if let Event::ServerRequest(ask) = event { Some(ask) } else { None })
            .collect();
        for ask in &asks {
            let answer = self.answer(ask, version).unwrap_or_else(|error| panic!("{}: {error}", ask.method));
            assert_eq!(pair.engine.calls().answer(ask.key, &answer, pair.now), Ok(true), "{}", ask.method);
        }
        pair.drive();
        asks.len()
    }
}

/// A client that answers whatever servers may ask, and one thing more.
pub(crate) fn obliging() -> Config {
    let mut config = Config::default();
    config.answer_elicitation(true, true);
    config.capabilities = std::mem::take(&mut config.capabilities).with_sampling(true, false);
    config.answer_sampling();
    config.answer_roots();
    config.answer("x");
    config
}

const RESULT: &[&str] = &["JSONRPCResultResponse", "JSONRPCResponse"];
const ERROR: &[&str] = &["JSONRPCErrorResponse", "JSONRPCError"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_what_the_revision_asks_for(talk in talk(), code: i32, message in text()) {
        for revision in revisions().into_iter().flatten().filter(|revision| revision.version < ProtocolVersion::LATEST) {
            let mut pair = open(revision.version, obliging(), "", |_, _| {});
            pair.sent.clear();
            pair.events.clear();
            let questions = talk.questions(revision.version);
            for (n, (_, method, params)) in questions.iter().enumerate() {
                pair.say(json!({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).to_string());
            }
            prop_assert_eq!(talk.answer_all(&mut pair, revision.version), questions.len());
            for (id, method) in [("p", "ping"), ("x", "x"), ("y", "y")] {
                pair.say(json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string());
            }
            let asked = pair.events.iter().find_map(|(_, event)| if let Event::ServerRequest(ask) = event { Some(ask.key) } else { None });
            let error = RpcError::new(code.into(), message.clone());
            prop_assert!(pair.engine.calls().refuse(asked.expect("it is asked"), &error, pair.now));
            pair.drive();

            let answer = |id: Value| pair.sent.iter().find(|sent| sent.message["id"] == id).expect("it is answered");
            let results = questions.iter().enumerate().map(|(n, (definition, ..))| (json!(n), *definition));
            for (id, definition) in results.chain([(json!("p"), "EmptyResult")]) {
                let sent = &answer(id).message;
                prop_assert_eq!(revision.other(RESULT, sent), None);
                prop_assert_eq!(revision.other(&[definition], &sent["result"]), None);
            }
            for id in ["x", "y"] {
                prop_assert_eq!(revision.other(ERROR, &answer(json!(id)).message), None);
            }
        }
    }

    #[test]
    fn requests_that_are_sent_again_are_what_the_revision_asks_for(talk in talk(), words in words(), state in option::of(text())) {
        let Some(revision) = revision(ProtocolVersion::LATEST) else { return Ok(()) };
        let inputs = talk.inputs(revision.version);
        let wants = json!({"resultType": "input_required", "inputRequests": inputs, "requestState": state});
        let mut pair = open(revision.version, obliging(), "", move |sent, peer| {
            let is_again = sent.params().get("inputResponses").is_some();
            let done = json!({"resultType": "complete", "content": [], "contents": [], "messages": []});
            peer.answer(sent, &if is_again { done } else { wants.clone() }.to_string());
        });
        let Words { name, uri, arguments, strings, .. } = &words;
        send::<CallTool>(&mut pair, &words, &CallToolParams { name, arguments });
        send::<GetPrompt>(&mut pair, &words, &GetPromptParams { name, arguments: strings });
        send::<ReadResource>(&mut pair, &words, &ReadResourceParams { uri });
        pair.drive();
        let questions = talk.questions(revision.version).len();
        prop_assert_eq!(talk.answer_all(&mut pair, revision.version), 3 * questions);
        prop_assert!(pair.engine.is_idle());
        let again: Vec<_> = pair.sent.iter().filter(|sent| sent.params().get("inputResponses").is_some()).collect();
        prop_assert_eq!(again.len(), 3);
        for sent in again {
            prop_assert_eq!(sent.params().get("requestState").and_then(Value::as_str), state.as_deref());
            prop_assert_eq!(talk.fault(revision, &sent.params()["inputResponses"]), None);
        }
        let faults = faults(revision, &pair);
        prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
