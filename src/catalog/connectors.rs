//! What connectors can do.
