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

    /// Whether `value` counts as `published`.
    pub(crate) fn admits(self, value: f64, published: f64) -> bool {
        match self {
            Self::Time | Self::Energy | Self::Percent => {
                (value - published).abs() <= published.abs() * QUARTER
            }
            Self::Loss => (value - published).abs() <= LOST,
            Self::Memory => (value - published).abs() <= published.abs() * COMPILERS,
            Self::Exact => value == published,
            Self::Validation => (value - published).abs() <= published.abs() * TENTH,
        }
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

    #[test]
    fn a_value_may_be_off_both_ways_by_so_much_and_no_more() {
        for kind in [Tolerance::Time, Tolerance::Energy, Tolerance::Percent] {
            assert!(kind.admits(125.0, 100.0) && kind.admits(75.0, 100.0), "{kind:?}");
            assert!(!kind.admits(125.1, 100.0) && !kind.admits(74.9, 100.0), "{kind:?}");
        }
        assert!(Tolerance::Loss.admits(5.0, 0.0) && !Tolerance::Loss.admits(5.1, 0.0));
        assert!(Tolerance::Validation.admits(110.0, 100.0) && !Tolerance::Validation.admits(89.9, 100.0));
        assert!(Tolerance::Loss.admits(3.0, 8.0) && !Tolerance::Loss.admits(2.9, 8.0));
        assert!(Tolerance::Memory.admits(115.0, 100.0) && !Tolerance::Memory.admits(84.9, 100.0));
        assert!(Tolerance::Exact.admits(24.0, 24.0) && !Tolerance::Exact.admits(24.1, 24.0));
    }

    #[test]
    fn what_is_not_a_number_is_never_the_papers() {
        assert!(Tolerance::ALL.iter().all(|kind| !kind.admits(f64::NAN, 1.0)));
    }
}
