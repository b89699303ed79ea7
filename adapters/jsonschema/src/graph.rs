//! [`Graph`]: the subschemas of a schema, and which subschemas each of them applies. The cost of a validation is computed from
//! it.
//!
//! References are resolved with the crate `referencing`. The crate `jsonschema` uses it, too, so both resolve a reference
//! equally.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use referencing::{Draft, Registry, Resolver, Uri, uri};
use serde_json::{Map, Value};

use crate::pattern::PatternCost;

/// The base URI of a schema without `$id`. The crate `jsonschema` uses the same URI.
const DEFAULT_BASE: &str = "json-schema:///";

/// Number of bytes of text that count as one step of the compilation. Text counts, because a compiled schema contains copies of
/// it.
pub(crate) const TEXT_PER_STEP: usize = 32;

pub(crate) type NodeId = usize;

/// The number of a schema resource: a subschema with an `$id`, or the root.
pub(crate) type BaseId = usize;

/// A subschema in one dynamic scope. A subschema that is used in several scopes has several nodes, because the targets of its
/// dynamic references can differ.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Number of JSON values in the keywords of the subschema, without nested subschemas and annotations.
    pub evaluation_size: usize,
    /// Number of JSON values in the keywords of the subschema, without nested subschemas. A long text counts as several values.
    pub compiled_size: usize,
    /// The schema resource that contains this subschema.
    pub base: BaseId,
    /// The length of the URI of the resource, in bytes. The location of the subschema starts with this URI.
    pub base_len: usize,
    /// The cost of `pattern` and the other keywords for strings, such as `maxLength`.
    pub string_patterns: PatternCost,
    /// The cost of matching a property name with the patterns of `patternProperties`.
    pub property_patterns: PatternCost,
    /// The subschemas that this subschema applies to the same value, for example with `allOf` or `$ref` (in-place applicators).
    pub in_place: Vec<(Applicator, NodeId)>,
    pub properties: HashMap<String, NodeId>,
    pub pattern_properties: Vec<NodeId>,
    pub additional_properties: Option<NodeId>,
    pub property_names: Option<NodeId>,
    pub unevaluated_properties: Option<NodeId>,
    pub prefix_items: Vec<NodeId>,
    /// The subschema that is applied to the elements after those of `prefix_items`.
    pub items: Option<NodeId>,
    pub contains: Option<NodeId>,
    pub unevaluated_items: Option<NodeId>,
    /// The subschemas that this subschema contains, each with the length of the path to it, in bytes.
    pub nested: Vec<(NodeId, usize)>,
}

/// The keyword with which a subschema is applied to the same value as its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Applicator {
    /// `$ref`, `$dynamicRef` or `$recursiveRef`: applies the target of the reference.
    Reference,
    /// `allOf`, `if`, `then` or `else`.
    Branch,
    /// `anyOf` or `oneOf`: if the value matches no alternative, the validator collects an error for each.
    Choice,
    /// `dependentSchemas` or `dependencies`: the subschema is applied if the value has this member.
    IfPresent(String),
    /// `not`: marks no location as evaluated for `unevaluatedProperties` and `unevaluatedItems`.
    Not,
}

/// The graph of a schema: its subschemas, and which of them each subschema applies. Node 0 is the root.
#[derive(Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
}

/// The targets of the dynamic references in a dynamic scope, as memory addresses of subschemas. 0 means that there is no target.
///
/// Index 0 is the target of `$recursiveRef`. The other indices are the targets of `$dynamicRef`, one for each `$dynamicAnchor`
/// name.
///
/// Many dynamic scopes have the same targets. Therefore, a node is identified by its subschema and these targets, not by its
/// scope.
type DynamicTargets = Rc<[usize]>;

/// The context in which the references of a subschema are resolved.
#[derive(Clone)]
struct Location<'r> {
    resolver: Resolver<'r>,
    draft: Draft,
    base: BaseId,
    dynamic_targets: DynamicTargets,
}

struct Builder<'r> {
    nodes: Vec<Node>,
    pending: Vec<(&'r Value, Location<'r>)>,
    known: HashMap<(usize, BaseId, DynamicTargets), NodeId>,
    bases: HashMap<Arc<Uri<String>>, BaseId>,
    /// The names of all `$dynamicAnchor`s in the schema. They determine the indices of [`DynamicTargets`].
    dynamic_names: Vec<String>,
}

impl Graph {
    /// Builds the graph of a schema, including the targets of its references.
    ///
    /// # Errors
    /// If the graph has more than `max_nodes` nodes, or a URI is invalid.
    pub(crate) fn new(schema: &Value, max_nodes: usize) -> Result<Self, String> {
        let draft = Draft::default().detect(schema);
        let root = draft.create_resource_ref(schema);
        let base = uri::from_str(root.id().unwrap_or(DEFAULT_BASE).trim_end_matches('#')).map_err(|e| e.to_string())?;
        let registry = Registry::new().draft(draft).add(base.as_str(), root).map_err(|e| e.to_string())?;
        let registry = registry.prepare().map_err(|e| e.to_string())?;
        // A schema may refer to the metaschemas, whose `$dynamicAnchor`s have the name `meta`.
        let mut names = BTreeSet::from(["meta"]);
        dynamic_names(schema, &mut names);
        let mut builder = Builder {
            nodes: Vec::new(),
            pending: Vec::new(),
            known: HashMap::new(),
            bases: HashMap::new(),
            dynamic_names: names.into_iter().map(str::to_owned).collect(),
        };
        let dynamic_targets = vec![0; builder.dynamic_names.len() + 1].into();
        let location = Location { resolver: registry.resolver(base), draft, base: 0, dynamic_targets };
        builder.get_or_add_node(schema, &location.resolver, draft, &location);
        let mut next = 0;
        while next < builder.pending.len() {
            if builder.pending.len() > max_nodes {
                return Err(format!("it has more than {max_nodes} parts, counted once for each dynamic scope"));
            }
            builder.expand(next);
            next += 1;
        }
        Ok(Graph { nodes: builder.nodes })
    }
}

/// Adds the names of all `$dynamicAnchor`s in a schema to `names`.
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
    /// Returns the node of a subschema, and adds the node if it is new. `from` is the context of the subschema that contains it
    /// or refers to it.
    fn get_or_add_node(
        &mut self,
        contents: &'r Value,
        resolver: &Resolver<'r>,
        draft: Draft,
        from: &Location<'r>,
    ) -> NodeId {
        let resource = draft.create_resource_ref(contents);
        let resolver = resolver.in_subresource(resource).unwrap_or_else(|_| resolver.clone());
        let mut location = Location { resolver, draft, ..from.clone() };
        let base = location.resolver.base_uri();
        let base_len = base.as_str().len();
        if self.nodes.is_empty() || !Arc::ptr_eq(&base, &from.resolver.base_uri()) {
            let new = self.bases.len();
            location.base = *self.bases.entry(base).or_insert(new);
            location.dynamic_targets = self.dynamic_targets(&location);
        }
        let new = self.nodes.len();
        let id =
            *self.known.entry((address(contents), location.base, Rc::clone(&location.dynamic_targets))).or_insert(new);
        if id == new {
            self.nodes.push(Node {
                evaluation_size: 1,
                compiled_size: 1,
                base: location.base,
                base_len,
                ..Node::default()
            });
            self.pending.push((contents, location));
        }
        id
    }

    /// Returns the targets of dynamic references after a schema resource is entered. Targets of outer resources take precedence.
    fn dynamic_targets(&self, location: &Location<'r>) -> DynamicTargets {
        let recursive = location.resolver.lookup_recursive_ref().map_or(0, |found| address(found.contents()));
        let dynamic = self.dynamic_names.iter().zip(&location.dynamic_targets[1..]).map(|(name, outer)| {
            let found = || location.resolver.lookup(&format!("#{name}")).map_or(0, |found| address(found.contents()));
            if *outer == 0 { found() } else { *outer }
        });
        std::iter::once(recursive).chain(dynamic).collect()
    }

    /// Returns the node of the target of a reference. Returns `None` if the target does not exist: the compilation fails later.
    fn resolve(&mut self, keyword: &str, value: &Value, from: &Location<'r>) -> Option<NodeId> {
        let found = match keyword {
            "$recursiveRef" => from.resolver.lookup_recursive_ref(),
            _ => from.resolver.lookup(value.as_str()?),
        };
        let (contents, resolver, draft) = found.ok()?.into_inner();
        Some(self.get_or_add_node(contents, &resolver, draft.detect(contents), from))
    }

    fn expand(&mut self, id: NodeId) {
        let (contents, ref from) = self.pending[id];
        let (Value::Object(schema), from) = (contents, from.clone()) else { return };
        let mut node = std::mem::take(&mut self.nodes[id]);
        let ignores_siblings = matches!(from.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        if let Some(reference) = schema.get("$ref").filter(|_| ignores_siblings) {
            // Drafts 4 to 7 ignore the siblings of `$ref`.
            node.in_place.extend(self.resolve("$ref", reference, &from).map(|target| (Applicator::Reference, target)));
        } else {
            for (keyword, value) in schema {
                self.add_keyword(&mut node, keyword, value, &from);
            }
            self.add_array_keywords(&mut node, schema, &from);
        }
        self.nodes[id] = node;
    }

    /// Adds a subschema that `node` contains, and returns its node. The path from `node` to the subschema has about `path` bytes.
    fn add_nested(&mut self, node: &mut Node, value: &'r Value, from: &Location<'r>, path: usize) -> NodeId {
        let id = self.get_or_add_node(value, &from.resolver, from.draft.detect(value), from);
        node.nested.push((id, path));
        id
    }

    fn add_keyword(&mut self, node: &mut Node, keyword: &str, value: &'r Value, from: &Location<'r>) {
        let path = keyword.len() + 1;
        node.compiled_size += 1 + path / TEXT_PER_STEP;
        match (keyword, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                node.in_place.extend(self.resolve(keyword, value, from).map(|target| (Applicator::Reference, target)));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                let how = if keyword == "allOf" { Applicator::Branch } else { Applicator::Choice };
                for branch in branches {
                    let id = self.add_nested(node, branch, from, path + 4);
                    node.in_place.push((how.clone(), id));
                }
            }
            ("if" | "then" | "else", _) => {
                let id = self.add_nested(node, value, from, path);
                node.in_place.push((Applicator::Branch, id));
            }
            ("not", _) => {
                let id = self.add_nested(node, value, from, path);
                node.in_place.push((Applicator::Not, id));
            }
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                for (member, schema) in schemas {
                    if schema.is_array() {
                        node.evaluation_size += count(schema);
                        node.compiled_size += compiled_size(schema);
                    } else {
                        let id = self.add_nested(node, schema, from, path + member.len() + 1);
                        node.in_place.push((Applicator::IfPresent(member.clone()), id));
                    }
                }
            }
            ("properties", Value::Object(schemas)) => {
                for (member, schema) in schemas {
                    let id = self.add_nested(node, schema, from, path + member.len() + 1);
                    node.properties.insert(member.clone(), id);
                }
            }
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, schema) in schemas {
                    let id = self.add_nested(node, schema, from, path + pattern.len() + 1);
                    node.pattern_properties.push(id);
                    node.property_patterns.add(PatternCost::from_pattern(pattern));
                }
            }
            ("additionalProperties", _) => node.additional_properties = Some(self.add_nested(node, value, from, path)),
            ("propertyNames", _) => node.property_names = Some(self.add_nested(node, value, from, path)),
            ("unevaluatedProperties", _) => {
                node.unevaluated_properties = Some(self.add_nested(node, value, from, path));
            }
            ("contains", _) => node.contains = Some(self.add_nested(node, value, from, path)),
            ("unevaluatedItems", _) => node.unevaluated_items = Some(self.add_nested(node, value, from, path)),
            // `jsonschema` compiles this subschema, but never applies it.
            ("contentSchema", _) => _ = self.add_nested(node, value, from, path),
            ("pattern", Value::String(pattern)) => node.string_patterns.add(PatternCost::from_pattern(pattern)),
            ("minLength" | "maxLength" | "format" | "contentEncoding" | "contentMediaType", _) => {
                node.evaluation_size += 1;
                node.string_patterns.add(PatternCost::ONE_PASS);
            }
            // References lead to definitions, and `add_array_keywords` handles the keywords for arrays.
            ("$defs" | "definitions" | "items" | "prefixItems" | "additionalItems", _) => {}
            ("title" | "description" | "default" | "examples" | "$comment" | "$schema" | "$id", _) => {
                node.compiled_size += compiled_size(value);
            }
            _ => {
                node.evaluation_size += count(value);
                node.compiled_size += compiled_size(value);
            }
        }
    }

    /// Adds the keywords for the elements of arrays. In drafts before 2020-12, `items` may be an array: it then means
    /// `prefixItems`.
    fn add_array_keywords(&mut self, node: &mut Node, schema: &'r Map<String, Value>, from: &Location<'r>) {
        let listed = [schema.get("prefixItems"), schema.get("items")];
        for element in listed.into_iter().flatten().filter_map(Value::as_array).flatten() {
            let id = self.add_nested(node, element, from, "/prefixItems/".len() + 4);
            node.prefix_items.push(id);
        }
        let rest = match schema.get("items") {
            Some(Value::Array(_)) => schema.get("additionalItems"),
            items => items,
        };
        node.items = rest.map(|rest| self.add_nested(node, rest, from, "/additionalItems".len()));
    }
}

/// Returns the number of JSON values in a value, including the value itself. A long text counts as several values.
fn compiled_size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / TEXT_PER_STEP,
        Value::Array(elements) => 1 + elements.iter().map(compiled_size).sum::<usize>(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| 1 + name.len() / TEXT_PER_STEP + compiled_size(value)).sum()
        }
        _ => 1,
    }
}

/// Returns the number of JSON values in a value, including the value itself. The JSON parser limits the depth of this recursion.
pub(crate) fn count(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}
