//! HTTP/2 as bytes (RFC 9113), as far as a flood needs it.

use std::io::{self, Read};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;

const PREFACE: usize = 24;

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// What a server sends first: its settings, and that it has those of the client.
pub(super) fn greeting() -> Vec<u8> {
    [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat()
}

/// A header as it stands, with a name of HPACK's table (RFC 7541, 6.2.2).
pub(super) fn header(name: u8, value: &str) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap();
    let name = if name < 15 { vec![name] } else { vec![15, name - 15] };
    [&name, &[length][..], value.as_bytes()].concat()
}

/// Reads up to the headers of the first request. The number of its stream.
pub(super) fn first_request(reader: &mut impl Read) -> io::Result<u32> {
    reader.read_exact(&mut [0; PREFACE])?;
    loop {
        let mut head = [0; 9];
        reader.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        io::copy(&mut reader.take(length.into()), &mut io::sink())?;
        if head[3] == HEADERS {
            return Ok(u32::from_be_bytes([head[5], head[6], head[7], head[8]]));
        }
    }
}
