//! A scripted model: it calls ten tools in its first turn, and summarizes their results in its second.

use mcpwire::tool_client::types::Json;
use serde_json::{Value, json};

const CITIES: [&str; 9] = ["Lisbon", "Oslo", "Rome", "Paris", "Vienna", "Bern", "Prague", "Riga", "Dublin"];

/// A response of the model.
pub(crate) struct Turn {
    /// The response as a message for the next request.
    pub(crate) message: Value,
    /// The model's text. Empty if it calls tools.
    pub(crate) text: String,
    pub(crate) calls: Vec<ModelCall>,
}

/// A tool call of the model.
pub(crate) struct ModelCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Json,
}

/// Responds to a request in the format of OpenAI's Chat Completions API, or of Anthropic's Messages API.
pub(crate) fn respond(request: &Value, is_openai: bool) -> Turn {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if messages.len() > 1 {
        return answer(messages, is_openai);
    }
    let weather = CITIES.iter().map(|city| ("weather", json!({ "city": city })));
    let calls = weather.chain([("chart", json!({}))]).enumerate().map(|(number, (name, arguments))| ModelCall {
        id: format!("call_{number}"),
        name: name.into(),
        arguments: Json::from_value(&arguments).unwrap_or_default(),
    });
    let calls: Vec<_> = calls.collect();
    let message = if is_openai {
        let function = |call: &ModelCall| json!({ "name": call.name, "arguments": call.arguments.get() });
        let calls: Vec<_> =
            calls.iter().map(|call| json!({ "id": call.id, "type": "function", "function": function(call) })).collect();
        json!({ "role": "assistant", "tool_calls": calls })
    } else {
        let blocks: Vec<_> = calls
            .iter()
            .map(|call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments }))
            .collect();
        json!({ "role": "assistant", "content": blocks })
    };
    Turn { message, text: String::new(), calls }
}

/// Summarizes the results. Panics if they do not follow the format of the API.
fn answer(messages: &[Value], is_openai: bool) -> Turn {
    let results: Vec<&Value> = if is_openai {
        let tool = |message: &&Value| message["role"] == "tool";
        let results: Vec<_> = messages[2..].iter().take_while(tool).collect();
        assert!(messages[2 + results.len()..].iter().all(|message| message["role"] == "user"), "{messages:#?}");
        results
    } else {
        messages[2]["content"].as_array().into_iter().flatten().collect()
    };
    let key = if is_openai { "tool_call_id" } else { "tool_use_id" };
    for (number, result) in results.iter().enumerate() {
        assert_eq!(result[key], format!("call_{number}"), "each call has its result");
    }
    let json = Value::from(messages).to_string();
    let images = json.matches(if is_openai { "data:image/png;base64," } else { r#""media_type":"image/png""# }).count();
    let api = if is_openai { "OpenAI" } else { "Anthropic" };
    let text = format!("{api}: {} results, {images} image", results.len());
    Turn { message: json!({ "role": "assistant", "content": text }), text, calls: Vec::new() }
}
