//! Validates variables, headers and their values.

use std::collections::BTreeMap;

use super::super::problems::Problems;
use super::super::{EnvVarConfig, EnvVarSpec, InputFormat, McpConfig, McpPackageType, McpTransport, Origin};
use crate::secrets::SecretRef;

/// Environment variables that make programs load or run other code. A configuration from a server registry must not set them.
const DANGEROUS: [&str; 24] = [
    "BASH_ENV",
    "CLASSPATH",
    "COMSPEC",
    "ENV",
    "GIT_ASKPASS",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PATHEXT",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELL",
    "SSH_ASKPASS",
    "_JAVA_OPTIONS",
];

/// Returns whether the environment variable `name` can make programs load or run other code, such as `PATH` or `LD_PRELOAD`.
pub(crate) fn is_dangerous(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_prefix = |prefix: &&str| name.starts_with(*prefix);
    DANGEROUS.contains(&name.as_str())
        || ["LD_", "DYLD_", "NPM_CONFIG_", "UV_", "PIP_", "DOCKER_"].iter().any(is_prefix)
}

pub(super) fn check(config: &McpConfig, problems: &mut Problems) {
    let is_http = config.package.package_type == McpPackageType::Http;
    if is_http && !(config.env_vars.is_empty() && config.inherit_env.is_empty()) {
        problems.add("env_vars", "A server that is reached by HTTP has no environment; it takes `headers`");
    }
    if !is_http && !config.headers.is_empty() {
        problems.add("headers", "only a server over HTTP can have headers");
    }
    for name in &config.inherit_env {
        if !is_variable(name) {
            problems.add("inherit_env", format!("`{}` is not the name of a variable", name.escape_debug()));
        }
    }
    for (name, value) in &config.env_vars {
        let field = format!("env_vars.{name}");
        if !is_variable(name) {
            problems.add(field, "the name of an environment variable must not be empty or contain `=` or NUL");
        } else if config.origin == Origin::Registry && is_dangerous(name) {
            problems.add(
                field,
                "a server of a registry must not set this variable, which can make programs load other code",
            );
        } else {
            one(config, &field, name, value, problems);
        }
    }
    for (name, value) in &config.headers {
        let field = format!("headers.{name}");
        if is_header(name) {
            one(config, &field, name, value, problems);
        } else {
            problems.add(field, "this is not a valid header name");
        }
    }
    for (name, value) in &config.variables {
        let field = format!("variables.{name}");
        if super::names_in(&format!("{{{name}}}")).next() == Some(name) {
            one(config, &field, name, value, problems);
        } else {
            problems.add(field, "the name of a variable must consist of letters, digits and `_-.`");
        }
    }
    if config.origin == Origin::User
        && let McpTransport::Http { url } = &config.transport
        && let Some(reference) = shell_reference(url)
    {
        problems.add("transport", unresolved(reference));
    }
    missing(config, problems);
}

pub(super) fn one(config: &McpConfig, field: &str, name: &str, value: &EnvVarConfig, problems: &mut Problems) {
    if !value.name.is_empty() && value.name != name {
        problems.add(field, "the `name` differs from the key of this value");
    }
    let fixed = value.spec.as_ref().and_then(|spec| spec.value.as_ref());
    if let Some(fixed) = fixed
        && (value.secret_ref.is_some() || value.value.as_ref().is_some_and(|value| value != fixed))
    {
        problems.add(field, "the registry fixes this value, so it cannot be changed");
        return;
    }
    if let Some(text) = &value.secret_ref {
        if value.value.is_some() {
            problems.add(field, "A value is given by `value` or by `secret_ref`, not by both");
            return;
        }
        match text.parse::<SecretRef>() {
            Err(error) => problems.add(field, error.to_string()),
            Ok(SecretRef::Stored { id, .. }) if id != config.id => {
                problems.add(field, "this refers to a secret of another server");
            }
            Ok(_) => {}
        }
        return;
    }
    let Some(literal) = value.literal() else { return };
    if config.origin == Origin::User
        && value.value.is_some()
        && let Some(reference) = shell_reference(literal)
    {
        problems.add(field, unresolved(reference));
        return;
    }
    if let Err(message) = check_text(field, literal) {
        problems.add(field, message);
    } else if let Some(spec) = &value.spec
        // The values of the variables are not known yet.
        && super::names_in(literal).next().is_none()
        && let Err(message) = check_literal(spec, literal)
    {
        problems.add(field, message);
    }
}

/// Checks that `text` is a valid value of an environment variable, or of a header if `field` starts with `headers.`.
fn check_text(field: &str, text: &str) -> Result<(), &'static str> {
    if text.contains('\0') {
        return Err("a value must not contain a NUL character");
    }
    if field.starts_with("headers.") && text.chars().any(|c| c.is_control() && c != '\t') {
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
    match spec.format {
        InputFormat::String => Ok(()),
        InputFormat::Number if is_number(value) => Ok(()),
        InputFormat::Number => Err("the value must be a number".to_owned()),
        InputFormat::Boolean if matches!(value, "true" | "false") => Ok(()),
        InputFormat::Boolean => Err("the value must be `true` or `false`".to_owned()),
        InputFormat::Filepath if !value.trim().is_empty() && !value.contains('\0') => Ok(()),
        InputFormat::Filepath => Err("the value must be a path".to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Adds an error to `problems` if required values are not configured. Does not check that stored secrets exist: that is done
/// when the server is started.
fn missing(config: &McpConfig, problems: &mut Problems) {
    let of = |field: &'static str, values: &BTreeMap<String, EnvVarConfig>| -> Vec<(&'static str, String)> {
        let absent = |value: &EnvVarConfig| {
            value.secret_ref.is_none() && value.is_required() && value.literal().is_none_or(str::is_empty)
        };
        // An empty value that the user has configured is valid, unless the value is secret or a registry has requirements for
        // it.
        let meant = |value: &EnvVarConfig| value.value.is_some() && value.spec.is_none() && !value.is_secret;
        let names = values.iter().filter(|(_, value)| absent(value) && !meant(value));
        names.map(|(name, _)| (field, name.clone())).collect()
    };
    let mut all = of("env_vars", &config.env_vars);
    all.extend(of("headers", &config.headers));
    all.extend(of("variables", &config.variables));
    if let Some((field, first)) = all.first() {
        let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
        problems.add_missing(format!("{field}.{first}"), &names);
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn is_header(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

/// Returns the first `${NAME}` in `text`, or `None` if there is none. The hub does not replace this syntax of shells.
fn shell_reference(text: &str) -> Option<&str> {
    let start = text.find("${")?;
    let end = text[start..].find('}')?;
    Some(&text[start..=start + end])
}

fn unresolved(reference: &str) -> String {
    let name = reference.trim_start_matches("${").trim_end_matches('}').trim_start_matches("env:");
    format!("`{reference}` is not replaced here. For a variable of the environment, give `secret_ref`: `env:{name}`")
}
