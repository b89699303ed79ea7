//! `mcpwire login`: logs the user in to a server.

use mcpwire_authorization::LoginRequest;

use super::whoami::show;
use crate::args::{LoginArgs, Options};
use crate::console::Console;
use crate::failure::Failure;
use crate::hub::layout;
use crate::login::{ClientArgs, LoginStore, Way};

pub(super) fn run(arguments: &LoginArgs, options: &Options) -> Result<u8, Failure> {
    let LoginArgs { login: place, no_browser, device, scopes, .. } = arguments;
    let client = ClientArgs {
        client_id: arguments.client_id.clone(),
        secret_env: arguments.client_secret_env.clone(),
        redirect_uri: arguments.redirect_uri.clone(),
    };
    let login = LoginStore::new(layout(&place.place)?).of_place(place, &client)?;
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
    if !options.json {
        Console::new(options).note(&format!("logged in to {}", login.title()));
    }
    show(&login, &status, options).map(|()| 0)
}
