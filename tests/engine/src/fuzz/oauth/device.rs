//! Logins on another device.

use mcpwire_oauth::{ClientAuthentication, DeviceAction, DeviceInput, DeviceLogin, Scopes, TokenEndpoint};

use super::driver::{entropy, sign};
use super::login::check_sent_to;
use super::reference::is_allowed;
use super::web::{ISSUER, Web};

/// With the shortest interval and the longest life there are 3,600 waits, each with two requests and two proofs.
const MAX_ACTIONS: usize = 3_600 * 5 + 10;

pub(super) fn run(web: &mut Web<'_>) {
    let (url, token_url) = ("https://as.example/device", "https://as.example/token");
    let client = ClientAuthentication::client_secret_post("client", web.secret("client"));
    let endpoint = TokenEndpoint::new(ISSUER, token_url);
    let resource = Some(web.server_url.to_string());
    let mut login = DeviceLogin::new(url, endpoint, client, resource, Scopes::parse("a b"), entropy()).dpop(web.dpop());
    let begun = web.now;
    let mut codes = 0;
    let mut action = login.start(web.now);
    for number in 0..MAX_ACTIONS {
        if number < 100 {
            web.check_debug(&(&login, &action));
        }
        let input = match action {
            Ok(DeviceAction::Fetch(request)) => {
                let before = web.requests.len();
                let answer = web.answer(&request);
                check_sent_to(web, before, if codes == 0 { url } else { token_url });
                DeviceInput::Network(answer)
            }
            Ok(DeviceAction::Sign { .. }) => DeviceInput::Network(sign(web)),
            Ok(DeviceAction::ShowCode(code)) => {
                codes += 1;
                assert!(code.user_code.chars().all(|c| !c.is_control()) && code.user_code.chars().count() <= 64);
                let complete = code.verification_uri_complete.iter();
                assert!(complete.chain([&code.verification_uri]).all(|url| is_allowed(url, false)), "{code:?}");
                assert!(code.expires_at.duration_since(begun).as_secs() <= 3_600);
                DeviceInput::Done
            }
            Ok(DeviceAction::Wait(until)) => {
                assert!(until > web.now && until.duration_since(web.now).as_secs() <= 300, "waits until {until:?}");
                web.now = until;
                DeviceInput::Done
            }
            Ok(DeviceAction::Done(token)) => {
                web.check_debug(&token);
                return;
            }
            Err(error) => {
                web.check_error(&error);
                assert!(login.resume(DeviceInput::Done, web.now).is_err(), "it goes on after its end");
                return;
            }
            Ok(other) => panic!("an unknown action: {other:?}"),
        };
        action = login.resume(input, web.now);
    }
    panic!("the login does not end");
}
