package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

const (
	// probeNamespace is where the probes' objects are, unless Prerequisites says otherwise; every
	// control plane has it.
	probeNamespace = "default"
	// customGroup and what follows must be what the CRD's fixture defines.
	customGroup    = "probe.evenkeel.dev"
	customResource = "soundings"
	customKind     = "Sounding"
	// BackendGroup is the group that API servers proxy to the harness's own server.
	BackendGroup    = "backend.evenkeel.dev"
	backendResource = "echoes"
	backendKind     = "Echo"
	backendService  = "evenkeel-backend"
	// registrationGroup is that of the APIServices, of which backendRegistration
	// hands BackendGroup on.
	registrationGroup   = "apiregistration.k8s.io"
	backendRegistration = "v1." + BackendGroup
	// PrerequisitesTimeout bounds the wait until what was set up is served.
	// Both classes together take a second on an idle machine.
	PrerequisitesTimeout = 30 * time.Second
)

// Prerequisites are what the probes of two classes need: a custom resource, and a group
// that API servers proxy to an aggregated server. If a control plane cannot host one of
// them, the harness sends it no requests of that class.
type Prerequisites struct {
	// Namespace has the probes' objects; empty means default.
	Namespace string

	custom, aggregated atomic.Bool
}

// Owned are the CustomResourceDefinition and the APIService that SetUp makes.
func Owned() []observe.Call {
	return []observe.Call{
		{Resource: "customresourcedefinitions", Name: customResource + "." + customGroup},
		{Resource: "apiservices", Name: backendRegistration},
	}
}

func (p *Prerequisites) namespace() string { return cmp.Or(p.Namespace, probeNamespace) }

// Custom is whether the custom resource is there.
func (p *Prerequisites) Custom() bool { return p.custom.Load() }

// Aggregated is whether the aggregated group is there.
func (p *Prerequisites) Aggregated() bool { return p.aggregated.Load() }

// SetUp makes the CustomResourceDefinition that is given as YAML, and hands BackendGroup
// to the server at the host and port, through the client's member. What the
// control plane does not have (404) is left out; that is no error.
func (p *Prerequisites) SetUp(ctx context.Context, client *observe.Client, crd []byte, backendHost string, backendPort int, clk clock.WithTicker) error {
	ctx, cancel := context.WithTimeoutCause(ctx, PrerequisitesTimeout,
		fmt.Errorf("it was not served within %s", PrerequisitesTimeout))
	defer cancel()
	return errors.Join(p.setUpCustom(ctx, client, crd, clk), p.setUpAggregated(ctx, client, backendHost, backendPort, clk))
}

// SetUpCustom makes the CustomResourceDefinition alone, as SetUp does.
func (p *Prerequisites) SetUpCustom(ctx context.Context, client *observe.Client, crd []byte, clk clock.WithTicker) error {
	ctx, cancel := context.WithTimeoutCause(ctx, PrerequisitesTimeout,
		fmt.Errorf("it was not served within %s", PrerequisitesTimeout))
	defer cancel()
	return p.setUpCustom(ctx, client, crd, clk)
}

func (p *Prerequisites) setUpCustom(ctx context.Context, client *observe.Client, raw []byte, clk clock.WithTicker) error {
	var body map[string]any
	if err := yaml.UnmarshalStrict(raw, &body); err != nil {
		return fmt.Errorf("read the CustomResourceDefinition of the probes: %w", err)
	}
	hosted, err := create(ctx, client, clk, observe.Call{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Body: body,
		Defines: &history.Definition{Group: customGroup, Resource: customResource, Versions: []string{"v1"}}})
	if err != nil || !hosted {
		return err
	}
	if err := served(ctx, client, observe.GroupVersionPath(customGroup, "v1")+"/"+customResource, clk); err != nil {
		return err
	}
	p.custom.Store(true)
	return nil
}

// AwaitCustom returns when the client's member accepts a write of the custom resource, or
// at once if there is none. API servers serve a definition before it is established: in a
// control plane of several members they wait five seconds, and delay the first objects by
// two more. Only writes of a resource that was writable before a restart show what the
// restarted server lets pass.
func (p *Prerequisites) AwaitCustom(ctx context.Context, client *observe.Client, clk clock.WithTicker) error {
	if !p.Custom() {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, PrerequisitesTimeout,
		fmt.Errorf("no %s was taken within %s", customResource, PrerequisitesTimeout))
	defer cancel()
	_, err := create(ctx, client, clk, observe.Call{Class: history.ClassCustom, Group: customGroup, Version: "v1", Resource: customResource, Namespace: p.namespace(),
		Body: map[string]any{
			"apiVersion": customGroup + "/v1", "kind": customKind,
			"metadata": map[string]any{"name": "established", "namespace": p.namespace()},
		}})
	return err
}

func (p *Prerequisites) setUpAggregated(ctx context.Context, client *observe.Client, host string, port int, clk clock.WithTicker) error {
	service := map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": backendService, "namespace": p.namespace()},
		"spec": map[string]any{
			"type": "ExternalName", "externalName": host,
			"ports": []any{map[string]any{"port": port, "protocol": "TCP"}},
		},
	}
	registration := map[string]any{
		"apiVersion": registrationGroup + "/v1", "kind": "APIService",
		"metadata": map[string]any{"name": backendRegistration},
		"spec": map[string]any{
			"group": BackendGroup, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15,
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"name": backendService, "namespace": p.namespace(), "port": port},
		},
	}
	for _, call := range []observe.Call{
		{Version: "v1", Resource: "services", Namespace: p.namespace(), Body: service},
		{Group: registrationGroup, Version: "v1", Resource: "apiservices", Body: registration,
			Defines: &history.Definition{Remote: true, Group: BackendGroup, Versions: []string{"v1"}}},
	} {
		hosted, err := create(ctx, client, clk, call)
		if err != nil || !hosted {
			return err
		}
	}
	if err := served(ctx, client, observe.GroupVersionPath(BackendGroup, "v1")+"/"+backendResource, clk); err != nil {
		return err
	}
	p.aggregated.Store(true)
	return nil
}

// create makes an object; hosted is false where the server has no such
// resource. One that is there already is left as it is. A server that does not
// answer, or that fails, is asked again: it may be busy, or its etcd without a
// leader for a moment.
func create(ctx context.Context, client *observe.Client, clk clock.WithTicker, call observe.Call) (hosted bool, err error) {
	call.Verb = "create"
	if call.Class == "" {
		call.Class = history.ClassGuarded
	}
	for {
		answer := client.Do(ctx, call)
		switch {
		case answer.OK(), answer.Code == http.StatusConflict:
			return true, nil
		case answer.Code == http.StatusNotFound:
			return false, nil
		case answer.Err != nil:
			err = fmt.Errorf("create the probes' %s through %s: %w", call.Resource, client.Member(), answer.Err)
		default:
			err = fmt.Errorf("create the probes' %s through %s: it answered %d: %s", call.Resource, client.Member(), answer.Code, answer.Message)
			if answer.Code < http.StatusInternalServerError && answer.Code != http.StatusTooManyRequests {
				return false, err
			}
		}
		if !wait(ctx, clk, observe.RetryInterval) {
			return false, err
		}
	}
}

// served returns when the path is answered with 200.
func served(ctx context.Context, client *observe.Client, path string, clk clock.WithTicker) error {
	for {
		answer := client.Get(ctx, path)
		if answer.OK() {
			return nil
		}
		if !wait(ctx, clk, observe.RetryInterval) {
			return fmt.Errorf("wait until %s serves %s, which it last answered with %d (%s): %w",
				client.Member(), path, answer.Code, answer.Message, context.Cause(ctx))
		}
	}
}

func customWorkload() *Workload {
	return probeWorkload(customGroup, customResource, customKind, history.ClassCustom)
}

func aggregatedWorkload() *Workload {
	return probeWorkload(BackendGroup, backendResource, backendKind, history.ClassAggregated)
}

func probeWorkload(group, resource, kind, class string) *Workload {
	return &Workload{
		APIVersion: APIVersion, Kind: Kind, Metadata: Metadata{Name: class},
		Spec: Spec{
			Group: group, Resource: resource, Kind: kind, Namespace: probeNamespace, Class: class, Keep: 2,
			Versions: map[string][]map[string]any{"v1": nil},
		},
	}
}
