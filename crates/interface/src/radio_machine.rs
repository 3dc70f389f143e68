use sixlock_base::{Cx, Entropy, Instant, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_mac::RadioCommand;

use crate::interface::Interface;
use crate::layers::Layers;

/// A machine with a radio: a node or a border router.
///
/// Its driver owns the radio and the timers. It hands the machine what comes in and the outcome of each [`RadioCommand`], calls it
/// at [`RadioMachine::poll_radio_timeout`] and [`RadioMachine::poll_timeout`], and after each call does what
/// [`RadioMachine::poll_radio`] says until that says nothing more, each command at its time. A driver that can begin with a command
/// at once only asks [`RadioMachine::poll_radio_due`] instead.
pub trait RadioMachine {
    /// What it computes with.
    type Crypto: Crypto;
    /// What its interface is made of.
    type Layers: Layers<Self::Crypto>;

    /// The interface into the mesh: routes are added there, and what protects packets.
    fn interface(&mut self) -> &mut Interface<Self::Crypto, Self::Layers>;

    /// Sends what there may be room for now that the radio has done something.
    fn go_on<E: Entropy, N: Nv>(&mut self, _: &mut Cx<'_, Self::Crypto, E, N>, _: Symbols) {}

    /// Takes in whether the channel was clear, as an assessment that ended at `at` has found.
    fn handle_cca<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, Self::Crypto, E, N>,
        at: Symbols,
        clear: bool,
    ) {
        self.interface().handle_cca(cx, at, clear);
        self.go_on(cx, at);
    }

    /// Takes in that the last symbol of [`RadioMachine::transmit_frame`] went out at `at`.
    fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Self::Crypto, E, N>, at: Symbols) {
        self.interface().handle_transmitted(cx, at);
        self.go_on(cx, at);
    }

    /// What the radio is to do next, once, as soon as that is known.
    fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.interface().poll_radio()
    }

    /// The same when its time has come, as [`RadioMachine::handle_radio_timeout`] was told: until then it is that of
    /// [`RadioMachine::poll_radio_timeout`].
    fn poll_radio_due(&mut self) -> Option<RadioCommand> {
        self.interface().poll_radio_due()
    }

    /// The channel that the radio is to be on, before it does what it was told: `None` if that is always the one of its network.
    fn channel(&mut self) -> Option<u8> {
        self.interface().channel()
    }

    /// The frame being sent, FCS included.
    fn transmit_frame(&mut self) -> &[u8] {
        self.interface().transmit_frame()
    }

    /// When to call [`RadioMachine::handle_radio_timeout`].
    fn poll_radio_timeout(&mut self) -> Option<Symbols> {
        self.interface().poll_radio_timeout()
    }

    /// Does what is due at the radio.
    fn handle_radio_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Self::Crypto, E, N>, at: Symbols) {
        self.interface().handle_radio_timeout(cx, at);
        self.go_on(cx, at);
    }

    /// When to call [`RadioMachine::handle_timeout`].
    fn poll_timeout(&mut self) -> Option<Instant> {
        self.interface().poll_timeout()
    }

    /// Does what is due.
    fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Self::Crypto, E, N>, at: Symbols) {
        self.interface().handle_timeout(cx, at);
    }
}
