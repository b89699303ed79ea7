//! OAuth for the clients: logs users in, keeps their tokens, renews them before they expire and when a server refuses them, and signs
//! DPoP proofs. The state machines are those of the crate `mcpwire-oauth`, which does no I/O; [`oauth`] re-exports it.
//!
//! Specification: protocol revision 2026-07-28, basic/authorization.
//!
//! An `OAuth` is the `Authorizer` of all connections to one server. It works with every client, the blocking one included.
//!
//! ```no_run
//! use mcpwire::http::HttpOptions;
//! use mcpwire::oauth::{Browser, OAuth};
//! use mcpwire::tokio::{McpClient, Tokio};
//! use mcpwire::{ConnectOptions, McpServerDef};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let def = McpServerDef::http("https://mcp.example.com/mcp");
//! let oauth = OAuth::for_server(&def, "My program")
//!     .prompt(Browser::new(|url| println!("Open this page to log in: {url}")))
//!     .build_on(Tokio::current())?;
//! let options = ConnectOptions::default().http(HttpOptions::default().authorizer(oauth));
//! let client = McpClient::connect_and_initialize_with(&def, options).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Logins
//!
//! Without a prompt, nothing opens a browser and no call waits for a user: calls that need a login fail with
//! `ErrorKind::LoginRequired`, and `LoginRequired::find` tells server, account, scopes and reason. The program then logs the user in:
//!
//! ```no_run
//! use mcpwire::oauth::{LoginRequest, LoginRequired, OAuth, PasteBack};
//! use mcpwire::{Error, ErrorKind};
//!
//! # fn read_line() -> std::io::Result<String> { Ok(String::new()) }
//! # async fn run(oauth: OAuth, error: Error) -> Result<(), Box<dyn std::error::Error>> {
//! if error.kind() == ErrorKind::LoginRequired {
//!     let mut request = LoginRequest::default();
//!     request.scopes = LoginRequired::find(&error).and_then(|required| required.scopes.clone());
//!     // In a browser on any machine: the user pastes the address to which the browser was sent.
//!     let prompt = PasteBack::new(|url| {
//!         println!("Open {url}, log in, and paste the address of the page that cannot be shown:");
//!         read_line()
//!     });
//!     oauth.login_with(&prompt, request).await?;
//!     // Or with a code, which the user enters on another device:
//!     oauth.login_by_device(LoginRequest::default(), |code| {
//!         println!("Enter {} at {}", code.user_code, code.verification_uri);
//!     })
//!     .await?;
//! }
//! if let Some(status) = oauth.status().await? {
//!     println!("logged in at {}, scopes {}", status.issuer, status.scopes);
//! }
//! oauth.logout(true).await?;
//! # Ok(())
//! # }
//! ```
//!
//! * A login is stored before the user sees its URL, so it survives a restart of the program: `pending_login` and `finish_login`, or a
//!   login in the next run, go on with it for half an hour.
//! * Dropping the future of `login` gives the login up. A login that a call has needed goes on when the call is given up.
//! * Programs without a user get tokens by a `MachineGrant`: client credentials, workload identity, or an identity provider.
//!
//! # Tokens
//!
//! * All connections share one token. It is renewed once for all, in a task of its own that outlives the calls that need it. Other
//!   processes with the same store wait for it, and take the new token.
//! * A token that is valid is used while its renewal fails. Only `invalid_grant` deletes a login.
//! * A call with a valid token costs little more than the header.
//!
//! # Where logins are kept
//!
//! By default in memory. With the feature `file-store`, which needs Rust 1.89, they are in private files that all processes of a user share:
//!
//! ```ignore
//! let store = FileStore::open("/home/me/.config/my-program/logins")?;
//! let oauth = OAuth::builder(url, "My program").store(store);
//! ```
//!
//! | document | content |
//! |---|---|
//! | `token-HASH` | the login of an account on a server: tokens, client, issuer, scopes, expiry |
//! | `login-HASH` | the login of that account that waits for the user |
//! | `key-HASH` | the private key to which the tokens of that account are bound (DPoP) |
//! | `client-HASH` | the registrations of the client at one issuer, one for each redirect URI |
//! | `issuer-HASH` | the issuer at which a configured client was used at a server; a logout keeps it |
//!
//! * Each document is a file with the mode 0600 in a directory with the mode 0700. If other users own or can open them, the store refuses
//!   them, and the error says what to do. A damaged document is an error that asks for a new login. Only a login or a logout replaces it.
//! * A document of a later version is neither used nor replaced: the error names the file.
//! * A crash, a kill or a loss of power during a write leaves the old document or the new one.
//! * `FileStore::keep_secrets_in` keeps refresh tokens and private keys in a keychain, and the rest in the files. A login stays where it was
//!   first stored.
//! * The secret of a configured client requires its issuer (`OAuthSettings::client_issuer`), the user's agreement
//!   (`LoginError::ClientIssuerRequired`, `LoginRequest::trust_issuer`), or `OAuthSettings::trust_first_issuer`.
//! * A token goes only to the server, and a refresh token and a client only to the issuer, for which they are stored.
//!
//! **Refreshes.** Many authorization servers accept a refresh token once, and revoke the login if it comes again. So a refresh takes a lock
//! that all processes share, loads the token again, and adopts one that another process has got. It checks that the disk can be written
//! before it sends the request, and writes the new token before anybody uses it. The system releases the lock of a process that is killed.
//!
//! A refresh that was sent goes on when its client is dropped, and when its runtime ends: its task is on the runtime's `process_runtime`
//! (`build_on`; with `build`, the HTTP client of the program must not end with the runtime). Only the end of the process loses it. So a
//! program waits before it ends, at most 10 s: `shutdown` of a client and `shutdown_all` of a hub do so, `OAuth::settle` waits for one login,
//! and `settle_logins` for all, without a runtime. All of them say so if they give up.
//!
//! One case is left that no client can prevent: a process is killed, or its disk fails, after the authorization server has replaced the
//! refresh token and before the new one is written. The new refresh token then exists nowhere, and the next process sends the old one. Many
//! authorization servers accept it once more for some seconds. Others revoke the login, and the user must log in again; the error says so.
//!
//! # Addresses
//!
//! Requests go to `https` URLs only, or to `http` URLs of this machine, and follow no redirects. Loopback, private and link-local
//! addresses are refused when the connection is opened, except for the host of the server itself, and for this machine if the
//! server runs on it. `allow_private_addresses(true)` allows them, for an authorization server in a private network.

#[doc(inline)]
pub use mcpwire_authorization::*;
