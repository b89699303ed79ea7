//! Any value of any type of the protocol is written, read, and the same; and no type is thrown by what it does not expect: a
//! member that it does not know, `null` for an absent one, a word that no revision has, another JSON type.

mod generated;

use std::fmt::Debug;

use mcpwire_core::Json;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Members without which a value is none of its type.
const REQUIRED: &[&str] = &[
    "src",
    "uri",
    "uriTemplate",
    "name",
    "inputSchema",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "supportedVersions",
    "role",
    "content",
    // What a server wishes for is read strictly: half a wish cannot be granted.
    "inputRequests",
    "requestState",
];

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    Json::from_value(value).and_then(|json| json.decode()).map_err(|error| error.to_string())
}

fn write<T: Serialize>(value: &T) -> Value {
    serde_json::from_str(Json::from_value(value).expect("it serialises").get()).expect("it is JSON")
}

fn survives<T: DeserializeOwned + Serialize + PartialEq + Debug>(value: &T) -> Result<(), TestCaseError> {
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
        let optional = !REQUIRED.contains(&name.as_str());
        let with = |other: Value| {
            let mut changed = whole.clone();
            changed[name] = other;
            changed
        };
        let mut without = whole.clone();
        without.as_object_mut().expect("it is an object").remove(name);
        // A block of no type, or whose members are not there, is one that is kept as it came.
        let nothing = read::<T>(&with(Value::Null));
        prop_assert!(nothing.is_ok() || !optional, "{}: null is refused: {:?}", name, nothing);
        if let (Ok(null), Ok(absent), true) = (&nothing, read::<T>(&without), whole.get("type").is_none()) {
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
    ($($name:ident),+ $(,)?) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name(value in generated::$name()) {
                    survives(&value)?;
                }
            )+
        }
    };
}

survive!(
    annotations,
    block,
    call_tool_result,
    client_capabilities,
    complete_result,
    discover_result,
    get_prompt_result,
    icon,
    implementation,
    initialize_params,
    initialize_result,
    input_required_result,
    list_prompts_result,
    list_resource_templates_result,
    list_resources_result,
    list_roots_result,
    list_tools_result,
    log_message,
    logging_level,
    progress,
    prompt,
    prompt_argument,
    prompt_message,
    read_resource_result,
    resource,
    resource_contents,
    resource_template,
    resource_ui,
    resource_updated,
    role,
    root,
    server_capabilities,
    tool,
    tool_annotations,
    tool_ui,
);

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json(value in generated::json()) {
        prop_assert_eq!(value.decode::<Json>().ok(), Some(value));
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
