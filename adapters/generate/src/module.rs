//! [`Module`]: generates the source of a module from the tools of a server.

use std::fmt::Write as _;

use mcpwire_types::{Json, ListToolsResult, Tool};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::Value;
use syn::{Item, Path, parse_quote};

use crate::docs::{code, markdown, one_line};
use crate::error::Error;
use crate::fingerprint::head;
use crate::names::{FunctionNames, TypeNames};
use crate::schema::{Simple, simplify};
use crate::types::{doc_attributes, generate};

/// A Rust module for the tools of one server.
///
/// ```
/// use mcpwire_generate::Module;
///
/// let tools = r#"[{"name": "add", "description": "Adds two numbers.", "inputSchema": {"type": "object",
///     "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}}]"#;
/// let generated = Module::from_json(tools)?.server("calculator").generate();
/// assert!(generated.source.contains("pub async fn add"));
/// assert!(generated.untyped.is_empty());
/// # Ok::<(), mcpwire_generate::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Module {
    tools: Vec<Tool>,
    server: Option<String>,
    /// Path of the crate or module with the trait `ToolClient`, without white space.
    tool_client: String,
}

/// The source of a generated module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generated {
    /// The source, formatted. It has no inner attributes, so it can be a file of its own or be included with `include!`.
    pub source: String,
    /// The schemas without types of their own, with the reasons. The documentation of the module has them, too.
    pub untyped: Vec<Untyped>,
}

/// The arguments or the result of a tool that are plain JSON, because their schema has no equivalent in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Untyped {
    /// Name of the tool.
    pub tool: String,
    /// Why the schema has no type, such as `the schema of its arguments has no type: ...`.
    pub reason: String,
}

impl Module {
    /// Creates a module for these tools. Of several tools of one name, the first is used.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        let mut tools: Vec<Tool> = tools.into_iter().collect();
        // In the order of their names, so that the order of the server does not matter. The sort is stable.
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|second, first| second.name == first.name);
        Module { tools, server: None, tool_client: "::mcpwire::tool_client".into() }
    }

    /// Creates a module from a list of tools as JSON: the output of `mcpwire tools SERVER --json`, the result of `tools/list`, or an
    /// array of tools. Tools with invalid definitions are left out.
    ///
    /// # Errors
    /// If the text is not JSON, or contains no list of tools.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        let is_array = json.trim_start().starts_with('[');
        let json = Json::parse(if is_array { format!("{{\"tools\":{json}}}") } else { json.to_owned() });
        let list: Result<ListToolsResult, _> = json.and_then(|json| json.decode());
        let list = list.map_err(|error| Error::new(format!("it is not a list of tools: {error}")))?;
        Ok(Module::new(list.tools.items))
    }

    /// Sets the name of the server, which the head of the source mentions.
    pub fn server(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }

    /// Sets the path of the crate or module with the trait `ToolClient`, such as `::mcpwire_tool_client`. The default is
    /// `::mcpwire::tool_client`.
    ///
    /// # Errors
    /// If `path` is not a path in Rust.
    pub fn tool_client(mut self, path: &str) -> Result<Self, Error> {
        let path: Path =
            syn::parse_str(path).map_err(|error| Error::new(format!("`{path}` is not a path: {error}")))?;
        self.tool_client = quote!(#path).to_string().replace(' ', "");
        Ok(self)
    }

    /// Returns the tools of the module, in the order of their names.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Generates the source. The same tools always give the same source.
    pub fn generate(&self) -> Generated {
        let mut names = FunctionNames::default();
        let mut untyped = Vec::new();
        let (mut items, mut uses_error) = (Vec::new(), false);
        for tool in &self.tools {
            let generated = self.tool(tool, &names.add(&tool.name));
            untyped.extend(generated.reasons.into_iter().map(|reason| Untyped { tool: tool.name.clone(), reason }));
            uses_error |= generated.uses_error;
            items.extend(generated.items);
        }
        if !items.is_empty() {
            items.push(self.support());
        }
        if uses_error {
            items.push(error_module());
        }
        let body = prettyplease::unparse(&parse_quote!(#(#items)*));
        Generated { source: format!("{}\n{}", self.head(), spaced(&body)), untyped }
    }

    fn tool_client_path(&self) -> TokenStream {
        // It was parsed before, so it is valid.
        self.tool_client.parse().unwrap_or_default()
    }

    /// Returns the comment at the start of the source.
    fn head(&self) -> String {
        let server = self.server.as_ref().map_or_else(String::new, |server| {
            // A comment ends at the end of the line.
            let name: String = one_line(server, 100).chars().filter(char::is_ascii).collect();
            format!(" of the server `{name}`")
        });
        let mut comment = format!(
            "// @generated by mcpwire-generate from the tools{server}. Do not edit: generate it again.\n\
             //\n\
             // Each tool has a function, and a module of the same name with the types of its arguments and its result.\n\
             // It needs {}, and the crates `serde` (with the feature `derive`) and `serde_json`.\n\
             //\n",
            match self.tool_client.as_str() {
                "::mcpwire::tool_client" => "the crate `mcpwire` with the feature `tool-client`".to_owned(),
                path => format!("`{path}`"),
            }
        );
        comment.push_str(&head(&self.tools));
        comment
    }

    fn tool(&self, tool: &Tool, function: &str) -> GeneratedTool {
        let mut names = TypeNames::default();
        let mut generated = GeneratedTool::default();
        let arguments = generated.arguments(tool, &mut names);
        let output = generated.output(tool, &mut names);
        let (name, ident, path) = (&tool.name, format_ident!("{function}"), self.tool_client_path());
        let docs = doc_attributes(&function_docs(tool, output.is_some(), &generated.reasons));
        let call_docs = doc_attributes(&format!(
            "Calls the tool with options, such as a timeout. Otherwise as the function {}.",
            code(function)
        ));
        let types = &generated.types;
        let (parameter, outer_parameter, argument, value) = match arguments {
            Arguments::None => (quote!(), quote!(), quote!(), quote!(&::serde_json::Map::new())),
            Arguments::Some => (
                quote!(arguments: &Arguments,),
                quote!(arguments: &#ident::Arguments,),
                quote!(arguments,),
                quote!(arguments),
            ),
        };
        let (result, outer_result, decode) = match &output {
            Some(()) => {
                (quote!(Output), quote!(#ident::Output), quote!(super::support::structured(client, NAME, &result)))
            }
            None => (quote!(#path::types::CallToolResult), quote!(#path::types::CallToolResult), quote!(Ok(result))),
        };
        let use_error = generated.uses_error.then(|| {
            quote!(
                use super::error;
            )
        });
        let (allow, module_docs) = (allow(), doc_attributes(&format!("The types of the tool {}.", code(name))));
        generated.items = vec![
            parse_quote! {
                #(#docs)*
                #allow
                pub async fn #ident<C: #path::ToolClient + ?Sized>(
                    client: &C,
                    #outer_parameter
                ) -> ::std::result::Result<#outer_result, #path::ToolError> {
                    #ident::call_with(client, #argument #path::CallOptions::new()).await
                }
            },
            parse_quote! {
                #(#module_docs)*
                #allow
                pub mod #ident {
                    #use_error

                    /// Name of the tool in the protocol.
                    pub const NAME: &str = #name;

                    #(#types)*

                    #(#call_docs)*
                    pub async fn call_with<C: #path::ToolClient + ?Sized>(
                        client: &C,
                        #parameter
                        options: #path::CallOptions<'_>,
                    ) -> ::std::result::Result<#result, #path::ToolError> {
                        let result = super::support::call(client, NAME, #value, options).await?;
                        #decode
                    }
                }
            },
        ];
        generated
    }

    /// Returns the private functions that the functions of all tools use.
    fn support(&self) -> Item {
        let (allow, path) = (allow(), self.tool_client_path());
        parse_quote! {
            /// What the functions of all tools use.
            #allow
            mod support {
                use #path::types::{CallToolResult, Json, StructuredError, StructuredErrorKind};
                use #path::{CallOptions, ErrorKind, ToolClient, ToolError};

                /// Calls a tool. A result that says that the tool failed becomes an error.
                pub(super) async fn call<C: ToolClient + ?Sized, A: ::serde::Serialize>(
                    client: &C,
                    tool: &str,
                    arguments: &A,
                    options: CallOptions<'_>,
                ) -> ::std::result::Result<CallToolResult, ToolError> {
                    let arguments = Json::from_value(arguments).map_err(|error| {
                        ToolError::from_client(ErrorKind::Usage, error).with_tool(tool).with_server(client.server_name())
                    })?;
                    let result = client.call_tool_with(tool, &arguments, options).await?;
                    if result.is_error {
                        structured::<C, ::serde::de::IgnoredAny>(client, tool, &result)?;
                    }
                    Ok(result)
                }

                /// Decodes the structured content of a result.
                pub(super) fn structured<C: ToolClient + ?Sized, T: ::serde::de::DeserializeOwned>(
                    client: &C,
                    tool: &str,
                    result: &CallToolResult,
                ) -> ::std::result::Result<T, ToolError> {
                    result.structured::<T>().map_err(|error: StructuredError| {
                        let kind = match error.kind {
                            StructuredErrorKind::ToolFailed { .. } => ErrorKind::Tool,
                            _ => ErrorKind::Protocol,
                        };
                        ToolError::from_client(kind, error.of_tool(tool)).with_tool(tool).with_server(client.server_name())
                    })
                }
            }
        }
    }
}

/// Returns the attributes of each item: the names and the documentation come from the server, and a program may not use all tools.
fn allow() -> TokenStream {
    quote! {
        #[allow(clippy::all, clippy::nursery, clippy::pedantic)]
        #[allow(dead_code, missing_docs)]
        #[allow(unnameable_types, unreachable_pub, unused_qualifications)]
    }
}

/// Puts an empty line between items.
fn spaced(source: &str) -> String {
    let mut spaced = String::with_capacity(source.len() + source.len() / 16);
    let mut before = "";
    for line in source.lines() {
        let (code, code_before) = (line.trim_start(), before.trim_start());
        let is_item = ["///", "#[", "pub ", "mod ", "impl "].iter().any(|start| code.starts_with(start));
        let is_after_item = code_before == "}" || code_before.ends_with(';');
        if is_item && is_after_item && line.len() - code.len() == before.len() - code_before.len() {
            spaced.push('\n');
        }
        spaced.push_str(line);
        spaced.push('\n');
        before = line;
    }
    spaced
}

/// Returns the error type of the conversions that `typify` generates.
fn error_module() -> Item {
    let allow = allow();
    parse_quote! {
        /// The error of conversions from text.
        #allow
        pub mod error {
            /// The text is none of the values.
            #[derive(Debug)]
            pub struct ConversionError(&'static str);

            impl ::std::error::Error for ConversionError {}

            impl ::std::fmt::Display for ConversionError {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    f.write_str(self.0)
                }
            }

            impl ::std::convert::From<&'static str> for ConversionError {
                fn from(message: &'static str) -> Self {
                    ConversionError(message)
                }
            }
        }
    }
}

/// What is generated for one tool.
#[derive(Default)]
struct GeneratedTool {
    items: Vec<Item>,
    types: Vec<Item>,
    reasons: Vec<String>,
    uses_error: bool,
}

/// Whether the function of a tool takes arguments.
enum Arguments {
    None,
    Some,
}

impl GeneratedTool {
    fn arguments(&mut self, tool: &Tool, names: &mut TypeNames) -> Arguments {
        let schema = tool.input_schema.decode().unwrap_or(Value::Bool(true));
        if takes_nothing(&schema) {
            return Arguments::None;
        }
        let mut simple = simplify(&schema, "Arguments", names);
        simple.describe(&format!("The arguments of the tool {}.", code(&tool.name)));
        self.add("Arguments", &simple, "the schema of its arguments");
        Arguments::Some
    }

    /// Generates the type of the structured result. Returns `None` if the tool has none.
    fn output(&mut self, tool: &Tool, names: &mut TypeNames) -> Option<()> {
        let schema = tool.output_schema.as_ref()?.decode().unwrap_or(Value::Bool(true));
        let mut simple = simplify(&schema, "Output", names);
        simple.describe(&format!("The structured result of the tool {}.", code(&tool.name)));
        self.add("Output", &simple, "the schema of its result");
        Some(())
    }

    /// Adds the types of a schema, or plain JSON if it has none.
    fn add(&mut self, name: &str, simple: &Simple, what: &str) {
        let reason = if simple.is_untyped() {
            markdown(simple.reason().unwrap_or("it says nothing about the values"))
        } else {
            match generate(name, simple) {
                Ok(types) => {
                    self.types.extend(types.items);
                    self.uses_error |= types.uses_error;
                    return;
                }
                Err(reason) => markdown(&reason),
            }
        };
        let reason = format!("{what} has no type in Rust: {reason}");
        let docs = doc_attributes(&format!("Plain JSON, because {reason}."));
        let ident = format_ident!("{name}");
        let plain = if name == "Arguments" {
            quote!(::serde_json::Map<::std::string::String, ::serde_json::Value>)
        } else {
            quote!(::serde_json::Value)
        };
        self.types.push(parse_quote! { #(#docs)* pub type #ident = #plain; });
        self.reasons.push(reason);
    }
}

/// Returns whether a schema of arguments has none.
fn takes_nothing(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    schema.iter().all(|(key, value)| match key.as_str() {
        "$schema" | "title" | "description" | "$id" | "$comment" | "$defs" | "definitions" => true,
        "type" => value == "object",
        "properties" => value.as_object().is_some_and(serde_json::Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => value == &Value::Bool(false),
        _ => false,
    })
}

/// Returns the Markdown of the function of a tool.
fn function_docs(tool: &Tool, has_output: bool, reasons: &[String]) -> String {
    let title =
        Some(tool.display_name()).filter(|title| *title != tool.name).map(|title| markdown(&one_line(title, 100)));
    let described = tool.description.as_deref().map(markdown).filter(|text| !text.is_empty());
    let mut called = format!("Calls the tool {}", code(&tool.name));
    if let Some(title) = title {
        let _ = write!(called, ", \"{title}\"");
    }
    called.push('.');
    if let Some(hints) = hints(tool) {
        let _ = write!(called, " The server says that the tool {hints}.");
    }
    let mut paragraphs: Vec<String> = described.into_iter().chain([called]).collect();
    paragraphs.extend(reasons.iter().map(|reason| format!("Plain JSON, because {reason}.")));
    paragraphs.push("# Errors".into());
    let mismatch = if has_output {
        ", and of kind `Protocol` if its structured result is missing or not what the schema says"
    } else {
        ""
    };
    paragraphs.push(format!("Those of the client. Of kind `Tool` if the tool reports an error{mismatch}."));
    paragraphs.join("\n\n")
}

/// Returns what the annotations of a tool say, such as `only reads`, or `None` if they say nothing.
fn hints(tool: &Tool) -> Option<String> {
    let annotations = tool.annotations.as_ref()?;
    let is_read_only = annotations.read_only_hint == Some(true);
    let hints = [
        (is_read_only, "only reads"),
        (annotations.read_only_hint == Some(false), "changes something"),
        (!is_read_only && annotations.destructive_hint == Some(true), "may delete or overwrite data"),
        (!is_read_only && annotations.destructive_hint == Some(false), "deletes and overwrites nothing"),
        (
            !is_read_only && annotations.idempotent_hint == Some(true),
            "can be called again with the same arguments without further effect",
        ),
        (annotations.open_world_hint == Some(true), "uses external systems"),
        (annotations.open_world_hint == Some(false), "uses no external systems"),
    ];
    let hints: Vec<&str> = hints.into_iter().filter(|(holds, _)| *holds).map(|(_, hint)| hint).collect();
    match hints.as_slice() {
        [] => None,
        [only] => Some((*only).to_owned()),
        [others @ .., last] => Some(format!("{} and {last}", others.join(", "))),
    }
}
