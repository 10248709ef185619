package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
)

// way is how a client discovers everything.
type way struct{ aggregated, gzip bool }

var ways = []way{{false, false}, {false, true}, {true, false}, {true, true}}

// cold is a client's first discovery, over connections that it has to open.
type cold struct {
	requests, received int64
	// times of each client, in seconds.
	times []float64
}

// discoverCold has clients discover everything, and checks that they did.
func discoverCold(ctx context.Context, config *rest.Config, crds int) (map[way]cold, told, error) {
	all := map[way]cold{}
	var whole told
	wanted := expect(crds)
	for _, w := range ways {
		var c cold
		for n := range coldRuns {
			var counted wire
			client := counted.attach(config)
			client.DisableCompression = !w.gzip
			client.Timeout = requestBound
			began := time.Now()
			lists, err := discoverOnce(client, !w.aggregated)
			took := time.Since(began)
			if err != nil {
				return nil, whole, err
			}
			got, custom := countResources(lists)
			if custom != wanted {
				return nil, whole, fmt.Errorf("a client found %+v, and not %+v", custom, wanted)
			}
			if whole == (told{}) {
				whole = got
			}
			if got != whole {
				return nil, whole, fmt.Errorf("one client found %+v, another %+v", whole, got)
			}
			requests := counted.requests.Load()
			if n > 0 && requests != c.requests {
				return nil, whole, fmt.Errorf("one client made %d requests, another %d", c.requests, requests)
			}
			c.requests, c.received = requests, counted.received.Load()
			c.times = append(c.times, seconds(took))
			if ctx.Err() != nil {
				return nil, whole, ctx.Err()
			}
		}
		all[w] = c
	}
	return all, whole, nil
}

// discoverOnce is the discovery of a new client, with client-go's cache in
// memory as kubectl's in front of it.
func discoverOnce(config *rest.Config, legacy bool) ([]*metav1.APIResourceList, error) {
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	defer http.CloseIdleConnections()
	client, err := discovery.NewDiscoveryClientForConfigAndClient(config, http)
	if err != nil {
		return nil, err
	}
	client.UseLegacyDiscovery = legacy
	_, lists, err := memory.NewMemCacheClient(client).ServerGroupsAndResources()
	return lists, err
}

// countResources counts what a client found: all, and what of that is this
// program's.
func countResources(lists []*metav1.APIResourceList) (all, custom told) {
	for _, list := range lists {
		resources := 0
		for _, resource := range list.APIResources {
			if !strings.Contains(resource.Name, "/") {
				resources++
			}
		}
		all.versions++
		all.resources += resources
		if group, _, _ := strings.Cut(list.GroupVersion, "/"); strings.HasSuffix(group, "."+vendorDomain) {
			custom.versions++
			custom.resources += resources
		}
	}
	return all, custom
}
