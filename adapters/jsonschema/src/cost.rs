//! Computes upper bounds for the cost of compiling a schema and of validating a value, before the crate `jsonschema` does the
//! work.
//!
//! `jsonschema` caches some compiled or evaluated subschemas, but not all. It processes a subschema again if several keywords
//! refer to it, or if `unevaluatedProperties` or `unevaluatedItems` need its evaluated locations. If each level of a schema
//! refers twice to the next level, the cost doubles with each level.
//!
//! This module follows the same paths as `jsonschema` and only counts the steps. It stops at the maximum number of steps.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use crate::graph::{Applicator, BaseId, Graph, NodeId, TEXT_PER_STEP};

/// Maximum depth of a validation: the number of nested subschemas and levels of the value. Each takes up to 1 KiB of the stack of
/// a thread, which is 2 MiB.
const MAX_DEPTH: usize = 1_000;

/// Maximum nesting depth of subschemas during the compilation, including the targets of references. Each level takes up to 5 KiB
/// of the stack.
const MAX_NESTING: usize = 200;

/// Number of nested references that `jsonschema` compiles recursively. It queues the targets of deeper references, and compiles
/// them later.
const MAX_REFERENCE_DEPTH: usize = 8;

/// Maximum depth of the search for evaluated locations, for `unevaluatedProperties` and `unevaluatedItems`. Each level takes up
/// to 5 KiB of the stack, in addition to the levels of [`MAX_NESTING`].
const MAX_MARK_DEPTH: usize = 64;

/// Maximum number of steps to evaluate the alternatives (`anyOf`, `oneOf`) of one subschema. With more steps, the error of an
/// invalid value does not say why each alternative failed, because each reason takes some hundred bytes.
const MAX_EXPLAINED_STEPS: usize = 10_000;

/// The reason why a schema or a value is rejected before the crate `jsonschema` processes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The compilation or validation takes more than the maximum number of steps.
    Steps,
    /// The subschemas or the value are nested too deep for the stack of a thread.
    Depth,
    /// A subschema applies itself to the same value, so that validation would never end.
    Loop,
    /// The compiled patterns exceed the memory limit.
    Patterns,
}

type CostResult = Result<(), Refusal>;

/// The number of steps that are left until the maximum is reached.
#[derive(Debug)]
struct Budget(usize);

impl Budget {
    fn charge(&mut self, steps: usize) -> CostResult {
        self.0 = self.0.checked_sub(steps).ok_or(Refusal::Steps)?;
        Ok(())
    }
}

/// Returns an upper bound for the number of steps to compile a schema.
///
/// # Errors
/// If the number exceeds `max_steps`, if the patterns take more than `pattern_bytes`, if the nesting is too deep, or if a
/// subschema applies itself to the same value.
pub(crate) fn compilation(graph: &Graph, max_steps: usize, pattern_bytes: usize) -> Result<usize, Refusal> {
    let patterns =
        graph.nodes.iter().map(|node| node.string_patterns.bytes().saturating_add(node.property_patterns.bytes()));
    if patterns.fold(0, usize::saturating_add) > pattern_bytes {
        return Err(Refusal::Patterns);
    }
    check_in_place(graph, max_steps)?;
    check_nesting(graph)?;
    let mut walk = CompilationWalk::new(graph, max_steps);
    walk.run()?;
    Ok(max_steps - walk.budget.0)
}

/// Rejects a schema if the nesting of its subschemas exceeds [`MAX_NESTING`]. A path may follow up to [`MAX_REFERENCE_DEPTH`]
/// references, as in `jsonschema`.
fn check_nesting(graph: &Graph) -> CostResult {
    /// Returns the nesting depth of a node, and stores it in `depths`. At a reference, the path continues with the depths in
    /// `next`, which were computed with one reference less.
    fn nesting(graph: &Graph, id: NodeId, next: &[usize], depths: &mut [usize]) -> usize {
        if depths[id] == 0 {
            let node = &graph.nodes[id];
            // This recursion is limited, because the JSON parser limits the nesting of a schema.
            let within = node.nested.iter().map(|(part, _)| nesting(graph, *part, next, depths)).max().unwrap_or(0);
            let references = node.in_place.iter().filter(|(how, _)| *how == Applicator::Reference);
            let referred = references.map(|(_, target)| next[*target]).max().unwrap_or(0);
            depths[id] = 1 + within.max(referred);
        }
        depths[id]
    }
    let mut next = vec![0; graph.nodes.len()];
    for _ in 0..=MAX_REFERENCE_DEPTH {
        let mut depths = vec![0; graph.nodes.len()];
        (0..graph.nodes.len()).for_each(|id| _ = nesting(graph, id, &next, &mut depths));
        next = depths;
    }
    if next.iter().any(|depth| *depth > MAX_NESTING) { Err(Refusal::Depth) } else { Ok(()) }
}

/// The cost of applying a subschema and its in-place applicators, such as `allOf`, to a value. The members and elements of the
/// value are not included.
#[derive(Clone, Copy, Debug, Default)]
struct InPlaceCost {
    /// Number of steps to evaluate the subschema.
    value: usize,
    /// Number of steps to find the evaluated locations, for `unevaluatedProperties` and `unevaluatedItems`.
    mark: usize,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Visit {
    InProgress,
    Done(InPlaceCost),
}

/// Rejects a schema if a subschema applies itself to the same value, or if applying a subschema in place takes too many steps or
/// is nested too deep.
fn check_in_place(graph: &Graph, max_steps: usize) -> CostResult {
    let mut visits = vec![None; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        in_place_cost(graph, start, 0, max_steps, &mut visits)?;
    }
    Ok(())
}

fn in_place_cost(
    graph: &Graph,
    id: NodeId,
    depth: usize,
    max_steps: usize,
    visits: &mut Vec<Option<Visit>>,
) -> Result<InPlaceCost, Refusal> {
    match visits[id] {
        Some(Visit::Done(cost)) => return Ok(cost),
        Some(Visit::InProgress) => return Err(Refusal::Loop),
        None if depth > MAX_DEPTH => return Err(Refusal::Depth),
        None => visits[id] = Some(Visit::InProgress),
    }
    let node = &graph.nodes[id];
    let mut cost = InPlaceCost { value: node.evaluation_size, mark: node.evaluation_size, depth: 1 };
    for (how, part) in &node.in_place {
        let part = in_place_cost(graph, *part, depth + 1, max_steps, visits)?;
        cost.depth = cost.depth.max(part.depth + 1);
        if matches!(how, Applicator::IfPresent(_)) {
            continue;
        }
        cost.value = cost.value.saturating_add(part.value);
        match how {
            Applicator::Reference => cost.mark = cost.mark.saturating_add(part.mark),
            Applicator::Not => {}
            _ => cost.mark = cost.mark.saturating_add(part.value).saturating_add(part.mark),
        }
    }
    if node.unevaluated_properties.is_some() || node.unevaluated_items.is_some() {
        cost.value = cost.value.saturating_add(cost.mark);
    }
    if cost.depth > MAX_DEPTH {
        return Err(Refusal::Depth);
    }
    if cost.value > max_steps {
        return Err(Refusal::Steps);
    }
    visits[id] = Some(Visit::Done(cost));
    Ok(cost)
}

/// The number of a dynamic scope (JSON Schema, core): the sequence of schema resources that references have entered. 0 is the
/// empty sequence.
type Scope = usize;

/// Counts the steps of a compilation, by visiting the subschemas in the same order as `jsonschema`.
struct CompilationWalk<'g> {
    graph: &'g Graph,
    budget: Budget,
    /// For each node, whether [`CompilationWalk::mark`] is in progress. A recursive call then stops.
    marked: Vec<bool>,
    /// The targets of references that are being compiled. `jsonschema` does not compile a target within itself.
    in_progress: Vec<NodeId>,
    /// Number of targets that are being compiled recursively. At [`MAX_REFERENCE_DEPTH`], targets are queued.
    reference_depth: usize,
    /// The targets that were compiled or queued, each with its dynamic scope.
    visited: HashSet<(NodeId, Scope)>,
    /// The targets to compile later, each with its dynamic scope and the value of `in_progress` at the reference.
    waiting: VecDeque<(NodeId, Scope, Vec<NodeId>)>,
    /// The dynamic scopes that were entered. The key is the previous scope and the resource that contains the reference.
    scopes: HashMap<(Scope, BaseId), Scope>,
}

impl<'g> CompilationWalk<'g> {
    fn new(graph: &'g Graph, max_steps: usize) -> Self {
        CompilationWalk {
            graph,
            budget: Budget(max_steps),
            marked: vec![false; graph.nodes.len()],
            in_progress: Vec::new(),
            reference_depth: 0,
            visited: HashSet::new(),
            waiting: VecDeque::new(),
            scopes: HashMap::new(),
        }
    }

    fn run(&mut self) -> CostResult {
        self.node(0, Position::default())?;
        while let Some((target, scope, in_progress)) = self.waiting.pop_front() {
            self.in_progress = in_progress;
            self.in_progress.push(target);
            self.node(target, Position { scope, ..Position::default() })?;
        }
        Ok(())
    }

    /// Counts the steps to compile the target of a reference, unless the target was already compiled or is being compiled.
    fn target(&mut self, from: NodeId, target: NodeId, scope: Scope) -> CostResult {
        let scope = self.enter_scope(from, target, scope);
        if self.in_progress.contains(&target) || !self.visited.insert((target, scope)) {
            return Ok(());
        }
        self.budget.charge(1)?;
        if self.reference_depth == MAX_REFERENCE_DEPTH {
            self.budget.charge(self.in_progress.len() / TEXT_PER_STEP)?;
            self.waiting.push_back((target, scope, self.in_progress.clone()));
            return Ok(());
        }
        self.in_progress.push(target);
        self.reference_depth += 1;
        self.node(target, Position { scope, ..Position::default() })?;
        self.reference_depth -= 1;
        self.in_progress.pop();
        Ok(())
    }

    /// Returns the dynamic scope at the target of a reference. The scope stays the same if it is not empty and the target is in
    /// the same resource.
    fn enter_scope(&mut self, from: NodeId, target: NodeId, scope: Scope) -> Scope {
        let (from, target) = (self.graph.nodes[from].base, self.graph.nodes[target].base);
        if scope != 0 && from == target {
            return scope;
        }
        let new = self.scopes.len() + 1;
        *self.scopes.entry((scope, from)).or_insert(new)
    }

    /// Counts the steps to compile a subschema and its nested subschemas.
    fn node(&mut self, id: NodeId, position: Position) -> CostResult {
        let node = &self.graph.nodes[id];
        // Each compiled keyword contains its location as text, so a long location costs more.
        self.budget
            .charge(node.compiled_size.saturating_mul(1 + (position.location + node.base_len) / TEXT_PER_STEP))?;
        for (how, target) in &node.in_place {
            if *how == Applicator::Reference {
                self.target(id, *target, position.scope)?;
            }
        }
        for (part, path) in &node.nested {
            self.node(*part, Position { location: position.location + path, ..position })?;
        }
        for _ in node.unevaluated_properties.iter().chain(&node.unevaluated_items) {
            self.mark(id, Position { marks: position.marks + 1, ..position })?;
        }
        Ok(())
    }

    /// Counts the steps to compile the search for evaluated locations, for `unevaluatedProperties` and `unevaluatedItems`.
    /// `jsonschema` follows all references for this, and caches nothing.
    fn mark(&mut self, id: NodeId, position: Position) -> CostResult {
        if position.marks > MAX_MARK_DEPTH {
            return Err(Refusal::Depth);
        }
        if std::mem::replace(&mut self.marked[id], true) {
            return Ok(());
        }
        let node = &self.graph.nodes[id];
        self.budget.charge(1 + node.properties.len())?;
        let deeper = Position { marks: position.marks + 1, ..position };
        for (how, part) in &node.in_place {
            match how {
                Applicator::Not => {}
                Applicator::Reference => {
                    let scope = self.enter_scope(id, *part, position.scope);
                    self.mark(*part, Position { scope, ..deeper })?;
                }
                Applicator::IfPresent(_) => self.mark(*part, deeper)?,
                Applicator::Branch | Applicator::Choice => {
                    self.node(*part, position)?;
                    self.mark(*part, deeper)?;
                }
            }
        }
        let others = [node.additional_properties, node.unevaluated_properties, node.contains, node.unevaluated_items];
        for part in others.into_iter().flatten().chain(node.pattern_properties.iter().copied()) {
            self.node(part, position)?;
        }
        self.marked[id] = false;
        Ok(())
    }
}

/// The position of a [`CompilationWalk`] in the schema.
#[derive(Clone, Copy, Default)]
struct Position {
    scope: Scope,
    /// The length of the location of the current subschema, in bytes.
    location: usize,
    /// The recursion depth of [`CompilationWalk::mark`].
    marks: usize,
}

/// An upper bound for the cost of validating a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evaluation {
    /// Upper bound for the number of steps to validate the value.
    pub steps: usize,
    /// Whether the error of an invalid value can contain the reasons, at a limited cost. See [`MAX_EXPLAINED_STEPS`].
    pub is_explainable: bool,
}

/// Returns an upper bound for the cost of validating a value.
///
/// # Errors
/// If the number of steps exceeds `max_steps`, or if the subschemas and the value are nested too deep.
pub(crate) fn evaluation(graph: &Graph, value: &Value, max_steps: usize) -> Result<Evaluation, Refusal> {
    let mut walk = EvaluationWalk { graph, budget: Budget(max_steps), is_explainable: true };
    walk.value(0, Instance::from_value(value), 0)?;
    Ok(Evaluation { steps: max_steps - walk.budget.0, is_explainable: walk.is_explainable })
}

/// The data to which a subschema is applied: a value or a property name. JSON Schema calls it the instance.
#[derive(Clone, Copy)]
enum Instance<'v> {
    /// A string value or a property name. Contains its length in bytes.
    Text(usize),
    Value(&'v Value),
}

impl<'v> Instance<'v> {
    fn from_value(value: &'v Value) -> Self {
        match value {
            Value::String(text) => Instance::Text(text.len()),
            other => Instance::Value(other),
        }
    }
}

/// Counts the steps of a validation. It counts all keywords, although `jsonschema` may stop at the first error.
struct EvaluationWalk<'g> {
    graph: &'g Graph,
    budget: Budget,
    is_explainable: bool,
}

impl EvaluationWalk<'_> {
    fn each<'v>(&mut self, id: NodeId, values: impl Iterator<Item = &'v Value>, depth: usize) -> CostResult {
        for value in values {
            self.value(id, Instance::from_value(value), depth + 1)?;
        }
        Ok(())
    }

    fn value(&mut self, id: NodeId, instance: Instance<'_>, depth: usize) -> CostResult {
        if depth > MAX_DEPTH {
            return Err(Refusal::Depth);
        }
        let graph = self.graph;
        let node = &graph.nodes[id];
        self.budget.charge(node.evaluation_size)?;
        let before = self.budget.0;
        for (how, part) in &node.in_place {
            if how.applies_to(instance) {
                self.value(*part, instance, depth + 1)?;
            }
        }
        if before - self.budget.0 > MAX_EXPLAINED_STEPS
            && node.in_place.iter().any(|(how, _)| *how == Applicator::Choice)
        {
            self.is_explainable = false;
        }
        match instance {
            Instance::Text(len) => self.budget.charge(node.string_patterns.steps(len))?,
            Instance::Value(Value::Object(members)) => {
                for (name, value) in members {
                    self.budget.charge(1 + node.property_patterns.steps(name.len()))?;
                    if let Some(names) = node.property_names {
                        self.value(names, Instance::Text(name.len()), depth + 1)?;
                    }
                    let property = node.properties.get(name).or(node.additional_properties.as_ref());
                    for part in property.into_iter().chain(&node.pattern_properties) {
                        self.value(*part, Instance::from_value(value), depth + 1)?;
                    }
                }
                if let Some(unevaluated) = node.unevaluated_properties {
                    self.mark(id, instance, depth + 1)?;
                    self.each(unevaluated, members.values(), depth)?;
                }
            }
            Instance::Value(Value::Array(elements)) => {
                self.budget.charge(elements.len())?;
                for (part, value) in node.prefix_items.iter().zip(elements) {
                    self.value(*part, Instance::from_value(value), depth + 1)?;
                }
                if let Some(items) = node.items {
                    self.each(items, elements.iter().skip(node.prefix_items.len()), depth)?;
                }
                if let Some(contains) = node.contains {
                    self.each(contains, elements.iter(), depth)?;
                }
                if let Some(unevaluated) = node.unevaluated_items {
                    self.mark(id, instance, depth + 1)?;
                    self.each(unevaluated, elements.iter(), depth)?;
                }
            }
            Instance::Value(_) => {}
        }
        Ok(())
    }

    /// Counts the steps to find the members or elements that a subschema evaluates, for `unevaluatedProperties` and
    /// `unevaluatedItems`.
    fn mark(&mut self, id: NodeId, instance: Instance<'_>, depth: usize) -> CostResult {
        if depth > MAX_DEPTH {
            return Err(Refusal::Depth);
        }
        let graph = self.graph;
        let node = &graph.nodes[id];
        self.budget.charge(node.evaluation_size)?;
        for (how, part) in &node.in_place {
            if !how.applies_to(instance) {
                continue;
            }
            if matches!(how, Applicator::Branch | Applicator::Choice) {
                self.value(*part, instance, depth + 1)?;
            }
            if *how != Applicator::Not {
                self.mark(*part, instance, depth + 1)?;
            }
        }
        match instance {
            Instance::Value(Value::Object(members)) => {
                for name in members.keys() {
                    self.budget.charge(1 + node.property_patterns.steps(name.len()))?;
                }
                if let Some(unevaluated) = node.unevaluated_properties {
                    self.each(unevaluated, members.values(), depth)?;
                }
            }
            Instance::Value(Value::Array(elements)) => {
                self.budget.charge(elements.len())?;
                for part in node.contains.iter().chain(&node.unevaluated_items) {
                    self.each(*part, elements.iter(), depth)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Applicator {
    fn applies_to(&self, instance: Instance<'_>) -> bool {
        match (self, instance) {
            (Applicator::IfPresent(member), Instance::Value(Value::Object(members))) => members.contains_key(member),
            (Applicator::IfPresent(_), _) => false,
            _ => true,
        }
    }
}
