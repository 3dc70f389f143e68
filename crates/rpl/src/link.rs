use sixlock_base::New;

use crate::objective::MAX_LINK_METRIC;

/// ETX of a link that never loses a frame ([RFC 6551 section 4.3.2](https://www.rfc-editor.org/rfc/rfc6551#section-4.3.2)).
pub const ETX: u16 = 128;

/// What is assumed of a link before anything is known.
const ASSUMED: u16 = 2 * ETX;

/// What a frame that was never acknowledged stands for: more than any link that is used needs, however few attempts there were.
const LOST: u16 = 6 * ETX;

/// What an acknowledged frame stands for at most.
const MOST_ATTEMPTS: u8 = 5;

/// What is known of the link to a neighbour, from what became of frames to it.
///
/// Its ETX, the expected number of transmissions in units of 1/128, is a moving average, in which a new frame counts an eighth: what
/// chance does to single frames is not to move the ranks of all nodes below. Each over a link that is too bad to be used counts a
/// quarter: it may have become better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    etx: u16,
    is_confirmed: bool,
}

impl New for Link {
    const NEW: Self = Self { etx: 0, is_confirmed: false };
}

impl Link {
    /// A link of which nothing is known.
    pub const UNKNOWN: Self = Self { etx: ASSUMED, is_confirmed: false };

    /// Learns that a frame was acknowledged at the last of so many attempts, or not at all.
    pub fn record(&mut self, is_acknowledged: bool, attempts: u8) {
        let (sample, share) = match is_acknowledged {
            true => {
                let share = if self.etx > MAX_LINK_METRIC { 4 } else { 8 };
                (u16::from(attempts.clamp(1, MOST_ATTEMPTS)) * ETX, share)
            }
            false => (LOST, 8),
        };
        self.is_confirmed |= is_acknowledged;
        self.etx = self.etx - self.etx / share + sample / share;
    }

    /// Its ETX, if a frame was acknowledged: until then nothing says that the neighbour hears this node
    /// ([RFC 6550 section 8.2.1](https://www.rfc-editor.org/rfc/rfc6550#section-8.2.1)).
    pub fn etx(&self) -> Option<u16> {
        self.is_confirmed.then_some(self.etx)
    }

    /// Whether a frame to the neighbour was acknowledged.
    pub fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_used_only_when_a_frame_was_acknowledged() {
        let mut link = Link::UNKNOWN;
        assert_eq!(link.etx(), None);
        link.record(false, 4);
        assert_eq!(link.etx(), None);
        link.record(true, 1);
        assert!(link.etx().is_some());
    }

    #[test]
    fn a_good_link_nears_its_etx_and_seven_losses_in_a_row_end_it() {
        let mut link = Link::UNKNOWN;
        for _ in 0..30 {
            link.record(true, 1);
        }
        assert!((ETX..ETX + 8).contains(&link.etx().unwrap()));
        for _ in 0..6 {
            link.record(false, 4);
            assert!(link.etx().unwrap() <= MAX_LINK_METRIC, "six are forgiven");
        }
        link.record(false, 4);
        assert!(link.etx().unwrap() > MAX_LINK_METRIC);
        for _ in 0..3 {
            link.record(true, 1);
        }
        assert!(link.etx().unwrap() <= MAX_LINK_METRIC);
    }

    /// Mistake 13: a failed probe never improves ETX, however few attempts it made (contiki-ng#938).
    #[test]
    fn a_lost_frame_makes_no_link_better() {
        let mut link = Link::UNKNOWN;
        link.record(true, 8);
        for attempts in [1, 1, 1, 4, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] {
            let before = link.etx().unwrap();
            link.record(false, attempts);
            assert!(link.etx().unwrap() >= before);
        }
    }

    #[test]
    fn no_number_of_attempts_overflows() {
        let mut link = Link::UNKNOWN;
        for _ in 0..100 {
            link.record(true, 255);
        }
        assert!(link.etx().unwrap() <= LOST);
    }
}
