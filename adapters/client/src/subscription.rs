//! The macros `subscribe_methods` and `subscription_methods` define the methods with which a program subscribes to changes on the
//! server.

use std::hash::{BuildHasher, Hasher, RandomState};

use mcpwire_core::SubscribeOptions;

/// Defines the methods of `McpClient` that subscribe to changes. Use it inside of an `impl` block.
///
/// The last word selects the kind of methods: `async` functions with `&self`, or `blocking` functions with `&mut self`. The
/// attributes contain an example for the documentation. The client needs the method `open_subscription`.
#[doc(hidden)]
#[macro_export]
macro_rules! subscribe_methods {
    ($(#[$example:meta])* async) => {
        $crate::subscribe_methods! {
            @define [async] [] [.await] [$(#[$example])*]
            ///
            /// # Cancel safety
            /// Dropping the future before its end ends the subscription on the server.
        }
    };
    ($(#[$example:meta])* blocking) => {
        $crate::subscribe_methods! { @define [] [mut] [] [$(#[$example])*] }
    };
    (@define [$($async:tt)?] [$($mut:tt)?] [$($await:tt)*] [$(#[$example:meta])*] $(#[$cancel_safety:meta])*) => {
        /// Subscribes to changes on the server, and waits until the server has acknowledged the subscription.
        ///
        /// `wanted` selects the changes. The server may accept only some of them: see [`Subscription::acknowledged`]. The request
        /// timeout limits the wait for the acknowledgment, not the duration of the subscription.
        ///
        /// On a legacy server (up to revision 2025-11-25), the client sends `resources/subscribe` for each resource, and uses the
        /// `listChanged` notifications that the server declares. The changes are also among the [`McpClient::notifications`].
        ///
        $(#[$example])*
        ///
        /// # Errors
        /// If the server refuses the subscription or does not acknowledge it in time, or if the connection ends.
        $(#[$cancel_safety])*
        #[doc(alias = "subscriptions/listen")]
        pub $($async)? fn subscribe(
            &$($mut)? self,
            wanted: &$crate::protocol::SubscriptionFilter,
        ) -> Result<Subscription, $crate::Error> {
            self.subscribe_with(wanted, $crate::protocol::SubscribeOptions::new())$($await)*
        }

        /// Subscribes to changes, with options such as the timeout of the acknowledgment, and whether to subscribe again.
        ///
        /// # Errors
        /// The same as for [`McpClient::subscribe`].
        $(#[$cancel_safety])*
        #[doc(alias = "subscriptions/listen")]
        pub $($async)? fn subscribe_with(
            &$($mut)? self,
            wanted: &$crate::protocol::SubscriptionFilter,
            options: $crate::protocol::SubscribeOptions,
        ) -> Result<Subscription, $crate::Error> {
            self.open_subscription(wanted, &$crate::subscription_options(options))$($await)*
        }
    };
}

/// Defines the methods that the types `Subscription` of all clients share. The type needs the field `reader`.
#[doc(hidden)]
#[macro_export]
macro_rules! subscription_methods {
    () => {
        impl Subscription {
            /// Returns which changes the server has agreed to report. These may be fewer than the program has requested.
            pub fn acknowledged(&self) -> &$crate::protocol::SubscriptionFilter {
                self.reader.acknowledged()
            }

            /// Returns why the subscription has ended. `None` while it is open, or while the program has not taken all its
            /// changes.
            pub fn end(&self) -> Option<&$crate::protocol::SubscriptionEnd> {
                self.reader.end()
            }
        }

        impl ::std::fmt::Debug for Subscription {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("Subscription")
                    .field("acknowledged", self.acknowledged())
                    .field("end", &self.end())
                    .finish_non_exhaustive()
            }
        }
    };
}

/// Sets a random seed in the options, unless they contain a seed. The seed spreads the times at which clients subscribe again.
pub fn subscription_options(mut options: SubscribeOptions) -> SubscribeOptions {
    options.seed = options.seed.or_else(|| Some(RandomState::new().build_hasher().finish()));
    options
}
