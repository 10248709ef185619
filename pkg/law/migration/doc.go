// Package migration judges KEP-25 and KEP-4192, storage version migration, and what
// KEP-2339 asks of a migrator: the facts about migrations, the objects that they rewrite
// and the controllers that run them, and one law for each requirement.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package migration
