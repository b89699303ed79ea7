//! `mcpwire logout`: deletes the login of a server.

use std::io::Write as _;

use mcpwire_authorization::RevocationOutcome;

use crate::args::{ClientArgs, LoginPlace, Options};
use crate::console::{Console, output};
use crate::failure::Failure;
use crate::hub::layout;
use crate::login::LoginStore;
use crate::text;

pub(super) fn run(place: &LoginPlace, revoke: bool, options: &Options) -> Result<u8, Failure> {
    let login = LoginStore::new(layout(&place.place)?).of_place(place, &ClientArgs::default())?;
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
    if options.json {
        output::json(&serde_json::json!({ "had_login": done.had_token, "revocation": revocation }))?;
    } else {
        let what = match (done.had_token, &done.revocation) {
            (false, _) => "there was no login to",
            (true, RevocationOutcome::Revoked) => "logged out, and revoked the tokens, of",
            (true, _) => "logged out of",
        };
        output::page(|out| writeln!(out, "{what} {}", login.title()))?;
    }
    Ok(0)
}
