//! Whatever a server sends, the module is valid Rust, the same each time, and its documentation is text.

use std::fs;

use mcpwire_generate::{Module, changes};
use proptest::prelude::*;
use proptest::sample::select;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};
use serde_json::{Map, Value, json};
use syn::visit_mut::VisitMut;

/// Texts that mean something in Rust, in Markdown, in JSON Schema or on a terminal.
const TEXTS: [&str; 20] = [
    "a",
    "a_b",
    "a-b",
    "type",
    "Self",
    "3d",
    "größe",
    "",
    "```rust\nfn\n```",
    "    code",
    "*/ /*",
    "\"\"\"",
    "[Vec]",
    "<b>",
    "\u{202e}\u{0}",
    "https://a.example/b",
    "- x\n\n      y",
    "~~~",
    "\\",
    "#[x]",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(&TEXTS[..]).prop_map(str::to_owned),
        prop::collection::vec(select(&TEXTS[..]), 0..4).prop_map(|texts| texts.join("\n")),
        any::<String>(),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(&["string", "integer", "number", "boolean", "null", "object", "array", "strange"][..])
            .prop_map(|name| json!({ "type": name })),
        prop::collection::vec(text(), 0..4).prop_map(|texts| json!({ "enum": texts })),
        text().prop_map(|text| json!({ "const": text })),
        select(&["#", "#/$defs/A", "#/$defs/B", "#/properties/a", "#/nowhere", "https://a.example/"][..])
            .prop_map(|target| json!({ "$ref": target })),
        any::<bool>().prop_map(Value::Bool),
        Just(json!(7)),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (object(inner.clone()), text()).prop_map(|(mut object, text)| {
                object["description"] = text.into();
                object
            }),
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            inner.clone().prop_map(|values| json!({ "type": "object", "additionalProperties": values })),
            (select(&["anyOf", "oneOf", "allOf", "prefixItems"][..]), list)
                .prop_map(|(key, list)| json!({ key: list })),
            (inner, text()).prop_map(|(mut schema, text)| {
                if let Some(keywords) = schema.as_object_mut() {
                    keywords.extend([("title".to_owned(), json!(text)), ("default".to_owned(), json!(text))]);
                }
                schema
            }),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let properties = prop::collection::btree_map(text(), inner, 0..5);
    (properties, prop::collection::vec(select(&TEXTS[..]), 0..3)).prop_map(|(properties, required)| {
        json!({ "type": "object", "properties": properties.into_iter().collect::<Map<_, _>>(), "required": required })
    })
}

fn root() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(mut root, a, b)| {
        if let Some(keywords) = root.as_object_mut() {
            keywords.insert("$defs".into(), json!({ "A": a, "B": b }));
        }
        root
    })
}

fn tools() -> impl Strategy<Value = Vec<Value>> {
    let tool = (text(), text(), root(), prop::option::of(root())).prop_map(|(name, description, input, output)| {
        // A schema of arguments that is no object would be another kind of wrong.
        let input = if input.is_object() { input } else { json!({}) };
        let mut tool = json!({ "name": format!("x{name}"), "title": description, "description": description, "inputSchema": input });
        if let Some(output) = output {
            tool["outputSchema"] = output;
        }
        tool
    });
    prop::collection::vec(tool, 1..4)
}

/// Generates the module, and checks its source.
fn check(json: &str) {
    let module = Module::from_json(json).unwrap();
    let source = module.generate().source;
    assert_eq!(source, module.generate().source);
    let mut file = syn::parse_file(&source).unwrap_or_else(|error| panic!("{error}:\n{source}"));
    // What changes the direction of text is an error of `rustc`, also in comments.
    let is_bidi = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!source.contains(|c: char| is_bidi(c) || c == '\0' || c == '\r'), "{source}");
    assert!(changes(&source, module.tools()).unwrap().is_empty());
    let mut functions = 0;
    for item in &mut file.items {
        Docs.visit_item_mut(item);
        functions += usize::from(matches!(item, syn::Item::Fn(_)));
    }
    assert_eq!(functions, module.tools().len());
}

/// Checks the documentation of each item with the parser that `rustdoc` uses.
struct Docs;

impl VisitMut for Docs {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
        let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(meta) => match &meta.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        });
        let markdown = lines.collect::<Vec<_>>().join("\n");
        for event in Parser::new_ext(&markdown, Options::all()) {
            match event {
                Event::Html(_)
                | Event::InlineHtml(_)
                | Event::Start(Tag::CodeBlock(_) | Tag::Image { .. } | Tag::HtmlBlock | Tag::FootnoteDefinition(_)) => {
                    panic!("{event:?}: {markdown}")
                }
                Event::Start(Tag::Link { link_type, .. }) => assert_eq!(link_type, LinkType::Autolink, "{markdown}"),
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_module_of_random_tools_is_valid(tools in tools()) {
        check(&Value::from(tools).to_string());
    }
}

#[test]
fn a_module_of_odd_tools_is_valid() {
    for file in ["demo.json", "odd.json"] {
        let path = format!("{}/tests/tools/{file}", env!("CARGO_MANIFEST_DIR"));
        check(&fs::read_to_string(path).unwrap());
    }
}
