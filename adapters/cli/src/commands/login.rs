//! `mcpwire login`, `mcpwire logout` and `mcpwire whoami`: logs the user in to a server, deletes a login, and shows the logins on
//! this machine without their tokens.

use std::io::{self, Write};

use mcpwire_authorization::oauth::{ClientSource, TokenType};
use mcpwire_authorization::{LoginRequest, LoginStatus, RevocationOutcome};
use serde::Serialize;
use serde_json::json;

use crate::args::{ClientArgs, LoginArgs, LoginPlace, Options};
use crate::console::{Console, Foreground, output};
use crate::failure::Failure;
use crate::hub::{find_configured, layout, update_approved};
use crate::login::{LoginStore, ServerLogin, Way};
use crate::show::{self, Layout};
use crate::text;
use crate::time::utc_of_unix;

pub(super) fn log_in(arguments: &LoginArgs, options: &Options) -> Result<(), Failure> {
    let LoginArgs { login: place, no_browser, device, scopes, .. } = arguments;
    let login = login_of(place, &arguments.client)?;
    let way = match (device, no_browser) {
        (true, _) => Way::Device,
        (_, true) => Way::Paste,
        _ => Way::Browser,
    };
    let mut request = LoginRequest::default().anew(arguments.restart);
    if !scopes.is_empty() {
        request = request.scopes(scopes.iter().map(String::as_str).collect());
    }
    let status = login.log_in(way, &request, options.timeout, options)?;
    let console = Console::new(options);
    if let Err(failure) = configure_issuer(arguments, &status, options) {
        console.warn(&format!("`oauth.issuer` was not set in servers.json: {}", failure.message()));
    }
    if !options.json {
        console.note(&format!("logged in to {}", login.title()));
    }
    show(&login, &status, options)
}

/// Stores the issuer of a login as `oauth.issuer` in the configuration of the server, if the login uses the configured client.
/// Later logins with this configuration, also on other machines, then send the secret of the client only to this issuer.
fn configure_issuer(arguments: &LoginArgs, status: &LoginStatus, options: &Options) -> Result<(), Failure> {
    let LoginArgs { login: place, client, .. } = arguments;
    let Some(name) = &place.server else { return Ok(()) };
    let mut config = find_configured(&layout(&place.place)?, name)?;
    let is_client_of_login = config.oauth.client_id.is_some() && config.oauth.client_id == status.client_id;
    let is_asked_for = client.issuer.is_some() || config.oauth.client_secret.is_some();
    if !is_client_of_login || !is_asked_for || config.oauth.issuer.as_ref() == Some(&status.issuer) {
        return Ok(());
    }
    let before = config.clone();
    // The user has just named or confirmed the issuer.
    config.oauth.issuer = Some(status.issuer.clone());
    update_approved(&before, &mut config, &place.place, options)
}

pub(super) fn log_out(place: &LoginPlace, revoke: bool, options: &Options) -> Result<(), Failure> {
    let login = login_of(place, &ClientArgs::default())?;
    let done = login.log_out(revoke, options.timeout)?;
    let (revocation, note) = match &done.revocation {
        RevocationOutcome::NotRequested => ("not_requested", None),
        RevocationOutcome::Revoked => ("revoked", None),
        RevocationOutcome::RefreshTokenOnly(error) => {
            let error = text::line(&error.to_string());
            let note = format!(
                "the refresh token was revoked, but not the access token, which may be valid until it expires: {error}"
            );
            ("refresh_token_only", Some(note))
        }
        RevocationOutcome::Unsupported => (
            "unsupported",
            Some("the authorization server cannot revoke tokens, so they are valid until they expire".into()),
        ),
        RevocationOutcome::Failed(error) => {
            let error = text::line(&error.to_string());
            ("failed", Some(format!("the tokens were not revoked, and may be valid until they expire: {error}")))
        }
        _ => ("unknown", None),
    };
    let console = Console::new(options);
    if let Some(note) = note {
        console.warn(&note);
    }
    let what = match (done.had_token, &done.revocation) {
        (false, _) => "there was no login to",
        (true, RevocationOutcome::Revoked) => "logged out, and revoked the tokens, of",
        (true, _) => "logged out of",
    };
    let document = json!({ "had_login": done.had_token, "revocation": revocation });
    output::show(options, &document, |out| writeln!(out, "{what} {}", login.title()))
}

pub(super) fn who_am_i(place: &LoginPlace, options: &Options) -> Result<(), Failure> {
    if place.server.is_some() || place.url.is_some() {
        let login = login_of(place, &ClientArgs::default())?;
        let status = login.status()?.ok_or_else(|| login.missing())?;
        return show(&login, &status, options);
    }
    let console = Console::new(options);
    let mut found = Vec::new();
    for login in store(place)?.all(|message| console.warn(message))? {
        if place.account.as_ref().is_some_and(|account| account != login.account()) {
            continue;
        }
        match login.status() {
            Ok(Some(status)) => found.push((login, status)),
            Ok(None) => {}
            // A login that cannot be read does not hide the other logins.
            Err(failure) => console.warn(failure.message()),
        }
    }
    if found.is_empty() {
        console.note("you are not logged in anywhere; log in: mcpwire login --help");
    }
    let logins: Vec<_> = found.iter().map(|(login, status)| Document::new(login, status)).collect();
    output::show(options, &logins, |out| {
        found.iter().enumerate().try_for_each(|(index, (login, status))| {
            if index > 0 {
                writeln!(out)?;
            }
            page(out, login, status)
        })
    })
}

/// Opens the store of the user's logins.
fn store(place: &LoginPlace) -> Result<LoginStore, Failure> {
    Ok(LoginStore::new(layout(&place.place)?, Foreground::start()?))
}

/// Returns the login of the server that the command line names.
fn login_of(place: &LoginPlace, client: &ClientArgs) -> Result<ServerLogin, Failure> {
    store(place)?.of_place(place, client)
}

/// Prints the stored login to a server.
fn show(login: &ServerLogin, status: &LoginStatus, options: &Options) -> Result<(), Failure> {
    output::show(options, &Document::new(login, status), |out| page(out, login, status))
}

fn page(out: &mut impl Write, login: &ServerLogin, status: &LoginStatus) -> io::Result<()> {
    show::login(out, login.name(), &login.shown_url(), status, &login.kept_in(), Layout::of_stdout())
}

/// The JSON document that `--json` prints for a login.
#[derive(Serialize)]
struct Document<'a> {
    /// The name of the configured server, or `None` for a server that is not configured.
    server: Option<&'a str>,
    url: String,
    account: Option<&'a str>,
    issuer: &'a str,
    resource: &'a str,
    client_id: Option<&'a str>,
    scopes: Vec<&'a str>,
    client_source: Option<ClientSource>,
    token_type: &'a TokenType,
    obtained_at: Option<String>,
    expires_at: Option<String>,
    can_refresh: bool,
    kept_in: String,
}

impl<'a> Document<'a> {
    fn new(login: &'a ServerLogin, status: &'a LoginStatus) -> Self {
        Self {
            server: login.name(),
            url: login.shown_url(),
            account: Some(status.account.as_str()).filter(|account| !account.is_empty()),
            issuer: &status.issuer,
            resource: &status.resource,
            client_id: status.client_id.as_deref(),
            scopes: status.scopes.iter().collect(),
            client_source: status.client_source,
            token_type: &status.token_type,
            obtained_at: utc_of_unix(status.obtained_at.as_secs()),
            expires_at: status.expires_at.and_then(|time| utc_of_unix(time.as_secs())),
            can_refresh: status.can_refresh,
            kept_in: login.kept_in(),
        }
    }
}
