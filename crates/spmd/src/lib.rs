//! The work-item vectoriser: from a kernel of one work-item to a function of one work-group
