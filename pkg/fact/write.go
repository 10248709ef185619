package fact

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Write is one tagged write of the harness: what the API server answered, and what etcd
// has of it. Either may be missing.
type Write struct {
	// Member through which it went, and its Number.
	Member string
	Number int64
	// Answer is when it was answered, with the time at which it was sent; its Seq is 0
	// where no answer was recorded.
	Answer Stamp
	// Accepted is whether the server took it, Barrier whether it was refused because the
	// registration was not complete, Guarded whether the barrier holds such writes back.
	Accepted, Barrier, Guarded bool
	// Named is the revision that the answer names.
	Named int64
	// Target is the resource of the request.
	Target Resource
	// Stored is the change in etcd that bears the tag; its Seq is 0 where there is none.
	Stored Stamp
	// APIVersion, Kind and Name are those that the stored bytes name.
	APIVersion, Kind, Name string
}

// InEtcd is whether etcd has it.
func (w *Write) InEtcd() bool { return w.Stored.Seq > 0 }

type writeID struct {
	member string
	number int64
}

type writes struct {
	of  map[writeID]*Write
	all []*Write
	// texts has one copy of each version and kind.
	texts map[string]string
}

func newWrites() writes { return writes{of: map[writeID]*Write{}, texts: map[string]string{}} }

func (ws *writes) get(member string, number int64, taken func(*Write) bool) *Write {
	id := writeID{member, number}
	w := ws.of[id]
	if w == nil || taken(w) {
		w = &Write{Member: ws.text(member), Number: number}
		ws.of[id], ws.all = w, append(ws.all, w)
	}
	return w
}

func (ws *writes) text(s string) string {
	if one, ok := ws.texts[s]; ok {
		return one
	}
	ws.texts[s] = s
	return s
}

func (ws *writes) answered(ev *history.Event) {
	r := ev.Request
	if r.Class != history.ClassGuarded && r.Class != history.ClassCustom || r.Write <= 0 {
		return
	}
	w := ws.get(ev.Member, r.Write, func(w *Write) bool { return w.Answer.Seq > 0 })
	w.Answer, w.Named = StampOf(ev), r.ResourceVersion
	w.Accepted, w.Barrier, w.Guarded = r.Code >= 200 && r.Code < 300, r.Barrier, r.Class == history.ClassGuarded
	resource, _, _ := strings.Cut(r.Resource, "/") // a subresource is part of its object
	w.Target = Resource{ws.text(r.Group), ws.text(strings.Clone(resource))}
}

func (ws *writes) stored(ev *history.Event) {
	s := ev.Stored
	if s.Type != history.StoredPut || s.Writer == "" {
		return
	}
	w := ws.get(s.Writer, s.Write, func(w *Write) bool { return w.Stored.Seq > 0 })
	w.Stored, w.APIVersion, w.Kind, w.Name = StampOf(ev), ws.text(s.APIVersion), ws.text(s.ObjectKind), s.Name
}

// Write is a tagged write by its number; nil if there is none.
func (h *History) Write(member string, number int64) *Write {
	if number <= 0 {
		return nil
	}
	return h.writes.of[writeID{member, number}]
}

// Writes are all tagged writes, in the order in which they were told of first.
func (h *History) Writes() []*Write { return h.writes.all }

// ResourceOfWrite is the resource of what a tagged write stored: where the answer names the change in
// etcd, that of the request, whatever the stored bytes say. An object of a kind that the harness does
// not write has its tag from elsewhere: controllers copy annotations to what they make.
func (h *History) ResourceOfWrite(w *Write) (Resource, bool) {
	if !w.InEtcd() {
		return Resource{}, false
	}
	r, ok := h.ResourceOf(w.APIVersion, w.Kind)
	if w.Accepted && w.Named == w.Stored.Revision {
		r, ok = w.Target, true
	}
	return r, ok && (len(h.hosting.written) == 0 || h.hosting.written[r])
}

// UntoldWrites counts the accepted writes of each member that never showed in etcd, though
// its recorder had the time to tell.
func (h *History) UntoldWrites() map[string]int64 {
	out := map[string]int64{}
	for _, w := range h.writes.all {
		if w.Accepted && !w.InEtcd() && w.Answer.At < h.recorders.recordedSince(h.Now) {
			out[w.Member]++
		}
	}
	return out
}
