//! [`OAuth`]: an [`Authorizer`](mcpwire_driver::http::Authorizer) that gets, refreshes and stores the tokens of one server.
//!
//! | file | content |
//! |---|---|
//! | `state` | the state that all connections share, behind a lock |
//! | `inner` | what the clones of an [`OAuth`] share, and what all tasks need |
//! | `renewal`, `machine_grants` | renewals, as tasks of their own |
//! | `login_request`, `pending`, `login`, `device`, `logout` | logins and logouts |
//! | `oauth`, `builder` | the faces |

mod builder;
mod client_issuer;
mod device;
mod inner;
mod login;
mod login_request;
mod logout;
mod machine_grants;
mod oauth;
mod pending;
mod renewal;
mod state;

pub use builder::OAuthBuilder;
pub use login_request::LoginRequest;
pub use oauth::OAuth;
pub use pending::PendingLogin;
