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
    assert!(host(|host| (host.pid, host.namespaces) = (4_000_000, None)).is_alive(), "a record of an older version");
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
