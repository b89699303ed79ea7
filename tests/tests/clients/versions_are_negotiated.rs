//! Revisions of the protocol: all five are spoken, others are refused by name.

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Era, Negotiate, ProtocolVersion};
use mcpwire_tests::{Adapter, Server, on_every_adapter, server};

fn every_legacy_revision_is_spoken<A: Adapter>() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = server!(&format!("versions {version}"));
        assert_speaks::<A>(&server, Era::Legacy, version);
    }
}

fn a_revision_can_be_chosen<A: Adapter>() {
    let server = server!("versions 2025-06-18")
        .configured(|config| config.negotiate = Negotiate::Version(ProtocolVersion::V2025_06_18));
    assert_speaks::<A>(&server, Era::Legacy, "2025-06-18");
    let server = server!("versions 2026-07-28 --modern")
        .configured(|config| config.negotiate = Negotiate::Version(ProtocolVersion::V2026_07_28));
    assert_speaks::<A>(&server, Era::Modern, "2026-07-28");
}

fn one_of_several_modern_revisions_is_chosen<A: Adapter>() {
    let server = server!("versions 2099-01-01,2026-07-28 --modern");
    assert_speaks::<A>(&server, Era::Modern, "2026-07-28");
}

fn an_unknown_legacy_revision_is_refused_by_name<A: Adapter>() {
    for era in [Negotiate::Auto, Negotiate::Legacy] {
        let server = server!("versions 1999-01-01").configured(|config| config.negotiate = era);
        let failure = server.fail_to_open::<A>();
        failure.assert(ErrorKind::Connect, &["bad-habits", "1999-01-01", "2025-11-25", "2024-11-05"]);
    }
}

fn an_unknown_modern_revision_is_refused_by_name<A: Adapter>() {
    for era in [Negotiate::Auto, Negotiate::Modern] {
        let server = server!("versions 2099-01-01 --modern").configured(|config| config.negotiate = era);
        server.fail_to_open::<A>().assert(ErrorKind::Connect, &["bad-habits", "2099-01-01", "2026-07-28"]);
    }
}

/// The newest is assumed: a server that leaves it out does not know that there are others.
fn a_server_that_names_no_revision_is_spoken_to_all_the_same<A: Adapter>() {
    let server = server!("versions none");
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    client.assert_alive();
}

on_every_adapter!(
    every_legacy_revision_is_spoken,
    a_revision_can_be_chosen,
    one_of_several_modern_revisions_is_chosen,
    an_unknown_legacy_revision_is_refused_by_name,
    an_unknown_modern_revision_is_refused_by_name,
    a_server_that_names_no_revision_is_spoken_to_all_the_same,
);

fn assert_speaks<A: Adapter>(server: &Server, era: Era, version: &str) {
    let mut client = server.open::<A>();
    let info = client.server_info().expect("it said who it is");
    assert_eq!((info.era, info.protocol_version.as_str()), (era, version));
    client.assert_alive();
}
