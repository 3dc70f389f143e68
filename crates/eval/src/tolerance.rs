//! By how much a value may differ from the paper's, up or down, and still be the paper's: once, for each kind of value.

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Times: a quarter. What a frame takes on the air is exact; but of a paper's processor, its compiler and its operating system only the
    /// frequency is known.
    Time,
    /// Energies: a quarter, as they are times multiplied by what a data sheet says.
    Energy,
    /// Parts of a hundred by which one thing takes more than another: a quarter of them, as they are made of two times or two energies.
    Percent,
    /// Datagrams lost, or handshakes that succeed, of a hundred: five, which chance alone brings about.
    Loss,
    /// Memory: 15 of 100, by which the code of two compilers differs for the same work.
    Memory,
    /// What standards say to the byte, and what is counted: nothing.
    Exact,
    /// Times beside those of another simulator, whose rules are known, or of a data sheet: a tenth. What neither says, such as how many
    /// echoes a mean is of, is all that differs.
    Validation,
}

impl Tolerance {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Time, Self::Energy, Self::Percent, Self::Loss, Self::Memory, Self::Exact, Self::Validation];

    /// By how much a value may be off: by a share of the paper's, and by so much whatever that is.
    pub(crate) const fn share_and_more(self) -> (f64, f64) {
        match self {
            Self::Time | Self::Energy | Self::Percent => (QUARTER, 0.0),
            Self::Loss => (0.0, LOST),
            Self::Memory => (COMPILERS, 0.0),
            Self::Exact => (0.0, 0.0),
            Self::Validation => (TENTH, 0.0),
        }
    }

    /// The least and the most that counts as `published`.
    pub(crate) fn range(self, published: f64) -> [f64; 2] {
        let (share, more) = self.share_and_more();
        let off = published.abs() * share + more;
        [published - off, published + off]
    }

    /// Its name, and what it allows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "times: 25 % up or down",
            Self::Energy => "energies: 25 % up or down",
            Self::Percent => "shares: 25 % of them up or down",
            Self::Loss => "losses: 5 of 100 up or down",
            Self::Memory => "memory: 15 % up or down",
            Self::Exact => "what standards say and what is counted: exact",
            Self::Validation => "validation: 10 % up or down",
        }
    }
}

const QUARTER: f64 = 0.25;
const LOST: f64 = 5.0;
const COMPILERS: f64 = 0.15;
const TENTH: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(kind: Tolerance, value: f64, published: f64) -> bool {
        let [least, most] = kind.range(published);
        least <= value && value <= most
    }

    #[test]
    fn a_value_may_be_off_both_ways_by_so_much_and_no_more() {
        for kind in [Tolerance::Time, Tolerance::Energy, Tolerance::Percent] {
            assert!(admits(kind, 125.0, 100.0) && admits(kind, 75.0, 100.0), "{kind:?}");
            assert!(!admits(kind, 125.1, 100.0) && !admits(kind, 74.9, 100.0), "{kind:?}");
        }
        assert!(admits(Tolerance::Loss, 5.0, 0.0) && !admits(Tolerance::Loss, 5.1, 0.0));
        assert!(admits(Tolerance::Validation, 110.0, 100.0) && !admits(Tolerance::Validation, 89.9, 100.0));
        assert!(admits(Tolerance::Loss, 3.0, 8.0) && !admits(Tolerance::Loss, 2.9, 8.0));
        assert!(admits(Tolerance::Memory, 115.0, 100.0) && !admits(Tolerance::Memory, 84.9, 100.0));
        assert!(admits(Tolerance::Exact, 24.0, 24.0) && !admits(Tolerance::Exact, 24.1, 24.0));
    }
}
