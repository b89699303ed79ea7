//! Reads the dependencies from a manifest.

/// Returns the names of what a package depends on, other than for its tests and its build.
pub(crate) fn dependencies(manifest: &str) -> Vec<String> {
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
