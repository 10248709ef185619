package workload

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// APIVersion and Kind of a workload file.
const (
	APIVersion = "evenkeel.dev/v1alpha1"
	Kind       = "Workload"
)

// Workload describes objects of one resource and how often they are written.
type Workload struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   Metadata `yaml:"metadata"`
	Spec       Spec     `yaml:"spec"`
}

// Metadata names a workload.
type Metadata struct {
	Name string `yaml:"name"`
}

// Spec is what a workload writes.
type Spec struct {
	// Group is empty for the core group.
	Group    string `yaml:"group,omitempty"`
	Resource string `yaml:"resource"`
	// Kind of the objects.
	Kind string `yaml:"kind"`
	// Namespace that the objects are in; empty for a cluster-scoped resource.
	Namespace string `yaml:"namespace,omitempty"`
	// Class of the writes; empty means guarded.
	Class string `yaml:"class,omitempty"`
	// Rate is how many writes per second each member gets: 0, or LowestRate to HighestRate.
	Rate float64 `yaml:"rate"`
	// ReadRate is how many reads per second each member gets, with the same bounds.
	ReadRate float64 `yaml:"readRate,omitempty"`
	// Keep is how many objects each member owns at most.
	Keep int `yaml:"keep"`
	// DeleteEvery makes every so many-th write a delete; 0 means never.
	DeleteEvery int `yaml:"deleteEvery,omitempty"`
	// Versions holds, by the version of the API that they are written in, what
	// objects contain beside their apiVersion, kind and metadata. The objects have
	// these contents in turn. Where two of them differ in one field only, the loss of
	// that field shows: what differed is the same then.
	Versions map[string][]map[string]any `yaml:"versions"`
}

// Parse reads a workload; file is what messages call its content. Errors name it and, for an
// unknown key, the line.
func Parse(file string, raw []byte) (*Workload, error) {
	w := new(Workload)
	if err := strictyaml.Decode(file, raw, w); err != nil {
		return nil, err
	}
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return w, nil
}

// Validate says everything that is wrong with a workload.
func (w *Workload) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if w.APIVersion != APIVersion || w.Kind != Kind {
		wrong("apiVersion and kind are %q and %q, and must be %q and %q", w.APIVersion, w.Kind, APIVersion, Kind)
	}
	if w.Metadata.Name == "" {
		wrong("metadata.name is missing")
	}
	if w.Spec.Resource == "" || w.Spec.Kind == "" {
		wrong("spec.resource and spec.kind must both be set")
	}
	if err := CheckRate(w.Spec.Rate); err != nil {
		wrong("spec.rate %w", err)
	}
	if err := CheckRate(w.Spec.ReadRate); err != nil {
		wrong("spec.readRate %w", err)
	}
	if w.Spec.DeleteEvery < 0 {
		wrong("spec.deleteEvery must not be negative")
	}
	if w.Spec.Keep < 1 {
		wrong("spec.keep must be at least 1")
	}
	if len(w.Spec.Versions) == 0 {
		wrong("spec.versions must have at least one version")
	}
	if !slices.Contains([]string{"", history.ClassGuarded, history.ClassCustom, history.ClassAggregated}, w.Spec.Class) {
		wrong("spec.class %q is none of guarded, custom and aggregated", w.Spec.Class)
	}
	return errors.Join(errs...)
}

// class of the workload's writes.
func (s Spec) class() string {
	if s.Class == "" {
		return history.ClassGuarded
	}
	return s.Class
}

// Within is the workload in another namespace.
func (w *Workload) Within(namespace string) *Workload {
	out := *w
	out.Spec.Namespace = namespace
	return &out
}

// AtShare is the workload with that part of its rates.
func (w *Workload) AtShare(share float64) *Workload {
	out := *w
	out.Spec.Rate *= share
	out.Spec.ReadRate *= share
	return &out
}

// Holding is the workload with another number of objects for each member.
func (w *Workload) Holding(keep int) *Workload {
	out := *w
	out.Spec.Keep = keep
	return &out
}
