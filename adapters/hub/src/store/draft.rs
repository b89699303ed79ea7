//! [`Draft`]: a change of the configuration file that is not written yet.

use jsonc_parser::cst::{CstArray, CstRootNode};
use mcpwire_supervisor::ServerId;
use serde_json::Value;
use uuid::Uuid;

use super::document::{Document, id_of, name_of};
use super::merge;
use crate::HubError;
use crate::config::{McpConfig, folded};

/// The configuration file while it is changed. See [`Store::modify`](super::Store::modify).
pub struct Draft {
    document: Document,
    /// The text as a tree with its comments. `None` before the first change.
    tree: Option<(CstRootNode, CstArray)>,
    /// The entries in the order of the file.
    entries: Vec<DraftEntry>,
}

/// One server in the file.
struct DraftEntry {
    /// `None` if the entry cannot be read. It stays in the file.
    config: Option<McpConfig>,
    /// The id and the folded name, also of an entry that cannot be read.
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
    pub(super) fn new(document: Document) -> Self {
        let entries = document.entries().iter().map(DraftEntry::parse).collect();
        Draft { document, tree: None, entries }
    }

    /// Returns the text with the changes.
    pub(super) fn text(&self) -> String {
        self.tree.as_ref().map_or_else(|| self.document.text().to_owned(), |(root, _)| root.to_string())
    }

    /// Returns the list of servers in the tree.
    fn servers(&mut self) -> Result<&CstArray, HubError> {
        if self.tree.is_none() {
            self.tree = self.document.tree();
        }
        let tree = self.tree.as_ref().ok_or_else(|| {
            HubError::validation("servers", "the file cannot be changed: its list of servers was not found")
        });
        Ok(&tree?.1)
    }

    /// Returns the configurations that are readable.
    pub fn configs(&self) -> impl Iterator<Item = &McpConfig> {
        self.entries.iter().filter_map(|entry| entry.config.as_ref())
    }

    /// Returns the configuration with this id.
    pub fn get(&self, id: Uuid) -> Option<&McpConfig> {
        self.configs().find(|config| config.id == id)
    }

    /// Adds a configuration. See [`Store::create`](super::Store::create) for the errors.
    pub fn create(&mut self, config: &McpConfig) -> Result<(), HubError> {
        config.validate()?;
        if self.place(config.id).is_some() {
            return Err(HubError::conflict("id", format!("the id {} belongs to another server", config.id)));
        }
        self.name_is_free(config)?;
        let servers = self.servers()?;
        servers.ensure_multiline();
        servers.append(merge::entry(&config.to_json()));
        self.entries.push(DraftEntry::new(config));
        Ok(())
    }

    /// Replaces a configuration, also one that is unreadable except for its id. See [`Store::update`](super::Store::update)
    /// for the errors.
    pub fn update(&mut self, config: &McpConfig) -> Result<(), HubError> {
        config.validate()?;
        let place = self.known(config.id)?;
        self.name_is_free(config)?;
        let new = config.to_json();
        // Only differences are written, so members that this program does not know stay.
        let old = self.entries[place].config.as_ref().map_or(Value::Null, McpConfig::to_json);
        let entry = self.servers()?.elements().into_iter().nth(place).and_then(|entry| entry.as_object());
        match (entry, &old, &new) {
            (Some(entry), Value::Object(old), Value::Object(new)) => merge::object(&entry, old, new),
            (Some(entry), _, new) => drop(entry.replace_with(merge::entry(new))),
            (None, ..) => {}
        }
        self.entries[place] = DraftEntry::new(config);
        Ok(())
    }

    /// Removes a configuration. See [`Store::delete`](super::Store::delete) for the errors.
    pub fn delete(&mut self, id: Uuid) -> Result<(), HubError> {
        let place = self.known(id)?;
        if let Some(node) = self.servers()?.elements().into_iter().nth(place) {
            node.remove();
        }
        self.entries.remove(place);
        Ok(())
    }

    /// Returns the index of the entry with this id.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub(super) fn known(&self, id: Uuid) -> Result<usize, HubError> {
        self.place(id).ok_or_else(|| HubError::unknown_server(ServerId::from_u128(id.as_u128())))
    }

    fn place(&self, id: Uuid) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == Some(id))
    }

    /// Checks that no other entry has the name. Unreadable entries count.
    fn name_is_free(&self, config: &McpConfig) -> Result<(), HubError> {
        let name = config.folded_name();
        let is_taken = |entry: &DraftEntry| entry.id != Some(config.id) && entry.folded_name.as_ref() == Some(&name);
        if self.entries.iter().any(is_taken) {
            return Err(HubError::conflict(
                "name",
                format!("the name `{}` belongs to another server", config.name.trim()),
            ));
        }
        Ok(())
    }
}
