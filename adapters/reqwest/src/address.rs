//! [`check_public`]: refuses URLs that lead to this machine or to a private network.

use std::net::{IpAddr, ToSocketAddrs};

use mcpwire_driver::http::is_public_address;
use mcpwire_driver::protocol::http::Failure;
use reqwest::Url;
use tokio::task::spawn_blocking;

use crate::not_made;

/// Returns an error if the host of the URL has an address of this machine, of a private network, or in a reserved range.
///
/// Accepts a host that cannot be resolved. A proxy may be able to resolve it, or else reqwest reports the error.
pub(crate) async fn check_public(url: &Url) -> Result<(), Failure> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let addresses = match host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) => spawn_blocking(move || resolve(&host)).await.unwrap_or_default(),
    };
    match addresses.into_iter().find(|address| !is_public_address(*address)) {
        Some(address) => Err(not_made(format!("{address} is an address of this machine or of a private network"))),
        None => Ok(()),
    }
}

fn resolve(host: &str) -> Vec<IpAddr> {
    (host, 0).to_socket_addrs().map(|addresses| addresses.map(|address| address.ip()).collect()).unwrap_or_default()
}
