//! OAuth for the clients: logs users in, stores their tokens, renews tokens before they expire and when a server refuses them,
//! and signs DPoP proofs. [`oauth`] re-exports the crate `mcpwire-oauth`, which contains the state machines and does no I/O.
//!
//! Specification: protocol revision 2026-07-28, basic/authorization.
//!
//! A program creates one `OAuth` for each server. It is the `Authorizer` of all connections to that server. It works with the
//! async clients and with the blocking client.
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
//! Without a prompt, no call opens a browser or waits for a user. Calls that need a login fail with `ErrorKind::LoginRequired`.
//! `LoginRequired::find` returns the server, the account, the scopes and the reason. The program then logs the user in:
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
//! * A login is stored before the user sees its URL, so it survives a restart of the program. For half an hour, the program can
//!   continue it with `pending_login` and `finish_login`, or by a new login.
//! * Dropping the future of `login` cancels the login. If a call has started the login, the login continues when the call is
//!   cancelled.
//! * Programs without a user get tokens by a `MachineGrant`: client credentials, workload identity, or an identity provider.
//!
//! # Tokens
//!
//! * All connections to the server share one token. One task renews the token for all of them, and continues if the calls that
//!   need the token are cancelled. Other processes with the same store wait for the new token, and use it, too.
//! * If a renewal fails, the old token is used as long as it is valid. Only the error `invalid_grant` deletes a login.
//! * If the token is valid, authorization takes little time: it adds a header to the call.
//!
//! # Where logins are kept
//!
//! By default, logins are stored in memory. A `FileStore` stores them in private files that all processes of a user share. It
//! needs the feature `file-store` and Rust 1.89.
//!
//! ```ignore
//! let store = FileStore::open("/home/me/.config/my-program/logins")?;
//! let oauth = OAuth::builder(url, "My program").store(store);
//! ```
//!
//! | document | content |
//! |---|---|
//! | `token-HASH` | the login of an account on a server: tokens, client, issuer, scopes, expiry |
//! | `login-HASH` | a login of that account that the user has not completed yet |
//! | `key-HASH` | the private key to which the tokens of that account are bound (DPoP) |
//! | `client-HASH` | the registrations of the client at one issuer, one for each redirect URI |
//! | `issuer-HASH` | the issuer at which a configured client was used at a server; a logout keeps it |
//!
//! * Each document is a file with the mode 0600 in a directory with the mode 0700. If other users own or can open the file or the
//!   directory, the store refuses it, and the error says how to repair it.
//! * A damaged document causes an error that asks for a new login. Only a login or a logout replaces the document.
//! * A document of a later version of mcpwire is neither used nor replaced. The error names the file.
//! * After a crash, a kill or a loss of power during a write, the file contains either the old document or the new document.
//! * `FileStore::keep_secrets_in` stores refresh tokens and private keys in a keychain, and the rest in the files. A login stays
//!   where it was first stored.
//! * The secret of a configured client is sent to an issuer only if the program names the issuer
//!   (`OAuthSettings::client_issuer`), the user agrees (`LoginError::ClientIssuerRequired`, `LoginRequest::trust_issuer`), or
//!   `OAuthSettings::trust_first_issuer` is set.
//! * Each access token is stored for one server, and is sent only to that server. Each refresh token and each client is stored
//!   for one issuer, and is sent only to that issuer.
//!
//! **Refreshes.** Many authorization servers accept a refresh token only once, and revoke the login if they receive it again.
//! Therefore, a refresh takes a lock that all processes share, and loads the token again. If another process has refreshed the
//! token, the new token is used. Otherwise, the refresh checks that the disk can be written, sends the request, and writes the
//! new token before any call uses it. The system releases the lock of a process that is killed.
//!
//! A refresh that was sent continues when its client is dropped, and when its runtime ends, because its task is on the runtime's
//! `process_runtime`. This holds for `build_on`. With `build`, the HTTP client of the program must not end with the runtime.
//!
//! When the process ends, a refresh in progress is lost. Therefore, a program should wait before it ends. `shutdown` of a client,
//! `shutdown_all` of a hub and `OAuth::settle` wait for at most 10 s. `settle_logins` waits for all logins of the process,
//! without a runtime and with a timeout of the program. All of them report a refresh that has not ended in time.
//!
//! One case remains that no client can prevent: a process is killed, or its disk fails, after the authorization server has
//! replaced the refresh token and before the new refresh token is written. The new refresh token is then lost, and the next
//! process sends the old one. Many authorization servers accept the old refresh token once more for some seconds. Others revoke
//! the login. The user must then log in again, and the error says so.
//!
//! # Addresses
//!
//! Requests for logins and tokens go only to `https` URLs, or to `http` URLs of this machine. They follow no redirects.
//!
//! Connections to loopback, private and link-local addresses are refused. The host of the MCP server is an exception. This
//! machine is another exception if the MCP server runs on it. `allow_private_addresses(true)` allows all these addresses, for an
//! authorization server in a private network.

#[doc(inline)]
pub use mcpwire_authorization::*;
