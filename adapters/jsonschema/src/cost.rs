//! Bounds for what compiling a schema and holding a value against it cost, found without doing either.
//!
//! `jsonschema` remembers some subschemas that it has compiled or evaluated, but not all: where `unevaluatedProperties` and
//! `unevaluatedItems` look at what others evaluated, and where several keywords lead to one subschema, it starts anew. So a
//! schema whose levels each refer twice to the next costs twice as much with each level. Here the same ways are walked
//! with nothing to do on them, and the walk ends where the budget does.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use crate::graph::{BaseId, Graph, Here, NodeId, TEXT_PER_STEP};

/// How deep subschemas may be applied within each other, counted in subschemas and in levels of the value.
///
/// Each takes up to 1 KiB of the stack, of which most threads have 2 MiB.
const MAX_APPLIED: usize = 1_000;

/// How deep subschemas may be written within each other, where references lead on to the next. Each takes up to 5 KiB of the stack.
const MAX_WRITTEN: usize = 200;

/// How many references are compiled within each other; what is beyond waits until they are done.
const REFERENCES_WITHIN: usize = 8;

/// How deep what a subschema evaluates may be looked for. Each takes up to 5 KiB of the stack beside [`MAX_WRITTEN`].
const MAX_MARKED: usize = 64;

/// The most steps for the choices (`anyOf`, `oneOf`) of one place for which errors are collected. Each keeps some hundred bytes.
const EXPLAINED: usize = 10_000;

/// The walk came to the end of its budget, or is too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// More steps than allowed.
    Steps,
    /// Nested too deep.
    Depth,
    /// A subschema applies itself to the same value.
    Loop,
    /// The compiled patterns take more memory than allowed.
    Patterns,
}

type Walk = Result<(), Refusal>;

/// Steps that are left.
#[derive(Debug)]
struct Budget(usize);

impl Budget {
    fn charge(&mut self, steps: usize) -> Walk {
        self.0 = self.0.checked_sub(steps).ok_or(Refusal::Steps)?;
        Ok(())
    }
}

/// Returns how many steps compiling takes, at most `max_steps`.
///
/// # Errors
/// Why the schema cannot be compiled, or not be applied to any value at all.
pub(crate) fn compilation(graph: &Graph, max_steps: usize, pattern_bytes: usize) -> Result<usize, Refusal> {
    let patterns = graph.nodes.iter().map(|node| node.text.bytes().saturating_add(node.names.bytes()));
    if patterns.fold(0, usize::saturating_add) > pattern_bytes {
        return Err(Refusal::Patterns);
    }
    in_place(graph, max_steps)?;
    written(graph)?;
    let mut compilation = Compilation::new(graph, max_steps);
    compilation.run()?;
    Ok(max_steps - compilation.budget.0)
}

/// Refuses subschemas that are written too deep within each other, along as many references as are followed at once.
fn written(graph: &Graph) -> Walk {
    /// Returns the depth below a node, where `next` has the depths below nodes with one reference less to follow.
    fn below(graph: &Graph, id: NodeId, next: &[usize], depths: &mut [usize]) -> usize {
        if depths[id] == 0 {
            let node = &graph.nodes[id];
            // JSON that was read is of a bounded depth.
            let within = node.within.iter().map(|(part, _)| below(graph, *part, next, depths)).max().unwrap_or(0);
            let references = node.here.iter().filter(|(how, _)| *how == Here::Reference);
            let referred = references.map(|(_, target)| next[*target]).max().unwrap_or(0);
            depths[id] = 1 + within.max(referred);
        }
        depths[id]
    }
    let mut next = vec![0; graph.nodes.len()];
    for _ in 0..=REFERENCES_WITHIN {
        let mut depths = vec![0; graph.nodes.len()];
        (0..graph.nodes.len()).for_each(|id| _ = below(graph, id, &next, &mut depths));
        next = depths;
    }
    if next.iter().any(|depth| *depth > MAX_WRITTEN) { Err(Refusal::Depth) } else { Ok(()) }
}

/// What applying a subschema to a value takes, apart from what applies to parts of the value.
#[derive(Clone, Copy, Debug, Default)]
struct InPlace {
    /// Steps to evaluate it.
    value: usize,
    /// Steps to find out what it evaluates, for `unevaluatedProperties` and `unevaluatedItems`.
    mark: usize,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Visit {
    Open,
    Done(InPlace),
}

/// Refuses subschemas that lead back to themselves on the same value, and those that cost too much on every value.
fn in_place(graph: &Graph, max_steps: usize) -> Walk {
    let mut visits = vec![None; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        in_place_node(graph, start, 0, max_steps, &mut visits)?;
    }
    Ok(())
}

fn in_place_node(
    graph: &Graph,
    id: NodeId,
    depth: usize,
    max_steps: usize,
    visits: &mut Vec<Option<Visit>>,
) -> Result<InPlace, Refusal> {
    match visits[id] {
        Some(Visit::Done(cost)) => return Ok(cost),
        Some(Visit::Open) => return Err(Refusal::Loop),
        None if depth > MAX_APPLIED => return Err(Refusal::Depth),
        None => visits[id] = Some(Visit::Open),
    }
    let node = &graph.nodes[id];
    let mut cost = InPlace { value: node.own, mark: node.own, depth: 1 };
    for (how, part) in &node.here {
        let part = in_place_node(graph, *part, depth + 1, max_steps, visits)?;
        cost.depth = cost.depth.max(part.depth + 1);
        if matches!(how, Here::IfPresent(_)) {
            continue;
        }
        cost.value = cost.value.saturating_add(part.value);
        match how {
            Here::Reference => cost.mark = cost.mark.saturating_add(part.mark),
            Here::Not => {}
            _ => cost.mark = cost.mark.saturating_add(part.value).saturating_add(part.mark),
        }
    }
    if node.unevaluated_properties.is_some() || node.unevaluated_items.is_some() {
        cost.value = cost.value.saturating_add(cost.mark);
    }
    if cost.depth > MAX_APPLIED {
        return Err(Refusal::Depth);
    }
    if cost.value > max_steps {
        return Err(Refusal::Steps);
    }
    visits[id] = Some(Visit::Done(cost));
    Ok(cost)
}

/// The resources that references led through, as a number. 0 is none.
type Scope = usize;

/// A walk over what is compiled.
struct Compilation<'g> {
    graph: &'g Graph,
    budget: Budget,
    /// The nodes that `mark` is in.
    marked: Vec<bool>,
    /// The targets of references that are being compiled.
    open: Vec<NodeId>,
    /// How many of them are compiled within each other now.
    within: usize,
    /// The targets that were compiled, or will be, in each scope anew.
    done: HashSet<(NodeId, Scope)>,
    /// The targets that wait, and which others were being compiled where they are named.
    waiting: VecDeque<(NodeId, Scope, Vec<NodeId>)>,
    /// The scope, and the resource that was added to it last, to the next scope.
    scopes: HashMap<(Scope, BaseId), Scope>,
}

impl<'g> Compilation<'g> {
    fn new(graph: &'g Graph, max_steps: usize) -> Self {
        Compilation {
            graph,
            budget: Budget(max_steps),
            marked: vec![false; graph.nodes.len()],
            open: Vec::new(),
            within: 0,
            done: HashSet::new(),
            waiting: VecDeque::new(),
            scopes: HashMap::new(),
        }
    }

    fn run(&mut self) -> Walk {
        self.node(0, Site::default())?;
        while let Some((target, scope, open)) = self.waiting.pop_front() {
            self.open = open;
            self.open.push(target);
            self.node(target, Site { scope, ..Site::default() })?;
        }
        Ok(())
    }

    /// Compiles the target of a reference, unless that was done or is being done.
    fn target(&mut self, from: NodeId, target: NodeId, scope: Scope) -> Walk {
        let scope = self.enter(from, target, scope);
        if self.open.contains(&target) || !self.done.insert((target, scope)) {
            return Ok(());
        }
        self.budget.charge(1)?;
        if self.within == REFERENCES_WITHIN {
            self.budget.charge(self.open.len() / TEXT_PER_STEP)?;
            self.waiting.push_back((target, scope, self.open.clone()));
            return Ok(());
        }
        self.open.push(target);
        self.within += 1;
        self.node(target, Site { scope, ..Site::default() })?;
        self.within -= 1;
        self.open.pop();
        Ok(())
    }

    /// Returns the scope at the target of a reference: one more resource where the reference leads to another.
    fn enter(&mut self, from: NodeId, target: NodeId, scope: Scope) -> Scope {
        let (from, target) = (self.graph.nodes[from].base, self.graph.nodes[target].base);
        if scope != 0 && from == target {
            return scope;
        }
        let new = self.scopes.len() + 1;
        *self.scopes.entry((scope, from)).or_insert(new)
    }

    /// Compiles a subschema and what is written within it.
    fn node(&mut self, id: NodeId, site: Site) -> Walk {
        let node = &self.graph.nodes[id];
        // Each compiled keyword keeps its location as text.
        self.budget.charge(node.bulk.saturating_mul(1 + (site.location + node.base_len) / TEXT_PER_STEP))?;
        for (how, target) in &node.here {
            if *how == Here::Reference {
                self.target(id, *target, site.scope)?;
            }
        }
        for (part, path) in &node.within {
            self.node(*part, Site { location: site.location + path, ..site })?;
        }
        for _ in node.unevaluated_properties.iter().chain(&node.unevaluated_items) {
            self.mark(id, Site { marks: site.marks + 1, ..site })?;
        }
        Ok(())
    }

    /// Compiles what a subschema evaluates: along references too, and each time anew.
    fn mark(&mut self, id: NodeId, site: Site) -> Walk {
        if site.marks > MAX_MARKED {
            return Err(Refusal::Depth);
        }
        if std::mem::replace(&mut self.marked[id], true) {
            return Ok(());
        }
        let node = &self.graph.nodes[id];
        self.budget.charge(1 + node.properties.len())?;
        let deeper = Site { marks: site.marks + 1, ..site };
        for (how, part) in &node.here {
            match how {
                Here::Not => {}
                Here::Reference => {
                    let scope = self.enter(id, *part, site.scope);
                    self.mark(*part, Site { scope, ..deeper })?;
                }
                Here::IfPresent(_) => self.mark(*part, deeper)?,
                Here::Branch | Here::Choice => {
                    self.node(*part, site)?;
                    self.mark(*part, deeper)?;
                }
            }
        }
        let others = [node.additional_properties, node.unevaluated_properties, node.contains, node.unevaluated_items];
        for part in others.into_iter().flatten().chain(node.pattern_properties.iter().copied()) {
            self.node(part, site)?;
        }
        self.marked[id] = false;
        Ok(())
    }
}

/// Where a walk over what is compiled is.
#[derive(Clone, Copy, Default)]
struct Site {
    scope: Scope,
    /// The length of the location.
    location: usize,
    /// How deep `mark` is in itself.
    marks: usize,
}

/// What holding a value against a schema takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evaluation {
    /// The most steps that it takes.
    pub steps: usize,
    /// Whether what is wrong with the value can be found out at a bounded cost, too.
    pub explained: bool,
}

/// Returns what holding `value` against a schema takes, at most `max_steps`.
///
/// # Errors
/// Why it takes too much.
pub(crate) fn evaluation(graph: &Graph, value: &Value, max_steps: usize) -> Result<Evaluation, Refusal> {
    let mut rehearsal = Rehearsal { graph, budget: Budget(max_steps), explained: true };
    rehearsal.value(0, Subject::of(value), 0)?;
    Ok(Evaluation { steps: max_steps - rehearsal.budget.0, explained: rehearsal.explained })
}

/// What a subschema is applied to.
#[derive(Clone, Copy)]
enum Subject<'v> {
    /// A string of this length: a value, or the name of a member.
    Text(usize),
    Value(&'v Value),
}

impl<'v> Subject<'v> {
    fn of(value: &'v Value) -> Self {
        match value {
            Value::String(text) => Subject::Text(text.len()),
            other => Subject::Value(other),
        }
    }
}

/// A walk over what is evaluated, as if each keyword had to be looked at.
struct Rehearsal<'g> {
    graph: &'g Graph,
    budget: Budget,
    explained: bool,
}

impl Rehearsal<'_> {
    fn each<'v>(&mut self, id: NodeId, values: impl Iterator<Item = &'v Value>, depth: usize) -> Walk {
        for value in values {
            self.value(id, Subject::of(value), depth + 1)?;
        }
        Ok(())
    }

    fn value(&mut self, id: NodeId, subject: Subject<'_>, depth: usize) -> Walk {
        if depth > MAX_APPLIED {
            return Err(Refusal::Depth);
        }
        let graph = self.graph;
        let node = &graph.nodes[id];
        self.budget.charge(node.own)?;
        let before = self.budget.0;
        for (how, part) in &node.here {
            if how.applies_to(subject) {
                self.value(*part, subject, depth + 1)?;
            }
        }
        if before - self.budget.0 > EXPLAINED && node.here.iter().any(|(how, _)| *how == Here::Choice) {
            self.explained = false;
        }
        match subject {
            Subject::Text(len) => self.budget.charge(node.text.steps(len))?,
            Subject::Value(Value::Object(members)) => {
                for (name, value) in members {
                    self.budget.charge(1 + node.names.steps(name.len()))?;
                    if let Some(names) = node.property_names {
                        self.value(names, Subject::Text(name.len()), depth + 1)?;
                    }
                    let property = node.properties.get(name).or(node.additional_properties.as_ref());
                    for part in property.into_iter().chain(&node.pattern_properties) {
                        self.value(*part, Subject::of(value), depth + 1)?;
                    }
                }
                if let Some(unevaluated) = node.unevaluated_properties {
                    self.mark(id, subject, depth + 1)?;
                    self.each(unevaluated, members.values(), depth)?;
                }
            }
            Subject::Value(Value::Array(elements)) => {
                self.budget.charge(elements.len())?;
                for (part, value) in node.prefix_items.iter().zip(elements) {
                    self.value(*part, Subject::of(value), depth + 1)?;
                }
                if let Some(items) = node.items {
                    self.each(items, elements.iter().skip(node.prefix_items.len()), depth)?;
                }
                if let Some(contains) = node.contains {
                    self.each(contains, elements.iter(), depth)?;
                }
                if let Some(unevaluated) = node.unevaluated_items {
                    self.mark(id, subject, depth + 1)?;
                    self.each(unevaluated, elements.iter(), depth)?;
                }
            }
            Subject::Value(_) => {}
        }
        Ok(())
    }

    /// Finds out which members or elements a subschema evaluates.
    fn mark(&mut self, id: NodeId, subject: Subject<'_>, depth: usize) -> Walk {
        if depth > MAX_APPLIED {
            return Err(Refusal::Depth);
        }
        let graph = self.graph;
        let node = &graph.nodes[id];
        self.budget.charge(node.own)?;
        for (how, part) in &node.here {
            if !how.applies_to(subject) {
                continue;
            }
            if matches!(how, Here::Branch | Here::Choice) {
                self.value(*part, subject, depth + 1)?;
            }
            if *how != Here::Not {
                self.mark(*part, subject, depth + 1)?;
            }
        }
        match subject {
            Subject::Value(Value::Object(members)) => {
                for name in members.keys() {
                    self.budget.charge(1 + node.names.steps(name.len()))?;
                }
                if let Some(unevaluated) = node.unevaluated_properties {
                    self.each(unevaluated, members.values(), depth)?;
                }
            }
            Subject::Value(Value::Array(elements)) => {
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

impl Here {
    fn applies_to(&self, subject: Subject<'_>) -> bool {
        match (self, subject) {
            (Here::IfPresent(member), Subject::Value(Value::Object(members))) => members.contains_key(member),
            (Here::IfPresent(_), _) => false,
            _ => true,
        }
    }
}
