//! Tests of the documents.
