//! What servers offer: tools, resources and prompts, the results that contain them, and what a server declares.

use mcpwire_driver::protocol::{
    CallToolResult, CompleteResult, Era, GetPromptResult, Implementation, Json, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, PromptArgument, PromptMessage,
    ProtocolVersion, ReadResourceResult, Resource, ResourceTemplate, Role, ServerCapabilities, Tool, ToolAnnotations,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::basic::{icons, object_schema, parsed, value};
use super::{annotations, content_block, json_object, meta, name, resource_contents, since, text, uri};

const V03: ProtocolVersion = ProtocolVersion::V2025_03_26;
const V06: ProtocolVersion = ProtocolVersion::V2025_06_18;
const V11: ProtocolVersion = ProtocolVersion::V2025_11_25;

/// Generates the name, the version and the other details of a server or a client.
pub fn implementation(version: ProtocolVersion) -> impl Strategy<Value = Implementation> {
    let details = (since(version, V06, text()), since(version, V11, text()), since(version, V11, uri()));
    (name(), text(), details, icons(version)).prop_map(|(name, number, (title, description, website_url), icons)| {
        let mut implementation = Implementation::new(name, number);
        implementation.title = title;
        implementation.description = description;
        implementation.website_url = website_url;
        implementation.icons = icons;
        implementation
    })
}

/// Generates a tool. Its schemas are those of objects.
pub fn tool(version: ProtocolVersion) -> impl Strategy<Value = Tool> {
    let texts = (since(version, V06, text()), option::of(text()));
    let rest = (
        since(version, V06, object_schema()),
        since(version, V03, tool_annotations()),
        icons(version),
        since(version, V06, meta()),
    );
    (name(), object_schema(), texts, rest).prop_map(
        |(name, schema, (title, description), (output_schema, annotations, icons, meta))| {
            let mut tool = Tool::new(name, schema);
            (tool.title, tool.description, tool.output_schema) = (title, description, output_schema);
            (tool.annotations, tool.icons, tool.meta) = (annotations, icons, meta);
            tool
        },
    )
}

/// Generates the hints about the behaviour of a tool (from revision 2025-03-26).
pub fn tool_annotations() -> impl Strategy<Value = ToolAnnotations> + Clone {
    (option::of(text()), any::<[Option<bool>; 4]>()).prop_map(|(title, hints)| {
        let mut annotations = ToolAnnotations::default();
        annotations.title = title;
        [
            annotations.read_only_hint,
            annotations.destructive_hint,
            annotations.idempotent_hint,
            annotations.open_world_hint,
        ] = hints;
        annotations
    })
}

/// Generates the result of `tools/call`. Structured content is an object up to revision 2025-11-25, and any value after.
pub fn call_tool_result(version: ProtocolVersion) -> impl Strategy<Value = CallToolResult> {
    let any_value = version.era() == Era::Modern;
    let structured = since(
        version,
        V06,
        (json_object(), value()).prop_map(move |(object, value)| {
            // A client reads `null` as an absent member.
            if any_value && !value.is_null() { Json::from(value) } else { object }
        }),
    );
    (vec(content_block(version), 0..3), structured, any::<bool>(), option::of(meta())).prop_map(
        move |(content, structured, is_error, meta)| {
            let mut result = CallToolResult::from_iter(content);
            (result.structured_content, result.is_error, result.meta) = (structured, is_error, meta);
            if version.era() == Era::Modern {
                result.extra.push("resultType", Json::from(json!("complete")));
            }
            result
        },
    )
}

/// Generates a resource.
pub fn resource(version: ProtocolVersion) -> impl Strategy<Value = Resource> {
    let texts = (since(version, V06, text()), option::of(text()), option::of(text()));
    let rest =
        (option::of(0..1_000_000_u64), option::of(annotations(version)), icons(version), since(version, V06, meta()));
    (uri(), name(), texts, rest).prop_map(
        |(uri, name, (title, description, mime_type), (size, annotations, icons, meta))| {
            let mut resource = Resource::new(uri, name);
            (resource.title, resource.description, resource.mime_type) = (title, description, mime_type);
            (resource.size, resource.annotations, resource.icons, resource.meta) = (size, annotations, icons, meta);
            resource
        },
    )
}

/// Generates a resource template with one variable.
pub fn resource_template(version: ProtocolVersion) -> impl Strategy<Value = ResourceTemplate> {
    let texts = (since(version, V06, text()), option::of(text()), option::of(text()));
    let rest = (option::of(annotations(version)), icons(version), since(version, V06, meta()));
    (uri(), name(), texts, rest).prop_map(|(uri, name, (title, description, mime_type), (annotations, icons, meta))| {
        let mut template = ResourceTemplate::new(format!("{uri}/{{path}}"), name);
        (template.title, template.description, template.mime_type) = (title, description, mime_type);
        (template.annotations, template.icons, template.meta) = (annotations, icons, meta);
        template
    })
}

/// Generates a prompt with up to three arguments.
pub fn prompt(version: ProtocolVersion) -> impl Strategy<Value = Prompt> {
    let argument = (name(), since(version, V06, text()), option::of(text()), any::<bool>());
    let argument = argument.prop_map(|(name, title, description, required)| {
        let mut argument = PromptArgument::new(name);
        (argument.title, argument.description, argument.required) = (title, description, required);
        argument
    });
    let texts = (since(version, V06, text()), option::of(text()));
    (name(), texts, vec(argument, 0..4), icons(version), since(version, V06, meta())).prop_map(
        |(name, (title, description), arguments, icons, meta)| {
            let mut prompt = Prompt::new(name);
            (prompt.title, prompt.description, prompt.arguments) = (title, description, arguments);
            (prompt.icons, prompt.meta) = (icons, meta);
            prompt
        },
    )
}

/// Generates a message of a prompt.
pub fn prompt_message(version: ProtocolVersion) -> impl Strategy<Value = PromptMessage> {
    let role = select(vec![Role::User, Role::Assistant]);
    (role, content_block(version)).prop_map(|(role, content)| PromptMessage::new(role, content))
}

/// Sets the members that results have from revision 2026-07-28 on.
macro_rules! modern {
    ($version:ident, $result:ident) => {
        if $version.era() == Era::Modern {
            $result.result_type = Some("complete".into());
        }
    };
    ($version:ident, $result:ident, cacheable) => {
        modern!($version, $result);
        if $version.era() == Era::Modern {
            $result.ttl_ms = Some(0);
            $result.cache_scope = Some("private".into());
        }
    };
}

macro_rules! pages {
    ($( $(#[$meta:meta])* $name:ident($item:ident) -> $Result:ident; )*) => { $(
        $(#[$meta])*
        pub fn $name(version: ProtocolVersion) -> impl Strategy<Value = $Result> {
            (vec($item(version), 0..4), option::of(meta())).prop_map(move |(items, meta)| {
                let mut result = $Result::new(items);
                result.meta = meta;
                modern!(version, result, cacheable);
                result
            })
        }
    )* };
}

pages! {
    /// Generates the result of `tools/list`: the only page of a list of up to three tools. Names may occur twice.
    list_tools_result(tool) -> ListToolsResult;
    /// Generates the result of `resources/list`: the only page of a list of up to three resources.
    list_resources_result(resource) -> ListResourcesResult;
    /// Generates the result of `resources/templates/list`: the only page of a list of up to three resource templates.
    list_resource_templates_result(resource_template) -> ListResourceTemplatesResult;
    /// Generates the result of `prompts/list`: the only page of a list of up to three prompts.
    list_prompts_result(prompt) -> ListPromptsResult;
    /// Generates the result of `resources/read`.
    read_resource_result(resource_contents) -> ReadResourceResult;
}

/// Generates the result of `prompts/get`.
pub fn get_prompt_result(version: ProtocolVersion) -> impl Strategy<Value = GetPromptResult> {
    (vec(prompt_message(version), 0..3), option::of(text())).prop_map(move |(messages, description)| {
        let mut result = GetPromptResult::new(messages);
        result.description = description;
        modern!(version, result);
        result
    })
}

/// Generates the result of `completion/complete`.
pub fn complete_result(version: ProtocolVersion) -> impl Strategy<Value = CompleteResult> {
    (vec(text(), 0..5), option::of(5..1000_u64), any::<bool>()).prop_map(move |(values, total, has_more)| {
        let mut result = CompleteResult::default();
        result.completion.values = values;
        result.completion.total = total;
        result.completion.has_more = has_more;
        modern!(version, result);
        result
    })
}

/// Generates the capabilities of a server, which has tools.
pub fn server_capabilities(version: ProtocolVersion) -> impl Strategy<Value = ServerCapabilities> {
    let completions = since(version, V03, Just(json!({})));
    (any::<[bool; 6]>(), completions).prop_map(
        |([changes, logging, prompts, resources, subscribe, list], completions)| {
            let mut capabilities = json!({ "tools": if changes { json!({ "listChanged": true }) } else { json!({}) } });
            if logging {
                capabilities["logging"] = json!({});
            }
            if prompts {
                capabilities["prompts"] = json!({ "listChanged": list });
            }
            if resources {
                capabilities["resources"] = json!({ "listChanged": list, "subscribe": subscribe });
            }
            if let Some(completions) = completions {
                capabilities["completions"] = completions;
            }
            parsed(capabilities)
        },
    )
}

/// Generates the result of `initialize` (up to revision 2025-11-25).
pub fn initialize_result(version: ProtocolVersion) -> impl Strategy<Value = Json> {
    (server_capabilities(version), implementation(version), option::of(text())).prop_map(
        move |(capabilities, info, instructions)| {
            let mut result = Map::new();
            result.insert("protocolVersion".into(), version.as_str().into());
            result.insert("capabilities".into(), to_value(&capabilities));
            result.insert("serverInfo".into(), to_value(&info));
            result.extend(instructions.map(|text| ("instructions".to_owned(), text.into())));
            Json::from(result)
        },
    )
}

/// Generates the result of `server/discover` (from revision 2026-07-28).
pub fn discover_result(version: ProtocolVersion) -> impl Strategy<Value = Json> {
    (server_capabilities(version), implementation(version), option::of(text())).prop_map(
        move |(capabilities, info, instructions)| {
            let mut result = json!({
                "resultType": "complete",
                "supportedVersions": [version.as_str()],
                "capabilities": to_value(&capabilities),
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": { "io.modelcontextprotocol/serverInfo": to_value(&info) },
            });
            if let Some(instructions) = instructions {
                result["instructions"] = instructions.into();
            }
            Json::from(result)
        },
    )
}

/// Converts a value of the protocol, which always can be serialized.
pub(super) fn to_value(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("it is JSON")
}
