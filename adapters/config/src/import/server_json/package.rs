//! Reads packages of the registry: their kind, arguments and variables.

use serde_json::Value;

use super::inputs;
use crate::HubError;
use crate::config::{EnvVarConfig, McpConfig, McpPackage, McpPackageType, McpTransport, split_version};
use crate::import::builder::Builder;
use crate::import::members::{either, items, text_of, wrong};

pub(super) fn read(builder: &mut Builder<'_>, package: &Value) -> Result<(), HubError> {
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
        let (name, value) = inputs::key_value(builder, variable, "environmentVariables")?;
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
        let value = inputs::input(builder, key, argument)?;
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
