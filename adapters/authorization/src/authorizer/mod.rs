//! [`OAuth`]: an [`Authorizer`](mcpwire_driver::http::Authorizer) that gets, refreshes and stores the tokens of one server.
//!
//! | file | content |
//! |---|---|
//! | `builder` | the settings of an [`OAuth`] |
//! | `oauth` | [`OAuth`]: what the other files work with |
//! | `state` | the state that all connections share, behind a lock |
//! | `requests` | the credentials of requests, and what a refusal leads to |
//! | `renewal`, `machine_grants`, `machine_grant` | renewals, as tasks of their own |
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
