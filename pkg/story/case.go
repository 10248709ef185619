package story

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Base is a whole run in which the control plane keeps every promise.
type Base struct {
	// Name is unique among the base stories of a KEP.
	Name string
	// Header gives the header of the history; nil is NewHeader.
	NewHeader func() history.Header
	// Build gives the events of the run, anew at each call.
	Build func() []history.Event
}

// Header gives the header of the base story.
func (b Base) Header() history.Header {
	if b.NewHeader == nil {
		return NewHeader()
	}
	return b.NewHeader()
}

func (b Base) edited(edit func(*Edit)) *Edit {
	e := &Edit{Events: b.Build()}
	if edit != nil {
		edit(e)
	}
	return e
}

// Case is how a base story is edited for one requirement.
type Case struct {
	Requirement requirement.ID
	// Reads fits the events that the requirement is judged by.
	Reads Match
	// Fail makes the smallest change that breaks the promise.
	Fail func(*Edit)
	// Also lists the further requirements that this change necessarily breaks in the
	// whole story, each with the reason.
	Also map[requirement.ID]string
	// Weak takes the evidence away.
	Weak func(*Edit)
}

// Stories gives the stories of the cases: for each case one that passes, one that
// fails and one that is inconclusive.
func (b Base) Stories(cases []Case) []Story {
	var all []Story
	for _, c := range cases {
		all = append(all, b.story(c, Pass, nil), b.story(c, Fail, c.Fail), b.story(c, Inconclusive, c.Weak))
	}
	return all
}

func (b Base) story(c Case, want Outcome, edit func(*Edit)) Story {
	s := Story{
		Name: string(c.Requirement) + "/" + string(want), Requirement: c.Requirement, Want: want,
		Base: b.Name, base: b, edit: edit, reads: c.Reads,
	}
	if want == Fail {
		s.Also = c.Also
	}
	return s
}

// With gives a story that further edits a story, under another name and with another
// outcome. It may have any number of events.
func (s Story) With(name string, want Outcome, edit func(*Edit)) Story {
	before := s.edit
	s.long = true
	s.Name, s.Want, s.Also = string(s.Requirement)+"/"+name, want, nil
	s.edit = func(e *Edit) {
		if before != nil {
			before(e)
		}
		edit(e)
	}
	return s
}

// Because says why a change breaks other promises too.
func Because(why string, ids ...requirement.ID) map[requirement.ID]string {
	out := map[requirement.ID]string{}
	for _, id := range ids {
		out[id] = why
	}
	return out
}
