//! Known error messages of package managers and interpreters, and the failures that they indicate.
//!
//! The messages come from npm 11, uv and docker 28, and include the wording of older versions.

use alloc::format;

use super::stderr::quote;
use crate::ErrorKind::{InvalidConfiguration, Network, PackageNotFound, RateLimited, Start, Unauthorized, Unavailable};
use crate::{ErrorCode, ErrorKind, Failure, PackageKind, Retry};

/// The configuration field with the name of the package, program or image, or with the address of the server.
pub(super) const IDENTIFIER: &str = "package.identifier";

/// The configuration field with the kind of the package, which determines the program that starts it.
const RUNNER: &str = "package.package_type";

/// The failure that a known error message indicates.
struct KnownFailure {
    kind: ErrorKind,
    field: &'static str,
    /// The error message for the user. A colon and the matching line of the server's output are appended.
    text: &'static str,
    retry: Retry,
}

/// A failure, and the messages that indicate it, in lower case. A line of output matches if it contains the first text and
/// one of the texts in the list, ignoring case.
type Rule = (KnownFailure, &'static str, &'static [&'static str]);

const fn permanent(kind: ErrorKind, field: &'static str, text: &'static str) -> KnownFailure {
    KnownFailure { kind, field, text, retry: Retry::Never }
}

const fn temporary(kind: ErrorKind, field: &'static str, text: &'static str) -> KnownFailure {
    KnownFailure { kind, field, text, retry: Retry::Backoff }
}

const NO_PACKAGE: KnownFailure = permanent(PackageNotFound, IDENTIFIER, "Package not found");
const NO_PROGRAM: KnownFailure =
    permanent(InvalidConfiguration, IDENTIFIER, "the package has no program to run; choose another package");
const BAD_NAME: KnownFailure = permanent(InvalidConfiguration, IDENTIFIER, "invalid package name; correct it");
const WRONG_SYSTEM: KnownFailure =
    permanent(InvalidConfiguration, IDENTIFIER, "the package does not support this system; choose another package");
const REGISTRY_LOGIN: KnownFailure =
    permanent(Unauthorized, IDENTIFIER, "the package registry requires a login; log in with the package manager");
const REGISTRY_DENIES: KnownFailure = permanent(
    Unauthorized,
    IDENTIFIER,
    "the package registry denies access to the package; log in with another account",
);
const NO_REGISTRY: KnownFailure = temporary(Network, "", "the package registry cannot be reached; check the network");
const DISK_FULL: KnownFailure = temporary(Unavailable, "", "the disk is full; free some space");
const NPM_CACHE: KnownFailure =
    permanent(Unavailable, "", "npm has no write permission for its cache; change the owner of the cache folder");
const CORRUPT: KnownFailure =
    temporary(Unavailable, "", "the downloaded package is corrupt; clean the cache with `npm cache clean --force`");
const NO_PYTHON: KnownFailure = permanent(Start, RUNNER, "the required Python version is not installed; install it");
const NOT_INSTALLABLE: KnownFailure =
    permanent(Unavailable, IDENTIFIER, "the package cannot be installed; check its name and version");
const DOCKER_DENIED: KnownFailure =
    permanent(Unavailable, RUNNER, "this user has no permission to use Docker; add the user to the group `docker`");
const NO_DOCKER: KnownFailure = temporary(Unavailable, RUNNER, "Docker not running; start Docker");
const WRONG_IMAGE_SYSTEM: KnownFailure =
    permanent(InvalidConfiguration, IDENTIFIER, "the image does not support this system; choose another image");
const BAD_IMAGE_NAME: KnownFailure = permanent(InvalidConfiguration, IDENTIFIER, "invalid image name; correct it");
const NOT_IN_IMAGE: KnownFailure =
    permanent(PackageNotFound, IDENTIFIER, "Package not found: the program is not in the image");
const OLD_CONTAINER: KnownFailure =
    temporary(Unavailable, "", "a container from an earlier run still exists; remove it with `docker rm`");
const IMAGE_RATE_LIMIT: KnownFailure = temporary(
    RateLimited,
    "",
    "the rate limit of the image registry is reached; log in to the registry, or try again later",
);
const NO_IMAGE_REGISTRY: KnownFailure =
    temporary(Network, "", "the image registry cannot be reached; check the network");
const BAD_ARGUMENTS: KnownFailure =
    permanent(InvalidConfiguration, "package.runtime_arguments", "docker rejects the runtime arguments; correct them");
const PORT_IN_USE: KnownFailure = temporary(
    Unavailable,
    "",
    "the MCP server's port is in use; stop the program that uses it, or choose another port",
);

/// Rules for messages of npm. The messages start with `npm error`, or with `npm ERR!` up to npm 9.
const NPM: &[Rule] = &[
    (NO_PACKAGE, "npm err", &["404 not found", "code e404", "notarget no matching version", "code etarget"]),
    (NO_PROGRAM, "npm err", &["could not determine executable"]),
    (BAD_NAME, "npm err", &["invalid tag name", "invalid package name", "unsupported url type"]),
    (WRONG_SYSTEM, "npm err", &["code ebadplatform"]),
    (REGISTRY_LOGIN, "npm err", &["code e401"]),
    (REGISTRY_DENIES, "npm err", &["code e403"]),
    (
        NO_REGISTRY,
        "npm err",
        &["code enotfound", "eai_again", "econnrefused", "econnreset", "etimedout", "err_socket_timeout"],
    ),
    (DISK_FULL, "npm err", &["code enospc"]),
    (NPM_CACHE, "npm err", &["code eacces"]),
    (CORRUPT, "npm err", &["code eintegrity"]),
];

const PYPI: &[Rule] = &[
    (
        NO_PACKAGE,
        "",
        &[
            "was not found in the package registry",
            "was not found in the provided package locations",
            "there is no version of",
        ],
    ),
    (NO_PROGRAM, "", &["is not provided by package", "provides no executables"]),
    (BAD_NAME, "", &["error: failed to parse", "not a valid package"]),
    (NO_PYTHON, "", &["no interpreter found for python"]),
    (NOT_INSTALLABLE, "", &["no solution found"]),
    (NO_REGISTRY, "", &["error: failed to fetch", "cause: dns error", "error: failed to download"]),
    (DISK_FULL, "", &["no space left on device"]),
];

const DOCKER: &[Rule] = &[
    (DOCKER_DENIED, "permission denied", &["docker daemon", "docker api"]),
    (
        NO_DOCKER,
        "",
        &[
            "cannot connect to the docker daemon",
            "is the docker daemon running",
            "error during connect",
            "failed to connect to the docker api",
        ],
    ),
    (NO_PACKAGE, "", &["manifest unknown", "pull access denied", "repository does not exist", "no such image"]),
    (WRONG_IMAGE_SYSTEM, "", &["no matching manifest for"]),
    (BAD_IMAGE_NAME, "", &["invalid reference format"]),
    (NOT_IN_IMAGE, "", &["executable file not found in"]),
    (OLD_CONTAINER, "", &["is already in use by container"]),
    (IMAGE_RATE_LIMIT, "", &["toomanyrequests"]),
    (NO_IMAGE_REGISTRY, "error response from daemon", &["no such host", "timeout", "connection refused"]),
    (DISK_FULL, "", &["no space left on device"]),
    (BAD_ARGUMENTS, "", &["unknown flag:", "unknown shorthand flag:"]),
];

/// Rules for messages of interpreters that do not find a script or module.
const BINARY: &[Rule] = &[(NO_PACKAGE, "", &["can't open file", "error: cannot find module", "no module named"])];

/// Rules for messages that servers of every package kind write.
const COMMON: &[Rule] = &[(PORT_IN_USE, "", &["eaddrinuse", "address already in use"])];

/// Searches `stderr` for the known error messages of this package kind. Returns the failure of the first rule that
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
    // Conversion to ASCII lower case preserves the lines.
    let find_line = |start: &str, message: &str| {
        let is_match = |(line, _): &(&str, &str)| line.contains(start) && line.contains(message);
        lower.lines().zip(stderr.lines()).find(is_match).map(|(_, line)| line)
    };
    // Rules for causes precede rules for their consequences, so the order of the lines does not matter.
    rules.iter().chain(COMMON).find_map(|(known, start, messages)| {
        let line = messages.iter().find_map(|message| find_line(start, message))?;
        let text = format!("{}: {}", known.text, quote(line));
        let failure = Failure::at_field(known.kind, known.field, text, known.retry);
        // Package managers use these messages if a program that the package needs does not exist.
        Some(if known.kind == Start { failure.with_code(ErrorCode::NotFound) } else { failure })
    })
}
