//! OAuth for clients of the [Model Context Protocol](https://modelcontextprotocol.io), as pure state machines.
//!
//! A [`Flow`] performs one task: it logs a user in, refreshes a token, or gets a token for a program without a user. A
//! flow performs no I/O. It returns an [`Action`], such as an HTTP request; the program performs the action and passes
//! the result back as an [`Input`]. The program also supplies the time and the random seed, and signs with its private
//! keys. The crate is `no_std`.
//!
//! The library `mcpwire` re-exports this crate as `mcpwire::oauth::oauth`, and the examples use that name. A program
//! that depends on this crate alone writes `mcpwire_oauth`.
//!
//! URLs are compared and sent byte by byte as a server or user wrote them. Nothing normalizes them.
//!
//! Specification: protocol revision 2026-07-28, basic/authorization.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod access;
mod challenge;
mod client;
mod device;
mod discovery;
mod dpop;
mod encoding;
mod error;
mod flow;
mod jose;
mod login;
mod machine_grants;
mod refresh;
mod registration;
mod revocation;
mod scopes;
mod secret;
mod settings;
mod store;
#[cfg(test)]
mod testing;
mod time;
mod token_endpoint;
mod token_request;
mod token_response;
mod url;

pub use access::{Access, Authorization, Credential, Decision, Refusal, RenewalId, StepUpLimit, TokenId};
pub use challenge::{BearerChallenge, Challenge};
pub use client::{ClientAuthentication, ClientInformation, ClientKey, ClientSource};
pub use device::{DeviceAction, DeviceCode, DeviceInput, DeviceLogin};
pub use discovery::{AuthorizationServerMetadata, Discovered, Discovery, ProtectedResourceMetadata};
pub use dpop::{Dpop, Proof};
pub use error::{Error, ErrorKind, Setting, Step};
pub use flow::{Action, FetchError, Flow, Input, KeyUse, Request, Response};
pub use jose::{PublicKey, SigningAlgorithm};
pub use login::{Login, LoginAttempt, LoginStarted};
pub use machine_grants::{IdJag, IdJagRequest, WorkloadGrant};
pub use refresh::{Refresh, RefreshAction, RefreshInput, RefreshSource, Refreshed};
pub use registration::{Registration, client_metadata_document};
pub use revocation::{Revocation, RevokedTokens};
pub use scopes::Scopes;
pub use secret::{Entropy, Secret};
pub use settings::OAuthSettings;
pub use store::{StoreError, StoredToken, TokenKey};
pub use time::UnixTime;
pub use token_endpoint::{AuthMethod, TokenEndpoint};
pub use token_request::{Grant, SubjectToken, TokenRequest};
pub use token_response::{TokenResponse, TokenType};

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
