//! Constructors of what servers send: for programs that implement `ToolClient`, that pass on messages, or that fake a server in
//! their tests.
//!
//! The structs are `non_exhaustive`, so other crates cannot write them as literals. A `new` takes the members that the
//! specification requires, the `with_` methods set the usual others, and the fields are public for the rest.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::{
    AudioContent, CallToolResult, ContentBlock, EmbeddedResource, GetPromptResult, ImageContent, Progress, Prompt,
    PromptArgument, PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceLink, ResourceTemplate,
    Role, TextContent, Tool, ToolAnnotations,
};
use mcpwire_text::json::{Json, JsonError, JsonText, Number};

impl Tool {
    /// Creates a tool with a name and the JSON Schema of its arguments, which must be a JSON object.
    ///
    /// `null` stands for `{"type":"object"}`, as in a tool that a server sends. A client rejects a tool with any other schema that
    /// is not an object, or with an empty name.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::Tool; } }
    /// use mcpwire::types::Tool;
    /// use serde_json::json;
    ///
    /// let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    /// let tool = Tool::new("weather", schema).with_description("Returns the weather of a city.");
    /// assert_eq!(tool.display_name(), "weather");
    /// ```
    pub fn new(name: impl Into<String>, input_schema: impl Into<Json>) -> Self {
        let input_schema = match input_schema.into() {
            null if null.get() == "null" => Json::trusted(r#"{"type":"object"}"#),
            schema => schema,
        };
        Tool { name: name.into(), input_schema, ..Tool::default() }
    }
}

impl CallToolResult {
    /// Creates the result of a tool that succeeded, with one content block, such as a text. [`CallToolResult::with_content`] adds
    /// more blocks.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{CallToolResult, ContentBlock}; } }
    /// use mcpwire::types::{CallToolResult, ContentBlock};
    ///
    /// let result = CallToolResult::success("a map").with_content(ContentBlock::image("AAAA", "image/png"));
    /// assert_eq!(result.text(), "a map");
    /// assert!(!result.is_error);
    /// ```
    pub fn success(content: impl Into<ContentBlock>) -> Self {
        CallToolResult { content: Vec::from([content.into()]), ..CallToolResult::default() }
    }

    /// Creates the result of a tool that failed. The content describes the failure, so that the language model can react.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::CallToolResult; } }
    /// use mcpwire::types::CallToolResult;
    ///
    /// assert!(CallToolResult::failure("there is no city of this name").is_error);
    /// ```
    pub fn failure(content: impl Into<ContentBlock>) -> Self {
        CallToolResult { is_error: true, ..CallToolResult::success(content) }
    }

    /// Creates the result of a tool with an output schema: structured content, and the same JSON as a text block for clients that
    /// ignore structured content (specification: server/tools, "Structured Content").
    ///
    /// Up to protocol revision 2025-11-25, the value must serialize as a JSON object. Use [`CallToolResult::structured`] for the
    /// opposite direction.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::CallToolResult; } }
    /// use mcpwire::types::CallToolResult;
    ///
    /// let result = CallToolResult::from_structured(&serde_json::json!({ "temperature": 22.5 }))?;
    /// assert_eq!(result.structured_content.as_ref().unwrap().get(), r#"{"temperature":22.5}"#);
    /// assert_eq!(result.text(), r#"{"temperature":22.5}"#);
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// If the value cannot be serialized as JSON, for example because a key of a map is no string.
    pub fn from_structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        let json = Json::from_value(value)?;
        Ok(CallToolResult { structured_content: Some(json.clone()), ..CallToolResult::success(json.get()) })
    }

    /// Adds a content block.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<ContentBlock>) -> Self {
        self.content.push(content.into());
        self
    }
}

impl FromIterator<ContentBlock> for CallToolResult {
    /// Creates the result of a tool that succeeded, with any number of content blocks.
    fn from_iter<I: IntoIterator<Item = ContentBlock>>(blocks: I) -> Self {
        CallToolResult { content: blocks.into_iter().collect(), ..CallToolResult::default() }
    }
}

impl ContentBlock {
    /// Creates a block with a text.
    pub fn text(text: impl Into<String>) -> Self {
        ContentBlock::from(text.into())
    }

    /// Creates a block with an image in base64. `mime_type` is for example `image/png`.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent::new(data, mime_type).into()
    }

    /// Creates a block with audio data in base64. `mime_type` is for example `audio/wav`.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        AudioContent::new(data, mime_type).into()
    }

    /// Creates a block that links to a resource.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
    }

    /// Creates a block with an embedded resource.
    pub fn resource(contents: ResourceContents) -> Self {
        EmbeddedResource::new(contents).into()
    }
}

impl EmbeddedResource {
    /// Creates a content block from the contents of a resource.
    pub fn new(resource: ResourceContents) -> Self {
        EmbeddedResource { resource, ..EmbeddedResource::default() }
    }
}

impl ResourceContents {
    /// Creates text contents of the resource `uri`. The MIME type is `None`.
    pub fn from_text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        ResourceContents { uri: uri.into(), text: Some(text.into()), ..ResourceContents::default() }
    }

    /// Creates binary contents of the resource `uri` from base64. The MIME type is `None`.
    ///
    /// With the feature `base64`, `from_bytes` encodes the data.
    pub fn from_blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        ResourceContents { uri: uri.into(), blob: Some(base64.into()), ..ResourceContents::default() }
    }
}

impl ReadResourceResult {
    /// Creates a result with the contents of a resource.
    pub fn new(contents: impl IntoIterator<Item = ResourceContents>) -> Self {
        ReadResourceResult { contents: contents.into_iter().collect(), ..ReadResourceResult::default() }
    }
}

impl Prompt {
    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

impl PromptArgument {
    /// Creates an argument that clients must pass.
    pub fn required(name: impl Into<String>) -> Self {
        PromptArgument { required: true, ..PromptArgument::new(name) }
    }
}

impl PromptMessage {
    /// Creates a message of a prompt.
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        PromptMessage { role, content: content.into(), ..PromptMessage::default() }
    }
}

impl GetPromptResult {
    /// Creates a result with the messages of a prompt.
    pub fn new(messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        GetPromptResult { messages: messages.into_iter().collect(), ..GetPromptResult::default() }
    }
}

/// Implements functions that create an object from the values of some fields. All other fields are empty.
macro_rules! constructors {
    ($( $(#[$meta:meta])* $Type:ident::$name:ident($($field:ident: $ty:ty),*); )*) => { $(
        impl $Type {
            $(#[$meta])*
            pub fn $name($($field: impl Into<$ty>),*) -> Self {
                $Type { $($field: $field.into(),)* ..$Type::default() }
            }
        }
    )* };
}

constructors! {
    /// Creates a content block with this text.
    TextContent::new(text: String);
    /// Creates a content block from an image in base64 and the MIME type.
    ///
    /// With the feature `base64`, `from_bytes` encodes the data, `bytes` decodes it, and `data_url` converts it to a
    /// `data:` URL.
    ImageContent::new(data: String, mime_type: String);
    /// Creates a content block from audio data in base64 and the MIME type.
    ///
    /// With the feature `base64`, `from_bytes` encodes the data, `bytes` decodes it, and `data_url` converts it to a
    /// `data:` URL.
    AudioContent::new(data: String, mime_type: String);
    /// Creates a link to a resource. All other fields are empty.
    ResourceLink::new(uri: String, name: String);
    /// Creates a resource with its URI and its name. All other fields are empty.
    Resource::new(uri: String, name: String);
    /// Creates a resource template with a URI template in the syntax of RFC 6570 and its name. All other fields are empty.
    ResourceTemplate::new(uri_template: String, name: String);
    /// Creates a prompt without arguments. All other fields are empty.
    Prompt::new(name: String);
    /// Creates an optional argument of a prompt.
    PromptArgument::new(name: String);
    /// Creates a report of progress without a total. The unit is the choice of the server.
    Progress::new(progress: Number);
}

/// Implements methods that set one field and return the object.
macro_rules! setters {
    ($( $Type:ident { $( $(#[$meta:meta])* $name:ident($field:ident: $ty:ty) = $value:expr; )* } )*) => { $(
        impl $Type { $(
            $(#[$meta])*
            #[must_use]
            pub fn $name(mut self, $field: $ty) -> Self {
                self.$field = $value;
                self
            }
        )* }
    )* };
}

setters! {
    Tool {
        /// Sets the display name.
        with_title(title: impl Into<String>) = Some(title.into());
        /// Sets the description, which helps language models to use the tool.
        with_description(description: impl Into<String>) = Some(description.into());
        /// Sets the JSON Schema of the structured content that results of the tool have.
        with_output_schema(output_schema: impl Into<Json>) = Some(output_schema.into());
        /// Sets the hints about the behaviour of the tool.
        with_annotations(annotations: ToolAnnotations) = Some(annotations);
        /// Sets the additional metadata (`_meta`), which must be an object.
        with_meta(meta: impl Into<Json>) = Some(meta.into());
    }
    ToolAnnotations {
        /// Sets whether the tool only reads.
        with_read_only_hint(read_only_hint: bool) = Some(read_only_hint);
        /// Sets whether the tool may delete or overwrite data.
        with_destructive_hint(destructive_hint: bool) = Some(destructive_hint);
        /// Sets whether repeated calls with the same arguments have no further effect.
        with_idempotent_hint(idempotent_hint: bool) = Some(idempotent_hint);
        /// Sets whether the tool interacts with external systems.
        with_open_world_hint(open_world_hint: bool) = Some(open_world_hint);
    }
    CallToolResult {
        /// Sets the metadata of the result (`_meta`), which must be an object.
        with_meta(meta: impl Into<Json>) = Some(meta.into());
    }
    ResourceContents {
        /// Sets the MIME type, such as `text/plain`.
        with_mime_type(mime_type: impl Into<String>) = Some(mime_type.into());
    }
    ResourceLink {
        /// Sets the description, which helps language models to understand the resource.
        with_description(description: impl Into<String>) = Some(description.into());
        /// Sets the MIME type, such as `text/plain`.
        with_mime_type(mime_type: impl Into<String>) = Some(mime_type.into());
    }
    Resource {
        /// Sets the display name.
        with_title(title: impl Into<String>) = Some(title.into());
        /// Sets the description, which helps language models to understand the contents.
        with_description(description: impl Into<String>) = Some(description.into());
        /// Sets the MIME type, such as `text/plain`.
        with_mime_type(mime_type: impl Into<String>) = Some(mime_type.into());
        /// Sets the size of the contents in bytes, before base64 encoding.
        with_size(size: u64) = Some(size);
    }
    ResourceTemplate {
        /// Sets the display name.
        with_title(title: impl Into<String>) = Some(title.into());
        /// Sets the description, which helps language models to understand the contents.
        with_description(description: impl Into<String>) = Some(description.into());
        /// Sets the MIME type of all resources that match the template.
        with_mime_type(mime_type: impl Into<String>) = Some(mime_type.into());
    }
    Prompt {
        /// Sets the display name.
        with_title(title: impl Into<String>) = Some(title.into());
        /// Sets the description of the prompt's purpose.
        with_description(description: impl Into<String>) = Some(description.into());
    }
    PromptArgument {
        /// Sets the description.
        with_description(description: impl Into<String>) = Some(description.into());
    }
    GetPromptResult {
        /// Sets the description of the prompt.
        with_description(description: impl Into<String>) = Some(description.into());
    }
    Progress {
        /// Sets the value that `progress` will have when the request is complete.
        with_total(total: impl Into<Number>) = Some(total.into());
        /// Sets the description of the current step, for display.
        with_message(message: impl Into<String>) = Some(message.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ListToolsResult;

    /// Asserts that a client reads the value as it was created, and as the specification's example writes it.
    fn assert_written<T>(value: &T, expected: &serde_json::Value)
    where
        T: Serialize + PartialEq + core::fmt::Debug + for<'a> serde::Deserialize<'a>,
    {
        let json = Json::from_value(value).unwrap();
        assert_eq!(json.decode::<serde_json::Value>().unwrap(), *expected);
        assert_eq!(json.decode::<T>().unwrap(), *value);
    }

    #[test]
    fn tools_are_written_as_servers_send_them() {
        let schema = json!({ "type": "object", "required": ["a"] });
        let tool = Tool::new("t", schema.clone())
            .with_title("T")
            .with_description("d")
            .with_output_schema(schema.clone())
            .with_annotations(ToolAnnotations::default().with_read_only_hint(true).with_open_world_hint(false))
            .with_meta(json!({ "k": 1 }));
        assert_written(
            &tool,
            &json!({ "name": "t", "title": "T", "description": "d", "inputSchema": schema, "outputSchema": schema,
                "annotations": { "readOnlyHint": true, "openWorldHint": false }, "_meta": { "k": 1 } }),
        );
        let page = ListToolsResult::new([tool.clone()]).with_next_cursor("2");
        assert_eq!((page.tools.items, page.next_cursor.as_deref()), (Vec::from([tool]), Some("2")));
    }

    #[test]
    fn a_tool_without_arguments_has_a_schema() {
        assert_written(&Tool::new("t", Json::default()), &json!({ "name": "t", "inputSchema": { "type": "object" } }));
    }

    #[test]
    fn results_have_the_blocks_in_their_order() {
        let text = ResourceContents::from_text("file:///a", "x").with_mime_type("text/plain");
        let result = CallToolResult::failure("no")
            .with_content(ContentBlock::image("AAAA", "image/png"))
            .with_content(ContentBlock::audio("AAAA", "audio/wav"))
            .with_content(ContentBlock::resource_link("file:///a", "a"))
            .with_content(ContentBlock::resource(text))
            .with_content(ContentBlock::resource(ResourceContents::from_blob("file:///b", "AAAA")))
            .with_meta(json!({ "k": 1 }));
        let content = json!([
            { "type": "text", "text": "no" },
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "resource_link", "uri": "file:///a", "name": "a" },
            { "type": "resource", "resource": { "uri": "file:///a", "mimeType": "text/plain", "text": "x" } },
            { "type": "resource", "resource": { "uri": "file:///b", "blob": "AAAA" } },
        ]);
        assert_written(&result, &json!({ "content": content, "isError": true, "_meta": { "k": 1 } }));
    }

    #[test]
    fn structured_content_is_also_a_text() {
        let value = json!({ "rows": [1, "two"] });
        let content = json!([{ "type": "text", "text": "{\"rows\":[1,\"two\"]}" }]);
        let result = CallToolResult::from_structured(&value).unwrap();
        assert_written(&result, &json!({ "content": content, "structuredContent": value, "isError": false }));
        assert_eq!(result.structured::<serde_json::Value>().unwrap(), value);
    }

    #[test]
    fn prompts_and_resources_are_written_as_servers_send_them() {
        let argument = PromptArgument::required("code").with_description("c");
        assert_written(
            &Prompt::new("review").with_description("r").with_argument(argument),
            &json!({ "name": "review", "description": "r",
                "arguments": [{ "name": "code", "description": "c", "required": true }] }),
        );
        assert_written(
            &GetPromptResult::new([PromptMessage::new(Role::Assistant, "hi")]).with_description("d"),
            &json!({ "description": "d",
                "messages": [{ "role": "assistant", "content": { "type": "text", "text": "hi" } }] }),
        );
        assert_written(
            &Resource::new("file:///a", "a").with_mime_type("text/plain").with_size(3),
            &json!({ "uri": "file:///a", "name": "a", "mimeType": "text/plain", "size": 3 }),
        );
        assert_written(
            &ResourceTemplate::new("file:///{path}", "files").with_title("F"),
            &json!({ "uriTemplate": "file:///{path}", "name": "files", "title": "F" }),
        );
        let read = ReadResourceResult::new([ResourceContents::from_text("file:///a", "x")]);
        let read = Json::from_value(&read).unwrap();
        assert_eq!(read.get(), r#"{"contents":[{"uri":"file:///a","text":"x"}]}"#);
        assert_written(
            &Progress::new(0.5).with_total(2.0).with_message("m"),
            &json!({ "progress": 0.5, "total": 2.0, "message": "m" }),
        );
    }
}
