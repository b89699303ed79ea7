//! Configurations, imports, secrets, and launches of servers.

mod configurations_are_validated;
mod files_of_other_programs_are_imported;
mod logins_are_configured;
mod secrets_are_kept_safe;
mod servers_are_launched_from_configurations;
#[cfg(unix)]
mod special_files_do_not_stop_the_program;
mod store_keeps_the_file_whole;

use std::collections::BTreeMap;

use mcpwire_config::import::{Dialect, Import, ImportOptions, Imported, import};
use mcpwire_config::launch::{Instance, Launch, preview};
use mcpwire_config::secrets::{EnvSecrets, FileSecrets, Secrets};
use mcpwire_config::{HubError, McpServerDef};
use tempfile::TempDir;

pub(crate) fn read_with(dialect: Dialect, text: &str, change: impl FnOnce(&mut ImportOptions)) -> Import {
    let mut options = ImportOptions::default().dialect(dialect);
    change(&mut options);
    import(text, &options).unwrap()
}

pub(crate) fn read(dialect: Dialect, text: &str) -> Import {
    read_with(dialect, text, |_| {})
}

pub(crate) fn server<'i>(import: &'i Import, name: &str) -> &'i Imported {
    let found = import.servers.iter().find(|server| server.config.name == name);
    found.unwrap_or_else(|| panic!("{name} is not in {import:?}"))
}

/// The fields that the import warns of.
pub(crate) fn warned(import: &Import) -> Vec<&str> {
    import.warnings.iter().map(|warning| warning.field.as_str()).collect()
}

/// The servers of an imported file that are refused, each with the reason.
pub(crate) fn refused(import: &Import) -> Vec<(&str, &str)> {
    import.refused.iter().map(|refused| (refused.name.as_str(), refused.error.field())).collect()
}

/// Variables as a launch has them.
pub(crate) fn variables<const N: usize>(all: [(&str, &str); N]) -> BTreeMap<String, String> {
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// Secrets in a directory, with this environment.
pub(crate) fn secrets_in(directory: &TempDir, env: &[(&str, &str)]) -> Secrets {
    let env: BTreeMap<String, String> = env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Secrets::new(FileSecrets::new(directory.path().join("secrets")))
        .with_environment(EnvSecrets::from_fn(move |name| env.get(name).cloned()))
}

/// What is started in the end, with the user's consent, and with this environment.
pub(crate) fn launch(imported: &Imported, env: &[(&str, &str)]) -> Result<McpServerDef, HubError> {
    let directory = TempDir::new().unwrap();
    let secrets = secrets_in(&directory, env);
    imported.keep_secrets(&secrets).unwrap();
    let mut config = imported.config.clone();
    config.give_consent(&preview(&config, &secrets));
    let launch = Launch::compose(&config, &secrets, &Instance::default())?;
    let mut def = launch.def;
    def.env.remove(mcpwire_config::launch::MARK);
    Ok(def)
}

/// An entry of the registry, as it answers.
pub(crate) const REGISTRY: &str = r#"{"server": {
    "name": "io.github.owner/weather", "description": "d", "version": "1.2.3",
    "packages": [
        {"registryType": "mcpb", "identifier": "https://a/x.mcpb", "transport": {"type": "stdio"}, "fileSha256": "00"},
        {"registryType": "npm", "identifier": "@owner/weather", "version": "1.2.3", "transport": {"type": "stdio"},
         "runtimeHint": "npx", "runtimeArguments": [{"type": "positional", "value": "-y"}],
         "packageArguments": [
            {"type": "positional", "value": "serve"},
            {"type": "named", "name": "--unit", "default": "c", "choices": ["c", "f"]},
            {"type": "named", "name": "--dir", "value": "{dir}/x{y}", "variables": {"dir": {"isRequired": true, "format": "filepath"}}},
            {"type": "positional", "valueHint": "city"},
            {"type": "named", "name": "--verbose"}
         ],
         "environmentVariables": [
            {"name": "API_KEY", "isRequired": true, "isSecret": true},
            {"name": "MODE", "value": "fixed"},
            {"name": "LEVEL", "format": "number", "default": "3"}
         ]}
    ]}, "_meta": {"x": {"status": "active"}}}"#;
