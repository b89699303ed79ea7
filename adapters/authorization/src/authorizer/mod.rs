//! [`OAuth`]: an [`Authorizer`](mcpwire_driver::http::Authorizer) that gets, refreshes and stores the tokens of one server.
//!
//! | file | content |
//! |---|---|
//! | `builder` | the settings of an [`OAuth`] |
//! | `oauth` | [`OAuth`]: its fields, and the helpers that the other files share |
//! | `state` | the state that all connections share, behind a lock |
//! | `requests` | adds credentials to requests, and reacts to refused requests |
//! | `renewal`, `machine_grants`, `machine_grant` | renew the token in separate tasks, with a refresh token or without a user |
//! | `login_request`, `login`, `device`, `client_issuer`, `logout`, `status` | logins and logouts |

mod builder;
mod client_issuer;
mod device;
mod login;
mod login_request;
mod logout;
mod machine_grant;
mod machine_grants;
mod oauth;
mod renewal;
mod requests;
mod state;
mod status;

pub use self::builder::OAuthBuilder;
pub use self::login_request::{LoginRequest, PendingLogin};
pub use self::logout::{LoggedOut, RevocationOutcome};
pub use self::machine_grant::{Enterprise, MachineGrant};
pub use self::oauth::OAuth;
pub use self::status::LoginStatus;
