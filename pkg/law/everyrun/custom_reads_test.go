package everyrun_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// define has etcd hold the definition of the custom resource.
func define(b *stories.Builder, d history.CustomResource) {
	const name = stories.CustomResource + "." + stories.CustomGroup
	d.Group, d.Resource, d.Served = stories.CustomGroup, stories.CustomResource, []string{"v1"}
	b.Store(definitionKey, "apiextensions.k8s.io/v1", "CustomResourceDefinition", name, history.Stored{CustomResource: &d})
}

const definitionKey = "/registry/apiextensions.k8s.io/customresourcedefinitions/" + stories.CustomResource + "." + stories.CustomGroup

// readCustom has each member read the custom resources, and one of them answer otherwise.
func readCustom(b *stories.Builder, member string, otherwise history.Read) {
	for _, m := range b.Members {
		r := history.Read{Version: "v1", Code: 200, Items: 3, After: b.Revision, ResourceVersion: b.Revision, Compared: true, Stored: 3}
		if m.Name == member {
			r = otherwise
		}
		r.How, r.Group, r.Resource = history.ReadConsistent, stories.CustomGroup, stories.CustomResource
		from := b.Now
		b.Advance(5)
		b.Emit(history.Event{Kind: history.KindRead, Member: m.Name, From: from, Read: &r})
	}
}

// A member that does not serve a custom resource cannot read its objects: it owes that once it
// was able to for as long as a definition may take to show.
func TestRead_OfACustomResourceThatTheMemberDoesNotServe(t *testing.T) {
	shows := requirement.MustBound("AD-13", "showsWithin")
	notServed := history.Read{Code: http.StatusNotFound, NotServed: true}
	for name, c := range map[string]struct {
		want check.Verdict
		do   func(b *stories.Builder)
	}{
		"after the bound": {check.Fail, func(b *stories.Builder) {
			define(b, history.CustomResource{Established: true})
			b.Advance((shows + time.Second).Milliseconds())
		}},
		"within the bound": {check.Pass, func(b *stories.Builder) {
			define(b, history.CustomResource{Established: true})
			b.Advance((shows - time.Second).Milliseconds())
		}},
		"that etcd does not tell of": {check.Inconclusive, func(b *stories.Builder) {
			b.Request(b.Members[0], history.Request{Class: history.ClassGuarded, Verb: "create", Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Name: "soundings.probe.evenkeel.dev", Code: 201,
				Defines: &history.Definition{Group: stories.CustomGroup, Resource: stories.CustomResource}})
		}},
		"that is not established": {check.Pass, func(b *stories.Builder) {
			define(b, history.CustomResource{})
			b.Advance(2 * shows.Milliseconds())
		}},
		"that was deleted": {check.Pass, func(b *stories.Builder) {
			define(b, history.CustomResource{Established: true})
			b.Advance(2 * shows.Milliseconds())
			b.Delete(definitionKey, stories.CustomResource)
			b.Advance(1000)
		}},
		"that was defined beside a fault": {check.Pass, func(b *stories.Builder) {
			slow(b, b.Members[1], func() {
				define(b, history.CustomResource{Established: true})
				b.Advance(2 * shows.Milliseconds())
			})
			b.Advance(1000)
		}},
		"as it has just started": {check.Pass, func(b *stories.Builder) {
			define(b, history.CustomResource{Established: true})
			b.Advance(2 * shows.Milliseconds())
			b.Exit(b.Members[1], "exit status 0", true)
			b.Serve(b.Members[1], "1.2")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-01", replaced("at rest", func(b *stories.Builder) {
				c.do(b)
				readCustom(b, "cp2", notServed)
			}), c.want)
		})
	}
}

// A webhook excuses what it does not convert while the definition names it, and nothing else.
func TestRead_OfObjectsThatAWebhookConverts(t *testing.T) {
	shows := requirement.MustBound("AD-13", "showsWithin")
	const down = `conversion webhook for probe.evenkeel.dev/v1beta1, Kind=Sounding failed: Post "https://127.0.0.1:9/convert": connection refused`
	for name, c := range map[string]struct {
		after   time.Duration
		removed bool
		read    history.Read
		want    check.Verdict
	}{
		"while it is down":                     {time.Minute, false, history.Read{Code: 500, Message: down}, check.Pass},
		"right after it was taken away":        {time.Second, true, history.Read{Code: 500, Message: down}, check.Pass},
		"long after it was taken away":         {shows + time.Second, true, history.Read{Code: 500, Message: down}, check.Fail},
		"that the member fails to read itself": {time.Minute, false, history.Read{Code: 500, Message: "no kind Sounding is registered"}, check.Fail},
		"that the member leaves out":           {time.Minute, false, history.Read{Code: 200, Compared: true, Stored: 3, Missing: 3}, check.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-01", replaced("at rest", func(b *stories.Builder) {
				define(b, history.CustomResource{Established: true, Webhook: true})
				b.Advance(time.Minute.Milliseconds())
				if c.removed {
					define(b, history.CustomResource{Established: true})
				}
				b.Advance(c.after.Milliseconds())
				readCustom(b, "cp2", c.read)
			}), c.want)
		})
	}
}
