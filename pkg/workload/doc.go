// Package workload is the traffic of a run: objects that are written through
// every member's own API server, each write tagged so that what etcd stored can
// be traced back to the server that stored it.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package workload
