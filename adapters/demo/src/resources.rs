//! The resources and resource templates of the demo server.

use serde_json::{Value, json};

use crate::revision::Revision;
use crate::rpc::{Failure, INVALID_PARAMS};
use crate::tools::{CHART, URI_TEMPLATE, weather_city, weather_report, weather_uri};

/// The error code for unknown resources in the legacy era. Since revision 2026-07-28, the code for invalid parameters is used.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// The URI of the resource that changes with each tool call, to test subscriptions. It contains the number of tool calls so far.
pub(crate) const CALLS: &str = "demo://calls";
const ABOUT: &str = "demo://about";
const CHART_URI: &str = "demo://chart.png";

const ABOUT_TEXT: &str = "# mcpwire-demo\n\nA small server to try MCP clients on. Its tools, prompts and resources \
                          need nothing and change nothing.\n";

/// Returns the descriptions of all resources for `resources/list`, in the form of a protocol revision.
pub(crate) fn list(revision: Revision) -> Vec<Value> {
    let all = vec![
        json!({
            "uri": ABOUT,
            "name": "about",
            "title": "About",
            "description": "What this server is.",
            "mimeType": "text/markdown",
        }),
        json!({
            "uri": CALLS,
            "name": "calls",
            "title": "Tool calls",
            "description": "How many tool calls there have been. It changes with each, and can be subscribed to.",
            "mimeType": "text/plain",
        }),
        json!({
            "uri": CHART_URI,
            "name": "chart",
            "title": "Chart",
            "description": "A bar chart of made-up numbers.",
            "mimeType": "image/png",
        }),
    ];
    revision.without_unknown_titles(all)
}

/// Returns the resource templates for `resources/templates/list`, in the form of a protocol revision.
pub(crate) fn templates(revision: Revision) -> Vec<Value> {
    revision.without_unknown_titles(vec![json!({
        "uriTemplate": URI_TEMPLATE,
        "name": "weather",
        "title": "Weather",
        "description": "The made-up weather of a city.",
        "mimeType": "application/json",
    })])
}

/// Returns whether clients may subscribe to changes of this resource.
pub(crate) fn can_subscribe(uri: &str) -> bool {
    [ABOUT, CALLS, CHART_URI].contains(&uri)
}

/// Returns the result of `resources/read` for a resource. `calls` is the number of tool calls so far.
pub(crate) fn read(uri: &str, calls: u64, revision: Revision) -> Result<Value, Failure> {
    let contents = match uri {
        ABOUT => json!({ "uri": uri, "mimeType": "text/markdown", "text": ABOUT_TEXT }),
        CALLS => json!({ "uri": uri, "mimeType": "text/plain", "text": calls.to_string() }),
        CHART_URI => json!({ "uri": uri, "mimeType": "image/png", "blob": CHART }),
        _ => match weather_city(uri) {
            Some(city) => weather_contents(&city),
            None => return Err(not_found(uri, revision)),
        },
    };
    let result = json!({ "contents": [contents] });
    Ok(if uri == CALLS { revision.cacheable_for(0, result) } else { revision.cacheable(result) })
}

/// Returns the contents of the resource that describes a city's weather, as JSON.
pub(crate) fn weather_contents(city: &str) -> Value {
    let (_, value) = weather_report(city);
    json!({ "uri": weather_uri(city), "mimeType": "application/json", "text": value.to_string() })
}

pub(crate) fn not_found(uri: &str, revision: Revision) -> Failure {
    let code = if revision.is_modern() { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
    Failure::new(code, "Resource not found").with_data(json!({ "uri": uri }))
}
