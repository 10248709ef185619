package cluster

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnsupported is what a provider answers to an operation that it cannot do;
// it is wrapped in an error that says which and why.
var ErrUnsupported = errors.New("not supported by this provider")

// ErrNoProcess is wrapped by the error of an operation that needs a process where there
// is none.
var ErrNoProcess = errors.New("no process runs")

// TopologyError says what is wrong with a topology.
type TopologyError struct {
	// File that the topology is in; empty if it was not read from one.
	File string
	// Problems, each as a part of a sentence that names the key, or begins with the file
	// and the line.
	Problems []string
}

// Error names the file and all that is wrong in it.
func (e *TopologyError) Error() string {
	wrong := strings.Join(e.Problems, "; ")
	switch {
	case e.File == "":
		return "topology: " + wrong
	case strings.HasPrefix(wrong, e.File+":"):
		return wrong
	}
	return e.File + ": " + wrong
}

// UnknownProviderError says that there is no provider of a name.
type UnknownProviderError struct {
	Name  string
	Known []string
}

// Error names the providers that there are.
func (e *UnknownProviderError) Error() string {
	return fmt.Sprintf("there is no provider %q; known are: %s", e.Name, strings.Join(e.Known, ", "))
}

// UnknownReleaseError says that a provider cannot run a release of a distribution.
type UnknownReleaseError struct {
	Distribution, Release, Member string
	Known                         []string
}

// Error names the releases that the provider can run.
func (e *UnknownReleaseError) Error() string {
	return fmt.Sprintf("the distribution %q has no release %q for member %s; it has: %s",
		e.Distribution, e.Release, e.Member, strings.Join(e.Known, ", "))
}

// UnknownDefectError says that a distribution cannot be started with a defect.
type UnknownDefectError struct {
	Distribution, ID string
	// Known is empty for real software, in which none can be planted.
	Known []string
}

// Error names the defects that there are.
func (e *UnknownDefectError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("the distribution %q has no defects that could be planted, so not %q either", e.Distribution, e.ID)
	}
	return fmt.Sprintf("the distribution %q has no defect %q; it has: %s", e.Distribution, e.ID, strings.Join(e.Known, ", "))
}

// StartError says that a cluster did not come up. Where the control plane is to blame, an
// *Unready is in its chain.
type StartError struct {
	Cluster string
	Err     error
}

// Error says which cluster it is, and why it did not.
func (e *StartError) Error() string {
	return fmt.Sprintf("the cluster %s did not start: %v", e.Cluster, e.Err)
}

// Unwrap gives the reason to errors.Is and errors.As.
func (e *StartError) Unwrap() error { return e.Err }
