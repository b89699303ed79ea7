//! Validates the package and its transport.

use std::path::Path;

use super::super::problems::Problems;
use super::super::{McpConfig, McpPackage, McpPackageType, McpTransport, Origin, fill, is_address};

pub(super) fn check(config: &McpConfig, problems: &mut Problems) {
    let package = &config.package;
    if package.identifier.trim().is_empty() {
        problems.add("package.identifier", "Package identifier required");
    } else if let Err(message) = identifier(package) {
        problems.add("package.identifier", message);
    }
    version(config, problems);
    runtime_hint(config, problems);
    transport(config, problems);
}

fn identifier(package: &McpPackage) -> Result<(), &'static str> {
    let text = package.identifier.as_str();
    // The identifier of an HTTP server is its URL or any name.
    if package.package_type == McpPackageType::Http {
        return Ok(());
    }
    if text.chars().any(char::is_control) {
        return Err("the identifier must not contain control characters");
    }
    if package.package_type == McpPackageType::Binary {
        return Ok(());
    }
    if text.starts_with('-') {
        return Err("the identifier must not start with `-`, because it would be an option");
    }
    if text.chars().any(char::is_whitespace) {
        return Err("the identifier must not contain spaces. Put arguments into `args`");
    }
    let (name, _) = split_version(package);
    let of = |more: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    let fits = match package.package_type {
        // The npm package may also be a path, the URL of an archive, or a repository.
        McpPackageType::Npm => of("@/._-~+:#") && !name.is_empty(),
        McpPackageType::Pypi => of("._-[],"),
        _ => of("/._-:"),
    };
    if fits { Ok(()) } else { Err("the identifier is not a valid name for this kind of package") }
}

fn version(config: &McpConfig, problems: &mut Problems) {
    let Some(version) = &config.package.version else { return };
    let field = "package.version";
    let takes_one =
        matches!(config.package.package_type, McpPackageType::Npm | McpPackageType::Pypi | McpPackageType::Docker);
    if !takes_one {
        problems.add(field, "only packages and images can have a version");
    } else if split_version(&config.package).1.is_some() {
        problems.add(field, "the identifier contains a version already");
    } else if version.is_empty() || !version.chars().all(|c| c.is_ascii_alphanumeric() || "._+-:!".contains(c)) {
        problems.add(field, "A version is an exact one, such as `1.2.3`, or a tag: letters, digits and `._+-`");
    } else if version.starts_with('-') {
        problems.add(field, "A version that starts with `-` would be taken for an option");
    }
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
    let field = "package.runtime_hint";
    let known = config.package.package_type.runtimes();
    if runs(hint, known).is_none() {
        let message = match known {
            [] => "this kind of server is not run by another program".to_owned(),
            known => format!("the program that runs the package must be {}", known.join(" or ")),
        };
        problems.add(field, message);
    } else if config.origin == Origin::Registry && !known.contains(&hint.as_str()) {
        problems.add(field, "a server of a registry must name a program, not a path");
    }
}

/// Returns the entry of `known` that `program` means. `program` is a name or a path. Ignores case and Windows file extensions, so
/// `C:\x\npx.cmd` means `npx`.
pub(crate) fn runs(program: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let file = Path::new(program).file_name()?.to_str()?.to_ascii_lowercase();
    let stem = [".exe", ".cmd", ".bat"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(&file);
    known.iter().copied().find(|known| *known == stem)
}

fn transport(config: &McpConfig, problems: &mut Problems) {
    let is_http = config.package.package_type == McpPackageType::Http;
    match &config.transport {
        McpTransport::Stdio if is_http => {
            problems.add("transport", "A server of the type `http` is spoken to by HTTP: give its `url`");
        }
        McpTransport::Stdio => {}
        McpTransport::Http { url } if !is_http => {
            let _ = url;
            let kind = config.package.package_type.as_str();
            problems.add("transport", format!("A server of the type `{kind}` is spoken to by its standard streams"));
        }
        McpTransport::Http { url } if url.trim().is_empty() => problems.add("transport", "Transport required"),
        McpTransport::Http { url } => {
            // The values of the variables are not known yet. Each could be a port number.
            let filled = fill::<()>(url, |name| Ok(config.variables.contains_key(name).then(|| "1".to_owned())));
            if !filled.is_ok_and(|url| is_address(&url)) {
                let message =
                    "an address must start with `http://` or `https://` and have a host, but no user and no password";
                problems.add("transport", message);
            }
        }
    }
}
