//! Names the logins that are lost if this process ends before the answer to a request is stored.

use std::process;

use mcpwire_authorization::{UnsettledLogin, unsettled_logins};

use crate::text;

/// Ends this process at once, because the user insists. Names the logins that may be lost.
pub(crate) fn end_at_once(status: u8) -> ! {
    warn(&unsettled_logins(), "a signal has ended the wait for the answer");
    process::exit(status.into())
}

/// Says which logins may be lost, and what helps, even with `--quiet`.
pub(crate) fn warn(logins: &[UnsettledLogin], reason: &str) {
    for login in logins {
        let mut command = match &login.server {
            Some(name) => format!("mcpwire login {}", text::word(name)),
            None => format!("mcpwire login --url {}", text::word(&text::url_without_query(&login.server_url))),
        };
        if !login.account.is_empty() {
            command = format!("{command} --account {}", text::word(&login.account));
        }
        anstream::eprintln!("warning: {login}, and {reason}; run `{command}` if the next call fails");
    }
}
