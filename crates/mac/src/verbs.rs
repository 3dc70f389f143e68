//! Both MACs as what an interface drives.

use sixlock_base::{Cx, Entropy, Eui64, New, Nv, Symbols};
use sixlock_crypto::Crypto;

use crate::config::Config;
use crate::event::{Event, TransmitId};
use crate::layer::{MacLayer, RadioCommand, Received, SendError};
use crate::link::LinkLayer;
use crate::listening::Listening as _;
use crate::mac::Mac;
use crate::tsch::Tsch;

impl<C: Crypto, L: LinkLayer> New for Mac<C, L> {
    const NEW: Self = Self::new();
}

/// Hands the verbs on that both machines have.
macro_rules! verbs {
    () => {
        #[inline(always)]
        fn address(&self) -> Eui64 {
            self.address()
        }

        #[inline(always)]
        fn payload_capacity(&self) -> usize {
            self.payload_capacity()
        }

        #[inline(always)]
        fn can_send(&self) -> bool {
            self.can_send()
        }

        #[inline(always)]
        fn send<E: Entropy, N: Nv>(
            &mut self,
            cx: &mut Cx<'_, C, E, N>,
            at: Symbols,
            destination: Eui64,
            payload: &[u8],
        ) -> Result<TransmitId, SendError> {
            self.send(cx, at, destination, payload)
        }

        #[inline(always)]
        fn handle_frame<'f, E: Entropy, N: Nv>(
            &mut self,
            cx: &mut Cx<'_, C, E, N>,
            at: Symbols,
            frame: &'f mut [u8],
        ) -> Option<Received<'f>> {
            self.handle_frame(cx, at, frame)
        }

        #[inline(always)]
        fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
            self.handle_cca(cx, at, clear);
        }

        #[inline(always)]
        fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
            self.handle_transmitted(cx, at);
        }

        #[inline(always)]
        fn poll_event(&mut self) -> Option<Event> {
            self.poll_event()
        }

        #[inline(always)]
        fn poll_radio(&mut self) -> Option<RadioCommand> {
            self.poll_radio()
        }

        #[inline(always)]
        fn poll_radio_due(&mut self) -> Option<RadioCommand> {
            self.poll_radio_due()
        }

        #[inline(always)]
        fn transmit_frame(&self) -> &[u8] {
            self.transmit_frame()
        }

        #[inline(always)]
        fn poll_timeout(&self) -> Option<Symbols> {
            self.poll_timeout()
        }

        #[inline(always)]
        fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
            self.handle_timeout(cx, at);
        }

        #[inline(always)]
        fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_ {
            self.waiting()
        }

        #[inline(always)]
        fn occupied(&self) -> usize {
            self.occupied()
        }
    };
}

impl<C: Crypto, L: LinkLayer> MacLayer<C> for Mac<C, L> {
    #[inline(always)]
    fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.start(config, cx.crypto);
    }

    verbs!();

    #[inline(always)]
    fn follows(&self) -> bool {
        self.listening.polling().is_some()
    }

    #[inline(always)]
    fn follow(&mut self, at: Symbols, parent: Option<Eui64>, _: Option<u8>) {
        self.follow(at, parent);
    }

    #[inline(always)]
    fn holds(&self) -> bool {
        Self::HOLDS && !self.sleepers.is_empty()
    }

    #[inline(always)]
    fn take_data_request(&mut self) -> Option<Eui64> {
        self.take_data_request()
    }

    #[inline(always)]
    fn answer_data_request(&mut self, neighbour: Eui64, at: Symbols) {
        self.answer_data_request(neighbour, at);
    }

    #[inline(always)]
    fn is_asleep(&self, neighbour: Eui64, at: Symbols) -> bool {
        self.is_asleep(neighbour, at)
    }

    #[inline(always)]
    fn is_news(&self, neighbour: Eui64, news: u32) -> bool {
        self.is_news(neighbour, news)
    }

    #[inline(always)]
    fn tell(&mut self, neighbour: Eui64, news: u32) {
        self.tell(neighbour, news);
    }

    #[inline(always)]
    fn latest_frame_counter(&self) -> Option<(Eui64, u32)> {
        self.latest_frame_counter()
    }

    #[inline(always)]
    fn restore_frame_counter(&mut self, neighbour: Eui64, frame_counter: u32) -> bool {
        self.restore_frame_counter(neighbour, frame_counter)
    }
}

impl<C: Crypto, L: LinkLayer> New for Tsch<C, L> {
    const NEW: Self = Self::new();
}

/// A device that cannot secure its frames as it is told stays silent.
impl<C: Crypto, L: LinkLayer> MacLayer<C> for Tsch<C, L> {
    fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.start(config, cx);
    }

    verbs!();

    fn channel(&self) -> Option<u8> {
        Some(self.channel())
    }

    fn has_joined(&self) -> bool {
        self.has_joined()
    }

    fn follows(&self) -> bool {
        true
    }

    fn follow(&mut self, at: Symbols, parent: Option<Eui64>, join_metric: Option<u8>) {
        self.follow(at, parent, join_metric);
    }

    /// Slots are counted in place of frames, and no slot comes twice.
    fn latest_frame_counter(&self) -> Option<(Eui64, u32)> {
        None
    }

    fn restore_frame_counter(&mut self, _: Eui64, _: u32) -> bool {
        true
    }
}
