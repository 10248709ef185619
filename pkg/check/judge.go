package check

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Events is the source of a judge; Read makes one from a history.Reader.
type Events interface {
	Header() history.Header
	// Next returns the next event, and io.EOF after the last one. The judge may keep
	// the event.
	Next() (*history.Event, error)
	// Damage says in words what is missing or unreadable in the file, as far as
	// it has been read.
	Damage() []string
}

// Judgement is the outcome of judging one history.
type Judgement struct {
	Header history.Header
	// Results in the order of the catalog.
	Results []Result
	// Damage of the history, in words.
	Damage []string
	// Faults that were injected, with their witnesses.
	Faults []FaultSeen
	// Balancer counts the reads through the load balancer; nil if there is none.
	Balancer *BalancerSeen
	// Etcd are the last few health checks of etcd.
	Etcd []EtcdSeen
	// Holds are the states in which the control plane was held.
	Holds []HoldSeen
	// Releases at which members began or were started, in the order of the history.
	Releases []string
	// Off are the features that processes were started without.
	Off []FeatureOff
	// Events is the number of events that were read.
	Events int64
	// Took is the time from the beginning of the history to its last event.
	Took time.Duration
	// Complete is whether the history says that the scenario was played to its
	// end.
	Complete bool
	// EndMessage is the message of the harness at the end.
	EndMessage string
	// Doubts are the reasons, in words, not to trust any pass; they are among
	// the reasons of each result too.
	Doubts []string
}

// FaultSeen is one injected fault.
type FaultSeen struct {
	// ID of the fault in the scenario, with a number where it was injected more than
	// once.
	ID string `json:"id"`
	// Type is the kind of fault, such as NetworkChaos.
	Type string `json:"type"`
	// Action is what of its type it does, such as delay.
	Action string `json:"action"`
	// Member that it hit.
	Member string `json:"member"`
	// Component of the member that it hit, where it is a single one.
	Component string `json:"component,omitempty"`
	// Witness is the proof that the fault took effect; empty where there is none.
	Witness string `json:"witness,omitempty"`
	// Healed is whether the fault was removed.
	Healed bool `json:"healed"`
	// Recovery is the proof that everything is back after a power cut.
	Recovery string `json:"recovery,omitempty"`
}

// EtcdSeen is the health of all members' etcd at one moment.
type EtcdSeen struct {
	// Event is the number of the history's event.
	Event int64 `json:"event"`
	// Problem says in words why etcd was not healthy; empty if it was.
	Problem string `json:"problem,omitempty"`
	history.EtcdHealth
}

// HoldSeen is one stretch of time in which the control plane was left alone.
type HoldSeen struct {
	// Name of the state in the scenario.
	Name string
	// Releases is what each member ran.
	Releases map[string]string
}

// Judge reads the history to its end and gives a verdict on each of the
// requirements. It returns an error only when reading fails for a reason that
// says nothing about the content, such as a disk error.
func Judge(events Events, requirements []requirement.Requirement) (*Judgement, error) {
	judging := Begin(events.Header(), requirements)
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			return judging.End(events.Damage()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the history after event %d: %w", judging.read, err)
		}
		judging.Take(ev)
	}
}

// Judging is a judgement in progress, for callers that have the events one by one.
type Judging struct {
	history *fact.History
	// facts are those of each KEP, and of finds them by the requirements that the KEP has
	// laws for.
	facts        []law.Facts
	of           map[requirement.ID]law.Facts
	account      account
	requirements []requirement.Requirement
	read         int64
	// crashed is the panic of the facts, on which all laws rely; empty if there was none.
	crashed string
}

// Begin begins to judge the requirements.
func Begin(header history.Header, requirements []requirement.Requirement) *Judging {
	h := fact.NewHistory(header)
	j := &Judging{history: h, of: map[requirement.ID]law.Facts{}, account: account{history: h, shown: map[string]int64{}}, requirements: requirements}
	for _, k := range keps {
		facts := k.Begin(h)
		j.facts = append(j.facts, facts)
		for _, id := range k.IDs() {
			j.of[id] = facts
		}
	}
	return j
}

// Take judges one more event; it keeps the event.
func (j *Judging) Take(ev *history.Event) {
	j.read++
	if j.crashed != "" {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			j.crashed = fmt.Sprintf("the judge itself crashed at event %d: %v", ev.Seq, p)
		}
	}()
	j.history.Observe(ev)
	for _, f := range j.facts {
		f.Observe(ev)
	}
	j.account.observe(ev)
}

// Progress is the state of the verdict on one requirement while the history goes on.
type Progress struct {
	ID requirement.ID
	// Verdict is Fail as soon as a violation was found, Pass while enough was seen
	// without a violation, and Inconclusive before.
	Verdict Verdict
	// Unlisted is as in Result.
	Unlisted bool
	// Violations is the number of violations that were found.
	Violations int64
	// Observations so far.
	Observations []Observation
}

// Progress returns the state of every requirement, for display. Only End judges: it may
// find violations that show at the end alone.
func (j *Judging) Progress() []Progress {
	out := make([]Progress, 0, len(j.requirements))
	for _, req := range j.requirements {
		out = append(out, progressOf(j.result(req, nil)))
	}
	return out
}

// End returns the verdicts. damage is what the reader found wrong with the file.
func (j *Judging) End(damage []string) *Judgement {
	out := &Judgement{Header: j.history.Header, Damage: slices.Clone(damage), Events: j.read, Took: time.Duration(j.history.Now)}
	j.account.fill(out)
	out.Doubts = j.account.doubts(damage)
	if j.crashed != "" {
		out.Doubts = append(out.Doubts, j.crashed)
	}
	for _, req := range j.requirements {
		out.Results = append(out.Results, j.result(req, out.Doubts))
	}
	return out
}
