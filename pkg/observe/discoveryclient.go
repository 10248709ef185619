package observe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"
	clientmemory "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// maxUnmapped is how many resources that a client does not find are named.
const maxUnmapped = 10

// discover has client-go's cached discovery client learn what a member serves, as kubectl
// and controllers do: what `kubectl api-resources` lists, and a RESTMapper. A legacy client
// is one whose author chose WithLegacy (KEP-3352, Feature Enablement and Rollback).
func (d *Documents) discover(ctx context.Context, client *Client, legacy bool) history.Event {
	seen := &history.DiscoveryDocument{Path: history.ClientPath}
	ev := history.Event{Kind: history.KindDiscoveryDocument, Member: d.member, From: d.recorder.Now(), DiscoveryDocument: seen}
	counted := &countingTransport{next: client.http.Transport}
	// What the library cannot fetch shows in what it found, and is no error of the harness.
	found, err := discoverWith(klog.NewContext(ctx, klog.Logger{}), d.config, counted, legacy)
	if err != nil {
		seen.Error, found = shorten(err.Error()), &history.DiscoveryClient{}
	} else {
		seen.Code = http.StatusOK
	}
	found.Legacy, found.Requests, found.Refused = legacy, int(counted.sent.Load()), int(counted.refused.Load())
	seen.Client = found
	return ev
}

// countingTransport counts what really goes over the wire.
type countingTransport struct {
	next          http.RoundTripper
	sent, refused atomic.Int64
}

// RoundTrip sends a request.
func (c *countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	response, err := c.next.RoundTrip(r)
	if err != nil || response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError {
		c.refused.Add(1)
	}
	if err == nil {
		response.Body = countedBody{response.Body, &c.refused}
	}
	return response, err
}

// countedBody counts what does not come to its end.
type countedBody struct {
	io.ReadCloser
	lost *atomic.Int64
}

// Read reads from the body.
func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.lost.Add(1)
	}
	return n, err
}

func discoverWith(ctx context.Context, config func() (*rest.Config, error), transport http.RoundTripper, legacy bool) (*history.DiscoveryClient, error) {
	settings, err := config()
	if err != nil {
		return nil, err
	}
	settings = rest.CopyConfig(settings)
	settings.QPS = -1 // the requests are to be counted, and not to be slowed down
	settings.Timeout = DocumentTimeout
	direct, err := clientdiscovery.NewDiscoveryClientForConfigAndClient(settings, &http.Client{Transport: transport, Timeout: DocumentTimeout})
	if err != nil {
		return nil, err
	}
	var asked clientdiscovery.DiscoveryInterfaceWithContext = direct
	if legacy {
		asked = direct.WithLegacyWithContext(ctx)
	}
	cached := clientmemory.NewMemCacheClientWithContext(asked)
	groups, err := restmapper.GetAPIGroupResourcesWithContext(ctx, cached)
	if err != nil {
		return nil, err
	}
	_, lists, err := cached.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil && !clientdiscovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	out := &history.DiscoveryClient{Missing: missingOf(err)}
	known := mapped(restmapper.NewDiscoveryRESTMapper(groups), lists, out)
	slices.Sort(known)
	out.Resources, out.Mapping = len(known), nameOf(known)
	return out, nil
}

// missingOf are the group-versions that an error of discovery names.
func missingOf(err error) (missing []string) {
	failed, _ := clientdiscovery.GroupDiscoveryFailedErrorGroups(err)
	for version := range failed {
		missing = append(missing, version.String())
	}
	slices.Sort(missing)
	return missing
}

// mapped gives the resources of all lists, and notes which of them the mapper does not find
// by their kind.
func mapped(mapper meta.RESTMapper, lists []*metav1.APIResourceList, out *history.DiscoveryClient) (known []string) {
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			out.Unmapped = append(out.Unmapped, list.GroupVersion)
			continue
		}
		kinds := map[string]int{}
		for _, r := range mainResources(list) {
			kinds[r.Kind]++
		}
		for _, r := range mainResources(list) {
			name := list.GroupVersion + " " + r.Name
			known = append(known, name+" "+r.Kind+" "+strconv.FormatBool(r.Namespaced))
			if kinds[r.Kind] > 1 || r.Group != "" && r.Group != version.Group || r.Version != "" && r.Version != version.Version {
				continue // the kind alone does not lead to it
			}
			mapping, err := mapper.RESTMapping(schema.GroupKind{Group: version.Group, Kind: r.Kind}, version.Version)
			found := err == nil && mapping.Resource == version.WithResource(r.Name) && (mapping.Scope.Name() == meta.RESTScopeNameNamespace) == r.Namespaced
			if !found && len(out.Unmapped) < maxUnmapped {
				out.Unmapped = append(out.Unmapped, name)
			}
		}
	}
	return known
}

// mainResources are those of a list that are no subresources and have a kind.
func mainResources(list *metav1.APIResourceList) []metav1.APIResource {
	return slices.DeleteFunc(slices.Clone(list.APIResources), func(r metav1.APIResource) bool {
		return r.Kind == "" || slices.Contains([]byte(r.Name), '/')
	})
}
