//! The tools: what they say of themselves, and what they do.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::revision::Revision;
use super::{Failure, INVALID_PARAMS, asks};

/// The longest that `slow` waits.
const LONGEST: Duration = Duration::from_secs(3600);

/// What a tool has come to.
#[derive(Debug)]
pub(super) enum Outcome {
    Done(Output),
    Slow(Duration),
    Greet,
}

/// The result of a tool, in no revision's words yet.
#[derive(Debug)]
pub(super) struct Output {
    text: String,
    structured: Option<Value>,
    /// A PNG in base64, which follows the text.
    image: Option<&'static str>,
    is_error: bool,
}

impl Output {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, image: None, is_error: false }
    }

    fn structured(text: impl Into<String>, value: Value) -> Self {
        Self { structured: Some(value), ..Self::text(text) }
    }

    fn image(text: impl Into<String>, png: &'static str) -> Self {
        Self { image: Some(png), ..Self::text(text) }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    pub(super) fn into_result(self, revision: Revision) -> Value {
        let mut content = vec![json!({ "type": "text", "text": self.text })];
        content.extend(self.image.map(|png| json!({ "type": "image", "data": png, "mimeType": "image/png" })));
        let mut result = json!({ "content": content, "isError": self.is_error });
        if let Some(value) = self.structured
            && revision.has_structured_output()
        {
            result["structuredContent"] = value;
        }
        revision.complete(result)
    }
}

/// The entries of `tools/list`.
pub(super) fn list(revision: Revision) -> Vec<Value> {
    let mut tools = all();
    for tool in &mut tools {
        if !revision.is_modern() {
            let properties = tool["inputSchema"]["properties"].as_object_mut();
            properties.into_iter().flat_map(|all| all.values_mut()).filter_map(Value::as_object_mut).for_each(
                |property| {
                    property.remove("x-mcp-header");
                },
            );
        }
    }
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        if !revision.has_structured_output() {
            tool.remove("outputSchema");
        }
        if !revision.has_titles() {
            tool.remove("title");
        }
        if revision != Revision::V2025_11_25 {
            tool.remove("execution");
        }
    }
    tools
}

fn all() -> Vec<Value> {
    vec![
        json!({
            "name": "echo",
            "title": "Echo",
            "description": "Says back what it is told.",
            "inputSchema": object(json!({
                "message": { "type": "string", "description": "What to say back." },
            }), &["message"]),
        }),
        json!({
            "name": "add",
            "title": "Add",
            "description": "Adds two numbers.",
            "inputSchema": object(json!({
                "a": { "type": "number", "description": "The first number." },
                "b": { "type": "number", "description": "The second number." },
            }), &["a", "b"]),
            "outputSchema": object(json!({ "sum": { "type": "number" } }), &["sum"]),
        }),
        json!({
            "name": "slow",
            "title": "Slow",
            "description": "Waits, reporting progress to whoever asks for it, and can be cancelled.",
            "inputSchema": object(json!({
                "seconds": {
                    "type": "number", "minimum": 0, "maximum": LONGEST.as_secs(), "description": "How long to wait.",
                },
            }), &["seconds"]),
            "execution": { "taskSupport": "optional" },
        }),
        json!({
            "name": "fail",
            "title": "Fail",
            "description": "Reports an error, as a tool that has gone wrong does.",
            "inputSchema": object(json!({
                "message": {
                    "type": "string", "default": DEFAULT_FAILURE, "description": "What to report.",
                },
            }), &[]),
        }),
        json!({
            "name": "weather",
            "title": "Weather",
            "description": "Invents the weather of a city: the same city always has the same, none of it is true.",
            "inputSchema": object(json!({
                "city": { "type": "string", "description": "The name of a city.", "x-mcp-header": "City" },
            }), &["city"]),
            "outputSchema": object(json!({
                "city": { "type": "string" },
                "temperature": { "type": "integer", "description": "In degrees Celsius." },
                "conditions": { "type": "string", "enum": CONDITIONS },
                "humidity": { "type": "integer", "minimum": 0, "maximum": 100, "description": "In percent." },
                "demo": { "const": true, "description": "This is made up." },
            }), &["city", "temperature", "conditions", "humidity", "demo"]),
        }),
        json!({
            "name": "chart",
            "title": "Chart",
            "description": "Draws a bar chart of made-up numbers: the same image each time.",
            "inputSchema": object(json!({}), &[]),
        }),
        asks::tool(),
    ]
}

#[expect(clippy::needless_pass_by_value, reason = "takes what json! makes")]
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

const DEFAULT_FAILURE: &str = "failed, as it was asked to";
/// A PNG of 8 x 8 pixels with three bars, in base64.
const CHART: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAAEklEQVR42mP4w/CH4QkYqoAgADTwBRGSXVxFAAAAAElFTkSuQmCC";
const CONDITIONS: [&str; 5] = ["sunny", "cloudy", "rainy", "foggy", "snowing"];

/// Calls a tool. Wrong arguments are the tool's own error, which whoever called it can read and mend; only a tool that
/// does not exist fails the request.
pub(super) fn call(name: &str, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let outcome = match name {
        "echo" => text(arguments, "message").map(|message| Outcome::Done(Output::text(message))),
        "add" => add(arguments).map(Outcome::Done),
        "slow" => seconds(arguments).map(Outcome::Slow),
        "fail" => match arguments.get("message") {
            None => Ok(Outcome::Done(Output::error(DEFAULT_FAILURE))),
            Some(_) => text(arguments, "message").map(|message| Outcome::Done(Output::error(message))),
        },
        "chart" => Ok(Outcome::Done(Output::image("Three bars. (A demo: these numbers are made up.)", CHART))),
        "greet" => Ok(Outcome::Greet),
        "weather" => text(arguments, "city").map(|city| Outcome::Done(weather(city))),
        _ => {
            return Err(Failure::new(INVALID_PARAMS, format!("Unknown tool: {name}")));
        }
    };
    Ok(outcome.unwrap_or_else(|wrong| Outcome::Done(Output::error(format!("{name}: {wrong}")))))
}

fn add(arguments: &Map<String, Value>) -> Result<Output, String> {
    let (a, b) = (number(arguments, "a")?, number(arguments, "b")?);
    let sum = match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) if a.checked_add(b).is_some() => json!(a + b),
        _ => {
            let sum = a.as_f64().zip(b.as_f64()).map(|(a, b)| a + b);
            json!(sum.filter(|sum| sum.is_finite()).ok_or("the sum is too large for a number")?)
        }
    };
    Ok(Output::structured(sum.to_string(), json!({ "sum": sum })))
}

fn seconds(arguments: &Map<String, Value>) -> Result<Duration, String> {
    let seconds = number(arguments, "seconds")?.as_f64();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|length| *length <= LONGEST)
        .ok_or_else(|| format!("seconds must be between 0 and {}", LONGEST.as_secs()))
}

fn weather(city: &str) -> Output {
    let dice = fnv1a(&city.to_lowercase());
    let temperature = i64::from(dice[0] % 43) - 8;
    let conditions = match CONDITIONS[usize::from(dice[1]) % CONDITIONS.len()] {
        "snowing" if temperature > 3 => "rainy",
        conditions => conditions,
    };
    let humidity = 25 + dice[2] % 71;
    let text =
        format!("{city}: {conditions}, {temperature} °C, {humidity} % humidity. (A demo: this weather is made up.)");
    let value = json!({
        "city": city,
        "temperature": temperature,
        "conditions": conditions,
        "humidity": humidity,
        "demo": true,
    });
    Output::structured(text, value)
}

/// A hash that stays the same between machines and versions, unlike the standard library's.
fn fnv1a(text: &str) -> [u8; 8] {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        .to_be_bytes()
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    required(arguments, name)?.as_str().ok_or_else(|| format!("{name} must be a string"))
}

fn number<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a serde_json::Number, String> {
    required(arguments, name)?.as_number().ok_or_else(|| format!("{name} must be a number"))
}

fn required<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    arguments.get(name).ok_or_else(|| format!("{name} is missing"))
}
