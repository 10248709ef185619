package timeline

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// How much of an event is shown, in bytes: of one that a finding names, of one of
// a request, of any other. And how much all of them may take in the page.
const (
	shownEvidence = 4000
	shownRequest  = 400
	shownEvent    = 900
	shownInAll    = 2_500_000
)

// keeper keeps the events that the page can show.
type keeper struct {
	// wanted are the events, with how much of each is to be kept.
	wanted map[int64]int
	at     map[int64]int64
	text   map[int64]string
	size   map[int64]int
	// request is whether an event is one of a request: those go first if there is too
	// much.
	request map[int64]bool
}

// keeper of all events that the picture points to.
func (c *collector) keeper() *keeper {
	k := &keeper{wanted: map[int64]int{}, at: map[int64]int64{}, text: map[int64]string{}, size: map[int64]int{}, request: map[int64]bool{}}
	for _, g := range c.picture.Groups {
		for _, l := range g.Lanes {
			for _, s := range l.Spans {
				k.wanted[s.Seq] = shownEvent
			}
			for _, m := range l.Marks {
				k.wanted[m.Seq] = shownEvent
			}
		}
	}
	for seq := range c.evidence {
		if c.examples[seq] {
			k.wanted[seq] = shownEvent
		} else {
			k.wanted[seq] = shownEvidence
		}
	}
	return k
}

func (k *keeper) take(ev *history.Event) {
	limit, ok := k.wanted[ev.Seq]
	if !ok {
		return
	}
	if _, twice := k.text[ev.Seq]; twice {
		return // a damaged history may number two events alike
	}
	k.at[ev.Seq] = ev.At / 1000
	if ev.Request != nil && limit != shownEvidence {
		limit = shownRequest
		k.request[ev.Seq] = true
	}
	// What was read is written as it was: both are encoding/json's.
	raw, err := json.Marshal(ev)
	if err != nil {
		raw = []byte(err.Error())
	}
	text := string(raw)
	if len(text) > limit {
		text = text[:limit]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		text += "…"
	}
	k.text[ev.Seq] = text
	// As it will be written once more, in quotes.
	if quoted, err := json.Marshal(text); err == nil {
		k.size[ev.Seq] = len(quoted)
	}
}

// events in their order. Where they are too many, some have no text: first those
// of requests, then others, those of findings never. The page says how to see
// them.
func (k *keeper) events() events {
	var out events
	budget := shownInAll
	for _, pass := range []func(seq int64) bool{
		func(seq int64) bool { return k.wanted[seq] == shownEvidence },
		func(seq int64) bool { return k.wanted[seq] != shownEvidence && !k.request[seq] },
		func(seq int64) bool { return k.request[seq] },
	} {
		for _, seq := range slices.Sorted(maps.Keys(k.text)) {
			if !pass(seq) {
				continue
			}
			if budget -= k.size[seq]; budget < 0 {
				k.text[seq] = ""
			}
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(k.text)) {
		out.Seq = append(out.Seq, seq)
		out.At = append(out.At, k.at[seq])
		out.Text = append(out.Text, k.text[seq])
	}
	return out
}
