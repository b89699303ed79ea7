//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `oauth`; its API may change in any release.
//!
//! OAuth for the clients of mcpwire: logs users in, keeps their tokens, refreshes them, and signs DPoP proofs.
//!
//! [`mcpwire_oauth`] contains the state machines of the OAuth flows. This crate carries out their actions: it sends requests,
//! signs, listens for the browser, and stores tokens.
//!
//! Specification: protocol revision 2026-07-28, basic/authorization.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod authorizer;
mod documents;
mod error;
#[cfg(feature = "file-store")]
mod file_store;
mod flow_runner;
mod in_flight;
mod prompt;
mod signing_key;
mod store;

pub use authorizer::{
    Enterprise, LoggedOut, LoginRequest, LoginStatus, MachineGrant, OAuth, OAuthBuilder, PendingLogin,
    RevocationOutcome,
};
pub use documents::login_document;
pub use error::{ClientIssuerRequired, LoginError, LoginErrorKind, LoginRequired, TokenRefused};
#[cfg(feature = "file-store")]
pub use file_store::{FileStore, SecretKeeper};
pub use flow_runner::{FlowKeys, FlowRunner};
pub use in_flight::{OneUseRequest, SETTLE_TIMEOUT, UnsettledLogin, settle_logins, unsettled_logins};
pub use mcpwire_oauth as oauth;
pub use mcpwire_oauth::{DeviceCode, Scopes};
pub use prompt::{Browser, LoginPrompt, LoginWindow, LoopbackError, LoopbackListener, PasteBack};
pub use signing_key::{KeyError, Signer, SigningKey, random_seed};
pub use store::{MemoryStore, StoreFailed, StoreLock, TokenStore};
