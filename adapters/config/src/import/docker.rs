//! Parses `docker run` commands: options, environment variables, the image and its arguments.

use super::model::{Recognised, hint};
use crate::config::{McpPackage, McpPackageType};

/// Options of `docker run` that are ignored in a configuration, because the hub sets them itself, or because a server has no terminal.
/// None of them takes a value.
const OURS: [&str; 8] = ["-i", "--interactive", "--rm", "--init", "-it", "-ti", "-t", "--tty"];

/// Options of `docker run` that have no value.
const FLAGS: [&str; 7] =
    ["--privileged", "--read-only", "--no-healthcheck", "--oom-kill-disable", "-P", "--publish-all", "--quiet"];

/// Options of `docker run` that have a value, which may be the next argument.
const WITH_VALUE: [&str; 48] = [
    "-v",
    "--volume",
    "--mount",
    "--network",
    "--net",
    "-p",
    "--publish",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--entrypoint",
    "--add-host",
    "--cap-add",
    "--cap-drop",
    "--cpus",
    "-m",
    "--memory",
    "--memory-swap",
    "--platform",
    "--pull",
    "-h",
    "--hostname",
    "-l",
    "--label",
    "--dns",
    "--device",
    "--gpus",
    "--env-file",
    "--security-opt",
    "--tmpfs",
    "--ulimit",
    "--shm-size",
    "--ipc",
    "--pid",
    "--log-driver",
    "--log-opt",
    "--group-add",
    "--userns",
    "--runtime",
    "--stop-timeout",
    "--sysctl",
    "--volumes-from",
    "--volume-driver",
    "--pids-limit",
    "--cpuset-cpus",
    "--expose",
    "--network-alias",
];

/// Parses a `docker run` command. Returns `None` for other commands. Also returns `None` if an option is unknown, because the
/// next argument could be either its value or the image.
pub(super) fn recognise(program: &str, runner: &str, args: &[String]) -> Option<Recognised> {
    let mut rest = args.iter();
    let mut first = rest.next()?.as_str();
    if first == "container" {
        first = rest.next()?.as_str();
    }
    if first != "run" {
        return None;
    }
    let mut found = Recognised {
        package: McpPackage::new(McpPackageType::Docker, ""),
        runtime_args: Vec::new(),
        args: Vec::new(),
        env: Vec::new(),
        warning: None,
    };
    loop {
        let arg = rest.next()?;
        if !arg.starts_with('-') {
            found.package.identifier.clone_from(arg);
            break;
        }
        let (option, value) = match arg.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
            _ => (arg.as_str(), None),
        };
        match option {
            _ if OURS.contains(&option) => {}
            _ if FLAGS.contains(&option) => found.runtime_args.push(arg.clone()),
            "-d" | "--detach" => return None,
            // The name is dropped: the hub chooses a name itself, by which it removes the container later.
            "--name" => drop(value.or_else(|| rest.next().cloned())?),
            "-e" | "--env" => {
                let value = value.or_else(|| rest.next().cloned())?;
                found.env.push(match value.split_once('=') {
                    Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                    None => (value, None),
                });
            }
            _ if WITH_VALUE.contains(&option) => {
                found.runtime_args.push(arg.clone());
                if value.is_none() {
                    found.runtime_args.push(rest.next()?.clone());
                }
            }
            // An unknown option that contains its value.
            _ if value.is_some() => found.runtime_args.push(arg.clone()),
            _ => return None,
        }
    }
    found.package.runtime_hint = hint(program, runner, McpPackageType::Docker);
    found.args = rest.cloned().collect();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_usual_command_is_taken_apart() {
        let text = "run -i --rm --name x -e TOKEN -e MODE=fast --env=A=b=c -v /a:/b --network=host img:1 stdio --x";
        let found = recognise("docker", "docker", &args(text)).unwrap();
        assert_eq!(found.package, McpPackage::new(McpPackageType::Docker, "img:1"));
        assert_eq!(found.runtime_args, ["-v", "/a:/b", "--network=host"]);
        assert_eq!(found.args, ["stdio", "--x"]);
        let env = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        assert_eq!(found.env, [env("TOKEN", None), env("MODE", Some("fast")), env("A", Some("b=c"))]);
    }

    #[test]
    fn what_cannot_be_told_is_left_alone() {
        for text in ["", "exec -i x y", "run", "run --rm", "run --new-option value img", "run -d img", "run -e"] {
            assert_eq!(recognise("docker", "docker", &args(text)), None, "{text}");
        }
        assert!(recognise("docker", "docker", &args("run --new-option=value img")).is_some());
    }
}
