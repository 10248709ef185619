package observe

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Definitions tells which custom resources exist and are established; Etcd does.
type Definitions interface {
	Established() []history.CustomResource
}

// CustomResources asks one member's API server for every custom resource that was
// established before its process started, whenever that starts. It is a Probe of a Hammer:
// that says from when until when.
//
// What it misses: definitions that are established later, and those of a cluster whose
// etcd may not be read. A boot that the Hammer came too late for leaves a gap.
type CustomResources struct {
	member      string
	definitions Definitions
	recorder    Recorder

	mu       sync.Mutex
	instance int
	asked    []history.CustomResource // that existed as the process started

	// Only the Hammer's goroutine uses what follows.
	session int // the instance that is being asked
	turn    int
	pending map[customVersion]pendingCustom
}

type customVersion struct{ group, version, resource string }

// pendingCustom is an event that is not recorded yet.
type pendingCustom struct {
	event history.Event
	since int64
}

// NewCustomResources makes the probe of one member.
func NewCustomResources(member string, definitions Definitions, recorder Recorder) *CustomResources {
	return &CustomResources{member: member, definitions: definitions, recorder: recorder, pending: map[customVersion]pendingCustom{}}
}

// ProcessChanged tells the probe of a change of its member's processes. It must be told
// before the Hammer.
func (c *CustomResources) ProcessChanged(change cluster.Change) {
	if change.Member != c.member || change.Component != cluster.APIServer || change.What != history.ProcessStarted {
		return
	}
	established := c.definitions.Established()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance, c.asked = change.Instance, established
}

// Probe is what the Hammer is to do.
func (c *CustomResources) Probe() Probe {
	return Probe{Interval: CustomInterval, Begin: c.begin, Step: c.step, End: c.flush}
}

func (c *CustomResources) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.turn = c.instance, 0
}

// versions are what to ask for: of each resource that exists still, the versions that
// were and are served.
func (c *CustomResources) versions() []customVersion {
	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	if len(asked) == 0 {
		return nil
	}
	now := c.definitions.Established()
	var all []customVersion
	for _, before := range asked {
		i := slices.IndexFunc(now, func(d history.CustomResource) bool { return d.Group == before.Group && d.Resource == before.Resource })
		if i < 0 {
			continue
		}
		for _, version := range before.Served {
			if slices.Contains(now[i].Served, version) {
				all = append(all, customVersion{before.Group, version, before.Resource})
			}
		}
	}
	return all
}

// step asks whether the API server is ready and then for one custom resource.
func (c *CustomResources) step(ctx context.Context, client *Client) {
	versions := c.versions()
	if len(versions) == 0 {
		return
	}
	of := versions[c.turn%len(versions)]
	c.turn++
	from := c.recorder.Now()
	ready := client.Get(ctx, "/readyz")
	answer := client.send(ctx, http.MethodGet, GroupVersionPath(of.group, of.version)+"/"+of.resource, url.Values{"limit": {"1"}}, nil)
	if answer.Refused || ctx.Err() != nil {
		return // there is no server, or the probe was cut off
	}
	seen := history.CustomResourceAnswer{Group: of.group, Version: of.version, Resource: of.resource, Instance: c.session,
		Ready: ready.Code, Code: answer.Code, Reason: answer.Reason, Message: shorten(answer.Message), Count: 1}
	if answer.Err != nil {
		seen.Error = shorten(answer.Err.Error())
	}
	c.add(of, from, seen)
}

// add joins an answer to those before it that are alike, or records these.
func (c *CustomResources) add(of customVersion, from int64, seen history.CustomResourceAnswer) {
	now := c.recorder.Now()
	if waiting, ok := c.pending[of]; ok {
		alike := *waiting.event.CustomResourceAnswer
		alike.Count = 1
		if alike == seen && now-waiting.since < int64(CustomRepeat) {
			waiting.event.CustomResourceAnswer.Count++
			return
		}
		c.recorder.Record(waiting.event)
	}
	c.pending[of] = pendingCustom{history.Event{Kind: history.KindCustomResourceAnswer, Member: c.member, From: from, CustomResourceAnswer: &seen}, now}
}

// flush records what waits.
func (c *CustomResources) flush() {
	for _, of := range slices.SortedFunc(maps.Keys(c.pending), func(a, b customVersion) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.version, b.version))
	}) {
		c.recorder.Record(c.pending[of].event)
	}
	clear(c.pending)
}
