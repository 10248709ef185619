package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// ProxyAggregated creates the APIService by which API servers proxy a group-version to the
// members' aggregated servers, or deletes it.
type ProxyAggregated struct {
	// Member is the member to whose API server the step sends the requests.
	Member string `yaml:"member"`
	// Version is the version of the aggregated servers' group: v1, v1beta1 or v1alpha1.
	Version string `yaml:"version"`
	// Remove is whether to delete the APIService.
	Remove bool `yaml:"remove,omitempty"`
}

var _ = register("proxyAggregated", func() Action { return &ProxyAggregated{} }, registry.Fields{
	"member":  oneMember,
	"version": registry.OneOf(definable...),
	"remove":  registry.Flag(),
}, ownControlPlane, cluster.HostsAggregated)

func (p *ProxyAggregated) selectors() []string { return []string{p.Member} }

func (p *ProxyAggregated) validate() error {
	err := errors.Join(missing("member", p.Member), missing("version", p.Version))
	if p.Version != "" && !slices.Contains(definable, p.Version) {
		err = errors.Join(err, fmt.Errorf("%q is none of the versions %v", p.Version, definable))
	}
	return err
}

func (p *ProxyAggregated) play(ctx context.Context, r *Runner, at target) error {
	host, ok := r.cluster.(cluster.AggregatedHost)
	if !ok {
		return cluster.ErrUnsupported
	}
	api, ok := host.Aggregated()
	if !ok {
		return fmt.Errorf("the members run no aggregated servers: set start.aggregatedServers in the scenario: %w", cluster.ErrUnsupported)
	}
	if p.Remove {
		return r.remove(ctx, at.one(), serviceGroup, serviceResource, p.Version+"."+api.Group, &history.Definition{Remote: true, Group: api.Group})
	}
	return r.proxyAggregated(ctx, at.one(), api, p.Version)
}

// aggregatedService is the name of the Service of the members' aggregated servers.
const aggregatedService = "evenkeel-aggregated-apiserver"

// proxyAggregated creates the Service and the APIService, and waits until the API server of
// the member serves the resource.
func (r *Runner) proxyAggregated(ctx context.Context, member string, api cluster.AggregatedAPI, version string) error {
	namespace := r.backendNamespace()
	if err := r.makeNamespace(ctx, member, namespace); err != nil {
		return err
	}
	r.made.note(observe.Call{Version: "v1", Resource: "services", Namespace: namespace, Name: aggregatedService})
	if err := r.send(ctx, member, observe.Call{Verb: "create", Version: "v1", Resource: "services", Namespace: namespace,
		Body: externalService(aggregatedService, namespace, api.Host, api.Port)}, http.StatusConflict); err != nil {
		return err
	}
	if err := r.put(ctx, member, serviceGroup, serviceResource, version+"."+api.Group,
		registration(api.Group, version, usualPriority, aggregatedService, namespace, api.Port),
		&history.Definition{Remote: true, Group: api.Group, Versions: []string{version}}); err != nil {
		return err
	}
	return r.awaitServed(ctx, member, observe.GroupVersionPath(api.Group, version)+"/"+api.Resource)
}

// awaitServed waits until a member's API server answers a path with 200.
func (r *Runner) awaitServed(ctx context.Context, member, path string) error {
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := r.within(ctx, DefineTimeout, history.AwaitedState, member, "%s was not served", path)
	defer cancel()
	for !client.Get(ctx, path).OK() {
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return err
		}
	}
	return nil
}

// externalService is a Service that leads to a port of a host.
func externalService(name, namespace, host string, port int) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{
			"type": "ExternalName", "externalName": host, "ports": []any{map[string]any{"port": port, "protocol": "TCP"}},
		},
	}
}

// registration is an APIService that hands a group-version on to a Service.
func registration(group, version string, priority int, service, namespace string, port int) map[string]any {
	return map[string]any{
		"apiVersion": serviceGroup + "/v1", "kind": "APIService", "metadata": map[string]any{"name": version + "." + group},
		"spec": map[string]any{
			"group": group, "version": version, "groupPriorityMinimum": 1000, "versionPriority": priority,
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"name": service, "namespace": namespace, "port": port},
		},
	}
}
