//! Connections over whole messages: [`McpClient::over_messages`], [`MessageReceiver`], [`MessageSender`].

use std::io::{self, Read, Write};
use std::thread;

use mcpwire_client::{ConnectOptions, Error, LinesToMessages, MessagesToLines};

use crate::McpClient;

/// Receives the messages of a server, for [`McpClient::over_messages`].
///
/// Closures are receivers too.
pub trait MessageReceiver: Send + 'static {
    /// Waits for the next message and returns it: JSON-RPC text. `None` if the server has closed the connection.
    ///
    /// # Errors
    /// The connection ends. Pending calls fail with the text of the error.
    fn receive(&mut self) -> io::Result<Option<String>>;
}

impl<F: FnMut() -> io::Result<Option<String>> + Send + 'static> MessageReceiver for F {
    fn receive(&mut self) -> io::Result<Option<String>> {
        self()
    }
}

/// Sends messages to a server, for [`McpClient::over_messages`].
///
/// Closures are senders too.
pub trait MessageSender: Send + 'static {
    /// Sends a message: JSON-RPC text. May wait until there is room for it.
    ///
    /// # Errors
    /// The connection ends. Pending calls fail with the text of the error.
    fn send(&mut self, message: String) -> io::Result<()>;

    /// Tells the server that no more messages follow. By default, does nothing; the sender is dropped afterwards.
    fn close(&mut self) {}
}

impl<F: FnMut(String) -> io::Result<()> + Send + 'static> MessageSender for F {
    fn send(&mut self, message: String) -> io::Result<()> {
        self(message)
    }
}

impl McpClient {
    /// Creates a connection over whole messages, such as those of a WebSocket.
    ///
    /// An error of the receiver or the sender ends the connection. Pending calls fail with its text.
    ///
    /// Two threads receive and send. The thread that receives holds the receiver until [`MessageReceiver::receive`] returns
    /// after the end of the connection. The thread that sends calls [`MessageSender::close`] when the client shuts down.
    ///
    /// The size limit of messages is [`ConnectOptions::max_message_bytes`]. The receiver should have a limit too, because it
    /// returns a message as a whole.
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

/// Reads messages as lines.
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

/// Writes lines as messages.
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
        // A second panic would end the program.
        if !thread::panicking() {
            self.sender.close();
        }
    }
}
