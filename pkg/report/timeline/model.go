package timeline

import "encoding/json"

// picture is what the page's script draws: all times are microseconds since the
// run began. Names of fields are short because they come thousands of times.
type picture struct {
	// Started is the wall clock at time 0, in milliseconds of Unix time.
	Started int64 `json:"started"`
	// End is the time of the last event.
	End int64 `json:"end"`
	// History is the name of the file that the events are in, and Show the command
	// that prints one, with N in the place of its number.
	History string `json:"history"`
	Show    string `json:"show"`
	// Texts are named by their index everywhere.
	Texts  []string `json:"texts"`
	Groups []group  `json:"groups"`
	Bands  []band   `json:"bands"`
	Events events   `json:"events"`
	// Findings are the events that show violations, in the order of the page.
	Findings []int64 `json:"findings"`
}

// group is a part of the chart, with a heading.
type group struct {
	Name string `json:"name"`
	// Folded groups stay closed until the reader opens them.
	Folded bool   `json:"folded,omitempty"`
	Lanes  []lane `json:"lanes"`
}

// lane is one row of the chart.
type lane struct {
	Name  string `json:"name"`
	Spans []span `json:"spans,omitempty"`
	Marks []mark `json:"marks,omitempty"`
	// Density is the number of requests in each of a number of equal parts of the run.
	Density []int `json:"density,omitempty"`
}

// Styles of spans. The script has a table of the same order.
const (
	styleUp = iota
	styleUnready
	stylePaused
	styleDead
	styleLeader
	styleNoLeader
	styleAgreed
	styleDisagreed
	styleGone
	stylePending
	styleRunning
	styleSucceeded
	styleFailed
	styleTag
	styleStep
	styleHold
	styleFault
	styleStepFailed
	styleServed
	styleUnserved
	styleMissing
	styleSame
	styleDiffering
	styleIncomparable
)

// Styles of marks.
const (
	markBreach = iota
	markBarrier
	markError
	markSilent
	markWitness
	markGap
	markDeviation
	markChange
)

// span is a stretch of time in which a state did not change. It began with the event Seq.
type span struct {
	From, To int64
	Style    int
	// Color is the number of a release, member, version or tag; the style says which of
	// them.
	Color int
	Text  int
	Seq   int64
}

// MarshalJSON writes a span as a list.
func (s span) MarshalJSON() ([]byte, error) {
	return json.Marshal([]int64{s.From, s.To, int64(s.Style), int64(s.Color), int64(s.Text), s.Seq})
}

// mark is a number of events at one moment; Count is that number.
type mark struct {
	At    int64
	Style int
	Seq   int64
	Count int
}

// MarshalJSON writes a mark as a list.
func (m mark) MarshalJSON() ([]byte, error) {
	return json.Marshal([]int64{m.At, int64(m.Style), m.Seq, int64(m.Count)})
}

// band is a fault, behind all lanes.
type band struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Name string `json:"name"`
}

// events are those that the page can show, in their order: three lists of the
// same length.
type events struct {
	Seq  []int64  `json:"seq"`
	At   []int64  `json:"at"`
	Text []string `json:"text"`
}
