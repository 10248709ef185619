// Package discovery judges KEP-3352, aggregated discovery, and its successor KEP-4020, by
// laws over the facts of a history: the documents that members gave, what the harness had
// defined, and how aggregated servers misbehaved.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package discovery
