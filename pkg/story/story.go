// Package story builds histories for the tests of judges: what a run of a control
// plane would have left behind, without a run.
//
// A base story is a whole run in which the control plane keeps every promise; a
// ControlPlane and its recorders write it event by event. A Case edits a base story
// for one requirement, which gives three stories: one that keeps the promise, one with
// the smallest edit that breaks it, and one that lacks the evidence. The stories of a
// KEP are in the package stories beside its laws, for example
// pkg/law/election/stories.
//
// A story is deterministic: each build gives equal events.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Outcome is what a judge must make of a story.
type Outcome string

// The outcomes.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	// Inconclusive is the outcome where the story lacks evidence.
	Inconclusive Outcome = "inconclusive"
)

// Story is a history with the verdict that it must come to.
type Story struct {
	// Name is unique among the stories of a KEP, for example CLE-11/fail.
	Name string
	// Requirement is the one that the story is about, and Want what it must come to.
	Requirement requirement.ID
	Want        Outcome
	// Base is the name of the base story that this one was made from.
	Base string
	// Also lists further requirements that the whole story necessarily breaks, each
	// with the reason. It is nil unless Want is Fail.
	Also map[requirement.ID]string

	base Base
	edit func(*Edit)
	// reads are the events that the story keeps; nil keeps all.
	reads Match
	// long is whether the story may have more events than people can read.
	long bool
}

// Header gives the header of the history.
func (s Story) Header() history.Header { return s.base.Header() }

// Events builds the events of the history, numbered from 1. The caller may change
// them: each call builds them anew.
func (s Story) Events() []history.Event {
	e := s.base.edited(s.edit)
	if s.reads != nil {
		e.trim(s.reads, s.long)
	}
	for i := range e.Events {
		e.Events[i].Seq = int64(i + 1)
	}
	return e.Events
}

// Whole gives the same story with all events of its base story. A Story otherwise
// has only those that its requirement is judged by, so that people can read it.
func (s Story) Whole() Story {
	s.reads = nil
	return s
}

// Write writes the story as a history file, uncompressed.
func (s Story) Write(w io.Writer) error { return Write(w, s.Header(), s.Events()) }

// File gives the story as the bytes of a history file.
func (s Story) File() []byte {
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		panic(fmt.Sprintf("encode story %s: %v", s.Name, err)) // its events have no JSON, which only an edit can cause
	}
	return b.Bytes()
}

// Write writes a history file with the given header and events, which it numbers
// from 1.
func Write(w io.Writer, header history.Header, events []history.Event) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(header); err != nil {
		return err
	}
	for i, ev := range events {
		ev.Seq = int64(i + 1)
		if err := lines.Encode(ev); err != nil {
			return err
		}
	}
	return nil
}

// Named gives the story with a name. It panics if there is none.
func Named(all []Story, name string) Story {
	i := slices.IndexFunc(all, func(s Story) bool { return s.Name == name })
	if i < 0 {
		panic("no story is named " + name)
	}
	return all[i]
}

// Neighbors gives the requirements that stories with the same base as s are about.
// A judge must pass the base story for all of them, and the edit of s breaks only
// those in s.Requirement and s.Also.
func Neighbors(all []Story, s Story) []requirement.ID {
	ids := map[requirement.ID]bool{}
	for _, other := range all {
		if other.Base == s.Base {
			ids[other.Requirement] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}
