//! [`Addresses`]: which hosts may have addresses that are not public (security best practices, "SSRF").

use std::net::{Ipv4Addr, Ipv6Addr};

use mcpwire_text::url::host;

/// Which hosts may have loopback, private and link-local addresses.
///
/// A server chooses the URLs of its authorization server, so it could make the client ask programs in the user's network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) allows_private: bool,
    /// The URL of the MCP server. The user has chosen it, so its host may have any address.
    pub(crate) server_url: Option<String>,
}

impl Addresses {
    /// Returns whether the host of the URL may have an address that is not public.
    pub(crate) fn allow(&self, url: &str) -> bool {
        let server = self.server_url.as_deref().and_then(host);
        self.allows_private
            || match (server, host(url)) {
                (Some(server), Some(asked)) => {
                    server.eq_ignore_ascii_case(asked) || (is_loopback(server) && is_loopback(asked))
                }
                _ => false,
            }
    }
}

fn is_loopback(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
        None => {
            host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(server: &str, url: &str) -> bool {
        Addresses { allows_private: false, server_url: Some(server.into()) }.allow(url)
    }

    #[test]
    fn b3_only_hosts_that_the_user_has_chosen_may_be_private() {
        let local = "http://127.0.0.1:3000/mcp";
        for url in ["http://127.0.0.1:4000/token", "https://localhost/x", "http://[::1]:9/", "http://127.9.9.9"] {
            assert!(allows(local, url), "{url}");
            assert!(!allows("https://mcp.example.com/mcp", url), "{url}");
        }
        assert!(!allows(local, "http://10.0.0.1/"));
        assert!(!allows(local, "http://169.254.169.254/latest/meta-data"));
        let intranet = "https://mcp.corp.example/mcp";
        assert!(allows(intranet, "https://MCP.corp.example:8443/.well-known/oauth-protected-resource"));
        assert!(!allows(intranet, "https://auth.corp.example/"));
        assert!(!allows(intranet, "https://mcp.corp.example.evil.example/"));
        assert!(!allows(intranet, "https://mcp.corp.example@10.0.0.1/"));
        assert!(!Addresses::default().allow(local));
        assert!(Addresses { allows_private: true, server_url: None }.allow(local));
    }
}
