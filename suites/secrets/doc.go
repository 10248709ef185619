// Package secrets plays a short scenario and searches what it leaves for every
// credential that the run has made, in another way than the run itself does. It has no
// specs: ginkgo runs it as go test does.
package secrets
