//! The server over HTTP: Streamable HTTP of both eras, on loopback addresses.
//!
//! A connection has a thread, and a response that is a stream has one more, which notices that the client has gone.

mod endpoint;
mod headers;
mod message;
mod stream;

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use self::endpoint::{Endpoint, Reading, Reply};
use self::message::{Events, Response, Trouble};
use self::stream::{Next, Stream};
use super::outbox::Log;

/// Each is a thread or two.
const MOST_CONNECTIONS: usize = 256;
/// How long a client may take to say something.
const PATIENCE: Duration = Duration::from_secs(60);
/// A stream on which nothing happens is shown to be alive this often: what is between may end it else.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// A client that is refused in the middle of what it says: this much of it is read, so that it sees the answer.
const MOST_IGNORED: u64 = 1024 * 1024;

/// Listens, and says where in the first line of `output`.
pub(super) fn run(address: SocketAddr, mut output: impl Write, log: Log) -> io::Result<()> {
    if !address.ip().is_loopback() {
        let why = format!("it listens on loopback addresses, such as 127.0.0.1, and {} is none", address.ip());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let listener = TcpListener::bind(address)?;
    writeln!(output, "http://{}{}", listener.local_addr()?, endpoint::PATH)?;
    output.flush()?;
    let endpoint = Arc::new(Endpoint::new(log));
    // One for the list of connections itself: each connection holds another.
    let connections = Arc::new(());
    for socket in listener.incoming() {
        // One that was gone before it was here, or no more file descriptors: others end meanwhile.
        let Ok(mut socket) = socket else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        if Arc::strong_count(&connections) > MOST_CONNECTIONS {
            let _ = Response::text(503, "too many connections").write(&mut socket, false);
            continue;
        }
        let (endpoint, connection) = (Arc::clone(&endpoint), Arc::clone(&connections));
        thread::spawn(move || {
            // What a connection ends with is its client's affair.
            let _ = serve(&endpoint, &socket);
            // Closing it is not enough: a thread that watches has a handle of its own.
            let _ = socket.shutdown(Shutdown::Both);
            drop(connection);
        });
    }
    Ok(())
}

fn serve(endpoint: &Endpoint, mut socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(socket);
    loop {
        let request = match message::read(&mut input, &mut socket) {
            Ok(request) => request,
            Err(Trouble::Gone) => return Ok(()),
            Err(Trouble::Wrong(status, why)) => {
                Response::text(status, why).write(&mut socket, false)?;
                // What is not read when a connection is closed may undo what was written.
                socket.shutdown(Shutdown::Write)?;
                socket.set_read_timeout(Some(Duration::from_secs(1)))?;
                io::copy(&mut input.take(MOST_IGNORED), &mut io::sink())?;
                return Ok(());
            }
        };
        let keeps_alive = request.keeps_alive();
        match endpoint.answer(&request) {
            Reply::Whole(response) => response.write(&mut socket, keeps_alive)?,
            Reply::Events(reading) => {
                let (stream, connection) = (Arc::clone(&reading.stream), socket.try_clone()?);
                let mut events = Events::begin(&mut socket, request.has_chunks, keeps_alive)?;
                let reader = stream.attach(reading.after);
                let reading = Arc::new(reading);
                let watched = Arc::clone(&reading);
                thread::spawn(move || watch(&watched, reader, &connection));
                if let Err(error) = carry(&reading, reader, &mut events) {
                    leave(&reading, reader);
                    return Err(error);
                }
                // Whoever has taken over reads on, and this connection is of no more use.
                if !stream.detach(reader) {
                    return Ok(());
                }
                events.end()?;
            }
        }
        if !keeps_alive {
            return Ok(());
        }
    }
}

/// Writes what the stream has, until it ends or another reads it.
fn carry(reading: &Reading, reader: u64, events: &mut Events<'_, &TcpStream>) -> io::Result<()> {
    let stream = &reading.stream;
    if reading.is_primed {
        events.write(&format!("id: {}-0\ndata:\n\n", stream.number))?;
    }
    loop {
        match stream.next(reader, SIGN_OF_LIFE) {
            Next::Event(number, event) if reading.is_resumable => {
                events.write(&format!("id: {}-{number}\nevent: message\ndata: {event}\n\n", stream.number))?;
            }
            Next::Event(_, event) => events.write(&format!("event: message\ndata: {event}\n\n"))?,
            Next::Quiet => events.write(":\n\n")?,
            Next::Ended | Next::Dismissed => return Ok(()),
        }
    }
}

/// Waits until the client has gone, or says something that is for after the stream.
fn watch(reading: &Reading, reader: u64, connection: &TcpStream) {
    loop {
        match connection.peek(&mut [0]) {
            Ok(0) => return leave(reading, reader),
            Ok(_) => return,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if !reading.stream.is_read_by(reader) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return leave(reading, reader),
        }
    }
}

/// The client has gone in the middle of the stream.
fn leave(reading: &Reading, reader: u64) {
    if Stream::detach(&reading.stream, reader) {
        (reading.gone)();
    }
}
