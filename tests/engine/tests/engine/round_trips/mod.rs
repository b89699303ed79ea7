//! Any value of any type of the protocol is written, read, and the same; and no type is thrown by what it does not expect: a
//! member that it does not know, `null` for an absent one, a word that no revision has, another JSON type.

mod generated;

use std::fmt::Debug;

use mcpwire_core::{Json, TaskHandle};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Members without which a value is none of its type, whichever type that is. Those of single types stand beside them. What a
/// server wishes for is read strictly: half a wish cannot be granted.
const REQUIRED: &str = "src uri uriTemplate name inputSchema protocolVersion capabilities clientInfo supportedVersions role content \
                        inputRequests requestState";

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    Json::from_value(value).and_then(|json| json.decode()).map_err(|error| error.to_string())
}

fn write<T: Serialize>(value: &T) -> Value {
    serde_json::from_str(Json::from_value(value).expect("it serialises").get()).expect("it is JSON")
}

fn survives<T: DeserializeOwned + Serialize + PartialEq + Debug>(
    value: &T,
    required: &[&str],
) -> Result<(), TestCaseError> {
    let text = Json::from_value(value).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&text.decode::<T>().map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?, value);
    let whole = write(value);
    let Value::Object(members) = &whole else { return Ok(()) };

    let mut more = whole.clone();
    more["xUnknown"] = json!({"a": [1, null]});
    let kept: T = read(&more).map_err(TestCaseError::fail)?;
    prop_assert_eq!(&write(&kept)["xUnknown"], &more["xUnknown"], "an unknown member is kept");

    // What no type knows is kept whatever it is.
    let known = members.iter().filter(|(name, _)| !name.starts_with("x-") && *name != "other");
    for (name, member) in known {
        let optional = !REQUIRED.split(' ').any(|other| other == name) && !required.contains(&name.as_str());
        let with = |other: Value| {
            let mut changed = whole.clone();
            changed[name] = other;
            changed
        };
        let mut without = whole.clone();
        without.as_object_mut().expect("it is an object").remove(name);
        // A block of no type, or whose members are not there, is one that is kept as it came; so is a question of no mode.
        let nothing = read::<T>(&with(Value::Null));
        prop_assert!(nothing.is_ok() || !optional, "{}: null is refused: {:?}", name, nothing);
        if let (Ok(null), Ok(absent), true) = (&nothing, read::<T>(&without), optional && whole.get("type").is_none()) {
            prop_assert_eq!(null, &absent, "{}: null stands for absent", name);
        }
        if member.is_string() && name != "resultType" {
            let word = read::<T>(&with("x-unheard-of".into())).map_err(TestCaseError::fail)?;
            prop_assert_eq!(&write(&word)[name], "x-unheard-of", "{}: a word that nobody knows", name);
        }
        for other in [json!(5), json!("text"), json!([]), json!({}), json!(true), json!([{"a": 1}, null])] {
            if let Ok(read) = read::<T>(&with(other)) {
                // What was left out of a list is told once.
                let written = Json::from_value(&read).expect("it serialises");
                let again: T = written.decode().map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(Json::from_value(&again).ok(), Some(written), "{}: what is read is written", name);
            } else {
                prop_assert!(!optional || name == "resultType", "{} of another type spoils the whole", name);
            }
        }
    }
    Ok(())
}

macro_rules! survive {
    ($($name:ident $([$($required:literal),+])?),+ $(,)?) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name(value in generated::$name()) {
                    survives(&value, &[$($($required),+)?])?;
                }
            )+
        }
    };
}

survive! {
    annotations, block, call_tool_result, cancel_task_result, client_capabilities, complete_result,
    create_message_params ["messages"], create_message_result, create_task_result ["task", "taskId", "resultType"],
    discover_result, elicit_form ["message", "requestedSchema"],
    elicit_params ["mode", "message", "requestedSchema", "url"], elicit_result ["action"],
    elicitation_complete ["elicitationId"], field_schema, get_prompt_result, icon, implementation, initialize_params,
    initialize_result, input_required_result, list_prompts_result, list_resource_templates_result,
    list_resources_result, list_roots_result, list_tasks_result, list_tools_result, log_message, logging_level,
    model_hint, model_preferences, progress, prompt, prompt_argument, prompt_message, read_resource_result, resource,
    resource_contents, resource_template, resource_ui, resource_updated, role, root, sampling_content,
    sampling_message, server_capabilities, subscription_filter, subscriptions_acknowledged,
    subscriptions_listen_result, task ["taskId"], task_status, tasks_capability, tool, tool_annotations, tool_choice,
    tool_execution, tool_ui,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json(value in generated::json()) {
        prop_assert_eq!(value.decode::<Json>().ok(), Some(value));
    }

    /// What is kept of a task is the program's own: it is in no message, so what it does not know is not kept.
    #[test]
    fn handles_of_tasks(created in generated::create_task_result()) {
        let handle = created.handle();
        let mut stored = write(&handle);
        prop_assert_eq!(&read::<TaskHandle>(&stored), &Ok(handle.clone()));
        for name in ["createdAt", "ttlMs", "pollIntervalMs"] {
            if stored.get(name).is_none() {
                stored[name] = Value::Null;
            }
        }
        stored["xUnknown"] = json!([1]);
        prop_assert_eq!(read::<TaskHandle>(&stored), Ok(handle));
    }
}

/// A word that no revision has, where a type has names for the known ones.
#[test]
fn unknown_words_are_kept() {
    use mcpwire_core::{LogMessage, LoggingLevel, PromptMessage, Role};
    let message: LogMessage = read(&json!({"level": "loud", "data": 1})).expect("it is read");
    assert_eq!(message.level, LoggingLevel::Other("loud".into()));
    let message: PromptMessage =
        read(&json!({"role": "critic", "content": {"type": "smell", "of": "roses"}})).expect("it is read");
    assert_eq!((&message.role, message.content.kind()), (&Role::Other("critic".into()), "smell"));
    assert_eq!(write(&message)["content"]["of"], "roses");
}
