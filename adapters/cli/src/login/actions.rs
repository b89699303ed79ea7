//! What a user does with a login: shows it, deletes it, or logs in when a call needs it.

use std::time::Duration;

use mcpwire_authorization::{ClientIssuerRequired, LoggedOut, LoginRequest, LoginStatus, Scopes};

use super::server_login::ServerLogin;
use super::steps::Way;
use super::wait::wait;
use crate::args::Options;
use crate::console::{Console, Interrupt, Prompt, is_at_terminal};
use crate::failure::Failure;
use crate::text;

impl ServerLogin {
    /// Asks the user at the terminal whether to log in now, and does so with these scopes. Returns whether the user is logged in afterwards.
    ///
    /// Returns `false` without asking if there is no terminal or if `--json` is given.
    pub(crate) fn offer(&self, scopes: &[String], options: &Options) -> Result<bool, Failure> {
        if options.json || !is_at_terminal() {
            return Ok(false);
        }
        let stored = self.status()?.map(|status| status.scopes);
        let interrupt = Interrupt::install();
        let mut prompt = Prompt::new(interrupt.clone());
        let server = self.title_with_host();
        let agreed = match &stored {
            None => prompt.agrees_by_default(&format!("{server} wants you to log in. Log in now?")),
            // The server decides when it asks, so Enter alone gives it nothing more.
            Some(stored) => prompt.agrees(&step_up(&server, stored, scopes)),
        };
        if interrupt.was_pressed() {
            return Err(Failure::interrupted());
        }
        if agreed {
            // If the server named no scopes, those that the question has shown are requested.
            let wanted: Scopes = scopes.iter().map(String::as_str).collect();
            let wanted = if wanted.is_empty() { stored.unwrap_or_default() } else { wanted };
            let mut request = LoginRequest::default();
            if !wanted.is_empty() {
                request = request.scopes(wanted);
            }
            let status = self.log_in(Way::Browser, &request, None, options)?;
            Console::new(options).note(&format!("logged in to {} at {}", self.title(), text::line(&status.issuer)));
        }
        Ok(agreed)
    }

    /// Asks the user at the terminal whether the secret of the client may be sent to the authorization server that the MCP server
    /// names. Returns `false` without asking if there is no terminal or if `--json` is given.
    pub(super) fn agrees_to(&self, required: &ClientIssuerRequired, options: &Options) -> Result<bool, Failure> {
        if options.json || !is_at_terminal() {
            return Ok(false);
        }
        let interrupt = Interrupt::install();
        let question = format!(
            "{} names the authorization server {}. Send the secret of the client {} there? Only if it has issued that secret.",
            self.title_with_host(),
            text::url(&required.issuer),
            text::line(&required.client_id)
        );
        let agreed = Prompt::new(interrupt.clone()).agrees(&question);
        if interrupt.was_pressed() { Err(Failure::interrupted()) } else { Ok(agreed) }
    }

    /// Returns the stored login, or `None` if the user is not logged in. Sends nothing.
    pub(crate) fn status(&self) -> Result<Option<LoginStatus>, Failure> {
        wait(None, self.oauth.status())?.map_err(|error| self.failed(&error))
    }

    /// Deletes the stored login.
    pub(crate) fn log_out(&self, revoke: bool, timeout: Option<Duration>) -> Result<LoggedOut, Failure> {
        let done = wait(timeout, self.oauth.logout(revoke))?.map_err(|error| self.failed(&error))?;
        self.list(false)?;
        Ok(done)
    }
}

/// Returns the question to a user whose stored login the server does not accept. `wanted` are the scopes that the server wants, and
/// are empty if it named none.
fn step_up(server: &str, stored: &Scopes, wanted: &[String]) -> String {
    let new: Vec<&str> = wanted.iter().map(String::as_str).filter(|scope| !stored.contains(scope)).collect();
    let what = if new.is_empty() { "wants you to log in again" } else { "wants you to log in with more scopes" };
    let list = |scopes: Vec<&str>| if scopes.is_empty() { "none".to_owned() } else { text::line(&scopes.join(" ")) };
    let (stored, new) = (list(stored.iter().collect()), list(new));
    format!("{server} {what}.\n  scopes so far: {stored}\n  new scopes:    {new}\nLog in again?")
}
