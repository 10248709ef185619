package check

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
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

func looked(ev *history.Event) bool { return ev.Discovery != nil }

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
	for i := range ev.Discovery.Resources {
		if r := &ev.Discovery.Resources[i]; r.Resource == "ballasts" {
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

func kept(t *testing.T, id requirement.ID) (history.Header, events) {
	t.Helper()
	reader, err := history.NewReader(bytes.NewReader(storyFile(string(id) + "/pass")))
	if err != nil {
		t.Fatal(err)
	}
	read := Read(reader)
	var out events
	for {
		ev, err := read.Next()
		if errors.Is(err, io.EOF) {
			return read.Header(), out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *ev)
	}
}

func encoded(t *testing.T, header history.Header, e events) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := story.Write(&b, header, e); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
