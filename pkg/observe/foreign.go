package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Owned are the APIServices and CustomResourceDefinitions that the harness makes, so that
// the recorder of what is foreign leaves them out. It may be used at once by several
// goroutines; the zero value is ready to be used.
type Owned struct {
	mu    sync.Mutex
	names map[string]bool
}

// Note remembers an object of the harness. Call it before the object is created.
func (o *Owned) Note(resource, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names == nil {
		o.names = map[string]bool{}
	}
	o.names[resource+" "+name] = true
}

func (o *Owned) has(resource, name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.names[resource+" "+name]
}

// Foreign records the APIServices and CustomResourceDefinitions that neither the control
// plane nor the harness has made. It asks the API servers, whichever answers, and so needs
// nothing but the API: a cluster that is there before the run may not let etcd be read.
type Foreign struct {
	members  []string
	config   func(member string) (*rest.Config, error)
	recorder Recorder
	clock    clock.WithTicker
	owned    *Owned

	// Only the goroutine of Run uses what follows.
	clients map[string]*Client
	// answered is which member answered last.
	answered int
	lists    []*foreignList
}

// foreignList is one of the two resources, and what of it is foreign.
type foreignList struct {
	resource, path string
	accept         string
	every          time.Duration
	// read tells what the body of a list has that is not the control plane's.
	read func(body []byte) ([]foreignObject, error)

	// looked is the beginning of the last look, by the history, and due when the next one
	// is. seen is false before the first look.
	looked int64
	due    time.Time
	seen   bool
	known  map[string]foreignObject
}

// foreignObject is what the recorder remembers of an object.
type foreignObject struct {
	history.ThirdPartyObject
	// spec is the object's spec as JSON; empty where it is not compared.
	spec string
}

// NewForeign makes a recorder. The config function may fail until the member is there.
func NewForeign(members []string, config func(member string) (*rest.Config, error), recorder Recorder, owned *Owned, clk clock.WithTicker) *Foreign {
	return &Foreign{
		members: members, config: config, recorder: recorder, clock: clk, owned: owned, clients: map[string]*Client{},
		lists: []*foreignList{
			{
				resource: "apiservices", path: "/apis/apiregistration.k8s.io/v1/apiservices", accept: asJSON,
				every: history.ThirdPartyPollInterval / 2, read: readAPIServices, known: map[string]foreignObject{},
			},
			{
				// The names say all that is recorded, and the schemas of many definitions are large.
				resource: "customresourcedefinitions", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", accept: asMetadata,
				every: history.ThirdPartyCRDPollInterval / 2, read: readDefinitions, known: map[string]foreignObject{},
			},
		},
	}
}

// asMetadata asks for a list of objects without their specs.
const asMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// Run looks until the context ends.
func (f *Foreign) Run(ctx context.Context) {
	defer func() {
		for client := range maps.Values(f.clients) {
			client.Close()
		}
	}()
	for ctx.Err() == nil {
		next := f.clock.Now().Add(history.ThirdPartyPollInterval / 2)
		for _, list := range f.lists {
			if now := f.clock.Now(); !now.Before(list.due) {
				if f.look(ctx, list) {
					list.due = now.Add(list.every)
				} else {
					list.due = now.Add(RetryInterval)
				}
			}
			if list.due.Before(next) {
				next = list.due
			}
		}
		pause(ctx, f.clock, max(next.Sub(f.clock.Now()), RetryInterval))
	}
}

// look asks the members in turn until one answers; it is false where none does.
func (f *Foreign) look(ctx context.Context, list *foreignList) bool {
	for i := range f.members {
		turn := (f.answered + i) % len(f.members)
		client := f.client(f.members[turn])
		if client == nil {
			continue
		}
		from := f.recorder.Now()
		found, err := f.fetch(ctx, client, list)
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			f.answered = turn
			f.compare(list, found, from)
			return true
		}
	}
	return false
}

func (f *Foreign) client(member string) *Client {
	if client := f.clients[member]; client != nil {
		return client
	}
	config, err := f.config(member)
	if err != nil {
		return nil
	}
	client, err := NewClient(member, config, f.recorder)
	if err != nil {
		return nil
	}
	f.clients[member] = client
	return client
}

// fetch reads one list. It names no resourceVersion: the answer is as new as etcd, and no
// member that lags behind tells of what is gone.
func (f *Foreign) fetch(ctx context.Context, client *Client, list *foreignList) (map[string]foreignObject, error) {
	ctx, cancel := context.WithTimeout(ctx, ForeignTimeout)
	defer cancel()
	var code int
	_, body, err := client.fetch(ctx, list.path, nil, map[string]string{"Accept": list.accept}, &code)
	switch {
	case err != nil:
		return nil, err
	case code != http.StatusOK:
		return nil, fmt.Errorf("get %s from %s: it answered %d", list.path, client.Member(), code)
	}
	all, err := list.read(body)
	if err != nil {
		return nil, fmt.Errorf("get %s from %s: %w", list.path, client.Member(), err)
	}
	found := map[string]foreignObject{}
	for _, one := range all {
		if !f.owned.has(list.resource, one.Name) {
			found[one.Name] = one
		}
	}
	return found, nil
}

// compare records what differs from the look before, which began at looked.
func (f *Foreign) compare(list *foreignList, found map[string]foreignObject, from int64) {
	since := list.looked
	list.looked = from
	tell := func(one foreignObject, change string) {
		one.Change = change
		f.recorder.Record(history.Event{Kind: history.KindThirdPartyObject, From: since, ThirdPartyObject: &one.ThirdPartyObject})
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		one := found[name]
		before, known := list.known[name]
		switch {
		case !list.seen:
			tell(one, history.ThirdPartyPresent)
		case !known:
			tell(one, history.ThirdPartyAppeared)
		case before != one:
			tell(one, history.ThirdPartyChanged)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list.known)) {
		if _, there := found[name]; !there {
			gone := list.known[name]
			gone.Available, gone.Reason = "", ""
			tell(gone, history.ThirdPartyDeleted)
		}
	}
	list.known, list.seen = found, true
}

// automanaged is the label of the APIServices that API servers make for what they host
// themselves.
const automanaged = "kube-aggregator.kubernetes.io/automanaged"

// readAPIServices reads those that no API server has made for itself.
func readAPIServices(body []byte) ([]foreignObject, error) {
	var list struct {
		Items []struct {
			Metadata struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec   json.RawMessage `json:"spec"`
			Status struct {
				Conditions []struct{ Type, Status, Reason string } `json:"conditions"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var out []foreignObject
	for _, item := range list.Items {
		var spec struct {
			Group   string    `json:"group"`
			Version string    `json:"version"`
			Service *struct{} `json:"service"`
		}
		if err := json.Unmarshal(item.Spec, &spec); err != nil {
			return nil, err
		}
		if _, own := item.Metadata.Labels[automanaged]; own && spec.Service == nil {
			continue
		}
		one := foreignObject{
			ThirdPartyObject: history.ThirdPartyObject{Type: history.ThirdPartyAPIService, Name: item.Metadata.Name, Group: spec.Group, Version: spec.Version},
			spec:             string(item.Spec),
		}
		for _, condition := range item.Status.Conditions {
			if condition.Type == "Available" {
				one.Available, one.Reason = condition.Status, condition.Reason
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// readDefinitions reads CustomResourceDefinitions, which are named
// <resource>.<group>.
func readDefinitions(body []byte) ([]foreignObject, error) {
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var out []foreignObject
	for _, item := range list.Items {
		resource, group, _ := strings.Cut(item.Metadata.Name, ".")
		out = append(out, foreignObject{ThirdPartyObject: history.ThirdPartyObject{Type: history.ThirdPartyCRD, Name: item.Metadata.Name, Group: group, Resource: resource}})
	}
	return out, nil
}
