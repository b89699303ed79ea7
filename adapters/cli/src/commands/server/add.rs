//! `mcpwire server add`: adds a server to the configuration.

use std::path::{Path, PathBuf, absolute};

use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::secrets::SecretRef;
use mcpwire_hub::{ErrorKind, HubError};

use crate::args::{AddServer, Options, Place, TlsArgs, Variable};
use crate::console::output;
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Request, advice, secret_command, sentence};
use crate::text;

pub(super) fn run(arguments: &AddServer, place: &Place, options: &Options) -> Result<(), Failure> {
    let secrets = &arguments.secrets;
    let config = config(arguments, options)?;
    let name = &config.name;
    let mut handle = HubHandle::open(place, options)?;
    let add = Request::Add { configs: vec![config.to_json()], start: handle.is_remote() };
    let added: Result<Vec<Option<HubError>>, HubError> = handle.ask(add);
    if let Some(error) = added.map_or_else(Some, |errors| errors.into_iter().flatten().next()) {
        let failure = Failure::from_hub(&error);
        return Err(match error.kind() {
            ErrorKind::Conflict => failure.with_hint(format!(
                "Choose another name, or remove that server: mcpwire server remove {}",
                text::word(name)
            )),
            _ => failure,
        });
    }
    let next = format!("next: mcpwire info {}", text::word(name));
    if !secrets.is_empty() {
        // A server that needs secrets cannot be started before they are set.
        handle.console.note(&format!("added {}", text::name(name)));
        for secret in secrets {
            handle.console.warn(&format!("Set its secret: {}", secret_command(name, &format!("env_vars.{secret}"))));
        }
    } else if handle.is_remote() {
        let started = handle.ask::<()>(Request::Start { server: config.id.to_string() });
        let outcome = match started {
            Ok(()) => format!("{name}: added, and started in the running hub; {next}"),
            Err(error) => {
                format!("{name}: added, but not started: {} {}", sentence(&hub_message(&error)), advice(name, &error))
            }
        };
        handle.console.warn(&text::line(&outcome));
    } else {
        handle.console.note(&format!("added {}; {next}", text::name(name)));
    }
    if options.json { output::json(&config.without_secrets()) } else { Ok(()) }
}

fn config(arguments: &AddServer, options: &Options) -> Result<McpConfig, Failure> {
    let AddServer { name, address, npm, pypi, docker, url, secrets, lazy, tls, command } = arguments;
    // A URL in place of the name is the address of a server without a name.
    let (name, address) = match name.as_ref().filter(|name| name.contains("://") && address.is_none()) {
        Some(url) => (None, Some(url)),
        None => (name.clone(), url.as_ref().or(address.as_ref())),
    };
    address.map_or(Ok(()), |address| Failure::check_url(address))?;
    let package = [npm, pypi, docker].into_iter().flatten().next();
    let suggested = || match (package.or(address), command.split_first()) {
        (Some(source), _) => name_of_package(source),
        (None, Some((program, arguments))) => name_of_command(program, arguments),
        (None, None) => None,
    };
    if package.is_none() && address.is_none() && command.is_empty() {
        let message = "no server is given: it needs a URL, --npm PACKAGE, --pypi PACKAGE, --docker IMAGE or -- COMMAND";
        let name = text::word(name.as_deref().unwrap_or("notes"));
        return Err(Failure::usage("command", message).with_hint(format!(
            "Examples:\n  \
             mcpwire server add {name} https://example.com/mcp\n  \
             mcpwire server add {name} --npm @modelcontextprotocol/server-everything\n  \
             mcpwire server add {name} -- ./server --option"
        )));
    }
    let Some(name) = &name.or_else(suggested) else {
        return Err(Failure::usage("name", "the server needs a name: mcpwire server add NAME -- COMMAND"));
    };
    let mut words = command.iter();
    let mut config = match (npm, pypi, docker, address) {
        (Some(package), ..) => McpConfig::npm(name, package),
        (_, Some(package), ..) => McpConfig::pypi(name, package),
        (_, _, Some(image), _) => McpConfig::docker(name, image),
        (_, _, _, Some(url)) => McpConfig::http(name, url),
        _ => McpConfig::binary(name, words.next().map_or("", String::as_str)),
    };
    config = config.args(words.cloned());
    config.lazy = *lazy;
    config.cwd.clone_from(&options.cwd);
    config.timeouts.call = options.timeout;
    let TlsArgs { ca, client_cert, client_key, proxy } = tls;
    let absolute = |path: &Option<PathBuf>| path.as_ref().and_then(|path| absolute(path).ok());
    config.ca_file = absolute(ca);
    config.client_certificate = absolute(client_cert);
    config.client_key = absolute(client_key);
    config.proxy.clone_from(proxy);
    for variable in &options.variables {
        match variable {
            Variable::Set(name, value) => config = config.env(EnvVarConfig::value(name, value)),
            Variable::Inherit(name) => config.inherit_env.push(name.clone()),
        }
    }
    for name in secrets {
        let secret = SecretRef::stored(config.id, name)?;
        config = config.env(EnvVarConfig::secret(name, secret));
    }
    Ok(config)
}

/// Returns a name for a server that is the package, image or URL `source`, such as `serena` for
/// `git+https://github.com/oraios/serena@main`. The name of a server at a URL is its host. Returns `None` if there is none.
fn name_of_package(source: &str) -> Option<String> {
    let (source, _) = source.split_once(" @ ").unwrap_or((source, ""));
    let name = match source.split_once("://") {
        Some(("http" | "https", url)) => url.split(['/', ':', '?', '#']).next()?,
        Some((_, repository)) => {
            let (_, path) = repository.split_once('/')?;
            let path = path.split(['@', '#', '?']).next()?.trim_end_matches('/');
            path.rsplit('/').next()?.trim_end_matches(".git")
        }
        // The scope of a package of npm begins with `@`, as its version does.
        None => source.rsplit('/').next()?.split(['@', ':', '=', '[', '<', '>', '~', '!', ';', ' ']).next()?,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (!name.is_empty() && name.chars().all(is_plain)).then(|| name.to_owned())
}

/// Returns a name for a server that is this command: the package that a program such as `uvx` runs, or else the program.
/// Returns `None` for programs that run anything, such as `docker` and `python`.
fn name_of_command(program: &str, arguments: &[String]) -> Option<String> {
    let program = Path::new(program).file_stem()?.to_str()?;
    match program {
        "npx" | "bunx" | "uvx" | "pipx" => {
            let options = ["--from", "--package", "-p", "--spec"];
            let named = arguments.iter().position(|word| options.contains(&word.as_str()));
            let package = arguments.iter().find(|word| !word.starts_with('-') && *word != "run");
            name_of_package(named.and_then(|at| arguments.get(at + 1)).or(package)?)
        }
        "uv" | "docker" | "podman" | "node" | "bun" | "deno" | "python" | "python3" | "sh" | "bash" | "cmd" => None,
        _ => name_of_package(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_name_is_called_as_its_package_repository_or_host() {
        for (line, name) in [
            ("uvx --from git+https://github.com/oraios/serena serena-agent start-mcp-server", Some("serena")),
            ("uvx git+https://github.com/o/mcp-time.git", Some("mcp-time")),
            ("uvx git+https://github.com/o/mcp-time.git@feature/x#subdirectory=src/a", Some("mcp-time")),
            ("uvx git+ssh://git@github.com/o/mcp-time", Some("mcp-time")),
            ("uvx mcp-server-git==1.2 --repository .", Some("mcp-server-git")),
            ("uvx pkg[cli]@latest", Some("pkg")),
            ("/usr/bin/uvx pkg", Some("pkg")),
            ("npx -y @modelcontextprotocol/server-everything@1.0 stdio", Some("server-everything")),
            ("npx -y -p @a/b c", Some("b")),
            ("pipx run --spec git+https://a.example/o/r r", Some("r")),
            ("./bin/notes-server --read-only", Some("notes-server")),
            ("uvx", None),
            ("docker run -i img", None),
            ("python3 server.py", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(name_of_command(&words[0], &words[1..]).as_deref(), name, "{line}");
        }
        for (source, name) in [
            ("https://mcp.example.com:8080/mcp?x=y", Some("mcp.example.com")),
            ("ghcr.io/github/github-mcp-server:latest", Some("github-mcp-server")),
            ("pkg @ git+https://a.example/o/r", Some("pkg")),
            ("https://", None),
            ("git+https://a.example", None),
        ] {
            assert_eq!(name_of_package(source).as_deref(), name, "{source}");
        }
    }
}
