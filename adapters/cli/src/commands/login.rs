//! `mcpwire login`: logs the user in to a server.

use mcpwire_authorization::{LoginRequest, LoginStatus};
use mcpwire_hub::store::Store;

use super::whoami::show;
use crate::args::{LoginArgs, Options};
use crate::console::Console;
use crate::failure::Failure;
use crate::hub::{HubHandle, Previews, Request, find_in, layout};
use crate::login::{LoginStore, Way};

pub(super) fn run(arguments: &LoginArgs, options: &Options) -> Result<u8, Failure> {
    let LoginArgs { login: place, no_browser, device, scopes, .. } = arguments;
    let login = LoginStore::new(layout(&place.place)?).of_place(place, &arguments.client)?;
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
    show(&login, &status, options).map(|()| 0)
}

/// Writes the issuer of a login with a configured client to the configuration, so that the secret of the client goes nowhere else
/// on other machines either.
fn configure_issuer(arguments: &LoginArgs, status: &LoginStatus, options: &Options) -> Result<(), Failure> {
    let LoginArgs { login: place, client, .. } = arguments;
    let Some(name) = &place.server else { return Ok(()) };
    let layout = layout(&place.place)?;
    let configs = Store::new(layout.servers()).load().map_err(Failure::from_hub)?.configs;
    let mut config = find_in(configs, name).map_err(Failure::from_hub)?;
    let is_client_of_login = config.oauth.client_id.is_some() && config.oauth.client_id == status.client_id;
    let is_asked_for = client.issuer.is_some() || config.oauth.client_secret.is_some();
    if !is_client_of_login || !is_asked_for || config.oauth.issuer.as_ref() == Some(&status.issuer) {
        return Ok(());
    }
    let mut previews = Previews::open(&place.place)?;
    let was_approved = previews.preview(&config)?.is_approved;
    config.oauth.issuer = Some(status.issuer.clone());
    let preview = previews.preview(&config)?;
    if was_approved && !preview.is_approved {
        // The user has just named or confirmed the only thing that has changed.
        preview.approve(&mut config);
    }
    let mut handle = HubHandle::open(&place.place, options)?;
    let updated = handle.ask::<()>(Request::Update { config: config.to_json() });
    handle.close();
    updated.map_err(Failure::from_hub)
}
