//! Examples of `ssb`, run on simulated data: see the `examples` folder beside this one.
