//! Reads entries of the official registry: `server.json`, schema 2025-12-11 and earlier.
//!
//! The first package that the hub can run is imported, or else the first remote. No shell is used for commands. The registry's
//! requirements for values become an [`EnvVarSpec`], by which values are validated.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::members::{either, items, text_of, wrong};
use super::model::{Import, ImportOptions};
use crate::HubError;
use crate::config::{
    EnvVarConfig, EnvVarSpec, InputFormat, McpConfig, McpPackage, McpPackageType, McpSource, McpTransport, Origin,
    check_literal, fill, split_version,
};

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    // Responses of the registry contain the entry in the member `server`.
    let entry = whole.get("server").filter(|server| server.is_object()).unwrap_or(whole);
    let name = text_of(entry, "name").unwrap_or_default();
    status(whole, name, import)?;
    let version =
        text_of(entry, "version").or_else(|| entry.pointer("/version_detail/version").and_then(Value::as_str));
    let source = McpSource::Official { name: name.to_owned(), version: version.unwrap_or_default().to_owned() };
    let short = text_of(entry, "title").unwrap_or_else(|| name.rsplit('/').next().unwrap_or_default());
    let mut reasons: Vec<HubError> = Vec::new();
    let candidates = items(entry.get("packages")).map(|package| ("packages", package));
    let candidates = candidates.chain(items(entry.get("remotes")).map(|remote| ("remotes", remote)));
    for (at, (list, candidate)) in candidates.enumerate() {
        let mut builder = Builder::new(import.dialect, options, whole, short);
        builder.config.source = source.clone();
        builder.config.origin = Origin::Registry;
        let read = if list == "packages" { package } else { remote };
        match builder.read(candidate, |builder, _| read(builder, candidate)) {
            Err(error) => {
                let field = format!("{list}.{at}.{}", error.field());
                reasons.push(error.at(field.trim_end_matches('.')));
            }
            outcome => {
                import.add(name, outcome);
                return Ok(());
            }
        }
    }
    let error = match reasons.as_slice() {
        [] => HubError::validation("packages", "the entry has no packages and no remotes"),
        [reason] => reason.clone(),
        [first, ..] => {
            let all: Vec<String> =
                reasons.iter().map(|reason| format!("{}: {}", reason.field(), reason.message())).collect();
            HubError::validation(first.field(), all.join("; "))
        }
    };
    import.add(name, Err(error));
    Ok(())
}

/// Returns an error if the registry has deleted the server `name`, and adds a warning if the server is deprecated.
fn status(whole: &Value, name: &str, import: &mut Import) -> Result<(), HubError> {
    let mut official = whole.get("_meta").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let status = official.find_map(|meta| text_of(meta, "status")).or_else(|| text_of(whole, "status"));
    match status {
        Some("deleted") => return wrong("status", "the registry has deleted this server. It may be harmful"),
        Some("deprecated") => import.warn(Some(name), "status", "the author no longer recommends this server"),
        _ => {}
    }
    Ok(())
}

fn remote(builder: &mut Builder<'_>, remote: &Value) -> Result<(), HubError> {
    match either(remote, "type", "transport_type").and_then(Value::as_str) {
        Some("streamable-http" | "sse" | "streamable") => {}
        _ => return wrong("type", "this transport is not supported"),
    }
    let Some(url) = text_of(remote, "url") else { return wrong("url", "an address is required") };
    let mut scope = Scope::default();
    scope.define(builder, remote.get("variables"))?;
    let url = scope.fill(url);
    for header in items(remote.get("headers")) {
        let (name, value) = key_value(builder, header, "headers")?;
        builder.config.headers.insert(name, value);
    }
    builder.config.package = McpPackage::new(McpPackageType::Http, url.clone());
    builder.config.transport = McpTransport::Http { url };
    Ok(())
}

fn package(builder: &mut Builder<'_>, package: &Value) -> Result<(), HubError> {
    let kind = either(package, "registryType", "registry_type").or_else(|| package.get("registry_name"));
    let package_type = match kind.and_then(Value::as_str) {
        Some("npm") => McpPackageType::Npm,
        Some("pypi") => McpPackageType::Pypi,
        Some("oci" | "docker") => McpPackageType::Docker,
        Some(other) => return wrong("registryType", advice(other, package)),
        None => return wrong("registryType", "the kind of the package is required"),
    };
    match package.pointer("/transport/type").and_then(Value::as_str) {
        None | Some("stdio") => {}
        Some(other) => {
            let message = format!("packages with the transport `{other}` are not supported, only `stdio`");
            return wrong("transport", message);
        }
    }
    if either(package, "fileSha256", "file_sha256").is_some() {
        let message =
            "the checksum cannot be verified, because the program that runs the package does not support that";
        return wrong("fileSha256", message);
    }
    let identifier = text_of(package, "identifier").or_else(|| text_of(package, "name")).unwrap_or_default();
    builder.config.package = McpPackage::new(package_type, identifier);
    builder.config.transport = McpTransport::Stdio;
    if let Some(version) = text_of(package, "version").filter(|version| !version.is_empty()) {
        if !is_exact(version) {
            return wrong("version", "an exact version is required");
        }
        if split_version(&builder.config.package).1.is_none() {
            builder.config.package.version = Some(version.to_owned());
        }
    }
    let hint = either(package, "runtimeHint", "runtime_hint").and_then(Value::as_str);
    builder.config.package.runtime_hint =
        hint.filter(|hint| package_type.runtimes().first() != Some(hint)).map(str::to_owned);
    let origin = origin(&mut builder.config, package);
    for variable in items(either(package, "environmentVariables", "environment_variables")) {
        let (name, value) = key_value(builder, variable, "environmentVariables")?;
        builder.config.env_vars.insert(name, value);
    }
    let runtime_args = arguments(builder, either(package, "runtimeArguments", "runtime_arguments"))?;
    let args = arguments(builder, either(package, "packageArguments", "package_arguments"))?;
    let config = &mut builder.config;
    config.runtime_args = origin.into_iter().chain(runtime_args).collect();
    config.args = args;
    config.secrets_in_args =
        config.args.iter().chain(&config.runtime_args).any(|arg| config.secret_variable_in(arg).is_some());
    if config.secrets_in_args && !builder.options.secrets_in_args {
        let message = "an argument is a secret, and everyone on this machine can read the arguments of a command. \
                       Allow secrets in arguments if you accept that";
        return wrong("packageArguments", message);
    }
    Ok(())
}

/// Returns the error message for a kind of package that the hub cannot run. The message says what to do instead.
fn advice(kind: &str, package: &Value) -> String {
    let name = text_of(package, "identifier").unwrap_or("NAME");
    let version = text_of(package, "version").map(|version| format!("@{version}")).unwrap_or_default();
    let what = match kind {
        "nuget" => format!("with .NET 10 or later, configure the command `dnx {name}{version} --yes`"),
        "mcpb" => "unpack the bundle, and configure the command of its `manifest.json`".to_owned(),
        "cargo" => format!("install it with `cargo install {name}`, and configure the program as a command"),
        _ => "configure the program that starts it as a command".to_owned(),
    };
    format!("packages of the kind `{kind}` are not supported. Instead, {what}")
}

/// Returns whether `version` is exact, such as `1.2.3`. A range of versions could select another version at the next start.
fn is_exact(version: &str) -> bool {
    let is_range = version == "latest" || version.contains(['^', '~', '*', '>', '<', '=', '|', ' ']);
    !is_range && !version.split('.').any(|part| matches!(part, "x" | "X"))
}

/// Returns the command line option that selects the package registry, if the package names one. Another package registry may
/// have a different package of the same name.
fn origin(config: &mut McpConfig, package: &Value) -> Option<String> {
    let base = either(package, "registryBaseUrl", "registry_base_url")?.as_str()?.trim_end_matches('/');
    match config.package.package_type {
        McpPackageType::Npm => Some(format!("--registry={base}")),
        McpPackageType::Pypi => Some(format!("--default-index={base}/simple")),
        McpPackageType::Docker => {
            let host = base.split_once("://").map_or(base, |(_, host)| host);
            let first = config.package.identifier.split('/').next().unwrap_or_default();
            if !first.contains(['.', ':']) {
                config.package.identifier = format!("{host}/{}", config.package.identifier);
            }
            None
        }
        McpPackageType::Binary | McpPackageType::Http => None,
    }
}

/// Converts the arguments of a package in a `server.json`. An option with a value becomes two arguments.
fn arguments(builder: &mut Builder<'_>, arguments: Option<&Value>) -> Result<Vec<String>, HubError> {
    let package_type = builder.config.package.package_type;
    let mut all = Vec::new();
    for argument in items(arguments) {
        let name = text_of(argument, "name").unwrap_or_default();
        let is_named = text_of(argument, "type") == Some("named");
        let hint = either(argument, "valueHint", "value_hint").and_then(Value::as_str);
        let key = if is_named { name.trim_start_matches('-') } else { hint.unwrap_or("argument") };
        let value = read_input(builder, key, argument)?;
        let is_given = value.literal().is_some() || value.secret_ref.is_some();
        let says_value =
            ["value", "default", "isRequired", "is_required"].iter().any(|name| argument.get(name).is_some());
        if is_named && !is_given && !says_value && hint.is_none() {
            all.push(name.to_owned());
        } else if is_given || value.is_required() {
            let text = plain(&value).unwrap_or_else(|| builder.variable(key, &value));
            if is_named && package_type == McpPackageType::Docker && matches!(name, "-e" | "--env") {
                let (name, text) = text.split_once('=').unwrap_or((&text, ""));
                let value = || EnvVarConfig::value(name, text);
                builder.config.env_vars.entry(name.to_owned()).or_insert_with(value);
            } else {
                all.extend(is_named.then(|| name.to_owned()));
                all.push(text);
            }
        }
    }
    let ours: &[&str] = match package_type {
        McpPackageType::Npm => &["-y", "--yes"],
        McpPackageType::Docker => &["run", "-i", "--rm", "--init", "-t", "-it", "--interactive", "--tty"],
        _ => &[],
    };
    all.retain(|arg| !ours.contains(&arg.as_str()));
    Ok(all)
}

/// Returns the text of a value that the registry fixes, or `None` if the value is secret or can be configured.
fn plain(value: &EnvVarConfig) -> Option<String> {
    value.spec.as_ref()?.value.clone().filter(|_| !value.is_secret && value.value.is_none())
}

/// Maps the names of variables in a registry's `server.json` to the texts that refer to these variables in the hub's
/// configuration, such as `{name}`.
#[derive(Default)]
struct Scope(BTreeMap<String, String>);

impl Scope {
    /// Adds the `variables` of an input in a `server.json` to this scope and to the configuration.
    fn define(&mut self, builder: &mut Builder<'_>, variables: Option<&Value>) -> Result<(), HubError> {
        for (name, input) in variables.and_then(Value::as_object).into_iter().flatten() {
            let value = read_input(builder, name, input)?;
            let reference = builder.variable(name, &value);
            self.0.insert(name.clone(), reference);
        }
        Ok(())
    }

    /// Replaces each `{name}` in `text` by the reference to that variable in the hub's configuration. Unknown names stay as
    /// they are.
    fn fill(&self, text: &str) -> String {
        fill(text, |name| self.0.get(name).cloned())
    }
}

/// Converts an input of a `server.json`, a value with its requirements, and applies the value that the user has entered.
fn read_input(builder: &mut Builder<'_>, name: &str, input: &Value) -> Result<EnvVarConfig, HubError> {
    let of = |name: &str| text_of(input, name).map(str::to_owned);
    let is = |name: &str, before: &str| either(input, name, before) == Some(&Value::Bool(true));
    let format = match text_of(input, "format") {
        Some("number") => InputFormat::Number,
        Some("boolean") => InputFormat::Boolean,
        Some("filepath" | "file_path") => InputFormat::Filepath,
        _ => InputFormat::String,
    };
    let mut scope = Scope::default();
    scope.define(builder, input.get("variables"))?;
    let spec = EnvVarSpec {
        description: of("description"),
        is_required: is("isRequired", "is_required"),
        default: of("default"),
        placeholder: of("placeholder"),
        choices: items(input.get("choices")).filter_map(Value::as_str).map(str::to_owned).collect(),
        format,
        value: text_of(input, "value").map(|value| scope.fill(value)),
    };
    let mut value = EnvVarConfig::unset(name).is_secret(is("isSecret", "is_secret"));
    // If a variable in the value has the same name, the answer belongs to that variable.
    let is_within = scope.0.contains_key(name);
    match builder.options.answers.get(name).filter(|_| !is_within).cloned() {
        Some(answer) if value.is_secret && spec.value.is_none() => {
            check_literal(&spec, answer.expose()).map_err(|message| HubError::validation(name, message))?;
            value.secret_ref = Some(builder.keep(name, answer)?);
        }
        answer => value.value = answer.map(|answer| answer.expose().to_owned()),
    }
    Ok(value.spec(spec))
}

/// Converts an input of a `server.json` that contains its own `name`, such as an environment variable. Returns the name and the
/// value.
fn key_value(builder: &mut Builder<'_>, input: &Value, field: &str) -> Result<(String, EnvVarConfig), HubError> {
    match text_of(input, "name") {
        Some(name) if !name.is_empty() => Ok((name.to_owned(), read_input(builder, name, input)?)),
        _ => wrong(field, "a name is required"),
    }
}
