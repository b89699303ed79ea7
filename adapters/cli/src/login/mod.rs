//! The logins of users to servers over HTTP, which are stored on this machine.

mod actions;
mod failure;
mod index;
mod open;
mod server_login;
mod steps;
mod wait;

pub(crate) use self::open::LoginStore;
pub(crate) use self::server_login::ServerLogin;
pub(crate) use self::steps::Way;
