//! Strategies for the data of servers: tools, resources and prompts, the results that contain them, and the server's
//! capabilities.

use std::fmt::Debug;

use mcpwire_driver::protocol::{
    CallToolResult, CompleteResult, Era, GetPromptResult, Implementation, Json, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, PromptMessage, ProtocolVersion,
    ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities, Tool, ToolAnnotations,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::values::{Object, V03, V06, V11, object_schema, value};
use super::{annotations, content_block, json_object, meta, name, resource_contents, text, uri};

/// Generates an `Implementation`: the name, the version and other details of a server or a client.
pub fn implementation(version: ProtocolVersion) -> impl Strategy<Value = Implementation> {
    Object::new(version)
        .member("name", name())
        .member("version", text())
        .since(V06, "title", text())
        .since(V11, "description", text())
        .since(V11, "websiteUrl", uri())
        .icons()
        .generate()
}

/// Generates the definition of a tool. Its input schema and output schema describe objects.
pub fn tool(version: ProtocolVersion) -> impl Strategy<Value = Tool> {
    Object::new(version)
        .member("name", name())
        .since(V06, "title", text())
        .optional("description", text())
        .member("inputSchema", object_schema())
        .since(V06, "outputSchema", object_schema())
        .since(V03, "annotations", tool_annotations())
        .icons()
        .meta()
        .generate()
}

/// Generates the hints about the behaviour of a tool (from revision 2025-03-26).
pub fn tool_annotations() -> impl Strategy<Value = ToolAnnotations> + Clone {
    Object::new(ProtocolVersion::LATEST)
        .optional("title", text())
        .optional("readOnlyHint", any::<bool>())
        .optional("destructiveHint", any::<bool>())
        .optional("idempotentHint", any::<bool>())
        .optional("openWorldHint", any::<bool>())
        .generate()
}

/// Generates the result of `tools/call`. Structured content is an object up to revision 2025-11-25, and any value after.
pub fn call_tool_result(version: ProtocolVersion) -> impl Strategy<Value = CallToolResult> {
    let any_value = version.era() == Era::Modern;
    let structured = (json_object(), value()).prop_map(move |(object, value)| {
        // A client reads `null` as an absent member.
        if any_value && !value.is_null() { Json::from(value) } else { object }
    });
    let result = Object::new(version)
        .member("content", vec(content_block(version), 0..3))
        .since(V06, "structuredContent", structured)
        .member("isError", any::<bool>())
        .optional("_meta", meta())
        .generate();
    result.prop_map(move |mut result: CallToolResult| {
        // `CallToolResult` does not store the `resultType` that it reads, so the member is added here.
        if version.era() == Era::Modern {
            result.extra.push("resultType", Json::from(json!("complete")));
        }
        result
    })
}

/// Generates a resource as `resources/list` describes it: its URI, its name and other details.
pub fn resource(version: ProtocolVersion) -> impl Strategy<Value = Resource> {
    described(version).member("uri", uri()).optional("size", 0..1_000_000_u64).generate()
}

/// Generates a resource template whose URI has one variable, `path`.
pub fn resource_template(version: ProtocolVersion) -> impl Strategy<Value = ResourceTemplate> {
    described(version).member("uriTemplate", uri().prop_map(|uri| format!("{uri}/{{path}}"))).generate()
}

/// Creates an object with the members that resources and resource templates share, such as their name.
fn described(version: ProtocolVersion) -> Object {
    Object::new(version)
        .member("name", name())
        .since(V06, "title", text())
        .optional("description", text())
        .optional("mimeType", text())
        .optional("annotations", annotations(version))
        .icons()
        .meta()
}

/// Generates a prompt with up to three arguments.
pub fn prompt(version: ProtocolVersion) -> impl Strategy<Value = Prompt> {
    let argument = Object::new(version)
        .member("name", name())
        .since(V06, "title", text())
        .optional("description", text())
        .member("required", any::<bool>())
        .generate::<Value>();
    Object::new(version)
        .member("name", name())
        .since(V06, "title", text())
        .optional("description", text())
        .member("arguments", vec(argument, 0..4))
        .icons()
        .meta()
        .generate()
}

/// Generates a message of a prompt: its role, and a content block.
pub fn prompt_message(version: ProtocolVersion) -> impl Strategy<Value = PromptMessage> {
    Object::new(version)
        .member("role", select(vec!["user", "assistant"]))
        .member("content", content_block(version))
        .generate()
}

/// Generates the result of `tools/list`: the only page of a list of up to three tools. Names may occur twice.
pub fn list_tools_result(version: ProtocolVersion) -> impl Strategy<Value = ListToolsResult> {
    page(version, "tools", tool(version))
}

/// Generates the result of `resources/list`: the only page of a list of up to three resources.
pub fn list_resources_result(version: ProtocolVersion) -> impl Strategy<Value = ListResourcesResult> {
    page(version, "resources", resource(version))
}

/// Generates the result of `resources/templates/list`: the only page of a list of up to three resource templates.
pub fn list_resource_templates_result(version: ProtocolVersion) -> impl Strategy<Value = ListResourceTemplatesResult> {
    page(version, "resourceTemplates", resource_template(version))
}

/// Generates the result of `prompts/list`: the only page of a list of up to three prompts.
pub fn list_prompts_result(version: ProtocolVersion) -> impl Strategy<Value = ListPromptsResult> {
    page(version, "prompts", prompt(version))
}

/// Generates the result of `resources/read`, with up to three contents.
pub fn read_resource_result(version: ProtocolVersion) -> impl Strategy<Value = ReadResourceResult> {
    page(version, "contents", resource_contents(version))
}

fn page<T: DeserializeOwned + Debug + 'static>(
    version: ProtocolVersion,
    name: &'static str,
    item: impl Strategy<Value: Serialize> + 'static,
) -> BoxedStrategy<T> {
    Object::cacheable_result(version).member(name, vec(item, 0..4)).optional("_meta", meta()).generate()
}

/// Generates the result of `prompts/get`, with up to two messages.
pub fn get_prompt_result(version: ProtocolVersion) -> impl Strategy<Value = GetPromptResult> {
    Object::result(version)
        .member("messages", vec(prompt_message(version), 0..3))
        .optional("description", text())
        .generate()
}

/// Generates the result of `completion/complete`, with up to four suggested values.
pub fn complete_result(version: ProtocolVersion) -> impl Strategy<Value = CompleteResult> {
    let completion = Object::new(version)
        .member("values", vec(text(), 0..5))
        .optional("total", 5..1000_u64)
        .member("hasMore", any::<bool>());
    Object::result(version).member("completion", completion.generate::<Value>()).generate()
}

/// Generates the capabilities of a server. It always has tools, and sometimes logging, prompts, resources and completions.
pub fn server_capabilities(version: ProtocolVersion) -> impl Strategy<Value = ServerCapabilities> {
    let tools = Object::new(version).optional("listChanged", Just(true));
    let prompts = Object::new(version).member("listChanged", any::<bool>());
    let resources = Object::new(version).member("listChanged", any::<bool>()).member("subscribe", any::<bool>());
    Object::new(version)
        .member("tools", tools.generate::<Value>())
        .optional("logging", Just(json!({})))
        .optional("prompts", prompts.generate::<Value>())
        .optional("resources", resources.generate::<Value>())
        .since(V03, "completions", Just(json!({})))
        .generate()
}

/// Generates the result of `initialize` (up to revision 2025-11-25).
pub fn initialize_result(version: ProtocolVersion) -> impl Strategy<Value = Json> {
    Object::new(version)
        .member("protocolVersion", Just(version.as_str()))
        .member("capabilities", server_capabilities(version))
        .member("serverInfo", implementation(version))
        .optional("instructions", text())
        .generate()
}

/// Generates the result of `server/discover` (from revision 2026-07-28).
pub fn discover_result(version: ProtocolVersion) -> impl Strategy<Value = Json> {
    let meta = Object::new(version).member("io.modelcontextprotocol/serverInfo", implementation(version));
    Object::cacheable_result(version)
        .member("supportedVersions", Just([version.as_str()]))
        .member("capabilities", server_capabilities(version))
        .optional("instructions", text())
        .member("_meta", meta.generate::<Value>())
        .generate()
}
