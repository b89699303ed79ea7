//! Prints which file of the pure crates needs which, and fails on a circle or on an arrow that `layers.txt` does not allow.
//!
//! An arrow is an import or a path in the code, followed through re-exports to the file that defines the item. A module that
//! only declares or re-exports what is below it needs nothing of it.

mod graph;
mod module;
mod report;
mod rules;
mod tokens;
mod tree;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use tree::Tree;

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match check(&here.join("../.."), &here.join("layers.txt")) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            eprintln!("\n{} faults:", faults.len());
            for fault in faults {
                eprintln!("  {fault}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the graph of each crate, and returns what is wrong with them.
fn check(root: &Path, layers: &Path) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(layers).map_err(|error| format!("cannot read {}: {error}", layers.display()))?;
    let mut faults = Vec::new();
    for rules in rules::read(&text).map_err(|error| format!("{}: {error}", layers.display()))? {
        let folder = root.join(&rules.folder);
        let tree = Tree::read(&folder.join("src")).map_err(|error| format!("{}: {error}", rules.package))?;
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).map_err(|error| error.to_string())?;
        let dependencies = dependencies(&manifest);
        println!("{} -> {}", rules.package, dependencies.join(" "));
        let mut arrows = tree.arrows();
        let ours = dependencies.iter().filter(|name| name.starts_with("mcpwire"));
        for package in ours {
            arrows.extend(tree.arrows_to(package));
            if !rules.allows_package(package) {
                faults.push(format!("{} must not depend on {package}", rules.package));
            }
        }
        let report = report::report(&rules, &tree.files(), &arrows);
        print!("{}", report.text);
        faults.extend(report.faults.into_iter().map(|fault| format!("{}: {fault}", rules.package)));
    }
    Ok(faults)
}

/// Returns the names of what a package depends on, other than for its tests and its build.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = section == "dependencies" || section.ends_with(".dependencies");
            // `[dependencies.name]`
            names.extend(
                section
                    .rsplit_once("dependencies.")
                    .filter(|(before, _)| !before.ends_with('-'))
                    .map(|(_, name)| name.into()),
            );
        } else if inside && let Some((name, _)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            names.extend(name.trim().split('.').next().map(String::from));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_named_in_three_ways() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\" # x = y\n# c = \"1\"\nd.workspace = true
            [target.'cfg(unix)'.dependencies]\ne = { path = \"e\" }\n[dependencies.f]\nversion = \"1\"
            [dev-dependencies]\ng = \"1\"\n[dev-dependencies.h]\n[features]\ni = []";
        assert_eq!(dependencies(manifest), ["b", "d", "e", "f"]);
    }
}
