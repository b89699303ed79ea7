//! [`Host`]: the process of a hub.

use serde::{Deserialize, Serialize};

use super::process;

/// Identifies the process of a hub. Two processes of a machine are never equal, even if the system reuses a process id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pid: u32,
    /// The start time of the process. See [`process::started`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    /// The Linux namespaces in which `pid` and `started` are valid. See [`process::namespaces`]. `None` in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespaces: Option<String>,
}

impl Host {
    /// Returns the identity of the current process.
    pub fn current() -> Self {
        let pid = std::process::id();
        Host { pid, started: process::started(pid), namespaces: process::namespaces() }
    }

    /// Returns whether the process of the hub is still running. Returns `true` if that cannot be determined.
    pub(super) fn is_alive(&self) -> bool {
        if let Some(started) = &self.started
            && process::is_of_another_boot(started)
        {
            return false;
        }
        if !process::can_judge(self.namespaces.as_deref()) {
            return true;
        }
        match (&self.started, process::started(self.pid)) {
            (Some(recorded), Some(now)) if *recorded != now => false,
            // Without a start time, any process with this id counts as the hub.
            _ => process::exists(self.pid),
        }
    }

    /// Returns a short text that identifies the process among all processes of this machine. It is used for
    /// [`Instance::host`](crate::launch::Instance::host).
    pub fn token(&self) -> String {
        // The start time without the boot, and the namespace without its kind. Digits are valid in the name of a container.
        let digits = |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
        let started = self.started.as_deref().map(|started| digits(started.rsplit(':').next().unwrap_or_default()));
        let namespace = self.namespaces.as_deref().and_then(|namespaces| namespaces.split(' ').next());
        let namespace = namespace.map(|namespace| digits(namespace.rsplit(':').next().unwrap_or_default()));
        [Some(self.pid.to_string()), started, namespace].into_iter().flatten().collect::<Vec<_>>().join("-")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn host(change: impl FnOnce(&mut Host)) -> Host {
        let mut host = Host::current();
        change(&mut host);
        host
    }

    /// Returns a start time within the current boot that differs from the start time of this process.
    fn another_time() -> Option<String> {
        let started = process::started(std::process::id())?;
        Some(format!("{}:1", started.rsplit_once(':')?.0))
    }

    #[test]
    fn a_hub_counts_as_ended_only_if_this_namespace_or_a_reboot_shows_it() {
        let elsewhere = Some("pid:[1] time:[2]".to_owned());
        assert!(Host::current().is_alive());
        assert!(!host(|host| host.started = another_time()).is_alive(), "the id was reused");
        assert!(!host(|host| host.pid = 4_000_000).is_alive());
        assert!(host(|host| (host.pid, host.namespaces) = (4_000_000, elsewhere.clone())).is_alive());
        assert!(host(|host| (host.started, host.namespaces) = (another_time(), elsewhere.clone())).is_alive());
        assert!(
            host(|host| (host.pid, host.namespaces) = (4_000_000, None)).is_alive(),
            "a record of an older version"
        );
        let of_another_boot = Some("another-boot:1".to_owned());
        assert!(!host(|host| (host.started, host.namespaces) = (of_another_boot, elsewhere)).is_alive());
    }

    #[test]
    fn hubs_of_different_namespaces_have_different_tokens() {
        let elsewhere = host(|host| host.namespaces = Some("pid:[1] time:[2]".to_owned()));
        assert!(elsewhere.token().ends_with("-1"), "{}", elsewhere.token());
        assert_ne!(elsewhere.token(), Host::current().token());
        let older: Host = serde_json::from_str(r#"{"pid": 7, "started": "a-boot:99"}"#).unwrap();
        assert_eq!(older.token(), "7-99", "as the older version has marked its servers");
    }
}
