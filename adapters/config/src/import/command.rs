//! Recognizes commands that start a package, such as `npx`, so that the hub can treat them as packages.

use super::docker;
use super::model::{Recognised, hint};
use crate::config::{McpPackage, McpPackageType, runs};

/// Returns the package that a command such as `npx -y NAME` starts. Any command that is not that simple stays a local program
/// with arguments.
pub(super) fn recognise(program: &str, args: &[String]) -> Recognised {
    // On Windows, packages are often started by `cmd /c`, which is not necessary here.
    if let [option, inner, rest @ ..] = args
        && option.eq_ignore_ascii_case("/c")
        && runs(program, &["cmd"]).is_some()
        && let found = recognise(inner, rest)
        && found.package.package_type != McpPackageType::Binary
    {
        return found;
    }
    let found = match runs(program, &["npx", "bunx", "uvx", "docker", "podman"]) {
        Some(runner @ ("npx" | "bunx")) => package(McpPackageType::Npm, program, runner, args),
        Some(runner @ "uvx") => package(McpPackageType::Pypi, program, runner, args),
        Some(runner) => docker::recognise(program, runner, args),
        None => None,
    };
    let is_engine = runs(program, &["docker", "podman"]).is_some();
    found.unwrap_or_else(|| Recognised {
        package: McpPackage::new(McpPackageType::Binary, program),
        runtime_args: Vec::new(),
        args: args.to_vec(),
        env: Vec::new(),
        warning: is_engine
            .then_some("the command was not understood, so the hub cannot remove a container that outlives it"),
    })
}

fn package(package_type: McpPackageType, program: &str, runner: &str, args: &[String]) -> Option<Recognised> {
    let args: Vec<&String> = args.iter().skip_while(|arg| matches!(arg.as_str(), "-y" | "--yes")).collect();
    let (identifier, args) = args.split_first()?;
    let mut package = McpPackage::new(package_type, identifier.as_str());
    package.runtime_hint = hint(program, runner, package_type);
    let plain = |c: char| c.is_ascii_alphanumeric() || "@/._-[]=".contains(c);
    let is_name = !identifier.starts_with(['-', '.', '/']) && identifier.chars().all(plain);
    is_name.then(|| Recognised {
        package,
        runtime_args: Vec::new(),
        args: args.iter().map(|arg| (*arg).clone()).collect(),
        env: Vec::new(),
        warning: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identified(command: &str) -> (McpPackageType, String, Vec<String>) {
        let mut words = command.split(' ').map(str::to_owned);
        let program = words.next().unwrap();
        let found = recognise(&program, &words.collect::<Vec<_>>());
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
}
