//! `mcpwire login`: logs the user in to a server.

use mcpwire_authorization::LoginRequest;
use mcpwire_hub::supervisor::State;

use super::whoami::show;
use crate::args::{LoginArgs, Options, Place};
use crate::console::Console;
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Request, layout};
use crate::login::{ClientArgs, LoginStore, ServerLogin, Way};
use crate::text;

pub(super) fn run(arguments: &LoginArgs, options: &Options) -> Result<u8, Failure> {
    let LoginArgs { login: place, no_browser, device, scopes, .. } = arguments;
    let client = ClientArgs {
        client_id: arguments.client_id.clone(),
        secret_env: arguments.client_secret_env.clone(),
        redirect_uri: arguments.redirect_uri.clone(),
    };
    let store = LoginStore::new(layout(&place.place)?);
    let login = store.of_place(place, &client)?;
    let way = match (device, no_browser) {
        (true, _) => Way::Device,
        (_, true) => Way::Paste,
        _ => Way::Browser,
    };
    let mut request = LoginRequest::default().anew(arguments.restart);
    if !scopes.is_empty() {
        request = request.scopes(scopes.iter().map(String::as_str).collect());
    }
    let status = login.log_in(way, request, options.timeout, options)?;
    if login.name().is_none() || place.account.is_some() {
        store.list(&login, true)?;
    }
    if !options.json {
        Console::new(options).note(&format!("logged in to {}", login.title()));
    }
    show(&login, &status, options)?;
    start_in_hub(&login, &place.place, options);
    Ok(0)
}

/// Starts the server in the running hub (`mcpwire hub run`) if the hub waits for the login.
fn start_in_hub(login: &ServerLogin, place: &Place, options: &Options) {
    let Some(name) = login.name() else { return };
    if !layout(place).is_ok_and(|layout| HubHandle::is_hub_running(&layout)) {
        return;
    }
    let Ok(mut hub) = HubHandle::open(place, options) else { return };
    let rows = hub.rows(Request::Status).unwrap_or_default();
    let waits = |state| state == State::NeedsLogin;
    if rows.iter().any(|row| row.detail.name.trim() == name && waits(row.detail.state)) {
        let shown = text::name(name);
        let outcome = match hub.ask::<()>(Request::Start { server: name.to_owned() }) {
            Ok(()) => format!("{shown}: started in the running hub"),
            Err(error) => format!("{shown}: not started in the running hub: {}", hub_message(&error)),
        };
        Console::new(options).warn(&outcome);
    }
    hub.close();
}
