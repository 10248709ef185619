package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/workload/faultybackend"
)

// RegisterAPI creates a CustomResourceDefinition, or the APIService of an aggregated server,
// or changes it if it exists.
type RegisterAPI struct {
	// Member is the member to whose API server the step sends the requests.
	Member string `yaml:"member"`
	// CRD is the plural name of a custom resource, Group its group, and Versions the
	// versions to serve: v1, v1beta1 and v1alpha1, or some of them.
	CRD      string   `yaml:"crd,omitempty"`
	Group    string   `yaml:"group,omitempty"`
	Versions []string `yaml:"versions,omitempty"`
	// Storage is the storage version of the custom resource; empty means v1.
	Storage string `yaml:"storage,omitempty"`
	// ShortNames of the custom resource; none if it is empty. No other one of its group may have them.
	ShortNames []string `yaml:"shortNames,omitempty"`
	// ConversionDown has versions of the custom resource converted by a webhook that does not
	// answer, so that objects that are stored in one version cannot be read in another.
	ConversionDown bool `yaml:"conversionDown,omitempty"`
	// Backend is the name of an aggregated server of the scenario, to which API servers
	// are to proxy its group-versions. Give it instead of a custom resource.
	Backend string `yaml:"backend,omitempty"`
	// BackendVersions are the versions of the aggregated server that get an APIService each;
	// empty means v1. All APIServices name one Service.
	BackendVersions []string `yaml:"backendVersions,omitempty"`
}

var _ = register("registerAPI", func() Action { return &RegisterAPI{} }, registry.Fields{
	"member":          oneMember,
	"crd":             registry.AnyText("crates", "lanterns", "lights").In("crd"),
	"group":           registry.AnyText("stores.evenkeel.dev", "lanterns.evenkeel.dev", "lights.evenkeel.dev").In("crd"),
	"versions":        registry.OneOf(definable...).List(1, len(definable)).In("crd"),
	"storage":         registry.OneOf(definable...).In("crd").Maybe(),
	"shortNames":      registry.Names("short name").List(1, 2).In("crd").Maybe(),
	"conversionDown":  registry.Flag().In("crd").Maybe(),
	"backend":         registry.Known(namesBackend).In("backend").With(cluster.ReachesHere),
	"backendVersions": registry.OneOf(faultybackend.Versions...).List(1, len(faultybackend.Versions)).In("backend").Maybe(),
}, anywhere)

func (d *RegisterAPI) selectors() []string { return []string{d.Member} }

func (d *RegisterAPI) backend() string       { return d.Backend }
func (d *RegisterAPI) harmless() bool        { return true }
func (d *RegisterAPI) check(r *Runner) error { return r.ownsGroup(d.Group) }
func (d *RegisterAPI) lacking(r *Runner) string {
	return lacking("backend", d.Backend, r.backends[d.Backend] != nil)
}

func (d *RegisterAPI) play(ctx context.Context, r *Runner, at target) error {
	return r.registerAPI(ctx, at.one(), d)
}

// validate says what is wrong with a RegisterAPI.
func (d *RegisterAPI) validate() error {
	return errors.Join(missing("member", d.Member), d.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (d *RegisterAPI) fieldsProblem() error {
	if err := definesOne(d.CRD, d.Group, d.Backend); err != nil {
		return err
	}
	for _, version := range d.Versions {
		if !slices.Contains(definable, version) {
			return fmt.Errorf("%q is none of the versions %v", version, definable)
		}
	}
	if (d.CRD == "") != (len(d.Versions) == 0) {
		return errors.New("versions belongs to a crd, which must have some")
	}
	for _, version := range d.BackendVersions {
		if !slices.Contains(faultybackend.Versions, version) {
			return fmt.Errorf("%q is none of the versions %v of a backend", version, faultybackend.Versions)
		}
	}
	if d.Backend == "" && len(d.BackendVersions) > 0 {
		return errors.New("backendVersions belongs to a backend")
	}
	if len(d.ShortNames) > 0 && d.CRD == "" {
		return errors.New("shortNames belongs to a crd")
	}
	if d.ConversionDown && d.CRD == "" {
		return errors.New("conversionDown belongs to a crd")
	}
	if d.Storage != "" && (d.CRD == "" || !slices.Contains(definable, d.Storage)) {
		return fmt.Errorf("storage belongs to a crd, and %q must be one of the versions %v", d.Storage, definable)
	}
	return nil
}
