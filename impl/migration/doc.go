// Package migration is KEP-25, storage version migration: it rewrites stored
// objects so that each lies in etcd in the version that all API servers agree
// on.
package migration
