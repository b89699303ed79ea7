//! A change of the file that is not written yet.

use jsonc_parser::cst::{CstArray, CstRootNode};
use mcpwire_supervisor::ServerId;
use serde_json::Value;
use uuid::Uuid;

use super::document::{Document, id_of, name_of};
use super::merge;
use crate::HubError;
use crate::config::{McpConfig, folded};

/// The file between being read and being written: see [`Store::modify`](super::Store::modify).
pub struct Draft {
    document: Document,
    /// The text as a tree, from the first change on.
    tree: Option<(CstRootNode, CstArray)>,
    /// What the entries say, in their order. Those that cannot be read are `None`, and keep their place.
    configs: Vec<Option<McpConfig>>,
    entries: Vec<Value>,
}

impl Draft {
    pub(super) fn new(document: Document) -> Self {
        let entries = document.entries().to_vec();
        let configs = entries.iter().map(|entry| McpConfig::from_json(entry).ok()).collect();
        Draft { document, tree: None, configs, entries }
    }

    /// The file as it is to be.
    pub(super) fn text(&self) -> String {
        self.tree.as_ref().map_or_else(|| self.document.text().to_owned(), |(root, _)| root.to_string())
    }

    /// The list, to be changed.
    fn servers(&mut self) -> Result<&CstArray, HubError> {
        if self.tree.is_none() {
            self.tree = self.document.tree();
        }
        let tree = self.tree.as_ref().ok_or_else(|| HubError::validation("servers", "The file cannot be changed"));
        Ok(&tree?.1)
    }

    /// The configurations that can be read.
    pub fn configs(&self) -> impl Iterator<Item = &McpConfig> {
        self.configs.iter().flatten()
    }

    /// The configuration with this id.
    pub fn get(&self, id: Uuid) -> Option<&McpConfig> {
        self.configs().find(|config| config.id == id)
    }

    /// Adds a configuration: see [`Store::create`](super::Store::create).
    pub fn create(&mut self, config: &McpConfig) -> Result<(), HubError> {
        config.validate()?;
        if self.place(config.id).is_some() {
            return Err(HubError::conflict("id", format!("A server with the id {} is there already", config.id)));
        }
        self.name_is_free(config)?;
        let entry = config.to_json();
        let servers = self.servers()?;
        servers.ensure_multiline();
        servers.append(merge::entry(&entry));
        self.configs.push(Some(config.clone()));
        self.entries.push(entry);
        Ok(())
    }

    /// Replaces a configuration: see [`Store::update`](super::Store::update). An entry that could not be read is replaced,
    /// too, if its id could.
    pub fn update(&mut self, config: &McpConfig) -> Result<(), HubError> {
        config.validate()?;
        let place = self.known(config.id)?;
        self.name_is_free(config)?;
        let new = config.to_json();
        // What this program would not have read it does not remove, either: only what differs is changed.
        let old = self.configs[place].as_ref().map_or(Value::Null, McpConfig::to_json);
        let entry = self.servers()?.elements().into_iter().nth(place).and_then(|entry| entry.as_object());
        match (entry, &old, &new) {
            (Some(entry), Value::Object(old), Value::Object(new)) => merge::object(&entry, old, new),
            (Some(entry), _, new) => drop(entry.replace_with(merge::entry(new))),
            (None, ..) => {}
        }
        self.configs[place] = Some(config.clone());
        self.entries[place] = new;
        Ok(())
    }

    /// Removes a configuration: see [`Store::delete`](super::Store::delete).
    pub fn delete(&mut self, id: Uuid) -> Result<(), HubError> {
        let place = self.known(id)?;
        if let Some(node) = self.servers()?.elements().into_iter().nth(place) {
            node.remove();
        }
        self.configs.remove(place);
        self.entries.remove(place);
        Ok(())
    }

    /// Where the entry with this id is.
    pub(super) fn known(&self, id: Uuid) -> Result<usize, HubError> {
        self.place(id).ok_or_else(|| HubError::unknown_server(ServerId::from_u128(id.as_u128())))
    }

    fn place(&self, id: Uuid) -> Option<usize> {
        self.entries.iter().position(|entry| id_of(entry) == Some(id))
    }

    /// Whether no other entry has the name, also none that cannot be read.
    fn name_is_free(&self, config: &McpConfig) -> Result<(), HubError> {
        let name = config.folded_name();
        let is_taken = |entry: &Value| {
            id_of(entry) != Some(config.id) && name_of(entry).is_some_and(|other| folded(&other) == name)
        };
        if self.entries.iter().any(is_taken) {
            return Err(HubError::conflict("name", format!("Another server is called `{}`", config.name.trim())));
        }
        Ok(())
    }
}
