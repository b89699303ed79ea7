//! Validates the package and its transport.

use std::path::Path;

use super::values::Problems;
use crate::config::{McpConfig, McpPackage, McpPackageType, McpTransport, Origin, fill};
use crate::url::is_address;

pub(super) fn check(config: &McpConfig, problems: &mut Problems) {
    identifier(&config.package, problems);
    version(&config.package, problems);
    runtime_hint(config, problems);
    transport(config, problems);
}

fn identifier(package: &McpPackage, problems: &mut Problems) {
    let text = package.identifier.as_str();
    let (name, _) = split_version(package);
    let of = |more: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    // Whether all characters are allowed in the names of this kind of package. `None` for programs and URLs, which may contain
    // any.
    let is_name = match package.package_type {
        // The npm package may also be a path, the URL of an archive, or a repository.
        McpPackageType::Npm => Some(of("@/._-~+:#") && !name.is_empty()),
        McpPackageType::Pypi => Some(of("._-[],")),
        McpPackageType::Docker => Some(of("/._-:")),
        McpPackageType::Binary | McpPackageType::Http => None,
    };
    let message = if text.trim().is_empty() {
        "Package identifier required"
    } else if package.package_type == McpPackageType::Http {
        // The identifier of an HTTP server is its URL or any name.
        return;
    } else if text.chars().any(char::is_control) {
        "the identifier must not contain control characters"
    } else if is_name.is_some() && text.starts_with('-') {
        "the identifier must not start with `-`, because it would be an option"
    } else if is_name.is_some() && text.chars().any(char::is_whitespace) {
        "the identifier must not contain spaces. Put arguments into `args`"
    } else if is_name == Some(false) {
        "the identifier is not a valid name for this kind of package"
    } else {
        return;
    };
    problems.add("package.identifier", message);
}

fn version(package: &McpPackage, problems: &mut Problems) {
    let Some(version) = &package.version else { return };
    let message = if package.package_type.runtimes().is_empty() {
        "only packages and images can have a version"
    } else if split_version(package).1.is_some() {
        "the identifier contains a version already"
    } else if version.is_empty() || !version.chars().all(|c| c.is_ascii_alphanumeric() || "._+-:!".contains(c)) {
        "A version is an exact one, such as `1.2.3`, or a tag: letters, digits and `._+-`"
    } else if version.starts_with('-') {
        "A version that starts with `-` would be taken for an option"
    } else {
        return;
    };
    problems.add("package.version", message);
}

/// Splits the identifier of `package` into the name and the version. The version is `None` if the identifier contains none.
pub(crate) fn split_version(package: &McpPackage) -> (&str, Option<&str>) {
    let text = package.identifier.as_str();
    let at = match package.package_type {
        McpPackageType::Npm => text.rfind('@').filter(|at| *at > 0),
        McpPackageType::Pypi => text.find('@').or_else(|| text.find("==")),
        McpPackageType::Docker => {
            text.find('@').or_else(|| text.rfind(':').filter(|colon| !text[*colon..].contains('/')))
        }
        McpPackageType::Binary | McpPackageType::Http => None,
    };
    match at {
        Some(at) => (&text[..at], Some(text[at..].trim_start_matches(['@', '=', ':']))),
        None => (text, None),
    }
}

fn runtime_hint(config: &McpConfig, problems: &mut Problems) {
    let Some(hint) = &config.package.runtime_hint else { return };
    let known = config.package.package_type.runtimes();
    let message = if known.is_empty() {
        "this kind of server is not run by another program".to_owned()
    } else if runs(hint, known).is_none() {
        format!("the program that runs the package must be {}", known.join(" or "))
    } else if config.origin == Origin::Registry && !known.contains(&hint.as_str()) {
        "a server of a registry must name a program, not a path".to_owned()
    } else {
        return;
    };
    problems.add("package.runtime_hint", message);
}

/// Returns the entry of `known` that `program` means, or `None` if `program` is another program. `program` is a name or a path.
/// Ignores case and Windows file extensions, so `C:\x\npx.cmd` means `npx`.
pub(crate) fn runs(program: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let file = Path::new(program).file_name()?.to_str()?.to_ascii_lowercase();
    let stem = [".exe", ".cmd", ".bat"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(&file);
    known.iter().copied().find(|known| *known == stem)
}

fn transport(config: &McpConfig, problems: &mut Problems) {
    let kind = config.package.package_type.as_str();
    let message = match (&config.transport, config.is_http()) {
        (McpTransport::Stdio, false) => return,
        (McpTransport::Stdio, true) => "A server of the type `http` is spoken to by HTTP: give its `url`".to_owned(),
        (McpTransport::Http { .. }, false) => {
            format!("A server of the type `{kind}` is spoken to by its standard streams")
        }
        (McpTransport::Http { url }, true) if url.trim().is_empty() => "Transport required".to_owned(),
        (McpTransport::Http { url }, true) => {
            // Each variable is replaced by `1` for this check: its value is not known yet, and could be a port number.
            if is_address(&fill(url, |name| config.variables.contains_key(name).then(|| "1".to_owned()))) {
                return;
            }
            "an address must start with `http://` or `https://` and have a host, but no user and no password".to_owned()
        }
    };
    problems.add("transport", message);
}
