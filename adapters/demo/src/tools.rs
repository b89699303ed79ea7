//! The tools of the demo server: their definitions, and their implementation.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use crate::greet;
use crate::output::{Output, object};
use crate::revision::Revision;
use crate::rpc::{Failure, Params};

/// Maximum time that a call of the tool `slow` can wait.
const LONGEST: Duration = Duration::from_secs(3600);

/// The outcome of starting a tool call: its result, or the event to wait for.
#[derive(Debug)]
pub(crate) enum Outcome {
    Done(Output),
    /// The call of `slow` ends after this time.
    Slow(Duration),
    /// The call of `greet` asks the user before it ends.
    Greet,
}

/// Returns the definitions of all tools for `tools/list`, in the form of a protocol revision.
pub(crate) fn list(revision: Revision) -> Vec<Value> {
    let mut tools = revision.without_unknown_titles(all());
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        if !revision.is_modern()
            && let Some(properties) = tool["inputSchema"]["properties"].as_object_mut()
        {
            for property in properties.values_mut().filter_map(Value::as_object_mut) {
                property.remove("x-mcp-header");
            }
        }
        if !revision.has_structured_output() {
            tool.remove("outputSchema");
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
        greet::tool(),
    ]
}

const DEFAULT_FAILURE: &str = "failed, as it was asked to";
/// A PNG of 8 x 8 pixels with three bars, in base64.
pub(crate) const CHART: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAAEklEQVR42mP4w/CH4QkYqoAgADTwBRGSXVxFAAAAAElFTkSuQmCC";

/// Starts a call of a tool. An unknown tool fails the request. Invalid arguments give an error result, which a model can read and
/// correct.
pub(crate) fn call(name: &str, arguments: &Params) -> Result<Outcome, Failure> {
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
        "weather" => text(arguments, "city").map(|city| {
            let (text, value) = weather_report(city);
            Outcome::Done(Output::structured(text, value))
        }),
        _ => return Err(Failure::invalid_params(format!("Unknown tool: {name}"))),
    };
    Ok(outcome.unwrap_or_else(|wrong| Outcome::Done(Output::error(format!("{name}: {wrong}")))))
}

fn add(arguments: &Params) -> Result<Output, String> {
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

fn seconds(arguments: &Params) -> Result<Duration, String> {
    let seconds = number(arguments, "seconds")?.as_f64();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|length| *length <= LONGEST)
        .ok_or_else(|| format!("seconds must be between 0 and {}", LONGEST.as_secs()))
}

fn text<'a>(arguments: &'a Params, name: &str) -> Result<&'a str, String> {
    required(arguments, name)?.as_str().ok_or_else(|| format!("{name} must be a string"))
}

fn number<'a>(arguments: &'a Params, name: &str) -> Result<&'a serde_json::Number, String> {
    required(arguments, name)?.as_number().ok_or_else(|| format!("{name} must be a number"))
}

fn required<'a>(arguments: &'a Params, name: &str) -> Result<&'a Value, String> {
    arguments.get(name).ok_or_else(|| format!("{name} is missing"))
}

// The invented weather of the tool and the resources about cities. It is always the same for a city.

pub(crate) const CONDITIONS: [&str; 5] = ["sunny", "cloudy", "rainy", "foggy", "snowing"];

/// The cities that completion suggests. Any other text is also accepted as a city.
pub(crate) const CITIES: [&str; 12] =
    ["Berlin", "Braga", "Lisbon", "London", "Lyon", "Oslo", "Paris", "Porto", "Prague", "Rome", "São Paulo", "Zürich"];

pub(crate) const URI_TEMPLATE: &str = "demo://weather/{city}";

/// Returns the URI of the resource that describes a city's weather.
pub(crate) fn weather_uri(city: &str) -> String {
    URI_TEMPLATE.replace("{city}", &utf8_percent_encode(city, NON_ALPHANUMERIC).to_string())
}

/// Returns the city of the weather resource with this URI, or `None` if the URI is of another resource.
pub(crate) fn weather_city(uri: &str) -> Option<String> {
    let (prefix, _) = URI_TEMPLATE.split_once('{')?;
    let encoded = uri.strip_prefix(prefix).filter(|city| !city.is_empty() && !city.contains(['/', '?', '#']))?;
    Some(percent_decode_str(encoded).decode_utf8().ok()?.into_owned())
}

/// Returns the invented weather of a city, as a sentence and as structured content.
pub(crate) fn weather_report(city: &str) -> (String, Value) {
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
    (text, value)
}

/// Computes the FNV-1a hash of a text. Unlike the hashes of the standard library, it is the same on all machines and in all
/// versions.
fn fnv1a(text: &str) -> [u8; 8] {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        .to_be_bytes()
}
