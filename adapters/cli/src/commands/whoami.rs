//! `mcpwire whoami`: shows the logins on this machine, without their tokens.

use std::io::Write as _;

use mcpwire_authorization::LoginStatus;
use mcpwire_authorization::oauth::{ClientSource, TokenType};
use serde::Serialize;

use crate::args::{ClientArgs, LoginPlace, Options};
use crate::console::{Console, output};
use crate::failure::Failure;
use crate::hub::layout;
use crate::login::{LoginStore, ServerLogin};
use crate::show::{self, Layout};
use crate::time::utc_of_unix;

pub(super) fn run(place: &LoginPlace, options: &Options) -> Result<u8, Failure> {
    let store = LoginStore::new(layout(&place.place)?);
    if place.server.is_some() || place.url.is_some() {
        let login = store.of_place(place, &ClientArgs::default())?;
        let status = login.status()?.ok_or_else(|| login.missing())?;
        return show(&login, &status, options).map(|()| 0);
    }
    let console = Console::new(options);
    let mut found = Vec::new();
    for login in store.all(&console)? {
        if place.account.as_ref().is_some_and(|account| account != login.account()) {
            continue;
        }
        match login.status() {
            Ok(Some(status)) => found.push((login, status)),
            Ok(None) => {}
            // The others are shown.
            Err(failure) => console.warn(failure.message()),
        }
    }
    if options.json {
        let logins: Vec<_> = found.iter().map(|(login, status)| Document::new(login, status)).collect();
        output::json(&logins)?;
    } else {
        if found.is_empty() {
            console.note("you are not logged in anywhere; log in: mcpwire login --help");
        }
        output::page(|out| {
            found.iter().enumerate().try_for_each(|(index, (login, status))| {
                if index > 0 {
                    writeln!(out)?;
                }
                page(out, login, status)
            })
        })?;
    }
    Ok(0)
}

/// Prints one login.
pub(super) fn show(login: &ServerLogin, status: &LoginStatus, options: &Options) -> Result<(), Failure> {
    if options.json {
        output::json(&Document::new(login, status))
    } else {
        output::page(|out| page(out, login, status))
    }
}

fn page(out: &mut impl std::io::Write, login: &ServerLogin, status: &LoginStatus) -> std::io::Result<()> {
    show::login(out, login.name(), &login.shown_url(), status, &login.kept_in(), Layout::of_stdout())
}

/// A login, as `--json` prints it.
#[derive(Serialize)]
struct Document<'a> {
    /// The name of the configured server.
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
