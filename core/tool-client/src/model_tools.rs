//! [`ModelTools`]: gives tools names that the APIs of language models accept.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_types::Tool;

use crate::{anthropic, openai};

/// Maximum length of a tool name in the APIs of language models, in characters.
const MAX_NAME: usize = 64;

/// Tools with unique names that the APIs of language models accept. It translates between these names and the tools'
/// own names.
///
/// The names have 1 to 64 characters of `A`-`Z`, `a`-`z`, `0`-`9`, `_` and `-`. A tool keeps its own name if the name
/// is valid and unique. Otherwise, invalid characters are replaced with `_`, long names are truncated, and a number is
/// appended to duplicates. The names depend only on the tools and their order.
///
/// ```
/// # mod mcpwire { pub mod tool_client { pub use mcpwire_tool_client::ModelTools; } pub mod types { pub use
/// # mcpwire_types::{Json, Tool}; } }
/// use mcpwire::tool_client::ModelTools;
/// use mcpwire::types::{Json, Tool};
///
/// let tool: Tool = Json::parse(r#"{"name":"files.read","inputSchema":{"type":"object"}}"#)?.decode()?;
/// let tools = ModelTools::new(vec![tool]);
/// assert_eq!(tools.name("files_read"), Some("files.read"));
/// # Ok::<(), mcpwire_types::JsonError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ModelTools {
    tools: Vec<(String, Tool)>,
}

impl ModelTools {
    /// Assigns to each tool a unique name for the model.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        let mut taken = BTreeSet::new();
        let tools = tools.into_iter().map(|tool| (unique_name(&tool.name, &mut taken), tool)).collect();
        ModelTools { tools }
    }

    /// Returns the own name of a tool, with which to call it, for the name that the model used. `None` if there is no
    /// such tool.
    pub fn name(&self, model_name: &str) -> Option<&str> {
        self.get(model_name).map(|tool| &*tool.name)
    }

    /// Returns the definition of a tool for the name that the model used. `None` if there is no such tool.
    pub fn get(&self, model_name: &str) -> Option<&Tool> {
        self.tools.iter().find(|(name, _)| name == model_name).map(|(_, tool)| tool)
    }

    /// Iterates over the tools, each with the name that the model sees.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tool)> {
        self.tools.iter().map(|(name, tool)| (&**name, tool))
    }

    /// Converts the tools to the format of OpenAI's Chat Completions API. Serialize the result as `tools` of the
    /// request.
    pub fn openai(&self) -> Vec<openai::FunctionTool<'_>> {
        self.iter().map(|(name, tool)| openai::FunctionTool::new(name, tool)).collect()
    }

    /// Converts the tools to the format of Anthropic's Messages API. Serialize the result as `tools` of the request.
    pub fn anthropic(&self) -> Vec<anthropic::ToolDefinition<'_>> {
        self.iter().map(|(name, tool)| anthropic::ToolDefinition::new(name, tool)).collect()
    }
}

/// Derives a valid name from `name` that is not in `taken`, and adds it to `taken`.
fn unique_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let is_accepted = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut base: String = name.chars().map(|c| if is_accepted(c) { c } else { '_' }).take(MAX_NAME).collect();
    if base.is_empty() {
        base.push('_');
    }
    let mut unique = base.clone();
    for number in 2_usize.. {
        if taken.insert(unique.clone()) {
            break;
        }
        let suffix = format!("_{number}");
        unique = format!("{}{suffix}", &base[..base.len().min(MAX_NAME - suffix.len())]);
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use mcpwire_types::Json;

    fn tools(names: &[&str]) -> ModelTools {
        ModelTools::new(names.iter().map(|name| {
            let json = serde_json::json!({ "name": name, "inputSchema": { "type": "object" } });
            Json::parse(json.to_string()).unwrap().decode::<Tool>().unwrap()
        }))
    }

    fn names(tools: &ModelTools) -> Vec<&str> {
        tools.iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn valid_names_are_not_changed() {
        assert_eq!(names(&tools(&["get_user", "Read-2"])), ["get_user", "Read-2"]);
    }

    #[test]
    fn names_for_the_model_are_unique_and_map_back_to_tools() {
        let tools = tools(&["a.b", "a_b", "a b", "a_b_2", "größe"]);
        assert_eq!(names(&tools), ["a_b", "a_b_2", "a_b_3", "a_b_2_2", "gr__e"]);
        assert_eq!(tools.name("a_b_2"), Some("a_b"));
        assert_eq!(tools.name("a_b_2_2"), Some("a_b_2"));
        assert_eq!(tools.name("nonsense"), None);
    }

    #[test]
    fn long_names_are_truncated_and_unique() {
        let long = "x".repeat(100);
        let tools = tools(&[&long, &format!("{long}y")]);
        let names = names(&tools);
        assert!(names.iter().all(|name| name.len() == MAX_NAME));
        assert_ne!(names[0], names[1]);
        assert_eq!(tools.name(names[1]), Some(&*format!("{long}y")));
    }
}
