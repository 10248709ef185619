// Package secrets plays a short scenario and searches its bundle for every credential of
// the run, by code that is independent of the run's own search. It has no specs: ginkgo
// runs it as go test does.
package secrets
