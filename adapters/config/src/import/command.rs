//! Recognizes commands that start a package, such as `npx` and `docker run`, so that the hub can treat them as packages.

use std::slice;

use crate::config::{McpPackage, McpPackageType, runs};

/// The package that a command such as `npx` starts, with its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PackageCommand {
    pub(super) package: McpPackage,
    pub(super) runtime_args: Vec<String>,
    pub(super) args: Vec<String>,
    /// Environment variables that the command itself sets, such as `-e NAME=value` of `docker run`. A variable without a value
    /// is passed on from the environment of the hub.
    pub(super) env: Vec<(String, Option<String>)>,
    /// A warning for the user, or `None` if the command is understood.
    pub(super) warning: Option<&'static str>,
}

impl PackageCommand {
    fn new(package_type: McpPackageType, identifier: &str, args: &[String]) -> Self {
        let package = McpPackage::new(package_type, identifier);
        PackageCommand { package, runtime_args: Vec::new(), args: args.to_vec(), env: Vec::new(), warning: None }
    }

    /// Sets the program that runs the package, if `program` is not the default program for packages of this kind. `runner` is
    /// the plain name of `program`, such as `npx`.
    fn run_by(mut self, program: &str, runner: &str) -> Self {
        let is_usual = program == runner && self.package.package_type.runtimes().first() == Some(&runner);
        self.package.runtime_hint = (!is_usual).then(|| program.to_owned());
        self
    }
}

/// Returns the package that a command such as `npx -y NAME` starts. A command with unknown options stays a local program with
/// arguments.
pub(super) fn recognize(program: &str, args: &[String]) -> PackageCommand {
    // On Windows, packages are often started by `cmd /c`, which is not necessary here.
    if let [option, inner, rest @ ..] = args
        && option.eq_ignore_ascii_case("/c")
        && runs(program, &["cmd"]).is_some()
        && let found = recognize(inner, rest)
        && found.package.package_type != McpPackageType::Binary
    {
        return found;
    }
    let mut command = PackageCommand::new(McpPackageType::Binary, program, args);
    let Some(runner) = runs(program, &["npx", "bunx", "uvx", "docker", "podman"]) else { return command };
    let found = match runner {
        "npx" | "bunx" => named_package(McpPackageType::Npm, args),
        "uvx" => named_package(McpPackageType::Pypi, args),
        _ => {
            command.warning =
                Some("the command was not understood, so the hub cannot remove a container that outlives it");
            docker_run(args)
        }
    };
    found.map_or(command, |found| found.run_by(program, runner))
}

/// Parses the arguments `NAME ARGS...` of `npx` or `uvx`. Returns `None` if the name could be an option or a path.
fn named_package(package_type: McpPackageType, args: &[String]) -> Option<PackageCommand> {
    let flags = args.iter().take_while(|arg| matches!(arg.as_str(), "-y" | "--yes")).count();
    let (identifier, args) = args[flags..].split_first()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@/._-[]=".contains(c);
    let is_name = !identifier.starts_with(['-', '.', '/']) && identifier.chars().all(is_plain);
    is_name.then(|| PackageCommand::new(package_type, identifier, args))
}

/// Parses the arguments of `docker run`. Returns `None` for other commands. Also returns `None` if an option is unknown, because
/// the next argument could be either its value or the image.
fn docker_run(args: &[String]) -> Option<PackageCommand> {
    let mut rest = args.iter();
    if args.first()? == "container" {
        rest.next();
    }
    if rest.next()? != "run" {
        return None;
    }
    let mut found = PackageCommand::new(McpPackageType::Docker, "", &[]);
    loop {
        let arg = rest.next()?;
        if !arg.starts_with('-') {
            found.package.identifier.clone_from(arg);
            found.args = rest.as_slice().to_vec();
            return Some(found);
        }
        let (option, value) = match arg.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (arg.as_str(), None),
        };
        let value_of = |rest: &mut slice::Iter<'_, String>| value.map(str::to_owned).or_else(|| rest.next().cloned());
        match option {
            // The hub sets these options itself, or they have no effect, because a server has no terminal.
            "-i" | "--interactive" | "--rm" | "--init" | "-it" | "-ti" | "-t" | "--tty" => {}
            "-d" | "--detach" => return None,
            // The name is dropped: the hub chooses a name itself, by which it removes the container later.
            "--name" => drop(value_of(&mut rest)?),
            "-e" | "--env" => {
                let value = value_of(&mut rest)?;
                found.env.push(match value.split_once('=') {
                    Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                    None => (value, None),
                });
            }
            // Options without a value.
            "--privileged" | "--read-only" | "--no-healthcheck" | "--oom-kill-disable" | "-P" | "--publish-all"
            | "--quiet" => found.runtime_args.push(arg.clone()),
            // Options with a value, which may be the next argument.
            "-v" | "--volume" | "--mount" | "--network" | "--net" | "-p" | "--publish" | "-w" | "--workdir" | "-u"
            | "--user" | "--entrypoint" | "--add-host" | "--cap-add" | "--cap-drop" | "--cpus" | "-m" | "--memory"
            | "--memory-swap" | "--platform" | "--pull" | "-h" | "--hostname" | "-l" | "--label" | "--dns"
            | "--device" | "--gpus" | "--env-file" | "--security-opt" | "--tmpfs" | "--ulimit" | "--shm-size"
            | "--ipc" | "--pid" | "--log-driver" | "--log-opt" | "--group-add" | "--userns" | "--runtime"
            | "--stop-timeout" | "--sysctl" | "--volumes-from" | "--volume-driver" | "--pids-limit"
            | "--cpuset-cpus" | "--expose" | "--network-alias"
                if value.is_none() =>
            {
                found.runtime_args.extend([arg.clone(), rest.next()?.clone()]);
            }
            // An option that contains its value.
            _ if value.is_some() => found.runtime_args.push(arg.clone()),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identified(command: &str) -> (McpPackageType, String, Vec<String>) {
        let mut words = command.split(' ').map(str::to_owned);
        let program = words.next().unwrap();
        let found = recognize(&program, &words.collect::<Vec<_>>());
        (found.package.package_type, found.package.identifier, found.args)
    }

    #[test]
    fn only_simple_commands_count_as_packages() {
        for (command, kind, identifier, args) in [
            ("npx -y @a/b@1 c", McpPackageType::Npm, "@a/b@1", "c"),
            ("npx a", McpPackageType::Npm, "a", ""),
            ("C:\\x\\npx.cmd a", if cfg!(windows) { McpPackageType::Npm } else { McpPackageType::Binary }, "", ""),
            ("cmd /c npx -y a b", McpPackageType::Npm, "a", "b"),
            ("cmd.exe /C dir a", McpPackageType::Binary, "cmd.exe", "/C dir a"),
            ("npx -p a b", McpPackageType::Binary, "npx", "-p a b"),
            ("npx -y ./local", McpPackageType::Binary, "npx", "-y ./local"),
            ("npx", McpPackageType::Binary, "npx", ""),
            ("uvx a==1 b", McpPackageType::Pypi, "a==1", "b"),
            ("uvx --from a b", McpPackageType::Binary, "uvx", "--from a b"),
            ("docker ps", McpPackageType::Binary, "docker", "ps"),
            ("node x.js", McpPackageType::Binary, "node", "x.js"),
        ] {
            let found = identified(command);
            assert_eq!(found.0, kind, "{command}");
            if !identifier.is_empty() {
                assert_eq!((found.1.as_str(), found.2.join(" ").as_str()), (identifier, args), "{command}");
            }
        }
    }

    fn args(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_usual_command_is_taken_apart() {
        let text = "run -i --rm --name x -e TOKEN -e MODE=fast --env=A=b=c -v /a:/b --network=host img:1 stdio --x";
        let found = docker_run(&args(text)).unwrap();
        assert_eq!(found.package, McpPackage::new(McpPackageType::Docker, "img:1"));
        assert_eq!(found.runtime_args, ["-v", "/a:/b", "--network=host"]);
        assert_eq!(found.args, ["stdio", "--x"]);
        let env = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        assert_eq!(found.env, [env("TOKEN", None), env("MODE", Some("fast")), env("A", Some("b=c"))]);
    }

    #[test]
    fn what_cannot_be_told_is_left_alone() {
        for text in ["", "exec -i x y", "run", "run --rm", "run --new-option value img", "run -d img", "run -e"] {
            assert_eq!(docker_run(&args(text)), None, "{text}");
        }
        assert!(docker_run(&args("run --new-option=value img")).is_some());
    }
}
