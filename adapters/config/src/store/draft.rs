//! [`Draft`]: an editable copy of the configuration file, whose changes are not written yet. Changes keep comments and unknown
//! members.

use std::mem;

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use mcpwire_supervisor::ServerId;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::document::{Document, id_of, name_of};
use crate::HubError;
use crate::config::{McpConfig, folded};
use crate::disk::JSON_OPTIONS;

/// An editable copy of the configuration file. [`Store::modify`](super::Store::modify) writes its changes to the file.
pub struct Draft {
    /// The text of the file, without the changes that are in `tree` and `added`.
    text: String,
    /// The text as a syntax tree, which keeps the comments. `None` before the first change.
    tree: Option<(CstRootNode, CstArray)>,
    /// New entries that are not in the text or tree yet. They come after the existing entries.
    added: Vec<CstInputValue>,
    /// The entries of the servers, in the order of the file.
    entries: Vec<DraftEntry>,
}

/// The entry of one server in the configuration file.
struct DraftEntry {
    /// The configuration of the server, or `None` if the entry is unreadable. An unreadable entry stays in the file.
    config: Option<McpConfig>,
    /// The id of the server, which may be known even if the rest of the entry is unreadable. The same applies to `folded_name`.
    id: Option<Uuid>,
    folded_name: Option<String>,
}

impl DraftEntry {
    fn parse(entry: &Value) -> Self {
        let folded_name = name_of(entry).map(|name| folded(&name));
        DraftEntry { config: McpConfig::from_json(entry).ok(), id: id_of(entry), folded_name }
    }

    fn new(config: &McpConfig) -> Self {
        DraftEntry { config: Some(config.clone()), id: Some(config.id), folded_name: Some(config.folded_name()) }
    }
}

impl Draft {
    pub(super) fn new(document: &Document) -> Self {
        let entries = document.entries().iter().map(DraftEntry::parse).collect();
        Draft { text: document.text().to_owned(), tree: None, added: Vec::new(), entries }
    }

    /// Returns the text of the configuration file with the changes that were made to this draft.
    pub(super) fn text(mut self) -> Result<String, HubError> {
        self.write_added()?;
        Ok(self.tree.map_or(self.text, |(root, _)| root.to_string()))
    }

    /// Returns the syntax tree with its list of servers, and parses the text first if there is no tree yet.
    fn tree(&mut self) -> Result<&(CstRootNode, CstArray), HubError> {
        if self.tree.is_none() {
            self.tree = parse_tree(&self.text);
        }
        self.tree.as_ref().ok_or_else(unchangeable)
    }

    /// Returns the list of servers in the syntax tree. Adds the entries in `added` to it first.
    fn servers(&mut self) -> Result<&CstArray, HubError> {
        self.write_added()?;
        Ok(&self.tree()?.1)
    }

    /// Writes the added entries to the text, all at once. Adding them one by one would be slow, because the syntax tree visits
    /// all entries each time.
    fn write_added(&mut self) -> Result<(), HubError> {
        if self.added.is_empty() {
            return Ok(());
        }
        let added = mem::take(&mut self.added);
        let (root, servers) = self.tree()?;
        servers.ensure_multiline();
        // Append the new entries as one list, so that the tree formats them in the style of the file. Then put a mark in the
        // place of the list, and the formatted entries in the place of the mark.
        let list = servers.append(CstInputValue::Array(added)).as_array().ok_or_else(unchangeable)?;
        let entries = elements(&list.to_string()).ok_or_else(unchangeable)?;
        let mark = Uuid::new_v4().to_string();
        list.replace_with(CstInputValue::String(mark.clone()));
        self.text = root.to_string().replacen(&format!("\"{mark}\""), &entries, 1);
        self.tree = None;
        Ok(())
    }

    /// Returns the configurations of all servers whose entries are readable.
    pub fn configs(&self) -> impl Iterator<Item = &McpConfig> {
        self.entries.iter().filter_map(|entry| entry.config.as_ref())
    }

    /// Returns the configuration of the server `id`, or `None` if there is no such server or its entry is unreadable.
    pub fn get(&self, id: Uuid) -> Option<&McpConfig> {
        self.configs().find(|config| config.id == id)
    }

    /// Adds the configuration of a server to this draft. Returns the errors that [`Store::create`](super::Store::create)
    /// describes.
    pub fn create(&mut self, config: &McpConfig) -> Result<(), HubError> {
        config.validate()?;
        if self.place(config.id).is_some() {
            return Err(HubError::conflict("id", format!("the id {} belongs to another server", config.id)));
        }
        self.check_name(config)?;
        self.added.push(new_entry(&config.to_json()));
        self.entries.push(DraftEntry::new(config));
        Ok(())
    }

    /// Replaces the configuration of the server that has the id of `config`. The old entry may be unreadable, except for its
    /// id. Returns the errors that [`Store::update`](super::Store::update) describes.
    pub fn update(&mut self, config: &McpConfig) -> Result<(), HubError> {
        config.validate()?;
        let place = self.known(config.id)?;
        self.check_name(config)?;
        let new = config.to_json();
        // Only differences are written, so members that this program does not know stay.
        let old = self.entries[place].config.as_ref().map_or(Value::Null, McpConfig::to_json);
        let entry = self.servers()?.elements().into_iter().nth(place).and_then(|entry| entry.as_object());
        match (entry, &old, &new) {
            (Some(entry), Value::Object(old), Value::Object(new)) => apply_changes(&entry, old, new),
            (Some(entry), _, new) => drop(entry.replace_with(new_entry(new))),
            (None, ..) => {}
        }
        self.entries[place] = DraftEntry::new(config);
        Ok(())
    }

    /// Removes the configuration of the server `id`. Returns the errors that [`Store::delete`](super::Store::delete) describes.
    pub fn delete(&mut self, id: Uuid) -> Result<(), HubError> {
        let place = self.known(id)?;
        if let Some(node) = self.servers()?.elements().into_iter().nth(place) {
            node.remove();
        }
        self.entries.remove(place);
        Ok(())
    }

    /// Returns the index of the entry of the server `id`.
    ///
    /// # Errors
    /// `NOT_FOUND` if no entry has this id.
    pub(super) fn known(&self, id: Uuid) -> Result<usize, HubError> {
        self.place(id).ok_or_else(|| HubError::unknown_server(ServerId::from_u128(id.as_u128())))
    }

    fn place(&self, id: Uuid) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == Some(id))
    }

    /// Checks that no other server has the name of `config`. The names of unreadable entries count too.
    fn check_name(&self, config: &McpConfig) -> Result<(), HubError> {
        let name = config.folded_name();
        let is_taken = |entry: &DraftEntry| entry.id != Some(config.id) && entry.folded_name.as_ref() == Some(&name);
        if self.entries.iter().any(is_taken) {
            let message = format!("the name `{}` belongs to another server", config.name.trim());
            return Err(HubError::conflict("name", message));
        }
        Ok(())
    }
}

/// Parses the text of a configuration file to a syntax tree that can be edited without losing comments. Returns the root and the list
/// of servers in it, or `None` if the text cannot be parsed.
fn parse_tree(text: &str) -> Option<(CstRootNode, CstArray)> {
    let root = CstRootNode::parse(text, &JSON_OPTIONS).ok()?;
    let servers = root.object_value()?.array_value("servers")?;
    Some((root, servers))
}

fn unchangeable() -> HubError {
    HubError::validation("servers", "the file cannot be changed: its list of servers was not found")
}

/// Returns the text of the elements of a JSON list, indented like the list itself. Returns `None` if the list has another layout.
fn elements(list: &str) -> Option<String> {
    let (_, elements) = list.split_once('\n')?;
    let (elements, end) = elements.rsplit_once('\n')?;
    let outer = end.strip_suffix(']')?;
    let inner = &elements[..elements.len() - elements.trim_start_matches([' ', '\t']).len()];
    // Strings in JSON have no line breaks, so all lines begin with the indentation.
    let lines = elements.trim_end_matches(['\r', ',']).split('\n').map(|line| line.strip_prefix(inner));
    Some(lines.collect::<Option<Vec<_>>>()?.join(&format!("\n{outer}")))
}

/// Changes a JSON object in the text of the configuration file: applies the differences between `old` and `new` to `object`.
/// Other members of `object` stay as they are.
fn apply_changes(object: &CstObject, old: &Map<String, Value>, new: &Map<String, Value>) {
    for (name, value) in new {
        if old.get(name) == Some(value) {
            continue;
        }
        let Some(member) = object.get(name) else {
            object.append(name, input(value));
            continue;
        };
        match (member.object_value(), old.get(name), value) {
            (Some(inner), Some(Value::Object(old)), Value::Object(new)) => apply_changes(&inner, old, new),
            _ => member.set_value(input(value)),
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        if let Some(member) = object.get(name) {
            member.remove();
        }
    }
}

/// The members that a new entry in the configuration file starts with, because people look for these first.
const FIRST: [&str; 6] = ["id", "name", "enabled", "source", "package", "transport"];

/// Converts the JSON of a new server for the syntax tree of the configuration file. The members in [`FIRST`] come first.
fn new_entry(value: &Value) -> CstInputValue {
    let Value::Object(members) = value else { return input(value) };
    let first = FIRST.iter().filter_map(|name| members.get_key_value(*name));
    let others = members.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    CstInputValue::Object(first.chain(others).map(|(name, value)| (name.clone(), input(value))).collect())
}

/// Converts a JSON value for the syntax tree of the configuration file.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
