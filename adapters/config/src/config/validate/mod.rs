//! Validates a configuration, before it is saved and before a server is started.

mod login;
mod package;
mod values;

use std::path::Path;

use super::{McpConfig, McpPackageType, McpSource, Origin};
use crate::HubError;
use crate::url::is_address;

pub(crate) use package::{runs, split_version};
use values::Problems;
pub(crate) use values::{check_literal, check_text, is_dangerous, missing_values};

impl McpConfig {
    /// Checks whether the configuration is valid. Does not check that the stored secrets exist:
    /// [`Launch`](crate::launch::Launch) does that when the server is started.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` with the path of the first invalid field. [`McpConfig::problems`] returns the errors of all fields.
    pub fn validate(&self) -> Result<(), HubError> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// Checks the configuration, and returns an error for each invalid field, in the order of the fields. The list is empty if
    /// the configuration is valid.
    pub fn problems(&self) -> Vec<HubError> {
        let mut problems = Problems::default();
        problems.add_if(self.id.is_nil(), "id", "an id is required. It must not be all zeros");
        name(&self.name, &mut problems);
        source(&self.source, &mut problems);
        package::check(self, &mut problems);
        values::check(self, &mut problems);
        arguments(self, &mut problems);
        connection(self, &mut problems);
        login::check(self, &mut problems);
        settings(self, &mut problems);
        problems.0
    }
}

fn name(name: &str, problems: &mut Problems) {
    if name.chars().all(is_blank) {
        problems.add("name", "Name is required");
    } else if name.chars().any(char::is_control) {
        problems.add("name", "A name is one line of text, without control characters");
    } else if name.chars().count() > 100 {
        problems.add("name", "A name has at most 100 characters");
    }
}

/// Returns whether `c` is invisible: white space, a control character, or a character of width zero.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

fn source(source: &McpSource, problems: &mut Problems) {
    let is_part = |part: &str, more: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    match source {
        McpSource::Manual => {}
        McpSource::Official { name, version } => {
            let is_name =
                name.split_once('/').is_some_and(|(space, name)| is_part(space, ".-") && is_part(name, "._-"));
            if !is_name || !(3..=200).contains(&name.len()) {
                problems.add("source.name", "A name in the registry looks like `io.github.owner/server`");
            }
            let has_no_version = version.trim().is_empty();
            problems.add_if(has_no_version, "source.version", "the version of the registry's entry is required");
        }
        McpSource::Smithery { qualified_name } => {
            let name = qualified_name.strip_prefix('@').unwrap_or(qualified_name);
            let is_name = name.split('/').count() <= 2 && name.split('/').all(|part| is_part(part, "._-"));
            problems.add_if(!is_name, "source.qualified_name", "A name at Smithery looks like `@owner/server`");
        }
    }
}

fn arguments(config: &McpConfig, problems: &mut Problems) {
    for (field, args) in [("runtime_args", &config.runtime_args), ("args", &config.args)] {
        let message = "A server that is reached by HTTP is not started, and takes no arguments";
        problems.add_if(config.is_http() && !args.is_empty(), field, message);
        for (at, arg) in args.iter().enumerate() {
            let field = format!("{field}.{at}");
            problems.add_if(arg.contains('\0'), &field, "an argument must not contain a NUL character");
            if !config.secrets_in_args
                && let Some(name) = config.secret_variable_in(arg)
            {
                let message = format!(
                    "An argument would show the secret `{name}` to everyone who lists processes. Give it in `env_vars` if \
                     the server can take it there, or allow it with `secrets_in_args`"
                );
                problems.add(field, message);
            }
        }
    }
    let has_runtime_args = config.package.package_type == McpPackageType::Binary && !config.runtime_args.is_empty();
    let message = "A program of this machine is run by nothing else: its arguments are `args`";
    problems.add_if(has_runtime_args, "runtime_args", message);
}

/// Checks the settings of the connection to a server over HTTP, and the working directory of a process.
fn connection(config: &McpConfig, problems: &mut Problems) {
    let is_http = config.is_http();
    let is_path = |path: &Path| path.is_absolute() && !path.to_string_lossy().contains('\0');
    if let Some(socket) = &config.unix_socket {
        if !is_http {
            problems.add("unix_socket", "only a server over HTTP can have a Unix socket");
        } else if !is_path(socket) {
            problems.add("unix_socket", "A socket is an absolute path");
        }
    }
    for (field, path) in config.http_files() {
        if !is_http {
            problems.add(field, "only a server over HTTP can have certificates");
        } else if !is_path(path) {
            problems.add(field, "the path of a certificate file must be absolute");
        }
    }
    let lacks_certificate = config.client_key.is_some() && config.client_certificate.is_none();
    let message = "a client key requires its certificate. Set `client_certificate`";
    problems.add_if(lacks_certificate, "client_key", message);
    if let Some(proxy) = &config.proxy {
        if !is_http {
            problems.add("proxy", "A proxy is for servers over HTTP");
        } else if !is_address(proxy) {
            let message = "a proxy must be a URL with `http` or `https` and a host, without a password, such as http://proxy:3128";
            problems.add("proxy", message);
        }
    }
    if let Some(cwd) = &config.cwd {
        if is_http {
            problems.add("cwd", "A server that is reached by HTTP has no working directory");
        } else if cwd.as_os_str().is_empty() || cwd.to_string_lossy().contains('\0') {
            problems.add("cwd", "the working directory must be a path");
        }
    }
}

fn settings(config: &McpConfig, problems: &mut Problems) {
    let (times, limits, tools) = (&config.timeouts, &config.limits, &config.tools);
    for (field, time) in [
        ("timeouts.start_ms", times.start),
        ("timeouts.list_ms", times.list),
        ("timeouts.call_ms", times.call),
        ("timeouts.call_max_ms", times.call_max),
        ("idle_ms", config.idle),
    ] {
        let is_zero = time.is_some_and(|time| time.is_zero());
        problems.add_if(is_zero, field, "A time is longer than 0; leave it out for the default");
    }
    for (field, names) in [("tools.allow", tools.allow.as_ref()), ("tools.deny", Some(&tools.deny))] {
        let has_blank = names.is_some_and(|names| names.iter().any(|name| name.trim().is_empty()));
        problems.add_if(has_blank, field, "A tool has a name");
    }
    for (field, limit) in [("limits.result_bytes", limits.result_bytes), ("limits.result_tokens", limits.result_tokens)]
    {
        problems.add_if(limit == Some(0), field, "A limit is more than 0; leave it out for none");
    }
    if let Origin::Imported { from } = &config.origin {
        let is_blank = from.trim().is_empty();
        problems.add_if(is_blank, "origin.from", "the program that the server was imported from is required");
    }
}
