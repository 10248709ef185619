// Package etcdproxy is a proxy before an etcd that knows of which keys a request
// is, so that requests about some keys can be held or failed while all others
// pass. It reads requests of etcd's KV service only; everything else (watches,
// leases, maintenance) goes through byte by byte, whatever it is.
//
// A proxy of connections, as in package link, cannot do this: all requests of an
// API server share a few connections, and a connection shows nothing but TLS.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package etcdproxy
