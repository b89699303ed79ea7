//! What a user does with a login: shows it, deletes it, or logs in when a call needs it.

use std::time::Duration;

use mcpwire_authorization::{ClientIssuerRequired, LoggedOut, LoginRequest, LoginStatus};

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
        let interrupt = Interrupt::install();
        let question = format!("{} wants you to log in. Log in now?", self.title());
        let agreed = Prompt::new(interrupt.clone()).agrees_by_default(&question);
        if interrupt.was_pressed() {
            return Err(Failure::interrupted());
        }
        if agreed {
            let mut request = LoginRequest::default();
            if !scopes.is_empty() {
                request = request.scopes(scopes.iter().map(String::as_str).collect());
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
            self.title(),
            text::line(&required.issuer),
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
