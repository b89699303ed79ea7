//! Reads a resource, and gets a prompt.

use mcpwire::blocking::open;
use mcpwire::types::printable;
use mcpwire::{Error, McpServerDef};

pub(crate) fn run(def: &McpServerDef) -> Result<(), Error> {
    let mut client = open(def).wait()?;
    let capabilities = client.capabilities().cloned().unwrap_or_default();
    if capabilities.resources.is_some() {
        let resources = client.list_resources()?;
        for resource in resources.items.iter().take(1) {
            let result = client.read_resource(&resource.uri)?;
            for contents in &result.contents.items {
                // A resource is a text, or bytes in base64.
                println!("{}: {}", resource.uri, printable(contents.text.as_deref().unwrap_or("binary")));
            }
        }
    }
    if capabilities.prompts.is_some() {
        let prompt = client.get_prompt("greeting", [("name", "Ada")])?;
        for message in &prompt.messages.items {
            println!("{:?}: {}", message.role, printable(message.content.as_text().unwrap_or_default()));
        }
    }
    client.shutdown()?;
    Ok(())
}
