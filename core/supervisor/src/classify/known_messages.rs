//! Tables of known error messages of package managers and interpreters, and the failures that they mean.
//!
//! The messages come from npm 11, uv and docker 28, and include the spellings of older versions.

use alloc::format;

use super::failure::{failure_at_field, quote};
use crate::ErrorKind::{InvalidConfiguration, Network, PackageNotFound, RateLimited, Start, Unauthorized, Unavailable};
use crate::{ErrorKind, Failure, PackageKind, Retry};

const IDENTIFIER: &str = "package.identifier";
const RUNNER: &str = "package.package_type";

struct MessageRule {
    /// Substrings of the message, in lower case. The rule matches a line that contains all of them, ignoring case.
    contains: &'static [&'static str],
    kind: ErrorKind,
    field: &'static str,
    /// The error message for the user. A colon and the matching line of the server's output are appended.
    text: &'static str,
    retry: Retry,
}

const fn rule(
    contains: &'static [&'static str],
    kind: ErrorKind,
    field: &'static str,
    text: &'static str,
    retry: Retry,
) -> MessageRule {
    MessageRule { contains, kind, field, text, retry }
}

const NO_PACKAGE: &str = "Package not found";
const NO_REGISTRY: &str = "the package registry cannot be reached; check the network";

/// Rules for messages of npm. The messages start with `npm error`, or with `npm ERR!` up to npm 9.
const NPM: &[MessageRule] = &[
    rule(&["npm err", "404 not found"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["npm err", "code e404"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["npm err", "notarget no matching version"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["npm err", "code etarget"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(
        &["npm err", "could not determine executable"],
        InvalidConfiguration,
        IDENTIFIER,
        "the package has no program to run; choose another package",
        Retry::Never,
    ),
    rule(
        &["npm err", "invalid tag name"],
        InvalidConfiguration,
        IDENTIFIER,
        "invalid package name; correct it",
        Retry::Never,
    ),
    rule(
        &["npm err", "invalid package name; correct it"],
        InvalidConfiguration,
        IDENTIFIER,
        "invalid package name; correct it",
        Retry::Never,
    ),
    rule(
        &["npm err", "unsupported url type"],
        InvalidConfiguration,
        IDENTIFIER,
        "invalid package name; correct it",
        Retry::Never,
    ),
    rule(
        &["npm err", "code ebadplatform"],
        InvalidConfiguration,
        IDENTIFIER,
        "the package does not support this system; choose another package",
        Retry::Never,
    ),
    rule(
        &["npm err", "code e401"],
        Unauthorized,
        IDENTIFIER,
        "the package registry requires a login; log in with the package manager",
        Retry::Never,
    ),
    rule(
        &["npm err", "code e403"],
        Unauthorized,
        IDENTIFIER,
        "the package registry denies access to the package; log in with another account",
        Retry::Never,
    ),
    rule(&["npm err", "code enotfound"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "eai_again"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "econnrefused"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "econnreset"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "etimedout"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "err_socket_timeout"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "code enospc"], Unavailable, "", "the disk is full; free some space", Retry::Backoff),
    rule(
        &["npm err", "code eacces"],
        Unavailable,
        "",
        "npm has no write permission for its cache; change the owner of the cache folder",
        Retry::Never,
    ),
    rule(
        &["npm err", "code eintegrity"],
        Unavailable,
        "",
        "the downloaded package is corrupt; clean the cache with `npm cache clean --force`",
        Retry::Backoff,
    ),
];

const PYPI: &[MessageRule] = &[
    rule(&["was not found in the package registry"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["was not found in the provided package locations"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["there is no version of"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(
        &["is not provided by package"],
        InvalidConfiguration,
        IDENTIFIER,
        "the package has no program to run; choose another package",
        Retry::Never,
    ),
    rule(
        &["provides no executables"],
        InvalidConfiguration,
        IDENTIFIER,
        "the package has no program to run; choose another package",
        Retry::Never,
    ),
    rule(
        &["error: failed to parse"],
        InvalidConfiguration,
        IDENTIFIER,
        "invalid package name; correct it",
        Retry::Never,
    ),
    rule(&["not a valid package"], InvalidConfiguration, IDENTIFIER, "invalid package name; correct it", Retry::Never),
    rule(
        &["no interpreter found for python"],
        Start,
        RUNNER,
        "the required Python version is not installed; install it",
        Retry::Never,
    ),
    rule(
        &["no solution found"],
        Unavailable,
        IDENTIFIER,
        "the package cannot be installed; check its name and version",
        Retry::Never,
    ),
    rule(&["error: failed to fetch"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["cause: dns error"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["error: failed to download"], Network, "", NO_REGISTRY, Retry::Backoff),
    rule(&["no space left on device"], Unavailable, "", "the disk is full; free some space", Retry::Backoff),
];

const DOCKER: &[MessageRule] = &[
    rule(
        &["permission denied", "docker daemon"],
        Unavailable,
        RUNNER,
        "this user has no permission to use Docker; add the user to the group `docker`",
        Retry::Never,
    ),
    rule(
        &["permission denied", "docker api"],
        Unavailable,
        RUNNER,
        "this user has no permission to use Docker; add the user to the group `docker`",
        Retry::Never,
    ),
    rule(
        &["cannot connect to the docker daemon"],
        Unavailable,
        RUNNER,
        "Docker not running; start Docker",
        Retry::Backoff,
    ),
    rule(&["is the docker daemon running"], Unavailable, RUNNER, "Docker not running; start Docker", Retry::Backoff),
    rule(&["error during connect"], Unavailable, RUNNER, "Docker not running; start Docker", Retry::Backoff),
    rule(
        &["failed to connect to the docker api"],
        Unavailable,
        RUNNER,
        "Docker not running; start Docker",
        Retry::Backoff,
    ),
    rule(&["manifest unknown"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["pull access denied"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["repository does not exist"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["no such image"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(
        &["no matching manifest for"],
        InvalidConfiguration,
        IDENTIFIER,
        "the image does not support this system; choose another image",
        Retry::Never,
    ),
    rule(
        &["invalid reference format"],
        InvalidConfiguration,
        IDENTIFIER,
        "invalid image name; correct it",
        Retry::Never,
    ),
    rule(
        &["executable file not found in"],
        PackageNotFound,
        IDENTIFIER,
        "Package not found: the program is not in the image",
        Retry::Never,
    ),
    rule(
        &["is already in use by container"],
        Unavailable,
        "",
        "a container from an earlier run still exists; remove it with `docker rm`",
        Retry::Backoff,
    ),
    rule(
        &["toomanyrequests"],
        RateLimited,
        "",
        "the rate limit of the image registry is reached; log in to the registry, or try again later",
        Retry::Backoff,
    ),
    rule(
        &["error response from daemon", "no such host"],
        Network,
        "",
        "the image registry cannot be reached; check the network",
        Retry::Backoff,
    ),
    rule(
        &["error response from daemon", "timeout"],
        Network,
        "",
        "the image registry cannot be reached; check the network",
        Retry::Backoff,
    ),
    rule(
        &["error response from daemon", "connection refused"],
        Network,
        "",
        "the image registry cannot be reached; check the network",
        Retry::Backoff,
    ),
    rule(&["no space left on device"], Unavailable, "", "the disk is full; free some space", Retry::Backoff),
    rule(
        &["unknown flag:"],
        InvalidConfiguration,
        "package.runtime_arguments",
        "docker rejects the runtime arguments; correct them",
        Retry::Never,
    ),
    rule(
        &["unknown shorthand flag:"],
        InvalidConfiguration,
        "package.runtime_arguments",
        "docker rejects the runtime arguments; correct them",
        Retry::Never,
    ),
];

/// Rules for messages of interpreters that do not find a script or module.
const BINARY: &[MessageRule] = &[
    rule(&["can't open file"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["error: cannot find module"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["no module named"], PackageNotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
];

const COMMON: &[MessageRule] = &[
    rule(
        &["eaddrinuse"],
        Unavailable,
        "",
        "the MCP server's port is in use; stop the program that uses it, or choose another port",
        Retry::Backoff,
    ),
    rule(
        &["address already in use"],
        Unavailable,
        "",
        "the MCP server's port is in use; stop the program that uses it, or choose another port",
        Retry::Backoff,
    ),
];

/// Searches `stderr` for the known error messages of this kind of package. Returns the failure of the first rule that
/// matches a line, or `None` if no rule matches.
pub(super) fn find_failure(kind: PackageKind, stderr: &str) -> Option<Failure> {
    let rules = match kind {
        PackageKind::Npm => NPM,
        PackageKind::Pypi => PYPI,
        PackageKind::Docker => DOCKER,
        PackageKind::Binary => BINARY,
        PackageKind::Http => &[],
    };
    let lower = stderr.to_ascii_lowercase();
    // Rules for causes come before rules for their consequences, so the order of the lines does not matter.
    rules.iter().chain(COMMON).find_map(|rule| {
        // Conversion to ASCII lower case keeps the line structure.
        let line =
            lower.lines().zip(stderr.lines()).find(|(line, _)| rule.contains.iter().all(|part| line.contains(part)))?.1;
        Some(failure_at_field(rule.kind, rule.field, format!("{}: {}", rule.text, quote(line)), rule.retry))
    })
}
