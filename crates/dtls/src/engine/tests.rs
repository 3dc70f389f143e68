//! The engine with another version than 1.2.
