//! Validates variables, headers and their values. [`Problems`] collects the errors that the validation of a configuration finds.

use std::iter;

use mcpwire_supervisor::Failure;

use crate::HubError;
use crate::config::{
    EnvVarConfig, EnvVarSpec, InputFormat, McpConfig, McpPackageType, McpTransport, Origin, ValueGroup,
    is_variable_name, names_in,
};
use crate::secrets::SecretRef;

/// Returns whether the environment variable `name` can make programs load or run other code, such as `PATH` or `LD_PRELOAD`. A
/// configuration from a server registry must not set such variables.
pub(crate) fn is_dangerous(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    match name.as_str() {
        "BASH_ENV" | "CLASSPATH" | "COMSPEC" | "ENV" | "GIT_ASKPASS" | "GIT_SSH" | "GIT_SSH_COMMAND" | "IFS"
        | "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" | "NODE_OPTIONS" | "NODE_PATH" | "PATH" | "PATHEXT" | "PERL5LIB"
        | "PERL5OPT" | "PYTHONHOME" | "PYTHONPATH" | "PYTHONSTARTUP" | "RUBYLIB" | "RUBYOPT" | "SHELL"
        | "SSH_ASKPASS" | "_JAVA_OPTIONS" => true,
        name => ["LD_", "DYLD_", "NPM_CONFIG_", "UV_", "PIP_", "DOCKER_"].iter().any(|start| name.starts_with(start)),
    }
}

pub(super) fn check(config: &McpConfig, problems: &mut Problems) {
    let is_http = config.is_http();
    let has_environment = is_http && !(config.env_vars.is_empty() && config.inherit_env.is_empty());
    let message = "A server that is reached by HTTP has no environment; it takes `headers`";
    problems.add_if(has_environment, "env_vars", message);
    let has_headers = !is_http && !config.headers.is_empty();
    problems.add_if(has_headers, "headers", "only a server over HTTP can have headers");
    for name in config.inherit_env.iter().filter(|name| !is_environment_name(name)) {
        problems.add("inherit_env", format!("`{}` is not the name of a variable", name.escape_debug()));
    }
    for (group, values) in config.value_groups() {
        for (name, value) in values {
            match check_name(config, group, name) {
                Ok(()) => check_value(config, group, name, value, problems),
                Err(message) => problems.add(group.path(name), message),
            }
        }
    }
    if config.origin == Origin::User
        && let McpTransport::Http { url } = &config.transport
        && let Err(message) = check_no_shell_reference(url)
    {
        problems.add("transport", message);
    }
    problems.0.extend(missing_values(&missing(config)));
}

/// Checks the name of a value. Names of OAuth settings are not checked.
fn check_name(config: &McpConfig, group: ValueGroup, name: &str) -> Result<(), &'static str> {
    match group {
        ValueGroup::EnvVars if !is_environment_name(name) => {
            Err("the name of an environment variable must not be empty or contain `=` or NUL")
        }
        ValueGroup::EnvVars if config.origin == Origin::Registry && is_dangerous(name) => {
            Err("a server of a registry must not set this variable, which can make programs load other code")
        }
        ValueGroup::Headers if !is_header_name(name) => Err("this is not a valid header name"),
        ValueGroup::Variables if !is_variable_name(name) => {
            Err("the name of a variable must consist of letters, digits and `_-.`")
        }
        _ => Ok(()),
    }
}

/// Checks the value `name` of the group `group`, without reading stored secrets or replacing variables.
pub(super) fn check_value(
    config: &McpConfig,
    group: ValueGroup,
    name: &str,
    value: &EnvVarConfig,
    problems: &mut Problems,
) {
    let has_other_name = !value.name.is_empty() && value.name != name;
    problems.add_if(has_other_name, group.path(name), "the `name` differs from the key of this value");
    if let Err(message) = check_source(config, group, value) {
        problems.add(group.path(name), message);
    }
}

/// Checks that a value is either a valid literal or a valid reference to a secret, and not both.
fn check_source(config: &McpConfig, group: ValueGroup, value: &EnvVarConfig) -> Result<(), String> {
    let fixed = value.spec.as_ref().and_then(|spec| spec.value.as_ref());
    if let Some(fixed) = fixed
        && (value.secret_ref.is_some() || value.value.as_ref().is_some_and(|value| value != fixed))
    {
        return Err("the registry fixes this value, so it cannot be changed".to_owned());
    }
    if let Some(text) = &value.secret_ref {
        if value.value.is_some() {
            return Err("A value is given by `value` or by `secret_ref`, not by both".to_owned());
        }
        return match text.parse::<SecretRef>() {
            Err(error) => Err(error.to_string()),
            Ok(SecretRef::Stored { id, .. }) if id != config.id => {
                Err("this refers to a secret of another server".to_owned())
            }
            Ok(_) => Ok(()),
        };
    }
    let Some(literal) = value.literal() else { return Ok(()) };
    if config.origin == Origin::User && value.value.is_some() {
        check_no_shell_reference(literal)?;
    }
    check_text(group, literal)?;
    match &value.spec {
        // A literal with variables is checked when the server is started, because their values are not known yet.
        Some(spec) if names_in(literal).next().is_none() => check_literal(spec, literal),
        _ => Ok(()),
    }
}

/// Checks that `text` can be the value of an environment variable, or of a header if `group` is [`ValueGroup::Headers`].
pub(crate) fn check_text(group: ValueGroup, text: &str) -> Result<(), &'static str> {
    if text.contains('\0') {
        return Err("a value must not contain a NUL character");
    }
    if group == ValueGroup::Headers && text.chars().any(|c| c.is_control() && c != '\t') {
        return Err("the value of a header must be one line without control characters");
    }
    Ok(())
}

/// Checks that `value` meets the requirements that a server registry publishes for a variable, in `spec`. The error message does not
/// contain the value.
pub(crate) fn check_literal(spec: &EnvVarSpec, value: &str) -> Result<(), String> {
    if !spec.choices.is_empty() && !spec.choices.iter().any(|choice| choice == value) {
        return Err(format!("the value must be one of: {}", spec.choices.join(", ")));
    }
    let (is_valid, message) = match spec.format {
        InputFormat::String => return Ok(()),
        InputFormat::Number => (is_number(value), "the value must be a number"),
        InputFormat::Boolean => (matches!(value, "true" | "false"), "the value must be `true` or `false`"),
        InputFormat::Filepath => (!value.trim().is_empty() && !value.contains('\0'), "the value must be a path"),
    };
    if is_valid { Ok(()) } else { Err(message.to_owned()) }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Returns the paths of the required values that are not configured. Whether stored secrets exist is checked when the server is
/// started.
fn missing(config: &McpConfig) -> Vec<String> {
    let is_absent = |value: &EnvVarConfig| {
        value.secret_ref.is_none() && value.is_required() && value.literal().is_none_or(str::is_empty)
    };
    // An empty value that the user has configured is valid, unless the value is secret or a registry has requirements for it.
    let is_meant = |value: &EnvVarConfig| value.value.is_some() && value.spec.is_none() && !value.is_secret;
    let values = config.value_groups().into_iter().flat_map(|(group, values)| iter::repeat(group).zip(values));
    let missing = values.filter(|(_, (_, value))| is_absent(value) && !is_meant(value));
    missing.map(|(group, (name, _))| group.path(name)).collect()
}

fn is_environment_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

/// Checks that `text` contains no reference `${NAME}` in the syntax of shells, because the hub does not replace it.
fn check_no_shell_reference(text: &str) -> Result<(), String> {
    let Some((_, rest)) = text.split_once("${") else { return Ok(()) };
    let Some((inner, _)) = rest.split_once('}') else { return Ok(()) };
    let name = inner.trim_start_matches("${").trim_start_matches("env:");
    Err(format!(
        "`${{{inner}}}` is not replaced here. For a variable of the environment, give `secret_ref`: `env:{name}`"
    ))
}

/// The errors that the validation of a configuration has found, in the order of the fields.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<HubError>);

impl Problems {
    pub(super) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(HubError::validation(field, message));
    }

    pub(super) fn add_if(&mut self, is_wrong: bool, field: impl Into<String>, message: &str) {
        if is_wrong {
            self.add(field, message);
        }
    }
}

/// Returns the error for required values that are missing. `paths` are their paths in the configuration, such as
/// `env_vars.TOKEN`. Returns `None` if `paths` is empty.
pub(crate) fn missing_values(paths: &[String]) -> Option<HubError> {
    let first = paths.first()?.clone();
    let names = paths.iter().map(|path| path.split_once('.').map_or(path.as_str(), |(_, name)| name));
    Some(Failure::missing_credentials(names).error.at(first))
}

impl McpConfig {
    /// Returns whether the server is reached over HTTP.
    pub(super) fn is_http(&self) -> bool {
        self.package.package_type == McpPackageType::Http
    }
}
