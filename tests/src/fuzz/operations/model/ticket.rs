//! Tickets, whatever their methods.

use mcpwire_core::{CallError, CallTool, ListTools, Ping, Raw, Reply, RequestKey, Ticket};

/// A ticket of any of the methods that are used here.
#[derive(Clone, Copy)]
pub(in crate::fuzz::operations) enum AnyTicket {
    Call(Ticket<CallTool>),
    List(Ticket<ListTools>),
    Ping(Ticket<Ping>),
    Raw(Ticket<Raw>),
}

impl AnyTicket {
    pub(super) fn key(&self) -> RequestKey {
        match self {
            AnyTicket::Call(ticket) => ticket.key(),
            AnyTicket::List(ticket) => ticket.key(),
            AnyTicket::Ping(ticket) => ticket.key(),
            AnyTicket::Raw(ticket) => ticket.key(),
        }
    }

    pub(super) fn decode(self, reply: Reply) -> Result<(), CallError> {
        match self {
            AnyTicket::Call(ticket) => ticket.decode(reply).map(drop),
            AnyTicket::List(ticket) => ticket.decode(reply).map(drop),
            AnyTicket::Ping(ticket) => ticket.decode(reply).map(drop),
            AnyTicket::Raw(ticket) => ticket.decode(reply).map(drop),
        }
    }
}

macro_rules! into_any_ticket {
    ($($Method:ident => $Variant:ident),*) => { $(
        impl From<Ticket<$Method>> for AnyTicket {
            fn from(ticket: Ticket<$Method>) -> Self {
                AnyTicket::$Variant(ticket)
            }
        }
    )* };
}
into_any_ticket!(CallTool => Call, ListTools => List, Ping => Ping, Raw => Raw);
