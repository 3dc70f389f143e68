//! Experiments by their names.

use sixlock_sim::toml_reader::did_you_mean;

use crate::experiment::Experiment;
use crate::experiments::EXPERIMENTS;

/// The experiment of this name.
///
/// # Errors
/// When there is none, with those that may be meant.
pub fn experiment_by_name(name: &str) -> Result<&'static Experiment, String> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name).ok_or_else(|| {
        let all = || EXPERIMENTS.iter().map(|experiment| experiment.name);
        let shortened: Vec<_> = all().filter(|known| is_short_for(name, known)).collect();
        let meant = match &shortened[..] {
            [] => did_you_mean(name, all()),
            names => format!("; did you mean \"{}\"?", names.join("\" or \"")),
        };
        format!("there is no such experiment{meant} (`sixlock eval --list` shows all)")
    })
}

/// Whether `name` is `known` with its first part cut short, as `raza-fig11` is `raza2012-fig11`, or without it, as `fig11` is.
fn is_short_for(name: &str, known: &str) -> bool {
    let Some((paper, item)) = known.split_once('-') else { return false };
    match name.split_once('-') {
        Some((beginning, end)) => end == item && paper.starts_with(beginning),
        None => name == item,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_cut_short_is_told_whole() {
        assert!(experiment_by_name("raza2012-fig11").is_ok_and(|found| found.name == "raza2012-fig11"));
        let why = |name| experiment_by_name(name).map(|experiment| experiment.name).unwrap_err();
        assert!(why("raza-fig11").contains("; did you mean \"raza2012-fig11\"?"), "{}", why("raza-fig11"));
        let both = why("fig9");
        assert!(both.contains("\"raza2012-fig9\" or \"securesense-fig9\"?"), "{both}");
        assert!(why("raza2012-fgi11").contains("\"raza2012-fig11\"?"), "{}", why("raza2012-fgi11"));
        assert_eq!(why("zzz"), "there is no such experiment (`sixlock eval --list` shows all)");
    }
}
