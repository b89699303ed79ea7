//! The strategies of the test kit generate what the schema of each revision allows.

use std::collections::BTreeMap;

use jsonschema::Validator;
use mcpwire_core::{Json, ProtocolVersion};
use mcpwire_engine_tests::spec::{self, Schema};
use mcpwire_testkit::simulation::{Step, script_of};
use mcpwire_testkit::strategies as generate;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Serialize;
use serde_json::{Value, json};

/// The schema of a revision, and which of its definitions were compared.
struct Revision<'s> {
    version: ProtocolVersion,
    schema: &'s Schema,
    compared: &'s mut BTreeMap<&'static str, usize>,
}

fn runner() -> TestRunner {
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

impl Revision<'_> {
    /// Asserts that each value is valid by the definition, if the revision has it.
    fn compare<S: Strategy>(&mut self, name: &'static str, strategy: S)
    where
        S::Value: Serialize,
    {
        self.compare_within(name, strategy, |value| value);
    }

    /// Does the same for what `wrap` makes of the values.
    fn compare_within<S: Strategy>(&mut self, name: &'static str, strategy: S, wrap: impl Fn(Value) -> Value)
    where
        S::Value: Serialize,
    {
        let compared = self.compared.entry(name).or_default();
        if self.schema.definition(name).is_none() {
            return;
        }
        *compared += 1;
        let validator = compile(self.schema, name);
        let outcome = runner().run(&strategy, |value| {
            let value: Value = Json::from_value(&value).and_then(|json| json.decode()).expect("it is JSON");
            let value = wrap(value);
            let errors: Vec<String> =
                validator.iter_errors(&value).map(|error| format!("{error} at {}", error.instance_path())).collect();
            prop_assert!(errors.is_empty(), "{name} of {}: {}: {value}", self.version, errors.join("; "));
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
    }

    fn compare_all(&mut self) {
        let version = self.version;
        self.compare("Annotations", generate::annotations(version));
        self.compare("CallToolResult", generate::call_tool_result(version));
        self.compare("CompleteResult", generate::complete_result(version));
        self.compare("ContentBlock", generate::content_block(version));
        self.compare("CreateMessageResult", generate::create_message_result());
        self.compare("DiscoverResult", generate::discover_result(version));
        self.compare("ElicitResult", generate::elicit_result());
        self.compare("GetPromptResult", generate::get_prompt_result(version));
        self.compare("Icon", generate::icon());
        self.compare("Implementation", generate::implementation(version));
        self.compare("InitializeResult", generate::initialize_result(version));
        self.compare("ListPromptsResult", generate::list_prompts_result(version));
        self.compare("ListResourceTemplatesResult", generate::list_resource_templates_result(version));
        self.compare("ListResourcesResult", generate::list_resources_result(version));
        self.compare("ListRootsResult", generate::list_roots_result());
        self.compare("ListToolsResult", generate::list_tools_result(version));
        self.compare("Prompt", generate::prompt(version));
        self.compare("PromptMessage", generate::prompt_message(version));
        self.compare("ReadResourceResult", generate::read_resource_result(version));
        self.compare("Resource", generate::resource(version));
        self.compare("ResourceTemplate", generate::resource_template(version));
        self.compare("Root", generate::root());
        self.compare("SamplingMessage", generate::sampling_message(version));
        self.compare("ServerCapabilities", generate::server_capabilities(version));
        self.compare("Tool", generate::tool(version));
        self.compare("ToolAnnotations", generate::tool_annotations());
        self.compare("JSONRPCMessage", generate::server_message(version, 7));
        let request = |method: &'static str| move |params| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.compare_within(
            "CreateMessageRequest",
            generate::create_message_params(version),
            request("sampling/createMessage"),
        );
        self.compare_within("ElicitRequest", generate::elicit_params(version), request("elicitation/create"));
        let notification =
            |method: &str, params: &Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.compare_within("ServerNotification", generate::notification(), |pair| {
            notification(pair[0].as_str().expect("a method"), &pair[1])
        });
        self.compare_within("LoggingMessageNotification", generate::log_message(), |params| {
            notification("notifications/message", &params)
        });
        self.compare_within("ProgressNotification", generate::progress(version), |mut params| {
            // The token is that of the request.
            params["progressToken"] = json!(5);
            notification("notifications/progress", &params)
        });
        self.compare_within(
            "JSONRPCMessage",
            generate::rpc_error(),
            |error| json!({ "jsonrpc": "2.0", "id": 1, "error": error }),
        );
        // The results within scripts.
        let answers = script_of(version, Vec::new()).prop_map(|script| {
            let mut answers = script.steps.into_iter().filter_map(|step| match step {
                Step::Answer(result) => Some(result),
                _ => None,
            });
            answers
                .next_back()
                .unwrap_or_else(|| Json::parse(r#"{"content":[],"resultType":"complete"}"#).expect("it is JSON"))
        });
        self.compare("CallToolResult", answers);
    }
}

fn compile(schema: &Schema, name: &str) -> Validator {
    jsonschema::options().build(&schema.only(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn values_are_valid_by_the_schema_of_their_revision() {
    let Some(folder) = spec::folder() else { return };
    let schemas = spec::schemas(&folder);
    let mut compared = BTreeMap::new();
    for version in ProtocolVersion::ALL {
        let schema = schemas.iter().find(|schema| schema.name == version.as_str()).expect("each has one");
        Revision { version, schema, compared: &mut compared }.compare_all();
    }
    // A definition that no revision has would compare nothing.
    let missing: Vec<_> = compared.iter().filter(|(_, revisions)| **revisions == 0).collect();
    assert!(missing.is_empty(), "no revision defines {missing:?}");
}

/// Members of later revisions are not generated, although schemas allow unknown members.
#[test]
fn tools_have_only_the_members_of_their_revision() {
    let members = |version| {
        let mut runner = runner();
        let tools = (0..64).map(|_| generate::tool(version).new_tree(&mut runner).expect("it is generated").current());
        let names = tools.flat_map(|tool| {
            let tool: BTreeMap<String, Json> =
                Json::from_value(&tool).and_then(|json| json.decode()).expect("it is JSON");
            tool.into_keys()
        });
        names.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(members(ProtocolVersion::V2024_11_05), ["description", "inputSchema", "name"]);
    assert_eq!(members(ProtocolVersion::V2025_03_26), ["annotations", "description", "inputSchema", "name"]);
    let later = ["_meta", "annotations", "description", "icons", "inputSchema", "name", "outputSchema", "title"];
    assert_eq!(members(ProtocolVersion::V2025_11_25), later);
}

#[test]
fn nearly_valid_messages_are_often_wrong_and_often_readable() {
    let (mut runner, version) = (runner(), ProtocolVersion::LATEST);
    let strategy = generate::nearly_valid(generate::response(version, 1));
    let messages: Vec<String> =
        (0..256).map(|_| strategy.new_tree(&mut runner).expect("it is generated").current()).collect();
    let readable = messages.iter().filter(|message| Json::parse(&***message).is_ok()).count();
    assert!((100..256).contains(&readable), "{readable}");
    let Some(folder) = spec::folder() else { return };
    let schemas = spec::schemas(&folder);
    let schema = schemas.iter().find(|schema| schema.name == version.as_str()).expect("there is one");
    let validator = compile(schema, "JSONRPCMessage");
    let is_wrong =
        |message: &&String| serde_json::from_str(message).map_or(true, |value: Value| !validator.is_valid(&value));
    let wrong = messages.iter().filter(is_wrong).count();
    assert!((64..256).contains(&wrong), "{wrong}");
}
