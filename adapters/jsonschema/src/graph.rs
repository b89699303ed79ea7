//! A schema as a graph: its subschemas, and which of them each applies to what.
//!
//! References are resolved by the crate that `jsonschema` resolves them with, so both see the same graph.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use referencing::{Draft, Registry, Resolver, Uri, uri};
use serde_json::{Map, Value};

use crate::pattern::PatternCost;

/// The base of a schema that has no `$id`. `jsonschema` uses the same.
const DEFAULT_BASE: &str = "json-schema:///";

/// Bytes of text that make up one step of compiling: a compiled schema keeps copies.
pub(crate) const TEXT_PER_STEP: usize = 32;

pub(crate) type NodeId = usize;

/// A resource: a subschema with an `$id`, or the root.
pub(crate) type BaseId = usize;

/// A subschema, where dynamic references in it and below name the same targets.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// The values within its keywords, subschemas and what only describes left out.
    pub own: usize,
    /// The values within its keywords, subschemas left out; a long text counts as several.
    pub bulk: usize,
    /// The resource that it is part of.
    pub base: BaseId,
    /// The length of that resource's URI, with which its location starts.
    pub base_len: usize,
    /// What its `pattern` and other keywords for strings read of a string.
    pub text: PatternCost,
    /// What the patterns of `patternProperties` read of a member's name.
    pub names: PatternCost,
    /// What is applied to the same value.
    pub here: Vec<(Here, NodeId)>,
    pub properties: HashMap<String, NodeId>,
    pub pattern_properties: Vec<NodeId>,
    pub additional_properties: Option<NodeId>,
    pub property_names: Option<NodeId>,
    pub unevaluated_properties: Option<NodeId>,
    pub prefix_items: Vec<NodeId>,
    /// Applied to the elements after `prefix_items`.
    pub items: Option<NodeId>,
    pub contains: Option<NodeId>,
    pub unevaluated_items: Option<NodeId>,
    /// The subschemas that are written within this one, and the length of the path to them.
    pub within: Vec<(NodeId, usize)>,
}

/// How a subschema is applied to the value that its parent is applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    /// `$ref`, `$dynamicRef`, `$recursiveRef`.
    Reference,
    /// `allOf`, `if`, `then`, `else`.
    Branch,
    /// `anyOf`, `oneOf`: if none fits, there is an error for each.
    Choice,
    /// `dependentSchemas`, `dependencies`: if the value has this member.
    IfPresent(String),
    /// `not`: evaluates nothing for `unevaluatedProperties` and `unevaluatedItems`.
    Not,
}

/// The graph of a schema. Node 0 is the root.
#[derive(Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
}

/// What dynamic references name in a dynamic scope, as addresses of subschemas; 0 is none.
///
/// The first is the target of `$recursiveRef`, the others are those of `$dynamicRef` for each name in the schema. What a
/// reference leads to depends on the scope in no other way, and there are fewer of them than scopes.
type Targets = Rc<[usize]>;

/// Where a subschema is.
#[derive(Clone)]
struct Place<'r> {
    resolver: Resolver<'r>,
    draft: Draft,
    base: BaseId,
    targets: Targets,
}

struct Builder<'r> {
    nodes: Vec<Node>,
    pending: Vec<(&'r Value, Place<'r>)>,
    known: HashMap<(usize, BaseId, Targets), NodeId>,
    bases: HashMap<Arc<Uri<String>>, BaseId>,
    /// The names that `$dynamicAnchor` gives.
    dynamic_names: Vec<String>,
}

impl Graph {
    /// Builds the graph of `schema`, if it has at most `max_nodes` nodes.
    pub(crate) fn new(schema: &Value, max_nodes: usize) -> Result<Self, String> {
        let draft = Draft::default().detect(schema);
        let root = draft.create_resource_ref(schema);
        let base = uri::from_str(root.id().unwrap_or(DEFAULT_BASE).trim_end_matches('#')).map_err(|e| e.to_string())?;
        let registry = Registry::new().draft(draft).add(base.as_str(), root).map_err(|e| e.to_string())?;
        let registry = registry.prepare().map_err(|e| e.to_string())?;
        // The schemas of the specification use this one.
        let mut names = BTreeSet::from(["meta"]);
        dynamic_names(schema, &mut names);
        let mut builder = Builder {
            nodes: Vec::new(),
            pending: Vec::new(),
            known: HashMap::new(),
            bases: HashMap::new(),
            dynamic_names: names.into_iter().map(str::to_owned).collect(),
        };
        let targets = vec![0; builder.dynamic_names.len() + 1].into();
        let place = Place { resolver: registry.resolver(base), draft, base: 0, targets };
        builder.node(schema, &place.resolver, draft, &place);
        let mut next = 0;
        while next < builder.pending.len() {
            if builder.pending.len() > max_nodes {
                return Err(format!("it has more than {max_nodes} parts in all the ways that lead to them"));
            }
            builder.expand(next);
            next += 1;
        }
        Ok(Graph { nodes: builder.nodes })
    }
}

/// Collects the names that dynamic references may use.
fn dynamic_names<'v>(value: &'v Value, names: &mut BTreeSet<&'v str>) {
    match value {
        Value::Object(members) => {
            names.extend(members.get("$dynamicAnchor").and_then(Value::as_str));
            members.values().for_each(|member| dynamic_names(member, names));
        }
        Value::Array(elements) => elements.iter().for_each(|element| dynamic_names(element, names)),
        _ => {}
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

impl<'r> Builder<'r> {
    /// Returns the node of a subschema, and adds it if it is new. It is named, or written, in `from`.
    fn node(&mut self, contents: &'r Value, resolver: &Resolver<'r>, draft: Draft, from: &Place<'r>) -> NodeId {
        let resource = draft.create_resource_ref(contents);
        let resolver = resolver.in_subresource(resource).unwrap_or_else(|_| resolver.clone());
        let mut place = Place { resolver, draft, ..from.clone() };
        let base = place.resolver.base_uri();
        let base_len = base.as_str().len();
        if self.nodes.is_empty() || !Arc::ptr_eq(&base, &from.resolver.base_uri()) {
            let new = self.bases.len();
            place.base = *self.bases.entry(base).or_insert(new);
            place.targets = self.targets(&place);
        }
        let new = self.nodes.len();
        let id = *self.known.entry((address(contents), place.base, Rc::clone(&place.targets))).or_insert(new);
        if id == new {
            self.nodes.push(Node { own: 1, bulk: 1, base: place.base, base_len, ..Node::default() });
            self.pending.push((contents, place));
        }
        id
    }

    /// Returns what dynamic references name within a resource that was entered.
    fn targets(&self, place: &Place<'r>) -> Targets {
        let recursive = place.resolver.lookup_recursive_ref().map_or(0, |found| address(found.contents()));
        let dynamic = self.dynamic_names.iter().zip(&place.targets[1..]).map(|(name, outer)| {
            let found = || place.resolver.lookup(&format!("#{name}")).map_or(0, |found| address(found.contents()));
            if *outer == 0 { found() } else { *outer }
        });
        std::iter::once(recursive).chain(dynamic).collect()
    }

    /// Adds the node that a reference names. One that names nothing is an error when the schema is compiled.
    fn target(&mut self, keyword: &str, value: &Value, from: &Place<'r>) -> Option<NodeId> {
        let found = match keyword {
            "$recursiveRef" => from.resolver.lookup_recursive_ref(),
            _ => from.resolver.lookup(value.as_str()?),
        };
        let (contents, resolver, draft) = found.ok()?.into_inner();
        Some(self.node(contents, &resolver, draft.detect(contents), from))
    }

    fn expand(&mut self, id: NodeId) {
        let (contents, ref from) = self.pending[id];
        let (Value::Object(schema), from) = (contents, from.clone()) else { return };
        let mut node = std::mem::take(&mut self.nodes[id]);
        let legacy = matches!(from.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        if let Some(reference) = schema.get("$ref").filter(|_| legacy) {
            // Drafts 4 to 7 ignore what is beside a reference.
            node.here.extend(self.target("$ref", reference, &from).map(|target| (Here::Reference, target)));
        } else {
            for (keyword, value) in schema {
                self.keyword(&mut node, keyword, value, &from);
            }
            self.array_keywords(&mut node, schema, &from);
        }
        self.nodes[id] = node;
    }

    /// Adds a subschema that is written within `node`, at a path of about `path` bytes.
    fn within(&mut self, node: &mut Node, value: &'r Value, from: &Place<'r>, path: usize) -> NodeId {
        let id = self.node(value, &from.resolver, from.draft.detect(value), from);
        node.within.push((id, path));
        id
    }

    fn keyword(&mut self, node: &mut Node, keyword: &str, value: &'r Value, from: &Place<'r>) {
        let path = keyword.len() + 1;
        node.bulk += 1 + path / TEXT_PER_STEP;
        match (keyword, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                node.here.extend(self.target(keyword, value, from).map(|target| (Here::Reference, target)));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                let how = if keyword == "allOf" { Here::Branch } else { Here::Choice };
                for branch in branches {
                    let id = self.within(node, branch, from, path + 4);
                    node.here.push((how.clone(), id));
                }
            }
            ("if" | "then" | "else", _) => {
                let id = self.within(node, value, from, path);
                node.here.push((Here::Branch, id));
            }
            ("not", _) => {
                let id = self.within(node, value, from, path);
                node.here.push((Here::Not, id));
            }
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                for (member, schema) in schemas {
                    if schema.is_array() {
                        node.own += count(schema);
                        node.bulk += bulk(schema);
                    } else {
                        let id = self.within(node, schema, from, path + member.len() + 1);
                        node.here.push((Here::IfPresent(member.clone()), id));
                    }
                }
            }
            ("properties", Value::Object(schemas)) => {
                for (member, schema) in schemas {
                    let id = self.within(node, schema, from, path + member.len() + 1);
                    node.properties.insert(member.clone(), id);
                }
            }
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, schema) in schemas {
                    let id = self.within(node, schema, from, path + pattern.len() + 1);
                    node.pattern_properties.push(id);
                    node.names.add(PatternCost::of(pattern));
                }
            }
            ("additionalProperties", _) => node.additional_properties = Some(self.within(node, value, from, path)),
            ("propertyNames", _) => node.property_names = Some(self.within(node, value, from, path)),
            ("unevaluatedProperties", _) => node.unevaluated_properties = Some(self.within(node, value, from, path)),
            ("contains", _) => node.contains = Some(self.within(node, value, from, path)),
            ("unevaluatedItems", _) => node.unevaluated_items = Some(self.within(node, value, from, path)),
            // Compiled, and applied to nothing.
            ("contentSchema", _) => _ = self.within(node, value, from, path),
            ("pattern", Value::String(pattern)) => node.text.add(PatternCost::of(pattern)),
            ("minLength" | "maxLength" | "format" | "contentEncoding" | "contentMediaType", _) => {
                node.own += 1;
                node.text.add(PatternCost::ONE_PASS);
            }
            // Seen where they are referred to, or in `array_keywords`.
            ("$defs" | "definitions" | "items" | "prefixItems" | "additionalItems", _) => {}
            ("title" | "description" | "default" | "examples" | "$comment" | "$schema" | "$id", _) => {
                node.bulk += bulk(value);
            }
            _ => {
                node.own += count(value);
                node.bulk += bulk(value);
            }
        }
    }

    /// The keywords for elements, which say in two ways which elements are listed one by one.
    fn array_keywords(&mut self, node: &mut Node, schema: &'r Map<String, Value>, from: &Place<'r>) {
        let listed = [schema.get("prefixItems"), schema.get("items")];
        for element in listed.into_iter().flatten().filter_map(Value::as_array).flatten() {
            let id = self.within(node, element, from, "/prefixItems/".len() + 4);
            node.prefix_items.push(id);
        }
        let rest = match schema.get("items") {
            Some(Value::Array(_)) => schema.get("additionalItems"),
            items => items,
        };
        node.items = rest.map(|rest| self.within(node, rest, from, "/additionalItems".len()));
    }
}

/// Returns the number of values that a value is made of, where a long text counts as several.
fn bulk(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / TEXT_PER_STEP,
        Value::Array(elements) => 1 + elements.iter().map(bulk).sum::<usize>(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| 1 + name.len() / TEXT_PER_STEP + bulk(value)).sum()
        }
        _ => 1,
    }
}

/// Returns the number of values that a value is made of, itself included.
///
/// Its depth was bounded when it was read.
pub(crate) fn count(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}
