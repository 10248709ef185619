// Package install puts the migrator of KEP-25 into a control plane that runs
// workloads, and takes it out again: a Deployment of the controller, which makes a
// Job for each migration, with the rights that the two need and no others.
package install
