//! The tools of a server in the format of a model's API.

use alloc::string::String;

use mcpwire_core::{Json, Tool};
use mcpwire_tool_client::ModelTools;

/// Returns the JSON of a tool, under a name that the API accepts.
pub(crate) fn convert() -> Result<String, &'static str> {
    let tool = Json::parse(r#"{"name":"files.read"}"#).map_err(|_| "parse")?;
    let tools = ModelTools::new([tool.decode::<Tool>().map_err(|_| "decode")?]);
    let json = Json::from_value(&tools.anthropic()).map_err(|_| "serialize")?;
    if json.get().contains(r#""name":"files_read""#) { Ok(json.get().into()) } else { Err("another name") }
}
