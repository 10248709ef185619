package history

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"
)

// absent is a time that a line does not tell, or tells as null: the decoder leaves it.
const absent = -1 << 63

// validator holds the events of a history to its format. It never looks at what an event
// means: that is the judge's.
type validator struct {
	members []string
	// at and revision are those of the last event, and of the last change in etcd, that
	// keeps the format.
	at, revision int64
	// starved is the end of the last stretch of starvation.
	starved int64
	// keys are those of which a change was told at the revision.
	keys map[string]bool
	// instances are the last ones that started, of each component of a member.
	instances map[componentOf]int
}

type componentOf struct{ member, component string }

// headerProblem says in words how a header breaks the format; empty if it keeps it.
func headerProblem(h *Header) string {
	if len(h.Members) > MaxMembers {
		return fmt.Sprintf("it names %d members, and at most %d are allowed", len(h.Members), MaxMembers)
	}
	var names []string
	for _, m := range h.Members {
		switch {
		case m.Name == "":
			return "it has a member without a name"
		case slices.Contains(names, m.Name):
			return fmt.Sprintf("it has two members of the name %s", shown(m.Name))
		}
		names = append(names, m.Name)
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"judges", h.Judges}, {"asked", h.Asked}, {"profiles", h.Profiles}} {
		told := map[string]bool{}
		for _, name := range list.names {
			if told[name] {
				return fmt.Sprintf("its list %s has %s twice", list.what, shown(name))
			}
			told[name] = true
		}
	}
	if h.MigrationRate < 0 {
		return fmt.Sprintf("its migrationRate is %v", h.MigrationRate)
	}
	return ""
}

// newValidator begins after a header that keeps the format.
func newValidator(h *Header) validator {
	v := validator{keys: map[string]bool{}, instances: map[componentOf]int{}}
	for _, m := range h.Members {
		v.members = append(v.members, m.Name)
	}
	return v
}

// text says in words what is wrong with a line of a header or an event, whatever it says;
// empty if nothing is.
func text(of reflect.Type, line []byte) string {
	switch {
	case !utf8.Valid(line):
		return "holds bytes that are not UTF-8"
	case bytes.Contains(line, []byte("null")):
		if field := nullField(of, line); field != "" {
			return fmt.Sprintf("has null as its %s", shown(field))
		}
	}
	return ""
}

// event says in words how an event breaks the format; empty if it keeps it. Its place among
// the numbers is not looked at.
func (v *validator) event(e *Event) string {
	for _, find := range []func(*Event) string{payloadProblem, v.time, v.names, numberProblem, valueProblem, starvationProblem, v.order, v.instance} {
		if problem := find(e); problem != "" {
			return problem
		}
	}
	return ""
}

// take notes an event that keeps the format.
func (v *validator) take(e *Event) {
	v.at = e.At
	if s := e.Stored; s != nil {
		if s.Revision > v.revision {
			clear(v.keys)
		}
		v.revision, v.keys[s.Key] = s.Revision, true
	}
	if p := e.Process; p != nil && p.Change == ProcessStarted {
		v.instances[componentOf{e.Member, p.Component}] = p.Instance
	}
	if e.Starvation != nil {
		v.starved = e.At
	}
}

// payloads are the fields of an Event that hold one, by their names in the file. They follow
// from the type, so that a new kind needs no other line here.
var payloads = func() map[Kind]int {
	out := map[Kind]int{}
	event := reflect.TypeFor[Event]()
	for i := range event.NumField() {
		if event.Field(i).Type.Kind() == reflect.Pointer {
			out[Kind(jsonName(event.Field(i)))] = i
		}
	}
	return out
}()

// payloadProblem is that the payload is not the one that the kind promises, or not the only
// one.
func payloadProblem(e *Event) string {
	fields := reflect.ValueOf(e).Elem()
	promised, known := payloads[e.Kind]
	if !known {
		return fmt.Sprintf("has the kind %s, which this evenkeel does not know", shown(string(e.Kind)))
	}
	if fields.Field(promised).IsNil() {
		return fmt.Sprintf("has the kind %q without its content", e.Kind)
	}
	for i := range fields.NumField() {
		if field := fields.Field(i); i != promised && field.Kind() == reflect.Pointer && !field.IsNil() {
			return fmt.Sprintf("has the kind %q with the content of %q", e.Kind, jsonName(fields.Type().Field(i)))
		}
	}
	return ""
}

// time is that the times are absent, out of range, or not in order. The Writer takes at
// under its lock, so that there is no tolerance.
func (v *validator) time(e *Event) string {
	switch {
	case e.At == absent:
		return "has no time"
	case e.At < 0 || e.At > int64(MaxTime):
		return fmt.Sprintf("has the time %d, which is not between 0 and %d", e.At, int64(MaxTime))
	case e.At < v.at:
		return fmt.Sprintf("has the time %d after %d: times never go back in a history", e.At, v.at)
	case e.From < 0:
		return fmt.Sprintf("began at the time %d", e.From)
	case e.From > e.At:
		return fmt.Sprintf("began at the time %d and was over before that, at %d", e.From, e.At)
	case e.Visibility != nil:
		for _, shown := range []Shown{e.Visibility.Get, e.Visibility.List, e.Visibility.Watch} {
			if min(shown.Sent, shown.At) < 0 || max(shown.Sent, shown.At) > e.At {
				return fmt.Sprintf("tells of the times %d and %d, and was over at %d", shown.Sent, shown.At, e.At)
			}
		}
	}
	return ""
}

// order is that a change in etcd comes after one of a later revision, see Stored, or twice, or
// that stretches of starvation overlap.
func (v *validator) order(e *Event) string {
	if e.Starvation != nil && e.Starvation.Waited() > 0 && e.From < v.starved {
		return fmt.Sprintf("tells of waiting since %d, and the stretch before ended at %d: no waiting counts twice", e.From, v.starved)
	}
	if e.Stored != nil && e.Stored.Revision < v.revision {
		return fmt.Sprintf("tells of revision %d of etcd after %d: the changes are not in the order in which etcd made them", e.Stored.Revision, v.revision)
	}
	if s := e.Stored; s != nil && s.Revision == v.revision && v.keys[s.Key] {
		return fmt.Sprintf("tells of revision %d of %s again: etcd changes a key once at most in a revision", s.Revision, shown(s.Key))
	}
	return ""
}

// instance is that a process starts that had started before, or that something becomes of one
// that has not: it would count as another process, or as none.
func (v *validator) instance(e *Event) string {
	p := e.Process
	if p == nil {
		return ""
	}
	last, known := v.instances[componentOf{e.Member, p.Component}]
	switch {
	case p.Change == ProcessStarted && known && p.Instance <= last:
		return fmt.Sprintf("tells that instance %d of %s started after instance %d", p.Instance, shown(p.Component), last)
	case p.Change != ProcessStarted && (!known || p.Instance > last):
		return fmt.Sprintf("tells of instance %d of %s, which has not started", p.Instance, shown(p.Component))
	}
	return ""
}

// names is that a member is named that the header does not have, or none where what
// happened is one member's.
func (v *validator) names(e *Event) string {
	if e.Member == "" {
		if slices.Contains(ofMembers, e.Kind) {
			return fmt.Sprintf("has the kind %q and does not say of which member", e.Kind)
		}
	} else if !slices.Contains(v.members, e.Member) {
		return v.stranger(e.Member)
	}
	switch {
	case e.Hold != nil:
		for name := range e.Hold.Releases {
			if !slices.Contains(v.members, name) {
				return v.stranger(name)
			}
		}
	case e.Visibility != nil && !slices.Contains(v.members, e.Visibility.Writer):
		return v.stranger(e.Visibility.Writer)
	case e.EtcdHash != nil:
		for _, m := range e.EtcdHash.Members {
			if !slices.Contains(v.members, m.Member) {
				return v.stranger(m.Member)
			}
		}
	case e.EtcdHealth != nil:
		for _, m := range e.EtcdHealth.Members {
			if !slices.Contains(v.members, m.Member) {
				return v.stranger(m.Member)
			}
		}
	}
	return ""
}

// ofMembers are the kinds of events that are always about a single member.
var ofMembers = []Kind{KindProcess, KindRequest, KindReady, KindVersion, KindHostedResources, KindWatch, KindDiscoveryDocument, KindInterceptedRequest, KindRead, KindVisibility, KindCustomResourceAnswer, KindVersionTrial}

func (v *validator) stranger(name string) string {
	return fmt.Sprintf("names the member %s, which the header does not have", shown(name))
}

// shown is a value from the file, short enough for a sentence.
func shown(value string) string {
	if len(value) > maxShown {
		value = value[:maxShown] + "…"
	}
	return fmt.Sprintf("%q", value)
}
