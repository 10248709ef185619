package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/workload/faultybackend"
)

// ThirdPartyAPIService creates an APIService as a user of the cluster would, or deletes it:
// nothing marks it as the harness's, so the judge takes it for a user's. At the end of the
// run the harness deletes the APIServices that the steps have left.
type ThirdPartyAPIService struct {
	// Member is the member to whose API server the step sends the requests.
	Member string `yaml:"member"`
	// Group is the group of the APIService, whose version is v1. It must not be a group of
	// Evenkeel.
	Group string `yaml:"group"`
	// Server is "flapping" or "missing". A flapping server answers 404, answers 500 and is
	// killed once in each period, and answers correctly in between. With "missing" the
	// APIService names a Service that does not exist. API servers check every 30 seconds
	// whether a server is available, so choose a Period of which 30 seconds are no multiple:
	// then they meet all of its states.
	Server string        `yaml:"server,omitempty"`
	Period time.Duration `yaml:"period,omitempty"`
	// Remove deletes the APIService of the group and stops its server.
	Remove bool `yaml:"remove,omitempty"`
}

var _ = register("thirdPartyAPIService", func() Action { return &ThirdPartyAPIService{} }, registry.Fields{
	"member": oneMember,
	"group":  registry.AnyText("weather.example.com", "missing.example.com"),
	"server": registry.OneOf(serverFlapping, serverMissing).In("server"),
	"period": registry.Between(time.Second, longestOutage, 7*time.Second, 25*time.Second).In("server").Maybe(),
	"remove": registry.OneOf(true).In("remove"),
}, ownControlPlane)

func (f *ThirdPartyAPIService) selectors() []string { return []string{f.Member} }

func (f *ThirdPartyAPIService) play(ctx context.Context, r *Runner, at target) error {
	return r.thirdPartyAPIService(ctx, at.one(), f)
}

// Servers of a foreign APIService.
const (
	// serverFlaps: it answers 404 and 500, is killed and revived.
	serverFlapping = "flapping"
	// serverMissing: the APIService names a Service that does not exist.
	serverMissing = "missing"
)

// validate says what is wrong with a ThirdPartyAPIService.
func (f *ThirdPartyAPIService) validate() error {
	return errors.Join(missing("member", f.Member), f.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (f *ThirdPartyAPIService) fieldsProblem() error {
	var err error
	if f.Group == "evenkeel.dev" || strings.HasSuffix(f.Group, ownDomain) || !strings.Contains(f.Group, ".") {
		err = fmt.Errorf("group must be a domain that is not %s, such as weather.example.com", strings.TrimPrefix(ownDomain, "."))
	}
	switch {
	case f.Remove && (f.Server != "" || f.Period != 0):
		err = errors.Join(err, errors.New("remove goes with neither server nor period"))
	case !f.Remove && f.Server != serverFlapping && f.Server != serverMissing:
		err = errors.Join(err, fmt.Errorf("server must be %s or %s", serverFlapping, serverMissing))
	case (f.Server == serverFlapping) != (f.Period > 0):
		err = errors.Join(err, fmt.Errorf("period must be a positive duration, and belongs to a server that is %s", serverFlapping))
	}
	return err
}

// foreignService is an APIService that a step has made in the name of a user of the
// cluster.
type foreignService struct {
	stop func() error
}

// thirdPartyAPIService makes an APIService, or deletes the one that a step before has made.
// Neither the requests nor the objects say that they are the harness's, so that the judge
// has to take them for what they stand for.
func (r *Runner) thirdPartyAPIService(ctx context.Context, member string, step *ThirdPartyAPIService) error {
	if step.Remove {
		return r.removeForeign(ctx, step.Group)
	}
	if r.foreignServices[step.Group] != nil {
		return fmt.Errorf("a step before has made the APIService of %s", step.Group)
	}
	host, port := "localhost", foreignPort
	made := &foreignService{stop: func() error { return nil }}
	if step.Server == serverFlapping {
		server, err := r.startFlapping(ctx, step.Group, step.Period, made)
		if err != nil {
			return err
		}
		host, port = server.Host(), server.Port()
	}
	r.foreignServices[step.Group] = made
	service := foreignServiceName(step.Group)
	if step.Server != serverMissing {
		err := r.send(ctx, member, observe.Call{Verb: "create", Version: "v1", Resource: "services", Namespace: usualNamespace, Name: service, Body: map[string]any{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": service, "namespace": usualNamespace},
			"spec": map[string]any{"type": "ExternalName", "externalName": host, "ports": []any{map[string]any{"port": port, "protocol": "TCP"}}},
		}}, http.StatusConflict)
		if err != nil {
			return err
		}
	}
	name := faultybackend.Version + "." + step.Group
	return r.send(ctx, member, observe.Call{Verb: "create", Group: serviceGroup, Version: "v1", Resource: serviceResource, Name: name, Body: map[string]any{
		"apiVersion": serviceGroup + "/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": step.Group, "version": faultybackend.Version, "groupPriorityMinimum": 1000, "versionPriority": 15, "insecureSkipTLSVerify": true,
			"service": map[string]any{"name": service, "namespace": usualNamespace, "port": port},
		},
	}}, http.StatusConflict)
}

// foreignPort is what an APIService names whose Service does not exist.
const foreignPort = 443

func foreignServiceName(group string) string {
	name, _, _ := strings.Cut(group, ".")
	return name
}

// startFlapping starts the server of a foreign APIService, which flaps until it is
// stopped.
func (r *Runner) startFlapping(ctx context.Context, group string, period time.Duration, made *foreignService) (*faultybackend.Server, error) {
	host, err := r.backendHost(ctx)
	if err != nil {
		return nil, err
	}
	server, err := faultybackend.Start(host, group, r.Clock.Now())
	if err != nil {
		return nil, err
	}
	flapping, end := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	var failed error
	running.Go(func() { failed = server.Flap(flapping, r.Clock, period) })
	made.stop = func() error {
		end()
		running.Wait()
		return errors.Join(failed, server.Stop())
	}
	return server, nil
}

// removeForeign deletes what a step has made, and stops its server.
func (r *Runner) removeForeign(ctx context.Context, group string) error {
	made := r.foreignServices[group]
	if made == nil {
		return fmt.Errorf("no step before has made the APIService of %s", group)
	}
	delete(r.foreignServices, group)
	return errors.Join(
		r.delete(ctx, observe.Call{Group: serviceGroup, Version: "v1", Resource: serviceResource, Name: faultybackend.Version + "." + group}),
		r.delete(ctx, observe.Call{Version: "v1", Resource: "services", Namespace: usualNamespace, Name: foreignServiceName(group)}),
		made.stop(),
	)
}

// removeAllForeign deletes what steps have made and none has removed, however the run has
// ended.
func (r *Runner) removeAllForeign(ctx context.Context) error {
	bound := cleanUpBound(2 * len(r.foreignServices)) // an APIService and its Service each
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("not all foreign APIServices were gone within %s", bound))
	defer cancel()
	var errs []error
	for group := range r.foreignServices {
		errs = append(errs, r.removeForeign(ctx, group))
	}
	return errors.Join(errs...)
}
