//! The experiments, one a file. A new one is entered in [`EXPERIMENTS`].

mod derubertis2013;
mod footprint;
mod granjal2008_fig3;
mod granjal2008_table3;
mod handshake;
mod handshake_loss;
mod not_yet;
mod packets;
mod raza2012;
mod sample;
mod securesense;
mod thesis;

use crate::experiment::Experiment;

/// Every experiment, paper by paper.
pub const EXPERIMENTS: &[Experiment] = &[
    raza2012::table_1::EXPERIMENT,
    raza2012::table_2::EXPERIMENT,
    raza2012::fig_9::EXPERIMENT,
    raza2012::fig_10::EXPERIMENT,
    raza2012::fig_11::EXPERIMENT,
    raza2012::fig_12::EXPERIMENT,
    raza2012::fig_13::EXPERIMENT,
    raza2012::fig_14::EXPERIMENT,
    thesis::fig_26::EXPERIMENT,
    thesis::fig_27::EXPERIMENT,
    not_yet::THESIS_FIG_30,
    thesis::table_11::EXPERIMENT,
    thesis::dtls::TABLE_12,
    thesis::dtls::TABLE_13,
    thesis::dtls::TABLE_14,
    granjal2008_table3::EXPERIMENT,
    granjal2008_fig3::EXPERIMENT,
    derubertis2013::fig_3::EXPERIMENT,
    derubertis2013::fig_4::EXPERIMENT,
    derubertis2013::fig_5::EXPERIMENT,
    derubertis2013::fig_6::EXPERIMENT,
    derubertis2013::fig_7::EXPERIMENT,
    derubertis2013::handshake::EXPERIMENT,
    securesense::fig_9::EXPERIMENT,
    securesense::figs_10_to_13::FIGURE_10,
    securesense::figs_10_to_13::FIGURE_11,
    securesense::figs_10_to_13::FIGURE_12,
    securesense::figs_10_to_13::FIGURE_13,
    securesense::fig_14::EXPERIMENT,
    not_yet::SECURESENSE_FIG_15,
    securesense::fig_16::EXPERIMENT,
    securesense::fig_17::EXPERIMENT,
    securesense::fig_18::EXPERIMENT,
    handshake_loss::EXPERIMENT,
];
