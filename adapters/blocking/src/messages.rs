//! [`McpClient::over_messages`]: connects over a transport of whole messages, such as a WebSocket, instead of a byte stream.

use std::io::{self, Read, Write};
use std::thread;

use mcpwire_client::{ConnectOptions, Error, LinesToMessages, MessagesToLines};

use crate::McpClient;

/// Receives the messages of a server, for [`McpClient::over_messages`]. A program implements it for its transport.
///
/// Closures with the signature of [`MessageReceiver::receive`] implement this trait, too.
pub trait MessageReceiver: Send + 'static {
    /// Waits for the next message of the server, and returns its JSON-RPC text. Returns `None` if the server has closed the
    /// connection.
    ///
    /// # Errors
    /// An error ends the connection. Pending calls fail with the text of the error.
    fn receive(&mut self) -> io::Result<Option<String>>;
}

impl<F: FnMut() -> io::Result<Option<String>> + Send + 'static> MessageReceiver for F {
    fn receive(&mut self) -> io::Result<Option<String>> {
        self()
    }
}

/// Sends messages to a server, for [`McpClient::over_messages`]. A program implements it for its transport.
///
/// Closures with the signature of [`MessageSender::send`] implement this trait, too.
pub trait MessageSender: Send + 'static {
    /// Sends the JSON-RPC text of a message to the server. May block until the transport accepts the message.
    ///
    /// # Errors
    /// An error ends the connection. Pending calls fail with the text of the error.
    fn send(&mut self, message: String) -> io::Result<()>;

    /// Tells the server that no more messages follow. The client calls this once, and then drops the sender. Default: does
    /// nothing.
    fn close(&mut self) {}
}

impl<F: FnMut(String) -> io::Result<()> + Send + 'static> MessageSender for F {
    fn send(&mut self, message: String) -> io::Result<()> {
        self(message)
    }
}

impl McpClient {
    /// Creates a client over a transport of whole messages, such as a WebSocket.
    ///
    /// An error of the receiver or the sender ends the connection. Pending calls fail with the text of the error.
    ///
    /// The client starts two threads: one receives, and one sends. The receiving thread ends when [`MessageReceiver::receive`]
    /// returns after the end of the connection. The sending thread calls [`MessageSender::close`] when the client shuts down.
    ///
    /// The size limit of messages is [`ConnectOptions::max_message_bytes`]. The receiver should have a limit too, because each
    /// message is in memory before the client can check its size.
    ///
    /// ```no_run
    /// # mod mcpwire { pub use mcpwire_blocking::ConnectOptions; pub mod blocking { pub use mcpwire_blocking::McpClient; } }
    /// use std::io;
    /// use std::sync::mpsc::sync_channel;
    ///
    /// use mcpwire::ConnectOptions;
    /// use mcpwire::blocking::McpClient;
    ///
    /// let (to_server, _messages) = sync_channel(16);
    /// let (_answers, from_server) = sync_channel(16);
    /// let receiver = move || Ok(from_server.recv().ok());
    /// let sender = move |message| to_server.send(message).map_err(io::Error::other);
    /// let client = McpClient::over_messages(receiver, sender, ConnectOptions::default().name("plugins"))?;
    /// # Ok::<(), mcpwire_blocking::Error>(())
    /// ```
    pub fn over_messages(
        receiver: impl MessageReceiver,
        sender: impl MessageSender,
        options: ConnectOptions,
    ) -> Result<Self, Error> {
        let reader = MessageReader { receiver, lines: MessagesToLines::default() };
        let writer = MessageWriter { sender, lines: LinesToMessages::default() };
        Self::over(reader, writer, options)
    }
}

/// Presents a receiver of messages to the client as a byte stream with one message per line.
struct MessageReader<R> {
    receiver: R,
    lines: MessagesToLines<String>,
}

impl<R: MessageReceiver> Read for MessageReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.lines.needs_message() {
            let Some(message) = self.receiver.receive()? else { return Ok(0) };
            self.lines.set_message(message);
        }
        Ok(self.lines.read(buf))
    }
}

/// Presents a sender of messages to the client as a byte stream with one message per line.
struct MessageWriter<S: MessageSender> {
    sender: S,
    lines: LinesToMessages,
}

impl<S: MessageSender> Write for MessageWriter<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let (taken, message) = self.lines.write(buf);
        if let Some(message) = message {
            self.sender.send(message)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: MessageSender> Drop for MessageWriter<S> {
    fn drop(&mut self) {
        // While a panic unwinds, a panic in `close` would abort the program.
        if !thread::panicking() {
            self.sender.close();
        }
    }
}
