package storageversion_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// events are those of a history that is being changed.
type events []history.Event

// each changes what fits.
func (e events) each(fits func(*history.Event) bool, change func(*history.Event)) events {
	for i := range e {
		if fits(&e[i]) {
			change(&e[i])
		}
	}
	return e
}

// before puts a copy of the request in front of each event that fits, answered
// when that was sent.
func (e events) before(fits func(*history.Event) bool, change func(*history.Request)) events {
	return e.beside(fits, 0, change)
}

// behind is before with a copy that was sent when the event was answered.
func (e events) behind(fits func(*history.Event) bool, change func(*history.Request)) events {
	return e.beside(fits, 1, change)
}

func (e events) beside(fits func(*history.Event) bool, side int, change func(*history.Request)) events {
	var out events
	for i := range e {
		if !fits(&e[i]) {
			out = append(out, e[i])
			continue
		}
		r := history.Request{Class: e[i].Request.Class, Group: e[i].Request.Group, Version: e[i].Request.Version, Resource: e[i].Request.Resource, Name: e[i].Request.Name}
		change(&r)
		added := history.Event{Kind: history.KindRequest, Member: e[i].Member, Request: &r, From: e[i].At, At: e[i].At}
		if side == 0 {
			added.From, added.At = e[i].From-1, e[i].From
		}
		out = append(out, slices.Insert(events{e[i]}, side, added)...)
	}
	return out
}

func (e events) without(fits func(*history.Event) bool) events {
	return slices.DeleteFunc(e, func(ev history.Event) bool { return fits(&ev) })
}

func barred(ev *history.Event) bool { return ev.Request != nil && ev.Request.Barrier }

func by(member string, fits func(*history.Event) bool) func(*history.Event) bool {
	return func(ev *history.Event) bool { return ev.Member == member && fits(ev) }
}

func invalid(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Class == history.ClassInvalid
}

func storedBy(member string) func(*history.Event) bool {
	return func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer == member }
}

func ballast(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.ObjectKind == "Ballast" }

func looked(ev *history.Event) bool { return ev.HostedResources != nil }

// answers changes a copied request into one that was answered so.
func answers(verb string, code int, changes ...func(*history.Request)) func(*history.Request) {
	return func(r *history.Request) {
		r.Verb, r.Code = verb, code
		for _, change := range changes {
			change(r)
		}
	}
}

func secrets(r *history.Request) { r.Group, r.Version, r.Resource = "", "v1", "secrets" }

func readsOf(r *history.Request) { r.Class = history.ClassRead }

func foreign(ev *history.Event) { ev.Stored.APIVersion = "reference.evenkeel.dev/v9" }

func unhash(ev *history.Event) {
	for i := range ev.HostedResources.Resources {
		if r := &ev.HostedResources.Resources[i]; r.Resource == "ballasts" {
			r.Persisted = false
		}
	}
}

// firstLooksOnly leaves one discovery of each member.
func firstLooksOnly(e events) events {
	seen := map[string]bool{}
	return e.without(func(ev *history.Event) bool {
		again := looked(ev) && seen[ev.Member]
		seen[ev.Member] = seen[ev.Member] || looked(ev)
		return again
	})
}

// evasion is what a broken control plane, or a recorder that misses something, makes of a
// history that passes.
type evasion struct {
	name   string
	id     requirement.ID
	change func(events) events
	want   check.Verdict
	says   string
}

// barrierEvasions hide writes that pass the barrier of SV-12, or the answer that it owes.
var barrierEvasions = []evasion{
	{"stored, and answered with the barrier's 503", "SV-12", func(e events) events {
		done := false
		return e.each(func(ev *history.Event) bool {
			return !done && ev.Request != nil && ev.Request.Code == 200 && ev.Request.Write > 0
		}, func(ev *history.Event) {
			done = true
			ev.Request.Code, ev.Request.Barrier, ev.Request.ResourceVersion = 503, true, 0
		})
	}, check.Fail, "and stored it all the same"},
	{"stored under a revision that the answer does not have", "SV-12", func(e events) events {
		// cp1 takes a write before it announces 1.3, and names a later revision.
		var change int64
		for i, ev := range e {
			if ballast(&e[i]) || ev.Stored == nil || ev.Stored.StorageVersion == nil || len(ev.Stored.StorageVersion.Entries) < 3 || ev.Stored.StorageVersion.Entries[0].Encoding != "reference.evenkeel.dev/v1" {
				continue
			}
			change = ev.Stored.Revision
			request := history.Event{Kind: history.KindRequest, Member: "cp1", From: ev.At, At: ev.At + 1, Request: &history.Request{Class: history.ClassGuarded, Verb: "update",
				Group: "reference.evenkeel.dev", Version: "v1", Resource: "ballasts", Name: "x", Code: 200, Write: 999, ResourceVersion: change + 1}}
			stored := history.Event{Kind: history.KindStored, At: ev.At - 1, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/reference.evenkeel.dev/ballasts/x", Name: "x",
				Revision: change - 1, APIVersion: "reference.evenkeel.dev/v1", ObjectKind: "Ballast", Writer: "cp1", Write: 999}}
			return slices.Concat(e[:i], events{stored, ev, request}, e[i+1:])
		}
		return e
	}, check.Fail, "cp1 accepted a write at revision"},
	{"deletes that pass the barrier", "SV-12", func(e events) events {
		return e.before(barred, answers("delete", 200, func(r *history.Request) { r.ResourceVersion = 5 }))
	}, check.Fail, "accepted a delete"},
	{"collections that pass the barrier", "SV-12", func(e events) events { return e.before(barred, answers("deletecollection", 200)) }, check.Fail, "accepted a deletecollection"},
	{"subresources that pass the barrier", "SV-12", func(e events) events {
		return e.before(barred, answers("patch", 200, func(r *history.Request) { r.Resource += "/status" }))
	}, check.Fail, "accepted a patch"},
	{"creates without a revision that pass the barrier", "SV-12", func(e events) events { return e.before(barred, answers("create", 201)) }, check.Fail, "accepted a create"},
	{"patches without a revision that pass the barrier", "SV-12", func(e events) events { return e.before(barred, answers("patch", 200)) }, check.Fail, "accepted a patch"},
	{"creates without a revision, after the barrier", "SV-12", func(e events) events {
		return e.behind(func(ev *history.Event) bool { return ev.Request != nil && ev.Request.Code == 200 }, answers("create", 201))
	}, check.Inconclusive, "does not tell what it made in etcd"},
	{"one resource hangs instead of a 503", "SV-12", func(e events) events { return e.before(barred, answers("create", 0, secrets)) }, check.Inconclusive, "core.secrets with nothing instead of 503"},
	{"one resource answers 404 instead of 503", "SV-12", func(e events) events { return e.before(barred, answers("create", 404, secrets)) }, check.Inconclusive, "core.secrets with 404 instead of 503"},
	{"one resource answers 429 instead of 503", "SV-12", func(e events) events { return e.before(barred, answers("create", 429, secrets)) }, check.Inconclusive, "core.secrets with 429 instead of 503"},
	{"one resource answers 504 instead of 503", "SV-12", func(e events) events { return e.before(barred, answers("create", 504, secrets)) }, check.Inconclusive, "core.secrets with 504 instead of 503"},
	{"one resource answers with a redirect instead of 503", "SV-12", func(e events) events { return e.before(barred, answers("update", 307)) }, check.Fail, "with 307 instead of 503"},
	{"conflicts behind the barrier", "SV-12", func(e events) events { return e.before(barred, answers("update", 409)) }, check.Inconclusive, "with 409 instead of 503"},
	{"the barrier of one member is never seen", "SV-12", func(e events) events { return e.without(by("cp3", barred)) }, check.Inconclusive, "writes accepted after a registration of a new version that refused writes before, of the member with the fewest"},
}

// readEvasions hide reads that the barrier of SV-13 must not hold back.
var readEvasions = []evasion{
	{"reads hang during the barrier", "SV-13", func(e events) events { return e.behind(barred, answers("get", 0, readsOf)) }, check.Inconclusive, "requests of class read fail while it held back writes"},
	{"reads fail during the barrier", "SV-13", func(e events) events { return e.behind(barred, answers("get", 500, readsOf)) }, check.Inconclusive, "requests of class read fail while it held back writes"},
	{"reads are held back in other words", "SV-13", func(e events) events { return e.behind(barred, answers("get", 503, readsOf)) }, check.Inconclusive, "requests of class read fail while it held back writes"},
	{"one member answers no read", "SV-13", func(e events) events {
		return e.each(by("cp2", func(ev *history.Event) bool { return ev.Request != nil && ev.Request.Class == history.ClassRead }), func(ev *history.Event) { ev.Request.Code = 404 })
	}, check.Inconclusive, "class read that passed during the barrier, of the member with the fewest"},
}

// invalidStatusEvasions hide whether API servers refuse an invalid status.
var invalidStatusEvasions = []evasion{
	{"one member asks for the next attempt for ever", "SV-04", refuseOnly409, check.Inconclusive, "undecodable version refused, not as a dry run, of the member with the fewest"},
	{"one member asks for the next attempt for ever", "SV-06", refuseOnly409, check.Inconclusive, "false agreement refused, not as a dry run, of the member with the fewest"},
	{"one member asks for the next attempt for ever", "SV-03", refuseOnly409, check.Inconclusive, "at the end of holds members were not seen to refuse"},
	{"no invalid status is sent in one hold", "SV-03", func(e events) events {
		return e.without(func(ev *history.Event) bool { return invalid(ev) && ev.At > e[len(e)-1].At/2 })
	}, check.Inconclusive, "at the end of holds members were not seen to refuse"},
	{"only dry runs are looked at", "SV-04", func(e events) events {
		return e.each(func(ev *history.Event) bool { return invalid(ev) && ev.Request.WithoutDryRun }, func(ev *history.Event) { ev.Request.Code = 200 })
	}, check.Fail, "whose encoding version cannot be decoded"},
	{"only dry runs are sent", "SV-06", func(e events) events {
		return e.without(func(ev *history.Event) bool { return invalid(ev) && ev.Request.WithoutDryRun })
	}, check.Inconclusive, "not as a dry run"},
}

// storedEvasions hide what API servers store and in which version.
var storedEvasions = []evasion{
	{"one member's writes lose their tag", "SV-15", func(e events) events {
		return e.each(storedBy("cp3"), func(ev *history.Event) {
			ev.Stored.Writer, ev.Stored.Write = "", 0
			foreign(ev)
		})
	}, check.Inconclusive, "writes that cp3 accepted never showed in etcd"},
	{"one member denies what it stores, and stores it unannounced", "SV-15", func(e events) events {
		return e.each(by("cp3", looked), unhash).each(func(ev *history.Event) bool { return storedBy("cp3")(ev) && ballast(ev) }, foreign)
	}, check.Fail, "cp3 stored"},
	{"all members deny what they store", "SV-15", func(e events) events { return e.each(looked, unhash) }, check.Inconclusive, "for which its discovery gives no storage version hash"},
	{"one member lists nothing of what it stores", "SV-15", func(e events) events {
		return e.each(by("cp3", looked), func(ev *history.Event) { ev.HostedResources.Resources = ev.HostedResources.Resources[:2] })
	}, check.Inconclusive, "which its discovery does not list"},
	{"one member denies what it stores", "SV-01", func(e events) events { return e.each(by("cp3", looked), unhash) }, check.Inconclusive, "do not agree on whether reference.evenkeel.dev.ballasts is"},
	{"one member denies what it stores", "SV-03", func(e events) events { return e.each(by("cp3", looked), unhash) }, check.Inconclusive, "do not agree on whether reference.evenkeel.dev.ballasts is"},
}

// discoveryEvasions hide what API servers host.
var discoveryEvasions = []evasion{
	{"servers are asked once what they host", "SV-01", firstLooksOnly, check.Inconclusive, "it is not known what it hosted"},
	{"servers are asked once what they host", "SV-05", firstLooksOnly, check.Inconclusive, "it is not known what it hosted"},
	{"servers are asked once what they host", "SV-14", firstLooksOnly, check.Inconclusive, "it is not known what it hosted"},
	{"one member is never asked what it hosts", "SV-05", func(e events) events { return e.without(by("cp3", looked)) }, check.Inconclusive, "compared with their server's discovery, of the member with the fewest"},
	{"one member is never seen to refuse", "SV-14", func(e events) events { return e.without(by("cp3", barred)) }, check.Inconclusive, "before the server was ready, of the member with the fewest"},
	{"one member's entries never appear", "SV-11", func(e events) events {
		return e.each(func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.StorageVersion != nil }, func(ev *history.Event) {
			sv := ev.Stored.StorageVersion
			sv.Entries = slices.DeleteFunc(sv.Entries, func(x history.Entry) bool { return x.ServerID == "apiserver-cp3" })
		})
	}, check.Inconclusive, "appeared, of the member with the fewest"},
}

// watchEvasions hide from the clients of a member what is stored.
var watchEvasions = []evasion{
	{"one member shows its clients nothing any more", "SV-22", func(e events) events {
		last := e[len(e)-1].At
		shown := func(ev *history.Event) bool { return ev.Member == "cp2" && ev.Watch != nil && ev.At > last/2 }
		done := false
		return e.each(func(ev *history.Event) bool { return shown(ev) && !done }, func(ev *history.Event) {
			done = true
			ev.Watch = &history.Watch{Resource: "storageversions", Type: history.WatchBroken}
		}).without(func(ev *history.Event) bool { return shown(ev) && ev.Watch.Type != history.WatchBroken })
	}, check.Inconclusive, "clients of cp2 were shown no StorageVersions"},
}

// No evasion passes.
func TestEvasionsDoNotPass(t *testing.T) {
	for _, tc := range slices.Concat(barrierEvasions, readEvasions, invalidStatusEvasions, storedEvasions, discoveryEvasions, watchEvasions) {
		t.Run(string(tc.id)+" "+tc.name, func(t *testing.T) {
			header, told := kept(t, tc.id)
			count := len(told)
			before, err := json.Marshal(told)
			if err != nil {
				t.Fatal(err)
			}
			changed := tc.change(told)
			if after, err := json.Marshal(changed); err != nil || len(changed) == count && bytes.Equal(before, after) {
				t.Fatalf("nothing was changed (%v)", err)
			}
			for i := range changed {
				changed[i].Seq = int64(i + 1)
			}
			r := judgetest.Judge(t, &judgetest.Events{Head: header, Lines: changed}, tc.id)
			said := slices.Clone(r.Reasons)
			for _, v := range r.Violations {
				said = append(said, v.Message)
			}
			if r.Verdict != tc.want || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, tc.says) }) {
				t.Errorf("%s, want %s that says %q: %q", r.Verdict, tc.want, tc.says, said)
			}
		})
	}
}

// refuseOnly409 has all invalid statuses be conflicts, except those that cp1
// was sent in the first half.
func refuseOnly409(e events) events {
	last := e[len(e)-1].At
	return e.each(func(ev *history.Event) bool { return invalid(ev) && (ev.Member != "cp1" || ev.At > last/2) }, func(ev *history.Event) {
		ev.Request.Code, ev.Request.Reason = 409, "Conflict"
	})
}

// kept gives the header and the events of the story of a requirement that passes.
func kept(t *testing.T, id requirement.ID) (history.Header, events) {
	t.Helper()
	s := story.Named(stories.All(), string(id)+"/pass")
	var data bytes.Buffer
	if err := story.Write(&data, s.Header(), s.Events()); err != nil {
		t.Fatal(err)
	}
	reader, err := history.NewReader(&data)
	if err != nil {
		t.Fatal(err)
	}
	var out events
	for {
		ev, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return reader.Header, out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *ev)
	}
}

// An entry is lost as well where what was there before it is put back.
func TestSV09AndSV19_AnOlderEntryPutBack(t *testing.T) {
	// told has b start anew and say another version.
	told := func(h *historyBuilder) *historyBuilder {
		return h.exits("b", 1).starts("b", 2).pass(time.Second).disagrees(things, 8, "a="+v1, "b="+v2).hosts("b", 8).ready("b", 200, 8).pass(2 * time.Second)
	}
	back := func(h *historyBuilder) *historyBuilder { return h.says(things, 10, "a="+v1, "b="+v1).idle(time.Second) }
	back(told(led(v1))).blames(t, "SV-09", "put the entry of idb back")
	back(told(led(v1))).blames(t, "SV-19")
	held := func() *historyBuilder { return told(led(v1).delays(history.PhaseInject)) }
	back(held()).blames(t, "SV-19", "put the entry of idb back")
	back(held()).blames(t, "SV-09")
	// A process of the release before says what that did, and what the harness wrote may be put right.
	back(told(led(v1)).exits("b", 2).starts("b", 3).pass(time.Second)).blames(t, "SV-09")
	h := told(led(v1)).asks("a", 200, 8, tampering(things), func(ev *history.Event) { ev.Request.Verb, ev.From = "update", ev.From-int64(3*time.Second) })
	back(h).blames(t, "SV-09")
}
