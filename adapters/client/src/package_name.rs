//! [`package_name`]: finds the package, image or script that a command such as `npx` starts, to name a server in messages.

use std::path::Path;

/// Options that take no value, for all programs that [`package_name`] knows. Any other option takes the next argument as its
/// value, unless it is written as `--name=value`.
const FLAGS: [&str; 15] = [
    "--",
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "--bun",
    "-i",
    "-t",
    "-it",
    "-ti",
    "--rm",
    "--init",
    "--interactive",
    "--tty",
    "--isolated",
];

/// Returns the name of the package, image, script or module that a command starts, without its version. Returns `None` for
/// unknown commands, and if the arguments contain no such name.
///
/// Messages then name `server-everything` instead of `npx`, because a program may start several servers with `npx`.
pub(crate) fn package_name<'a>(command: &str, args: &'a [String]) -> Option<&'a str> {
    let program = Path::new(command).file_stem()?.to_str()?;
    let mut args = args.iter().map(String::as_str);
    let verbs: &[&str] = match program {
        "npx" | "bunx" | "pnpx" | "uvx" => &[],
        "docker" | "podman" | "pipx" => &["run"],
        "pnpm" => &["dlx"],
        "uv" => &["tool", "run"],
        "deno" => return deno(args),
        "node" | "bun" | "python" | "python3" => return script(args),
        _ => return None,
    };
    if verbs.iter().any(|verb| args.next() != Some(verb)) {
        return None;
    }
    while let Some(arg) = args.next() {
        match arg {
            // The value is the package that provides the command after the options. If the package is a path or URL, the loop
            // continues to that command and returns its name.
            _ if names_package(program, arg) => {
                let package = args.next()?;
                if let Some(name) = name(package) {
                    return Some(name);
                }
            }
            _ if !arg.starts_with('-') => return name(arg),
            _ if FLAGS.contains(&arg) || arg.contains('=') => {}
            _ => {
                args.next();
            }
        }
    }
    None
}

/// Returns whether this option names the package that provides the command, such as `--from` of `uvx`.
fn names_package(program: &str, option: &str) -> bool {
    match program {
        "npx" | "bunx" | "pnpx" | "pnpm" => matches!(option, "-p" | "--package"),
        "uvx" | "uv" | "pipx" => matches!(option, "--from" | "--spec"),
        _ => false,
    }
}

/// Returns the package or script that `deno run` starts. The first argument that is no option names it, because options of `deno`
/// have no separate values.
fn deno<'a>(mut args: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    args.next().filter(|verb| *verb == "run")?;
    let started = args.find(|arg| !arg.starts_with('-'))?;
    if started.starts_with("npm:") || started.starts_with("jsr:") { name(started) } else { file(started) }
}

/// Returns the file name of the script that an interpreter such as `node` runs, or the module of `python -m`. Returns `None` if
/// the first argument is another option, because the next argument may be its value.
fn script<'a>(mut args: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    match args.next()? {
        "-m" => args.next(),
        "run" => file(args.next()?),
        first => file(first),
    }
}

fn file(path: &str) -> Option<&str> {
    if path.starts_with('-') { None } else { Path::new(path).file_name()?.to_str() }
}

/// Returns the name of a package or image without the prefix `npm:` or `jsr:`, version, tag and digest. Returns `None` for paths
/// and URLs.
fn name(package: &str) -> Option<&str> {
    if package.starts_with(['.', '/']) || package.contains("://") {
        return None;
    }
    let package = package.strip_prefix("npm:").or_else(|| package.strip_prefix("jsr:")).unwrap_or(package);
    // The first `@` of `@scope/name@1.0` belongs to the name. PyPI packages may end with `[extra]`, `==1.0` or `>=1.0`, images
    // with `:tag`.
    let scope = usize::from(package.starts_with('@'));
    let end = package[scope..].find(['@', '=', '<', '>', '~', '[', '!', ' ']).map_or(package.len(), |at| at + scope);
    let name = &package[..end];
    // If a `/` follows the `:`, it precedes the port of a registry, not a tag.
    let tag = name.rfind(':').filter(|at| !name[*at..].contains('/'));
    let name = &name[..tag.unwrap_or(name.len())];
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_start_packages_are_called_by_the_package() {
        for (command, expected) in [
            (
                "npx -y @modelcontextprotocol/server-everything@2026.1.0 stdio",
                Some("@modelcontextprotocol/server-everything"),
            ),
            ("npx server", Some("server")),
            ("/usr/bin/npx --yes -- server@latest", Some("server")),
            ("npx.cmd -y server", Some("server")),
            ("npx -y -p @a/b c", Some("@a/b")),
            ("npx --package=@a/b c", Some("c")),
            ("npx --registry http://localhost:1 a", Some("a")),
            ("bunx --bun a@1", Some("a")),
            ("uvx mcp-server-time==1.0 --zone UTC", Some("mcp-server-time")),
            ("uvx --python 3.12 --from mcp[cli]>=1 mcp", Some("mcp")),
            ("pipx run mcp-server-time", Some("mcp-server-time")),
            ("pipx run --spec a==1 b", Some("a")),
            ("docker run -i --rm -e TOKEN mcp/github:1", Some("mcp/github")),
            ("docker run --rm --name x --env=A=b localhost:5000/mcp/time@sha256:00", Some("localhost:5000/mcp/time")),
            ("pnpm dlx a", Some("a")),
            ("deno run -A --quiet npm:@a/b@1", Some("@a/b")),
            ("docker exec -i box server", None),
            ("docker ps", None),
            ("npx", None),
            ("npx -y ./local", None),
            ("uvx --from /tmp/x y", Some("y")),
            ("uvx --from git+https://github.com/a/b@v1 tool --x", Some("tool")),
            ("uv tool run --from git+ssh://git@host/a.git tool", Some("tool")),
            ("pipx run --spec https://example.com/a.whl tool", Some("tool")),
            ("npx -y -p git+https://github.com/a/b tool", Some("tool")),
            ("uvx --from git+https://github.com/a/b", None),
            ("uvx git+https://github.com/a/b", None),
            ("docker run --rm=true", None),
            ("uv tool run mcp-server-git", Some("mcp-server-git")),
            ("uv --directory /x run server.py", None),
            ("deno run https://example.com/server.ts", Some("server.ts")),
            ("node dist/index.js --stdio", Some("index.js")),
            ("bun run /srv/server.ts", Some("server.ts")),
            ("python3 -m mcp_server_time", Some("mcp_server_time")),
            ("python -u server.py", None),
            ("./server --x", None),
        ] {
            let mut words = command.split(' ');
            let program = words.next().unwrap();
            let args: Vec<String> = words.map(str::to_owned).collect();
            assert_eq!(package_name(program, &args), expected, "{command}");
        }
    }
}
