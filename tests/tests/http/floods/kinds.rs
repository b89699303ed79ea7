//! Everything that a server may send without end.

use std::time::Duration;

use mcpwire_tests::WATCHDOG;

use super::http2::{
    ACK, CONTINUATION, DATA, END_HEADERS, GOAWAY, HEADERS, PADDED, PING, PRIORITY, SETTINGS, WINDOW_UPDATE, frame,
    header,
};
use super::server::{Flood, Version};

/// What is sent of a flood at once.
const PIECE: usize = 64 * 1024;

/// How long a response goes on of which every byte may count.
const SHORT: Duration = Duration::from_millis(500);

/// What the error of a flood says that is no part of a response.
const UNUSED: &str = "no part of a response";

/// The error if the limit may be reached before or after hyper has read a GOAWAY frame.
const LOST: &str = "the connection to the server was lost";

fn again(bytes: &[u8]) -> Vec<u8> {
    bytes.repeat(PIECE.div_ceil(bytes.len()))
}

const fn http1(name: &'static str, error: &'static str, bytes: fn(u32) -> (Vec<u8>, Vec<u8>)) -> Flood {
    Flood { name, version: Version::Http1, bytes, error, deadline: WATCHDOG }
}

const fn http2(name: &'static str, error: &'static str, bytes: fn(u32) -> (Vec<u8>, Vec<u8>)) -> Flood {
    Flood { name, version: Version::Http2, bytes, error, deadline: WATCHDOG }
}

/// A response of which every byte is allowed, and which never ends: a call of it has its deadline.
const fn endless(name: &'static str, version: Version, bytes: fn(u32) -> (Vec<u8>, Vec<u8>)) -> Flood {
    Flood { name, version, bytes, error: "", deadline: SHORT }
}

/// The names of HPACK's static table.
const STATUS: u8 = 8;
const CONTENT_TYPE: u8 = 31;

fn stream_of_events(stream: u32) -> Vec<u8> {
    let headers = [header(STATUS, "200"), header(CONTENT_TYPE, "text/event-stream")].concat();
    frame(HEADERS, END_HEADERS, stream, &headers)
}

pub(super) const HTTP1: &[Flood] = &[
    http1("interim responses", UNUSED, |_| (vec![], again(b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"))),
    http1("interim responses without headers", UNUSED, |_| (vec![], again(b"HTTP/1.1 102 \r\n\r\n"))),
    http1("headers", "", |_| (b"HTTP/1.1 200 OK\r\n".to_vec(), again(b"X: y\r\n"))),
    http1("a header", "", |_| (b"HTTP/1.1 200 OK\r\nX: ".to_vec(), again(b"y"))),
    http1("an extension of a chunk", "", |_| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;";
        (head.to_vec(), again(b"y"))
    }),
    http1("trailers", "", |_| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
        (head.to_vec(), again(b"X: y\r\n"))
    }),
];

pub(super) const HTTP2_RESPONSES: &[Flood] = &[
    http2("interim responses", UNUSED, |id| (vec![], again(&frame(HEADERS, END_HEADERS, id, &header(STATUS, "103"))))),
    http2("interim responses of many headers", UNUSED, |id| {
        // Two entries of the dynamic table, which are then a byte each: the status is 0x80 + 63, the header 0x80 + 62.
        let indexed = [&[0x48, 3][..], b"103", &[0x40, 1], b"x", &[1], b"y"].concat();
        // The long ones are only for the bytes: a test without optimization takes a microsecond for each header.
        let long = [&[0, 1, b'x', 120][..], &[b'y'; 120]].concat().repeat(30);
        let many = [&[0xbf][..], &[0xbe; 1000], &long].concat();
        (frame(HEADERS, END_HEADERS, id, &indexed), again(&frame(HEADERS, END_HEADERS, id, &many)))
    }),
    http2("empty DATA", "", |id| (stream_of_events(id), again(&frame(DATA, 0, id, &[])))),
    http2("DATA of padding", "", |id| (stream_of_events(id), again(&frame(DATA, PADDED, id, &[1, 0])))),
    http2("CONTINUATION", "", |id| (frame(HEADERS, 0, id, &[]), again(&frame(CONTINUATION, 0, id, &[])))),
    http2("CONTINUATION of headers", "", |id| {
        let headers = header(STATUS, "200").repeat(1000);
        (frame(HEADERS, 0, id, &headers), again(&frame(CONTINUATION, 0, id, &headers)))
    }),
];

pub(super) const HTTP2_FRAMES: &[Flood] = &[
    http2("PRIORITY", UNUSED, |id| (vec![], again(&frame(PRIORITY, 0, id, &[0, 0, 0, 0, 1])))),
    http2("SETTINGS", UNUSED, |_| (vec![], again(&frame(SETTINGS, 0, 0, &[])))),
    http2("SETTINGS that change something", UNUSED, |_| {
        (
            vec![],
            again(&[frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 1, 0]), frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])].concat()),
        )
    }),
    http2("PING", UNUSED, |_| (vec![], again(&frame(PING, 0, 0, &[0; 8])))),
    http2("answers to no PING", UNUSED, |_| (vec![], again(&frame(PING, ACK, 0, &[0; 8])))),
    http2("GOAWAY", LOST, |_| {
        (vec![], again(&frame(GOAWAY, 0, 0, &[&[0x7f, 0xff, 0xff, 0xff][..], &[0; 100]].concat())))
    }),
    http2("WINDOW_UPDATE", UNUSED, |id| {
        let updates = [frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), frame(WINDOW_UPDATE, 0, id, &[0, 0, 0, 1])];
        (vec![], again(&updates.concat()))
    }),
    http2("frames that nobody knows", UNUSED, |_| (vec![], again(&frame(0xaa, 0, 0, &[])))),
    http2("long frames that nobody knows", UNUSED, |_| (vec![], again(&frame(0xaa, 0, 0, &[0; 16384])))),
];

const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

pub(super) const BODIES: &[Flood] = &[
    endless("comments", Version::Http1, |_| ([EVENTS, b"\r\n"].concat(), again(b":\n\n"))),
    endless("chunks of a byte", Version::Http1, |_| {
        ([EVENTS, b"Transfer-Encoding: chunked\r\n\r\n"].concat(), again(b"1\r\n\n\r\n"))
    }),
    endless("messages", Version::Http1, |_| {
        let event = b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
        ([EVENTS, b"\r\n"].concat(), again(event))
    }),
    endless("comments", Version::Http2, |id| (stream_of_events(id), again(&frame(DATA, 0, id, b":\n\n")))),
    endless("long comments", Version::Http2, |id| {
        (stream_of_events(id), again(&frame(DATA, 0, id, &b":\n\n".repeat(5000))))
    }),
];
